/** What each worker is opened with, and why there may be none. */
import { randomBytes } from 'node:crypto';
import { ConfigError } from '../../config/config-error.js';
import type { LoadedConfig } from '../../config/load.js';
import type { Overrides } from '../../config/parse.js';
import { isPostgresUrl } from '../../core/postgres-url.js';
import { newConsoleToken } from '../../server/access/auth.js';
import { checkQuirks } from '../../upstreams/quirks/check-quirks.js';
import { nodeName } from '../open-cluster.js';
import type { WorkerRole } from '../worker-role.js';
import type { WorkerSetup } from './messages.js';

export interface WorkersOptions {
  loaded: LoadedConfig;
  overrides: Overrides;
  workers: number;
  logLevel: string;
  version: string;
  redact: (line: string) => string;
}

/** Throws ConfigError. */
export function checkWorkers({ loaded, workers }: Pick<WorkersOptions, 'loaded' | 'workers'>): void {
  const { config, file } = loaded;
  if (!isPostgresUrl(config.store)) {
    const message = `${workers} workers share a PostgreSQL database; set \`store: postgres://…\`, or start without --workers`;
    throw new ConfigError(file, [{ path: '--workers', message }]);
  }
  if (config.cluster?.advertise.startsWith('https:')) {
    const message =
      'other nodes reach each worker at a port of its own, without TLS; set an http:// address in a network of its own, or start without --workers';
    throw new ConfigError(file, [{ path: 'cluster.advertise', message }]);
  }
  checkQuirks(loaded);
}

/** `port`: the one that all of them answer on. */
export function prepareWorkers(options: WorkersOptions, port: number): WorkerSetup[] {
  const { workers, logLevel, version } = options;
  const { locate: _, ...loaded } = options.loaded;
  const config = { ...loaded.config, server: { ...loaded.config.server, port } };
  const { cluster } = config;
  const secret = cluster?.secret ?? randomBytes(32).toString('base64url');
  const consoleToken = newConsoleToken();
  return Array.from({ length: workers }, (_each, at): WorkerSetup => {
    const index = at + 1;
    const role: WorkerRole = {
      ...{ index, workers, node: nodeName(config), secret, consoleToken },
      own: ownAddress(config, index),
    };
    return {
      ...{ loaded: { ...loaded, config }, overrides: { ...options.overrides, port } },
      ...{ role, logLevel, version, isReplacement: false },
    };
  });
}

/** Other machines come through firewalls: there the ports are those after the advertised one. */
function ownAddress({ cluster, server }: LoadedConfig['config'], index: number): WorkerRole['own'] {
  if (cluster === undefined) return { host: '127.0.0.1', port: 0, advertised: '127.0.0.1' };
  const { hostname, port } = new URL(cluster.advertise);
  return { host: server.host, port: Number(port === '' ? 80 : port) + index, advertised: hostname };
}
