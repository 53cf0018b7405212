/** The store of the configuration, for commands that work on it whether or not a gateway runs. */
import { existsSync } from 'node:fs';
import { GatewayError } from '../core/errors.js';
import { openStore, parseStoreUrl } from '../store/open/open-store.js';
import type { Store } from '../store/store.js';
import { loadOperatorConfig, withOwnStore } from './operator-config.js';
import type { CliIo, ParsedArguments } from './shared/command.js';

/** Closes it when `work` is over. `make`: it may be a new one. Rejects with GatewayError where there is none. */
export async function withStore<T>(
  args: ParsedArguments,
  io: CliIo,
  { make }: { make: boolean },
  work: (store: Store) => Promise<T>,
): Promise<T> {
  const { config, baseDir } = await withOwnStore(await loadOperatorConfig(args, io), io, { make });
  const location = parseStoreUrl(config.store, baseDir);
  if (location.kind === 'memory') {
    throw new GatewayError(
      'unavailable',
      'The store is in memory: it ends with the gateway and cannot be reached.',
    );
  }
  if (location.kind === 'file' && !make && !existsSync(location.path)) {
    throw new GatewayError('unavailable', `There is no store ${location.path} yet. Start the gateway once.`);
  }
  const store = await openStore(config.store, { baseDir });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}
