/** An allowed host used to carry data out. */
import { afterEach, describe, expect, it } from 'vitest';
import { webFetchTool } from '../../../src/tools/web/web-fetch.js';
import { closeSitesAfterEach, startSite } from '../../support/loopback-site.js';
import { createTestContext, runTool, type TestContext } from '../../support/tool-context.js';
import { probe } from '../policy-probe.js';

closeSitesAfterEach();
let context: TestContext | undefined;
afterEach(async () => context?.close());

describe('an allowed host as an upload channel', () => {
  const tool = webFetchTool({ allowPrivate: ['127.0.0.1'], fetch: { env: {} } });

  it.each([
    { method: 'PUT' },
    { method: 'POST', body: 'secret' },
    { body: 'secret' },
    { headers: { authorization: 'secret' } },
    { cookies: 'secret' },
    { data: 'secret' },
  ])('the model chooses the address and nothing else: %j', (extra) => {
    const input = { url: 'https://example.com/', prompt: 'x', ...extra };
    expect(tool.inputSchema?.safeParse(input).success).toBe(false);
  });

  it('sends a GET without a body, without the prompt and without anything of the session', async () => {
    const site = await startSite((_request, response) => void response.end('ok'));
    context = await createTestContext({ principal: 'alice', session: 'session-of-alice' });
    await runTool(tool, { url: site.url('/a'), prompt: 'prompt-of-alice' }, context);
    expect(site.seen).toEqual(['GET /a']);
    expect(Object.keys(site.headers[0] ?? {}).sort()).toEqual([
      'accept',
      'accept-encoding',
      'host',
      'user-agent',
    ]);
    expect(JSON.stringify(site.headers)).not.toContain('alice');
  });

  it('shows whoever decides the whole address, query included', async () => {
    context = await createTestContext();
    const input = { url: 'https://example.com/upload?data=secret', prompt: '' };
    expect(await tool.effects?.(input, context)).toEqual([{ kind: 'fetch', url: input.url }]);
    expect(await tool.describe(input, context)).toMatchObject({ url: input.url });
  });

  it('needs a rule or a person for every host, and is not for those who may only read', async () => {
    expect(tool.needsPermissions({ url: 'https://example.com/', prompt: '' })).toBe(true);
    expect(tool.isReadOnly({ url: 'https://example.com/', prompt: '' })).toBe(false);
    const readers = probe({ mode: 'read-only' });
    const effects = [{ kind: 'fetch', url: 'https://example.com/?secret' }] as const;
    const decision = await readers.judge({ tool: 'WebFetch', effects, readOnly: false });
    expect(decision.behaviour).not.toBe('allow');
  });
});
