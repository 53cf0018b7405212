/** The gateway as a whole: configuration in, something that listens out. */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { LoadedConfig } from './config/load.js';
import { isLoopback } from './config/loopback.js';
import { createRedactor } from './config/redact.js';
import { GatewayError } from './core/errors.js';
import { type AgentParts, openAgentParts } from './engines/agent-parts.js';
import type { Patience } from './engines/claude-code/limits.js';
import { createDispatcher } from './engines/create-dispatcher.js';
import type { Dispatcher } from './engines/dispatcher.js';
import { createFindWorkspace } from './engines/find-workspace.js';
import { createModelCatalogue } from './engines/model-catalogue.js';
import { openSessions } from './engines/open-sessions.js';
import { PrivateKeys } from './engines/private-keys.js';
import type { VirtualLimits } from './mcp/virtual/limits.js';
import { createVirtualMcp, type VirtualMcp } from './mcp/virtual/virtual-mcp.js';
import { createLog, type GatewayLog, type Log } from './observability/log.js';
import { Metrics } from './observability/metrics.js';
import { aboutGateway } from './server/console-api/about.js';
import { openChat } from './server/console-api/chat/open-chat.js';
import type { EventHub } from './server/console-api/events/hub.js';
import type { EventLimits } from './server/console-api/events/limits.js';
import { openEvents } from './server/console-api/events/open-events.js';
import { cancelLeftQuestions } from './server/console-api/left-questions.js';
import { addressOf } from './server/http/address.js';
import { GatewayServer, type GatewayServerOptions } from './server/http/gateway-server.js';
import { DEFAULT_LIMITS, type Limits } from './server/http/limits.js';
import type { Sessions } from './sessions/sessions.js';
import type { LearnedQuirk } from './store/quirks.js';
import { openStore } from './store/sqlite/open.js';
import type { Store } from './store/store.js';
import { checkQuirks } from './upstreams/quirks/check-quirks.js';
import type { Lesson } from './upstreams/quirks/create-quirk-source.js';

export interface GatewayOptions {
  loaded: LoadedConfig;
  logLevel: string;
  version: string;
  /** Stands in for the configured upstreams; the caller closes it. */
  dispatcher?: Dispatcher;
  /** SIGTERM and SIGINT drain, a second one ends at once. For a process that is nothing but the gateway. */
  signals?: boolean;
  limits?: Partial<Limits>;
  /** Of the virtual MCP servers. */
  virtualLimits?: Partial<VirtualLimits>;
  /** Of `/api/events`. */
  eventLimits?: Partial<EventLimits>;
  /** How long turns wait for processes of Claude Code. */
  patience?: Partial<Patience>;
}

export interface Gateway {
  url: string;
  /** With the token in its fragment, where there are no keys. */
  consoleUrl: string;
  /** Drains: resolves when running answers are finished or given up, and everything is closed. */
  close(): Promise<void>;
  /** Resolves after `close`, or after a signal has done the same. */
  finished: Promise<void>;
}

const MIB = 1024 * 1024;
/** At most; where sessions live for less than that, as long as they do. */
const PRUNE_EVERY_MS = 10 * 60 * 1000;
const PRUNE_AT_MOST_EVERY_MS = 10_000;
/** The last is a terminal that was closed. */
const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/** Why listening failed, by Node's code, and what to do. */
const LISTEN_PROBLEMS: Readonly<Record<string, (host: string, port: number) => string>> = {
  EADDRINUSE: (host, port) =>
    `Port ${port} on ${host} is in use by another program, perhaps another gateway. Stop it, or choose a port with --port (0 takes a free one).`,
  EACCES: (_host, port) => `Port ${port} may not be used by this user. Choose one above 1023 with --port.`,
  EADDRNOTAVAIL: (host) => `This machine does not have the address ${host}. Check server.host or --host.`,
  ENOTFOUND: (host) => `The host name ${host} is not known. Check server.host or --host.`,
};

/** Rejects with a ConfigError, or with a GatewayError that says what to do; its cause is what the system said. */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { loaded, logLevel, version } = options;
  const { config } = loaded;
  checkQuirks(loaded);
  const redact = createRedactor(loaded.secrets);
  const log = createLog({ level: logLevel, redact });
  const store = await openStore(config.store, {
    baseDir: loaded.baseDir,
    redact,
    limits: {
      traces: { maxAgeMs: config.traces.max_age_s * 1000, maxBytes: config.traces.max_mb * MIB },
    },
    onError: (error) => log.warn({ err: error }, 'rows of traces or usage were lost'),
  });
  const metrics = new Metrics();
  const closers: (() => Promise<void>)[] = [() => store.close()];
  const release = async (): Promise<void> => {
    for (const close of closers.toReversed()) await close();
  };
  let onListening = (_url: string): void => {};
  const listening = new Promise<string>((resolve) => {
    onListening = resolve;
  });
  try {
    const agents = await openAgentParts({
      loaded,
      store,
      log,
      version,
      env: process.env,
      callbackUrl: async (name) => `${await listening}/api/mcp/${encodeURIComponent(name)}/callback`,
    });
    closers.push(() => agents.close());
    const sessions = openSessions(config, store, log);
    closers.push(() => sessions.close());
    const { approvals, mcp } = agents;
    const { hub: events, close } = openEvents({
      ...{ approvals, mcp, sessions, store, log },
      limits: options.eventLimits,
    });
    closers.push(async () => close());
    const stopCancelling = cancelLeftQuestions({ sessions, approvals, log });
    closers.push(async () => stopCancelling());
    const innerKeys = new PrivateKeys();
    const parts = { store, metrics, log, agents, sessions, events, innerKeys, selfUrl: () => listening };
    const dispatch = await openDispatcher(options, parts);
    closers.push(() => dispatch.close());
    const virtualMcp = openVirtualMcp(options, parts);
    closers.push(() => virtualMcp.close());
    const { dispatcher } = dispatch;
    const folders = { baseDir: loaded.baseDir, startDir: process.cwd() };
    const models = createModelCatalogue({ models: config.models, ...folders });
    const chat = openChat({ ...parts, loaded, dispatcher, models });
    closers.push(() => chat.close());
    // Before anything aborts a call: a question that waits is still there after a restart.
    closers.push(() => agents.approvals.close());
    const server = await listen(options, { ...parts, virtualMcp, dispatcher, chat, models });
    const url = addressOf(config.server.host, server.port);
    onListening(url);
    log.info({ url, version, config: loaded.file ?? null }, 'listening');
    await chat.restore();
    return runUntilClosed({ server, url, store, release, log, options });
  } catch (error) {
    await release();
    throw error;
  }
}

interface Parts {
  store: Store;
  metrics: Metrics;
  log: Log;
  agents: AgentParts;
  sessions: Sessions;
  events: EventHub;
  /** Of processes of the gateway's own. */
  innerKeys: PrivateKeys;
  /** Its address, once it listens. */
  selfUrl: () => Promise<string>;
}

async function openDispatcher(
  { dispatcher, loaded, patience }: GatewayOptions,
  { store: { quirks }, metrics, log, agents, sessions, events, innerKeys, selfUrl }: Parts,
): Promise<{ dispatcher: Dispatcher; close(): Promise<void> }> {
  if (dispatcher !== undefined) return { dispatcher, close: async () => {} };
  const { config, baseDir } = loaded;
  const engines = new Set(Object.values(config.models).map(({ engine }) => engine));
  const place = { sessions, log, startDir: process.cwd(), home: homedir(), baseDir };
  const own = createDispatcher({
    config,
    lessons: lessonsOf(await quirks.list()),
    watcher: events,
    plain: { sessions, log },
    ...(engines.has('native')
      ? {
          native: {
            ...place,
            create: (await import('./engines/native/native-engine.js')).createNativeEngine,
            runtime: await agents.tools(),
          },
        }
      : {}),
    ...(engines.has('claude-code')
      ? {
          claudeCode: {
            ...place,
            ...(await import('./engines/claude-code/open-claude-code.js')).openClaudeCode(
              agents.stateDir,
              log,
              config.sessions.max_live,
            ),
            runtime: await agents.tools(),
            keys: innerKeys,
            selfUrl,
            walled: config.sandbox === 'required' || agents.sandbox.status.active,
            ...(patience === undefined ? {} : { patience }),
          },
        }
      : {}),
    onLearned: (lesson) => {
      const { upstream, model, change, evidence } = lesson;
      log.info({ upstream, model, change, evidence }, 'learned a quirk of the upstream');
      for (const [key, value] of Object.entries(change)) {
        quirks.put({ upstream, model, key, value, evidence }).catch((error: unknown) => {
          log.warn({ err: error }, 'a learned quirk could not be stored');
        });
      }
    },
    onUpstreamFailure: (upstream, error) => {
      metrics.upstreamFailed(upstream, error.code);
      log.warn(
        { upstream, status: error.status, error: error.code, message: error.message },
        'upstream failed',
      );
    },
  });
  return { dispatcher: own, close: () => own.close() };
}

function openVirtualMcp({ version, virtualLimits }: GatewayOptions, { agents, log }: Parts): VirtualMcp {
  const virtual = createVirtualMcp({
    tools: () => agents.tools(),
    mcp: agents.mcp,
    version,
    log,
    home: homedir(),
    ...(virtualLimits === undefined ? {} : { limits: virtualLimits }),
  });
  agents.onTools(() => virtual.toolsChanged());
  return virtual;
}

function lessonsOf(quirks: readonly LearnedQuirk[]): Lesson[] {
  return quirks.map(({ upstream, model, key, value, evidence }) => ({
    upstream,
    model,
    name: key,
    change: { [key]: value },
    evidence,
  }));
}

async function listen(
  { loaded, limits, version }: GatewayOptions,
  { agents, ...parts }: Parts & Pick<GatewayServerOptions, 'dispatcher' | 'virtualMcp' | 'chat' | 'models'>,
): Promise<GatewayServer> {
  const { host, port, keys, public_hosts, body_limit_mb } = loaded.config.server;
  const loopback = isLoopback(host);
  if (!loopback && keys.length === 0) throw openServer(host);
  try {
    return await GatewayServer.listen({
      host,
      port,
      loopback,
      publicHosts: public_hosts,
      keys,
      limits: { ...DEFAULT_LIMITS, bodyBytes: Math.floor(body_limit_mb * MIB), ...limits },
      recordBodies: loaded.config.traces.bodies,
      consoleDir: join(packageRoot(), 'console', 'dist'),
      approvals: agents.approvals,
      mcp: agents.mcp,
      permissions: loaded.config.permissions,
      previews: agents.previews,
      about: aboutGateway(loaded, { version, sandbox: () => agents.sandbox.status }),
      tools: {
        list: async () => (await agents.tools()).list(),
        examine: async (request) => (await agents.tools()).examine(request),
      },
      findWorkspace: createFindWorkspace({
        models: loaded.config.models,
        baseDir: loaded.baseDir,
        startDir: process.cwd(),
      }),
      ...parts,
    });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    const explain = LISTEN_PROBLEMS[code];
    if (explain === undefined) throw error;
    throw new GatewayError('unavailable', explain(host, port), { cause: error, detail: code });
  }
}

function openServer(host: string): GatewayError {
  return new GatewayError(
    'forbidden',
    `Without server.keys anyone who reaches ${host} could use the gateway. Add a key, or listen on 127.0.0.1.`,
  );
}

interface Running {
  server: GatewayServer;
  url: string;
  store: Store;
  release: () => Promise<void>;
  log: GatewayLog;
  options: GatewayOptions;
}

function runUntilClosed({ server, url, store, release, log, options }: Running): Gateway {
  const graceMs = options.loaded.config.server.drain_s * 1000;
  const stopPruning = pruneRegularly(store, log, options.loaded.config.sessions.ttl_s * 1000);
  let onFinished = () => {};
  const finished = new Promise<void>((resolve) => {
    onFinished = resolve;
  });
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= (async () => {
      stopPruning();
      await server.drain(graceMs);
      await release();
      log.info({ url }, 'stopped');
      await log.flush();
      onFinished();
    })();
    return closing;
  };
  if (options.signals ?? false) superviseProcess(close, finished, log);
  const { consoleToken } = server;
  return {
    url,
    consoleUrl: consoleToken === undefined ? `${url}/` : `${url}/#token=${consoleToken}`,
    close,
    finished,
  };
}

function pruneRegularly(store: Store, log: Log, ttlMs: number): () => void {
  let stopped = false;
  const prune = () => {
    store.prune().catch((error: unknown) => {
      if (!stopped) log.warn({ err: error }, 'the store could not be pruned');
    });
  };
  // A gateway that is never up for long prunes as well.
  prune();
  const everyMs = Math.max(PRUNE_AT_MOST_EVERY_MS, Math.min(PRUNE_EVERY_MS, ttlMs));
  const timer = setInterval(prune, everyMs).unref();
  return () => {
    stopped = true;
    clearInterval(timer);
  };
}

/** For a process that is nothing but the gateway. */
function superviseProcess(close: () => Promise<void>, finished: Promise<void>, log: GatewayLog): void {
  let stopping = false;
  const exit = (code: number): void => {
    void log.flush().then(() => process.exit(code));
  };
  const onSignal = (signal: keyof typeof SIGNALS) => {
    if (stopping) return exit(SIGNALS[signal]);
    stopping = true;
    log.info({ signal }, 'draining; a second signal ends at once');
    close().catch((error: unknown) => {
      log.fatal({ err: error }, 'bug while stopping');
      exit(1);
    });
  };
  // A bug in one request is no reason to end the others; one that nothing caught leaves no state to trust.
  const onRejection = (error: unknown) => log.error({ err: error }, 'bug: unhandled rejection');
  const onException = (error: unknown) => {
    log.fatal({ err: error }, 'bug: uncaught exception');
    exit(1);
  };
  process
    .on('SIGINT', onSignal)
    .on('SIGTERM', onSignal)
    .on('SIGHUP', onSignal)
    .on('unhandledRejection', onRejection)
    .on('uncaughtException', onException);
  void finished.then(() => {
    process
      .off('SIGINT', onSignal)
      .off('SIGTERM', onSignal)
      .off('SIGHUP', onSignal)
      .off('unhandledRejection', onRejection)
      .off('uncaughtException', onException);
  });
}

/** The sources and the bundle stand at different depths. */
function packageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json')) && dirname(folder) !== folder) folder = dirname(folder);
  return folder;
}
