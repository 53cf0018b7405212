/** The gateway as a whole: what is opened, in which order. It is closed in reverse. */
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { homedir } from 'node:os';
import type { Environment } from '../config/environment-references.js';
import type { LoadedConfig } from '../config/load.js';
import type { Overrides } from '../config/parse.js';
import { resolveKeys } from '../config/paths.js';
import type { Config } from '../config/schema.js';
import { deferred } from '../core/deferred.js';
import type { Patience } from '../engines/claude-code/turn-run.js';
import type { Dispatcher } from '../engines/engine.js';
import { PrivateKeys } from '../engines/private-keys.js';
import type { VirtualLimits } from '../mcp/virtual/limits.js';
import { createVirtualMcp } from '../mcp/virtual/virtual-mcp.js';
import type { Notifier } from '../notify/delivery/notifier.js';
import { createLog, type Log } from '../observability/log.js';
import { Metrics } from '../observability/metrics.js';
import { TraceSampler } from '../observability/trace-recorder.js';
import { KeyRing } from '../server/access/key-ring.js';
import { cancelAbandonedQuestions } from '../server/console-api/approvals.js';
import { ChatQueue } from '../server/console-api/chat/chat-queue.js';
import { ChatRuns } from '../server/console-api/chat/chat-runs.js';
import { EventHub } from '../server/console-api/events/hub.js';
import type { EventLimits } from '../server/console-api/events/limits.js';
import { connectSources } from '../server/console-api/events/sources.js';
import { describeSession } from '../server/console-api/session-wire.js';
import { UpstreamAdministration } from '../server/console-api/upstream-administration.js';
import type { GatewayServer } from '../server/gateway-server.js';
import type { Limits } from '../server/http/limits.js';
import { reportTurn } from '../server/observe/report.js';
import type { LimitOverrides } from '../store/limits.js';
import { openStore } from '../store/open/open-store.js';
import type { Store } from '../store/store.js';
import type { UsageRecord } from '../store/usage.js';
import type { ListPrices } from '../upstreams/list-prices.js';
import { LOCAL_SERVERS, type LocalServer } from '../upstreams/local-servers.js';
import { checkQuirks } from '../upstreams/quirks/check-quirks.js';
import { openAgentParts } from './agent-parts.js';
import { openAll } from './close-stack.js';
import { followChanges } from './follow-changes.js';
import type { SoftLimitPassed } from './limits/budget.js';
import { KeyLimits } from './limits/key-limits.js';
import { openLimitClaims } from './limits/open-limit-claims.js';
import { LiveConfig } from './live-config.js';
import { openCluster } from './open-cluster.js';
import { openEngines, openSessions } from './open-engines.js';
import { openNotifier } from './open-notifier.js';
import { findTelemetry, openOwnTelemetry } from './open-own-telemetry.js';
import { openServer, openWorkerListener } from './open-server.js';
import { superviseProcess } from './process.js';
import { createReloads, reloadEverywhere } from './reload.js';
import { ConnectedUpstreams } from './upstreams/connected-upstreams.js';
import { SecretBox } from './upstreams/secret-box.js';
import { type WorkerRole, workerName } from './worker-role.js';

export interface GatewayOptions {
  loaded: LoadedConfig;
  logLevel: string;
  version: string;
  /** Stands in for the configured upstreams; the caller closes it. */
  dispatcher?: Dispatcher;
  /** One of several processes on one port. */
  worker?: {
    role: WorkerRole;
    /** The figures of all of them, from those of this one. */
    figuresOfAll(own: string): Promise<string>;
    onReloaded(loaded: LoadedConfig): void;
  };
  /** The process is nothing but the gateway: its signals drain. */
  signals?: boolean;
  /** The environment and the options of the command that `loaded` was made with: the file is loaded again with them. */
  env?: Environment;
  overrides?: Overrides;
  limits?: Partial<Limits>;
  /** Of the virtual MCP servers. */
  virtualLimits?: Partial<VirtualLimits>;
  /** Of `/api/events`. */
  eventLimits?: Partial<EventLimits>;
  /** How long turns wait for processes of Claude Code. */
  patience?: Partial<Patience>;
  /** Where model servers of this machine are looked for. */
  localServers?: readonly LocalServer[];
  /** What providers list, in the place of what this version was made with. */
  listPrices?: ListPrices;
}

export interface Gateway {
  url: string;
  /** With the token in its fragment, where there are no keys. */
  consoleUrl: string;
  /** Of a worker: a connection that was accepted for it. */
  take(socket: Socket): void;
  /** Loads the file again. Rejects where it is wrong, which it has logged. */
  reload(by: string): Promise<unknown>;
  /** The figures of this process, as Prometheus reads them. */
  figures(): Promise<string>;
  /** Drains: resolves when running answers are finished or given up, and everything is closed. */
  close(): Promise<void>;
  /** Resolves after `close`, or after a signal has done the same. */
  finished: Promise<void>;
}

const MIB = 1024 * 1024;
const DAY_MS = 86_400_000;
/** At most; where sessions live for less than that, as long as they do. */
const PRUNE_EVERY_MS = 10 * 60 * 1000;
const PRUNE_AT_MOST_EVERY_MS = 10_000;

/** Rejects with a ConfigError, or with a GatewayError that says what to do; its cause is what the system said. */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { loaded, version, eventLimits, virtualLimits } = options;
  const { config, baseDir } = loaded;
  const { server: serverConfig, traces } = config;
  checkQuirks(loaded);
  const found = findTelemetry(config, options.env ?? process.env);
  const live = new LiveConfig(loaded, found.secrets, options.listPrices);
  const { redact } = live;
  const log = createLog({
    ...{ level: options.logLevel, redact },
    facts: options.worker && { worker: options.worker.role.index },
  });
  const metrics = new Metrics();
  const listening = deferred<string>();
  /** By processes that this one starts. */
  const reachable = deferred<string>();
  return openAll(async (stack) => {
    const store = await openStore(config.store, {
      baseDir,
      redact,
      isClean: live.isClean,
      limits: storeLimits(config),
      onError: (error) => log.warn({ err: error }, 'rows of traces or usage were lost'),
      onWait: (error) => log.warn({ err: error }, 'the store is not there yet and is tried again for 30 s'),
    });
    stack.defer(() => store.close());
    const { worker } = options;
    const listener = worker && (await openWorkerListener(config, worker.role, options.limits));
    if (listener !== undefined) stack.defer(() => listener.close());
    const asWorker = worker && listener && { role: worker.role, port: listener.port };
    const cluster = await openCluster({ loaded, store, version, log, worker: asWorker });
    if (cluster !== undefined) stack.defer(() => cluster.leave());
    const node = worker === undefined ? config.cluster?.node : workerName(worker.role);
    const tracer = await openOwnTelemetry({ found, store, metrics, version, node, redact, log });
    if (tracer !== undefined) stack.defer(() => tracer.close());

    let notifier: Notifier | undefined;
    const agents = await openAgentParts(stack, {
      live,
      store,
      log,
      version,
      env: process.env,
      leavePlan: async (session) => {
        const left = await store.sessions.leavePlan(session);
        // Nothing else of it changes: those who watch it are told.
        if (left) await sessions.label(session, {});
        return left;
      },
      isReachable: (call) => notifier?.isReachable(call) === true,
      callbackUrl: async (name) => `${await listening.promise}/api/mcp/${encodeURIComponent(name)}/callback`,
    });
    const { approvals, mcp } = agents;
    const env = options.env ?? process.env;
    const box = new SecretBox({ env, stateDir: agents.stateDir, shared: store.nodes !== undefined });
    const connected = new ConnectedUpstreams(loaded, { store: store.upstreams, box, env });
    const withStored = await connected.addTo(loaded);
    withStored.use();
    live.use(withStored.loaded);

    const sessions = stack.adopt(openSessions(config, store, log, cluster), (opened) => opened.close());

    const events = new EventHub({
      ...{ approvals, log, instance: cluster?.owner },
      ...(eventLimits && { limits: eventLimits }),
    });
    const facts = { sessions, store };
    const describe = (id: string) => describeSession(facts, id);
    const sources = connectSources(events, { approvals, sessions, mcp, log, describeSession: describe });
    stack.defer(() => sources.close());
    stack.defer(cancelAbandonedQuestions({ sessions, approvals, log }));

    const claims = openLimitClaims(store, cluster?.owner, log);
    if (claims !== undefined) stack.defer(() => claims.close());
    const keys = stack.adopt(
      await KeyRing.open({
        ...{ keys: resolveKeys(config, baseDir), store: store.keys, log },
        claims,
      }),
      (opened) => opened.close(),
    );
    notifier = openNotifier(stack, { live, store, approvals, sessions, keys, log });
    const limited = { keys: keys.limits, teams: live.config.teams };
    const onSoftLimit = (passed: SoftLimitPassed): void => {
      const { key, team, spentUsd, softUsd, usd, per, resetAt } = passed;
      const who = { key, ...(team !== undefined && { team }) };
      log.warn(
        { ...who, spentUsd, softUsd, usd, per },
        `a ${team === undefined ? 'key' : 'team'} has passed the soft limit of its budget`,
      );
      const resets_at = new Date(resetAt * 1000).toISOString();
      const figures = { spent_usd: spentUsd, soft_usd: softUsd, usd, per, resets_at };
      events.publish(key, { type: 'budget', ...who, ...figures });
    };
    const keyLimits = new KeyLimits(limited, store.usage, { onSoftLimit, claims });
    // A reload has the configuration changed by then.
    keys.onChange(() => keyLimits.use(keys.limits, live.config.teams));
    const onUsage = (row: UsageRecord) => keyLimits.count(row);
    const innerKeys = new PrivateKeys();
    const shared = { live, store, agents, sessions, metrics, log, innerKeys };
    const engines =
      options.dispatcher === undefined
        ? stack.adopt(
            await openEngines({
              ...shared,
              watcher: events,
              keyLimits,
              selfUrl: () => reachable.promise,
              patience: options.patience,
            }),
            (opened) => opened.close(),
          )
        : undefined;
    const dispatcher = options.dispatcher ?? engines;
    if (dispatcher === undefined) throw new Error('There is nobody to answer.');

    const virtualMcp = createVirtualMcp({
      tools: () => agents.tools(),
      mcp,
      approvals,
      version,
      log,
      home: homedir(),
      newId: (principal) => cluster?.peers.issueId(principal) ?? randomUUID(),
      ...(virtualLimits && { limits: virtualLimits }),
    });
    stack.defer(() => virtualMcp.close());
    agents.onTools(() => virtualMcp.toolsChanged());

    const chat = new ChatRuns({
      dispatcher,
      models: live.models,
      sessions,
      store,
      log,
      sampler: traces.bodies ? new TraceSampler() : undefined,
      tracer,
      principalOf: (name) => keys.caller(name),
      report: (turn) => reportTurn(turn, { store, metrics, events, log, onUsage }),
    });
    stack.defer(() => chat.close());
    const queue = new ChatQueue({
      ...{ sessions, store, log },
      start: (body, principal) => chat.start(body, principal),
      principalOf: (name) => keys.caller(name),
      peers: cluster?.peers,
    });
    stack.defer(() => queue.close());

    // Again, before anything above aborts a call: a question that waits is still there after a restart.
    stack.defer(() => approvals.close());

    const { reload, refreshUpstreams } = createReloads({
      live,
      keys,
      upstreams: connected,
      agents,
      engines,
      log,
      env,
      overrides: options.overrides,
      onReloaded: worker?.onReloaded,
    });

    let server: GatewayServer | undefined;
    const origin = randomUUID();
    // Before anybody can look here: what they see is kept true from then on.
    const unfollow = await followChanges(store.bus, {
      ...{ approvals, keys, sources, reload, refreshUpstreams, origin, log },
      endSignIns: (ids) => server?.endSignIns(ids),
      refreshMcp: () => mcp.refresh(),
    });
    stack.defer(unfollow);
    server = await openServer({
      ...shared,
      keys,
      version,
      events,
      virtualMcp,
      dispatcher,
      chat,
      queue,
      reload: reloadEverywhere(reload, store.bus, origin, log),
      upstreams: new UpstreamAdministration({
        ...{ store: store.upstreams, box, states: connected, env },
        ...{ localServers: options.localServers ?? LOCAL_SERVERS, refresh: refreshUpstreams },
      }),
      tracer,
      notifier,
      onUsage,
      peers: cluster?.peers,
      onNodeGone: (gone) => sources.look(gone),
      limits: options.limits,
      listener,
      consoleToken: worker?.role.consoleToken,
      figures: worker && (async () => worker.figuresOfAll(await metrics.render())),
    });
    const { url, ownUrl, consoleToken } = server;
    stack.defer(() => server?.drain(serverConfig.drain_s * 1000));

    listening.resolve(url);
    reachable.resolve(ownUrl);
    log.info({ url, version, config: loaded.file ?? null }, 'listening');
    await chat.restore();
    await queue.restore();
    await server.restore();
    stack.defer(pruneRegularly(store, { log, metrics }, config.sessions.ttl_s * 1000));

    const finished = deferred();
    let closing: Promise<void> | undefined;
    const closeAll = async (): Promise<void> => {
      try {
        await stack.close();
        log.info({ url }, 'stopped');
      } finally {
        await log.flush();
        finished.resolve();
      }
    };
    const close = (): Promise<void> => (closing ??= closeAll());
    if (options.signals ?? false) superviseProcess({ close, reload, finished: finished.promise, log });
    return {
      url,
      consoleUrl: consoleToken === undefined ? `${url}/` : `${url}/#token=${consoleToken}`,
      take: (socket) => server?.take(socket),
      reload,
      figures: () => metrics.render(),
      close,
      finished: finished.promise,
    };
  });
}

function storeLimits({ traces, retention }: Config): LimitOverrides {
  return {
    traces: { maxAgeMs: traces.max_age_s * 1000, maxBytes: traces.max_mb * MIB },
    sessions: { maxRows: retention.sessions, maxBytes: retention.sessions_mb * MIB },
    usage: { maxAgeMs: retention.usage_days * DAY_MS },
    audit: { maxAgeMs: retention.audit_days * DAY_MS },
    approvals: { maxAgeMs: retention.approvals_days * DAY_MS },
  };
}

/** Until the returned function is called, which waits for one that is under way. */
function pruneRegularly(
  store: Store,
  { log, metrics }: { log: Log; metrics: Metrics },
  ttlMs: number,
): () => Promise<void> {
  let stopped = false;
  let pruning: Promise<unknown> = Promise.resolve();
  const prune = () => {
    const startedAt = performance.now();
    pruning = store.prune().then(
      (report) => {
        metrics.pruneTook((performance.now() - startedAt) / 1000);
        for (const [area, rows] of Object.entries(report)) metrics.pruned(area, rows);
        if (report.evicted === 0) return;
        log.warn(
          { evicted: report.evicted },
          'sessions were ended before their time: there are more than retention.sessions or retention.sessions_mb',
        );
      },
      (error: unknown) => {
        if (stopped) return;
        metrics.pruneFailed();
        log.warn({ err: error }, 'the store could not be pruned');
      },
    );
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
