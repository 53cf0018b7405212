/** The server that listens, as the configuration wants it. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isLoopback } from '../config/check.js';
import type { Config } from '../config/schema.js';
import { GatewayError } from '../core/errors.js';
import { GatewayServer, type GatewayServerOptions } from '../server/gateway-server.js';
import { DEFAULT_LIMITS, type Limits } from '../server/http/limits.js';
import { type Listener, openListener } from '../server/http/listener.js';
import type { AgentParts } from './agent-parts.js';
import type { LiveConfig } from './live-config.js';
import type { WorkerRole } from './worker-role.js';

/** What the configuration does not give. */
interface ServerOptions
  extends Pick<
    GatewayServerOptions,
    | 'dispatcher'
    | 'virtualMcp'
    | 'chat'
    | 'queue'
    | 'store'
    | 'sessions'
    | 'events'
    | 'metrics'
    | 'tracer'
    | 'innerKeys'
    | 'keys'
    | 'reload'
    | 'upstreams'
    | 'notifier'
    | 'log'
    | 'onUsage'
    | 'peers'
    | 'onNodeGone'
    | 'listener'
    | 'consoleToken'
    | 'figures'
  > {
  live: LiveConfig;
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
  const { live, version, agents, limits, ...parts } = options;
  const { server, telemetry, traces } = live.config;
  const { collector, headers } = telemetry;
  const { host, port, public_hosts } = server;
  const loopback = isLoopback(host);
  if (!loopback && server.keys.length === 0) {
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
      limits: limitsOf(live.config, limits),
      recordBodies: traces.bodies,
      ...(collector === undefined ? {} : { collector: { url: collector, headers } }),
      consoleDir: join(packageRoot(), 'console', 'dist'),
      approvals: agents.approvals,
      mcp: agents.mcp,
      permissions: live.permissions,
      models: live.models,
      previews: agents.previews,
      about: live.about({ version, sandbox: () => agents.sandbox.status }),
      tools: {
        list: async () => (await agents.tools()).list(),
        examine: async (request) => (await agents.tools()).examine(request),
      },
      findWorkspace: live.findWorkspace,
    });
  } catch (error) {
    throw explainListen(error, host, port);
  }
}

/** The address of a worker alone: the one of all of them is somebody else's. */
export async function openWorkerListener(
  config: Pick<Config, 'server'>,
  { own: { host, port } }: WorkerRole,
  limits: Partial<Limits> | undefined,
): Promise<Listener> {
  try {
    return await openListener({ host, port, limits: limitsOf(config, limits) });
  } catch (error) {
    throw explainListen(error, host, port);
  }
}

/** What Node says of a failed `listen`, with what to do; anything else as it is. */
export function explainListen(error: unknown, host: string, port: number): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const explain = LISTEN_PROBLEMS[code];
  if (explain === undefined) return error;
  return new GatewayError('unavailable', explain(host, port), { cause: error, detail: code });
}

export function limitsOf({ server }: Pick<Config, 'server'>, limits: Partial<Limits> | undefined): Limits {
  return { ...DEFAULT_LIMITS, bodyBytes: Math.floor(server.body_limit_mb * MIB), ...limits };
}

/** The sources and the bundle stand at different depths. */
function packageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json')) && dirname(folder) !== folder) folder = dirname(folder);
  return folder;
}
