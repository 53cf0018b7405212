/** The server that listens, as the configuration wants it. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { LoadedConfig } from '../config/load.js';
import { isLoopback } from '../config/loopback.js';
import { GatewayError } from '../core/errors.js';
import { aboutGateway } from '../server/console-api/about.js';
import { GatewayServer, type GatewayServerOptions } from '../server/gateway-server.js';
import { DEFAULT_LIMITS, type Limits } from '../server/http/limits.js';
import type { AgentParts } from './agent-parts.js';
import { createFindWorkspace } from './find-workspace.js';

/** What the configuration does not give. */
interface ServerOptions
  extends Pick<
    GatewayServerOptions,
    | 'dispatcher'
    | 'virtualMcp'
    | 'chat'
    | 'models'
    | 'store'
    | 'sessions'
    | 'events'
    | 'metrics'
    | 'innerKeys'
    | 'log'
  > {
  loaded: LoadedConfig;
  version: string;
  agents: AgentParts;
  limits: Partial<Limits> | undefined;
}

const MIB = 1024 * 1024;

/** Why listening failed, by Node's code, and what to do. */
const LISTEN_PROBLEMS: Readonly<Record<string, (host: string, port: number) => string>> = {
  EADDRINUSE: (host, port) =>
    `Port ${port} on ${host} is in use by another program, perhaps another gateway. Stop it, or choose a port with --port (0 takes a free one).`,
  EACCES: (_host, port) => `Port ${port} may not be used by this user. Choose one above 1023 with --port.`,
  EADDRNOTAVAIL: (host) => `This machine does not have the address ${host}. Check server.host or --host.`,
  ENOTFOUND: (host) => `The host name ${host} is not known. Check server.host or --host.`,
};

/** Rejects with a GatewayError that says what to do; its cause is what the system said. */
export async function openServer(options: ServerOptions): Promise<GatewayServer> {
  const { loaded, version, agents, limits, ...parts } = options;
  const { server, models, permissions, traces } = loaded.config;
  const { host, port, keys, public_hosts, body_limit_mb } = server;
  const loopback = isLoopback(host);
  if (!loopback && keys.length === 0) {
    throw new GatewayError(
      'forbidden',
      `Without server.keys anyone who reaches ${host} could use the gateway. Add a key, or listen on 127.0.0.1.`,
    );
  }
  try {
    return await GatewayServer.listen({
      ...parts,
      host,
      port,
      loopback,
      publicHosts: public_hosts,
      keys,
      limits: { ...DEFAULT_LIMITS, bodyBytes: Math.floor(body_limit_mb * MIB), ...limits },
      recordBodies: traces.bodies,
      consoleDir: join(packageRoot(), 'console', 'dist'),
      approvals: agents.approvals,
      mcp: agents.mcp,
      permissions,
      previews: agents.previews,
      about: aboutGateway(loaded, { version, sandbox: () => agents.sandbox.status }),
      tools: {
        list: async () => (await agents.tools()).list(),
        examine: async (request) => (await agents.tools()).examine(request),
      },
      findWorkspace: createFindWorkspace({ models, baseDir: loaded.baseDir, startDir: process.cwd() }),
    });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    const explain = LISTEN_PROBLEMS[code];
    if (explain === undefined) throw error;
    throw new GatewayError('unavailable', explain(host, port), { cause: error, detail: code });
  }
}

/** The sources and the bundle stand at different depths. */
function packageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json')) && dirname(folder) !== folder) folder = dirname(folder);
  return folder;
}
