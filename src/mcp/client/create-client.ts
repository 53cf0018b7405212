/** The servers of the configuration and those added later, and the tools that they have. */
import { ConfigError } from '../../config/config-error.js';
import { parseConfig } from '../../config/parse.js';
import type { Config, McpServerConfig } from '../../config/schema.js';
import { GatewayError } from '../../core/errors.js';
import { untilAborted } from '../../core/stopping.js';
import { HttpClient } from '../../transport/http-client/http-client.js';
import { ChangeListeners } from './change-listeners.js';
import type { McpClient, McpServerStatus } from './mcp-client.js';
import { clientDocumentOf } from './oauth/client-document.js';
import { createTokenFile } from './oauth/token-file.js';
import { type EntryContext, ServerEntry } from './server-entry.js';
import { MCP_LIMITS, type McpLimits } from './wire/limits.js';
import type { McpLog } from './wire/log.js';

/** Throws `invalid_request` that names the key. References to the environment are not replaced: it is not the caller's. */
function parseServer(name: string, given: unknown): McpServerConfig {
  if (name === '')
    throw new GatewayError('invalid_request', 'name: expected the name of the server.', { param: 'name' });
  try {
    const { config } = parseConfig({ mcp_servers: { [name]: given } }, { env: {} });
    const server = config.mcp_servers[name];
    if (server !== undefined) return server;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const [first] = error.problems;
    const problems = error.problems.map(
      ({ path, message }) => `${path.replace(/^mcp_servers\./, '')}: ${message}`,
    );
    throw new GatewayError('invalid_request', `${problems.join('; ')}.`, {
      ...(first === undefined ? {} : { param: first.path }),
      cause: error,
    });
  }
  throw new GatewayError('invalid_request', 'config: expected the settings of an MCP server.', {
    param: 'config',
  });
}

/** Whether it is kept, and as it was when it was opened. */
function isStill(entry: ServerEntry, name: string, given: unknown): boolean {
  if (given === undefined) return false;
  try {
    return entry.isWith(parseServer(name, given));
  } catch {
    return false;
  }
}

/** Where servers are kept that are added at run time. */
interface AddedServers {
  servers(): Promise<readonly { name: string; config: unknown }[]>;
  putServer(server: { name: string; config: unknown }): Promise<void>;
  removeServer(name: string): Promise<boolean>;
}

export interface McpClientOptions {
  servers: Config['mcp_servers'];
  /** Added before this start. Those of the configuration come first. */
  added?: readonly { name: string; config: unknown }[];
  /** Without it an added server is gone with the process. */
  keep?: AddedServers;
  version: string;
  log: McpLog;
  /** The gateway's own; servers get the allow-listed part of it and what is configured. */
  environment: Readonly<Record<string, string | undefined>>;
  /** What paths in the configuration are relative to; programs run here. */
  baseDir: string;
  now?: () => number;
  /** Where sign-ins are kept (0600); undefined keeps them in memory. */
  tokenFile?: string;
  /** Where the browser comes back to after a sign-in to the server; undefined where signing in is impossible. */
  callbackUrl?: (name: string) => string | Promise<string>;
  /** Where anybody reaches the gateway, for sign-ins; in place of `callbackUrl` where it is https. */
  publicUrl?: () => string | undefined;
  limits?: Partial<McpLimits>;
  random?: () => number;
  /** Retries by itself after a failure; `doctor` does not. */
  retries?: boolean;
  /** Called whenever tools have come or gone. */
  onTools?: () => void;
}

/** Connects in the background, at once. The caller closes it. */
export function createMcpClient(options: McpClientOptions): McpClient {
  const { log, version, environment, baseDir, callbackUrl, retries = true } = options;
  const now = options.now ?? Date.now;
  const limits: McpLimits = { ...MCP_LIMITS, ...options.limits };
  let http: HttpClient | undefined;
  const context: EntryContext = {
    version,
    limits,
    log,
    environment,
    baseDir,
    retries,
    now,
    random: options.random ?? Math.random,
    http: () => {
      http ??= new HttpClient({ env: environment });
      return http;
    },
    tokens: createTokenFile(options.tokenFile, (error) =>
      log.warn(
        { err: error, file: options.tokenFile },
        'the file with sign-ins to MCP servers cannot be read; sign in again',
      ),
    ),
    ...(callbackUrl === undefined ? {} : { callbackUrl }),
    publicUrl: options.publicUrl,
    onTools: () => {
      if (!closed) options.onTools?.();
    },
    onChange: (name) => {
      const entry = entries.get(name);
      // While one is made it is not listed yet, and while the gateway stops no listener needs the event.
      if (!closed && entry !== undefined) changes.tell({ name, state: entry.status().state });
    },
  };
  const changes = new ChangeListeners(log);

  const entries = new Map<string, ServerEntry>();
  /** Being added: listed, and not kept yet. */
  const adding = new Set<string>();
  /** Servers that were added or removed here, so far. */
  let edits = 0;
  let closed = false;
  const open = (name: string, config: McpServerConfig, persistent = true): void => {
    const entry = new ServerEntry({ name, config, persistent }, context);
    entries.set(name, entry);
    void entry.connect();
  };
  /** One of the configuration of the same name stays. */
  const openAdded = (name: string, given: unknown): void => {
    if (entries.has(name) || closed) return;
    try {
      open(name, parseServer(name, given), false);
    } catch (error) {
      log.warn({ err: error, server: name }, 'an MCP server that was added earlier cannot be used any more');
    }
  };
  const remove = async (name: string): Promise<boolean> => {
    const entry = entries.get(name);
    if (entry === undefined) return false;
    entries.delete(name);
    await entry.close();
    options.onTools?.();
    changes.tell({ name, state: 'closed' });
    return true;
  };
  for (const [name, config] of Object.entries(options.servers)) open(name, config);
  for (const { name, config } of options.added ?? []) openAdded(name, config);
  /** As they are kept. What is changed here meanwhile is newer than what was read. */
  const keptServers = async (): Promise<ReadonlyMap<string, unknown> | undefined> => {
    for (;;) {
      const before = edits;
      const kept = await options.keep?.servers();
      if (before === edits) return kept && new Map(kept.map(({ name, config }) => [name, config]));
    }
  };
  const get = (name: string): ServerEntry => {
    const entry = entries.get(name);
    if (entry !== undefined) return entry;
    const known = [...entries.keys()];
    throw new GatewayError(
      'not_found',
      `There is no MCP server ${JSON.stringify(name.slice(0, 100))}. ${known.length === 0 ? 'None is configured.' : `There are: ${known.join(', ')}.`}`,
    );
  };

  return {
    tools: (session) => [...entries.values()].flatMap((entry) => entry.tools(session)),
    async directory(signal) {
      const found = await Promise.all(
        [...entries].map(async ([name, entry]) => {
          try {
            return await entry.directory(signal);
          } catch (error) {
            signal.throwIfAborted();
            log.warn({ err: error, server: name }, 'resources and prompts of an MCP server cannot be listed');
            return undefined;
          }
        }),
      );
      return found.filter((each) => each !== undefined);
    },
    status: () => [...entries.values()].map((entry) => entry.status()),
    async settled(signal) {
      await untilAborted(Promise.all([...entries.values()].map((entry) => entry.settled())), signal);
    },
    async add(name, given): Promise<McpServerStatus> {
      if (closed) throw new GatewayError('unavailable', 'The gateway is shutting down.');
      const config = parseServer(name, given);
      if (entries.has(name)) {
        throw new GatewayError(
          'conflict',
          `There is an MCP server "${name}" already. Remove it first, or take another name.`,
        );
      }
      const entry = new ServerEntry({ name, config, persistent: false }, context);
      entries.set(name, entry);
      adding.add(name);
      try {
        await options.keep?.putServer({ name, config: given });
      } catch (error) {
        entries.delete(name);
        throw error;
      } finally {
        adding.delete(name);
        edits += 1;
      }
      await entry.connect();
      return entry.status();
    },
    async remove(name) {
      if (entries.get(name)?.isConfigured !== false) return remove(name);
      const wasKept = await options.keep?.removeServer(name);
      edits += 1;
      // What is heard of it from the store may have removed it by now.
      return (await remove(name)) || wasKept === true;
    },
    async refresh() {
      const kept = await keptServers();
      if (kept === undefined || closed) return;
      const gone = [...entries].filter(
        ([name, entry]) => !entry.isConfigured && !adding.has(name) && !isStill(entry, name, kept.get(name)),
      );
      await Promise.all(gone.map(([name]) => remove(name)));
      for (const [name, given] of kept) openAdded(name, given);
    },
    async configure(servers) {
      if (closed) return;
      const gone = [...entries].filter(([name, entry]) => {
        const config = servers[name];
        return config === undefined ? entry.isConfigured : !entry.is(config);
      });
      await Promise.all(gone.map(([name]) => remove(name)));
      for (const [name, config] of Object.entries(servers)) if (!entries.has(name)) open(name, config);
    },
    clientDocument: (name) => clientDocumentOf(options, name),
    async reconnect(name) {
      const entry = get(name);
      await entry.reconnect();
      return entry.status();
    },
    async finishSignIn(name, answer) {
      const entry = get(name);
      await entry.finishSignIn(answer);
      return entry.status();
    },
    onChange: (listener) => changes.add(listener),
    async closeSession(session) {
      await Promise.all([...entries.values()].map((entry) => entry.closeSession(session)));
    },
    async close() {
      closed = true;
      const closing = [...entries.values()].map((entry) => entry.close());
      entries.clear();
      await Promise.all(closing);
      await http?.close();
    },
  };
}
