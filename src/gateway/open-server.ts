/** The server that listens, as the configuration wants it. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isLoopback } from '../config/check.js';
import type { LoadedConfig } from '../config/load.js';
import type { Config } from '../config/schema.js';
import { GatewayError } from '../core/errors.js';
import type { Principal } from '../engines/engine.js';
import { type Folders, rulesOf } from '../engines/model-catalogue.js';
import { isGlob, matchesAny } from '../routing/model-glob.js';
import { ModelRouter } from '../routing/model-router.js';
import type { FindWorkspace } from '../server/access/find-workspace.js';
import { aboutGateway } from '../server/console-api/context.js';
import { GatewayServer, type GatewayServerOptions } from '../server/gateway-server.js';
import { DEFAULT_LIMITS, type Limits } from '../server/http/limits.js';
import type { AgentParts } from './agent-parts.js';

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
    | 'onUsage'
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

/** Where a client works that brings its own model: in the folder of an agent's entry, with its tools. */
function createFindWorkspace({ models, ...folders }: Folders & { models: Config['models'] }): FindWorkspace {
  const rules = rulesOf(models, folders);
  const router = new ModelRouter(rules);
  const mayUse = ({ models: allowed }: Principal, name: string): boolean => matchesAny(allowed, name);

  /** A key for some models works where the first agent among them does, and no further. */
  function ownAgent(principal: Principal): string {
    const found = Object.entries(rules).find(
      ([name, { cwd }]) => cwd !== undefined && !isGlob(name) && mayUse(principal, name),
    );
    if (found !== undefined) return found[0];
    throw new GatewayError(
      'forbidden',
      `The key ${principal.name} may use no agent, so it has no folder to work in. Name one that it may use with ?model=, or add one to the models of the key.`,
      { param: 'model' },
    );
  }

  return (asked, principal, use = 'run') => {
    const isWhole = use === 'judge' || principal.models.includes('*');
    if (asked === undefined && isWhole) return { root: folders.startDir, selection: 'all' };
    const model = asked ?? ownAgent(principal);
    const name = router.meant(model);
    if (!mayUse(principal, name)) {
      throw new GatewayError('forbidden', `The key ${principal.name} may not use the model ${name}.`, {
        param: 'model',
      });
    }
    const rule = router.route(model)?.rule;
    if (rule === undefined) {
      throw new GatewayError('not_found', `The model ${name} is not configured.`, { param: 'model' });
    }
    const { cwd, tools = 'all' } = rule;
    if (cwd === undefined) {
      throw new GatewayError(
        'invalid_request',
        `The model ${name} has no folder and no tools. Name one with engine native or claude-code, or leave model out.`,
        { param: 'model' },
      );
    }
    return { root: cwd, selection: tools, model: name };
  };
}
