/** The configuration changes while the gateway runs: what it can take is taken, all of it or nothing. */
import { ConfigError } from '../config/config-error.js';
import type { Environment } from '../config/environment-references.js';
import type { LoadedConfig } from '../config/load.js';
import type { Overrides } from '../config/parse.js';
import { resolveKeys } from '../config/paths.js';
import { type ConfigChange, compareConfigs, reloadConfig } from '../config/reload.js';
import { GatewayError } from '../core/errors.js';
import type { Log } from '../observability/log.js';
import type { KeyRing } from '../server/access/key-ring.js';
import type { Reload } from '../server/console-api/reload.js';
import type { Bus } from '../store/bus.js';
import { checkQuirks } from '../upstreams/quirks/check-quirks.js';
import type { AgentParts } from './agent-parts.js';
import type { LiveConfig } from './live-config.js';
import type { Engines } from './open-engines.js';
import type { ConnectedUpstreams } from './upstreams/connected-upstreams.js';

interface ReloadOptions {
  live: LiveConfig;
  keys: KeyRing;
  upstreams: ConnectedUpstreams;
  agents: Pick<AgentParts, 'reconfigure'>;
  /** Undefined where others answer. */
  engines: Engines | undefined;
  log: Log;
  env: Environment;
  overrides: Overrides | undefined;
  /** The file has been loaded again: what it says, with what cannot change as it was. */
  onReloaded?: ((loaded: LoadedConfig) => void) | undefined;
}

interface Reloads {
  /** Loads the file again. Rejects with GatewayError where it is wrong; nothing has changed then. */
  reload: Reload;
  /** Takes upstreams as the store has them now, without the file. Rejects as the store does. */
  refreshUpstreams: Reload;
}

/** One runs at a time. */
export function createReloads(options: ReloadOptions): Reloads {
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = (run: Reload): Reload => {
    return (by) => {
      const next = last.then(() => run(by));
      last = next.catch(() => {});
      return next;
    };
  };
  return {
    reload: inTurn((by) => reload(options, by)),
    refreshUpstreams: inTurn((by) => apply(options, options.upstreams.base, by)),
  };
}

/** Asked for over HTTP, it is for all nodes: who asks reaches one of them, and which is chance. */
export function reloadEverywhere(reload: Reload, bus: Bus, origin: string, log: Log): Reload {
  return async (by) => {
    const outcome = await reload(by);
    await bus.publish({ kind: 'reload', by, origin }).catch((error: unknown) => {
      log.warn({ err: error }, 'other nodes could not be told to load their configuration again');
    });
    return outcome;
  };
}

async function reload(options: ReloadOptions, by: string): ReturnType<Reload> {
  const { live, log, env, overrides } = options;
  const file = live.loaded.file ?? null;
  try {
    const read = await reloadConfig(live.loaded, { env, overrides });
    checkQuirks(read);
    const outcome = await apply(options, read, by);
    options.onReloaded?.({ ...read, config: withFixed(live.config, read.config) });
    return outcome;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    log.error({ by, file, problem: message }, 'the configuration was not reloaded; that of before holds');
    if (!(error instanceof ConfigError)) throw error;
    throw new GatewayError('invalid_request', `Nothing was changed. ${message}`, {
      status: 422,
      detail: 'configuration_invalid',
      cause: error,
    });
  }
}

/** `base`: what the file or the environment says alone. */
async function apply(options: ReloadOptions, base: LoadedConfig, by: string): ReturnType<Reload> {
  const { live, keys, upstreams, agents, engines, log } = options;
  const file = base.file ?? null;
  const { loaded: read, use } = await upstreams.addTo(base);
  const { changed, restart } = compareConfigs(live.config, read.config);
  const next = { ...read, config: withFixed(live.config, read.config) };
  const useModels = await engines?.reload(next);
  // From here on nothing fails: a request finds all of the old configuration or all of the new one.
  use();
  live.use(next);
  useModels?.();
  keys.configure(resolveKeys(next.config, next.baseDir));
  await agents.reconfigure().catch((error: unknown) => {
    log.warn({ err: error }, 'an MCP server that was removed could not be ended');
  });
  log.info({ by, file, changed, restart }, describe(restart));
  return { file, changed, restart };
}

function describe(restart: ConfigChange['restart']): string {
  return restart.length === 0
    ? 'the configuration was reloaded'
    : `the configuration was reloaded; a restart is needed for ${restart.join(', ')}`;
}

/** What cannot change stays as it was, so that no part believes what the others do not. */
function withFixed(
  before: LiveConfig['config'],
  { server, teams, upstreams, models, permissions, mcp_servers, notify }: LiveConfig['config'],
): LiveConfig['config'] {
  const { mode, allow, ask, deny } = permissions;
  const { notify: _, ...kept } = before;
  return {
    ...kept,
    ...(notify && { notify }),
    server: { ...before.server, keys: server.keys },
    permissions: { ...before.permissions, mode, allow, ask, deny },
    teams,
    upstreams,
    models,
    mcp_servers,
  };
}
