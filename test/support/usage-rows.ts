/** Requests that a gateway counts without having answered them, for what sums them up. */
import { openStore } from '../../src/store/open/open-store.js';
import type { UsageRecord } from '../../src/store/usage.js';
import type { TestGateway } from './gateway.js';

const USUAL: Omit<UsageRecord, 'at'> = {
  principal: 'local',
  model: 'm',
  upstream: 'up',
  status: 200,
  inputTokens: 100,
  outputTokens: 20,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  latencyMs: 500,
};

/** Just now, unless a row says when. Needs the store where a configuration that names none puts it. */
export async function recordUsage(
  { folder }: Pick<TestGateway, 'folder'>,
  rows: readonly Partial<UsageRecord>[],
): Promise<void> {
  const store = await openStore('sqlite:./.toolgate/toolgate.db', { baseDir: folder });
  for (const row of rows) store.usage.record({ at: Date.now(), ...USUAL, ...row });
  await store.close();
}
