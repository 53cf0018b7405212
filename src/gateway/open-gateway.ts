/** The gateway as a whole: what is opened, in which order. It is closed in reverse. */
import { homedir } from 'node:os';
import type { LoadedConfig } from '../config/load.js';
import { createCleanCheck, createRedactor } from '../config/redact.js';
import { deferred } from '../core/deferred.js';
import type { Patience } from '../engines/claude-code/turn-run.js';
import type { Dispatcher } from '../engines/engine.js';
import { createModelCatalogue } from '../engines/model-catalogue.js';
import { PrivateKeys } from '../engines/private-keys.js';
import type { VirtualLimits } from '../mcp/virtual/limits.js';
import { createVirtualMcp } from '../mcp/virtual/virtual-mcp.js';
import { createLog, type Log } from '../observability/log.js';
import { Metrics } from '../observability/metrics.js';
import { TraceSampler } from '../observability/trace-recorder.js';
import { principalNamed } from '../server/access/auth.js';
import { cancelAbandonedQuestions } from '../server/console-api/approvals.js';
import { ChatRuns } from '../server/console-api/chat/chat-runs.js';
import { EventHub } from '../server/console-api/events/hub.js';
import type { EventLimits } from '../server/console-api/events/limits.js';
import { connectSources } from '../server/console-api/events/sources.js';
import { describeSession } from '../server/console-api/session-wire.js';
import type { Limits } from '../server/http/limits.js';
import { reportTurn } from '../server/observe/report.js';
import { openStore } from '../store/sqlite/open.js';
import type { Store } from '../store/store.js';
import type { UsageRecord } from '../store/usage.js';
import { checkQuirks } from '../upstreams/quirks/check-quirks.js';
import { openAgentParts } from './agent-parts.js';
import { openAll } from './close-stack.js';
import { KeyLimits } from './key-limits.js';
import { openEngines, openSessions } from './open-engines.js';
import { openServer } from './open-server.js';
import { superviseProcess } from './process.js';

export interface GatewayOptions {
  loaded: LoadedConfig;
  logLevel: string;
  version: string;
  /** Stands in for the configured upstreams; the caller closes it. */
  dispatcher?: Dispatcher;
  /** The process is nothing but the gateway: its signals drain. */
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

/** Rejects with a ConfigError, or with a GatewayError that says what to do; its cause is what the system said. */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { loaded, version, eventLimits, virtualLimits } = options;
  const { config, baseDir } = loaded;
  const { server: serverConfig, traces, models: configured } = config;
  checkQuirks(loaded);
  const redact = createRedactor(loaded.secrets);
  const log = createLog({ level: options.logLevel, redact });
  const metrics = new Metrics();
  const listening = deferred<string>();
  return openAll(async (stack) => {
    const store = await openStore(config.store, {
      baseDir,
      redact,
      isClean: createCleanCheck(loaded.secrets),
      limits: { traces: { maxAgeMs: traces.max_age_s * 1000, maxBytes: traces.max_mb * MIB } },
      onError: (error) => log.warn({ err: error }, 'rows of traces or usage were lost'),
    });
    stack.defer(() => store.close());

    const agents = await openAgentParts(stack, {
      loaded,
      store,
      log,
      version,
      env: process.env,
      callbackUrl: async (name) => `${await listening.promise}/api/mcp/${encodeURIComponent(name)}/callback`,
    });
    const { approvals, mcp } = agents;

    const sessions = stack.adopt(openSessions(config, store, log), (opened) => opened.close());

    const events = new EventHub({ approvals, log, ...(eventLimits && { limits: eventLimits }) });
    const facts = { sessions, store };
    const describe = (id: string) => describeSession(facts, id);
    stack.defer(connectSources(events, { approvals, sessions, mcp, log, describeSession: describe }));
    stack.defer(cancelAbandonedQuestions({ sessions, approvals, log }));

    const keyLimits = new KeyLimits(serverConfig.keys, store.usage);
    const onUsage = (row: UsageRecord) => keyLimits.count(row);
    const innerKeys = new PrivateKeys();
    const shared = { loaded, store, agents, sessions, metrics, log, innerKeys };
    const dispatcher =
      options.dispatcher ??
      stack.adopt(
        await openEngines({
          ...shared,
          watcher: events,
          keyLimits,
          selfUrl: () => listening.promise,
          patience: options.patience,
        }),
        (engines) => engines.close(),
      );

    const virtualMcp = createVirtualMcp({
      tools: () => agents.tools(),
      mcp,
      approvals,
      version,
      log,
      home: homedir(),
      ...(virtualLimits && { limits: virtualLimits }),
    });
    stack.defer(() => virtualMcp.close());
    agents.onTools(() => virtualMcp.toolsChanged());

    const models = createModelCatalogue({ models: configured, baseDir, startDir: process.cwd() });
    const chat = new ChatRuns({
      dispatcher,
      models,
      sessions,
      store,
      log,
      sampler: traces.bodies ? new TraceSampler() : undefined,
      principalOf: (name) => principalNamed(serverConfig.keys, name),
      report: (turn) => reportTurn(turn, { store, metrics, events, log, onUsage }),
    });
    stack.defer(() => chat.close());

    // Again, before anything above aborts a call: a question that waits is still there after a restart.
    stack.defer(() => approvals.close());

    const server = await openServer({
      ...shared,
      version,
      events,
      virtualMcp,
      dispatcher,
      chat,
      models,
      onUsage,
      limits: options.limits,
    });
    stack.defer(() => server.drain(serverConfig.drain_s * 1000));

    const { url } = server;
    listening.resolve(url);
    log.info({ url, version, config: loaded.file ?? null }, 'listening');
    await chat.restore();
    await server.restore();
    stack.defer(pruneRegularly(store, log, config.sessions.ttl_s * 1000));

    const finished = deferred();
    let closing: Promise<void> | undefined;
    const closeAll = async (): Promise<void> => {
      await stack.close();
      log.info({ url }, 'stopped');
      await log.flush();
      finished.resolve();
    };
    const close = (): Promise<void> => (closing ??= closeAll());
    if (options.signals ?? false) superviseProcess(close, finished.promise, log);
    const { consoleToken } = server;
    return {
      url,
      consoleUrl: consoleToken === undefined ? `${url}/` : `${url}/#token=${consoleToken}`,
      close,
      finished: finished.promise,
    };
  });
}

/** Until the returned function is called, which waits for one that is under way. */
function pruneRegularly(store: Store, log: Log, ttlMs: number): () => Promise<void> {
  let stopped = false;
  let pruning: Promise<unknown> = Promise.resolve();
  const prune = () => {
    pruning = store.prune().catch((error: unknown) => {
      if (!stopped) log.warn({ err: error }, 'the store could not be pruned');
    });
  };
  // A gateway that is never up for long prunes as well, but first it says where it listens.
  const first = setImmediate(prune);
  const everyMs = Math.max(PRUNE_AT_MOST_EVERY_MS, Math.min(PRUNE_EVERY_MS, ttlMs));
  const timer = setInterval(prune, everyMs).unref();
  return async () => {
    stopped = true;
    clearImmediate(first);
    clearInterval(timer);
    await pruning;
  };
}
