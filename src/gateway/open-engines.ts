/** Sessions and engines as the configuration wants them. */
import { homedir } from 'node:os';
import type { TurnWatcher } from '../activity/activity.js';
import type { LoadedConfig } from '../config/load.js';
import type { Config } from '../config/schema.js';
import type { Patience } from '../engines/claude-code/turn-run.js';
import type { PrivateKeys } from '../engines/private-keys.js';
import type { Log } from '../observability/log.js';
import type { Metrics } from '../observability/metrics.js';
import { createSessions } from '../sessions/lifetime/create-sessions.js';
import type { SessionPlace } from '../sessions/session-parts.js';
import type { Sessions } from '../sessions/sessions.js';
import type { LearnedQuirk, Store } from '../store/store.js';
import type { Lesson } from '../upstreams/quirks/create-quirk-source.js';
import { openWorkspace } from '../workspace/workspace.js';
import type { AgentParts } from './agent-parts.js';
import { type ClosableDispatcher, createDispatcher } from './create-dispatcher.js';
import type { KeyLimits } from './limits/key-limits.js';
import type { LiveConfig } from './live-config.js';

/** The caller closes them, after the engines and before the store. */
export function openSessions(
  { sessions }: Pick<Config, 'sessions'>,
  store: Store,
  log: Log,
  cluster?: { owner: string; place: SessionPlace },
): Sessions {
  return createSessions({
    store,
    log,
    ttlMs: sessions.ttl_s * 1000,
    toolTimeoutMs: sessions.tool_timeout_s * 1000,
    onToolTimeout: sessions.on_tool_timeout,
    ...(cluster === undefined ? {} : { owner: cluster.owner, place: cluster.place }),
  });
}

interface EnginesOptions {
  live: LiveConfig;
  store: Store;
  agents: AgentParts;
  sessions: Sessions;
  metrics: Metrics;
  log: Log;
  watcher: TurnWatcher;
  keyLimits: KeyLimits;
  /** Of processes of the gateway's own. */
  innerKeys: PrivateKeys;
  /** The gateway's own address, once it listens. */
  selfUrl: () => Promise<string>;
  patience: Partial<Patience> | undefined;
}

export interface Engines extends ClosableDispatcher {
  /** Models and upstreams as the configuration has them by now. Rejects as the store does, and changes nothing then. */
  reload(loaded: LoadedConfig): Promise<() => void>;
}

/** Loads an engine only where a model asks for it. */
export async function openEngines(options: EnginesOptions): Promise<Engines> {
  const { live, agents, sessions, metrics, log, watcher, innerKeys, selfUrl, patience } = options;
  const { quirks } = options.store;
  const { config, baseDir } = live.loaded;
  const folders = { baseDir, startDir: process.cwd() };
  const shared = { sessions, log, startDir: folders.startDir, home: homedir() };

  const openProviderTools = async () => {
    const { ProviderTools } = await import('../engines/relay/provider-tools.js');
    return new ProviderTools({
      runtime: await agents.tools(),
      workspace: openWorkspace(folders.startDir, homedir()),
      onBug: (error) => log.error({ err: error }, 'bug while a tool of a provider ran'),
    });
  };

  const enginesFor = async ({ models }: Pick<Config, 'models'>) => {
    const wanted = new Set(Object.values(models).map(({ engine }) => engine));
    const isServed = Object.values(models).some(
      (model) => model.engine === 'relay' && model.server_tools?.length,
    );
    return {
      ...(isServed ? { providerTools: await openProviderTools() } : {}),
      ...(wanted.has('native')
        ? {
            native: {
              ...shared,
              create: (await import('../engines/native/driver.js')).createNativeDriver,
              runtime: await agents.tools(),
            },
          }
        : {}),
      ...(wanted.has('claude-code')
        ? {
            claudeCode: {
              ...shared,
              ...(await import('../engines/claude-code/driver.js')).openClaudeCode(
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
    };
  };

  const started = await enginesFor(config);
  const dispatcher = createDispatcher({
    config,
    folders,
    limits: options.keyLimits,
    listPrices: live.listPrices,
    lessons: lessonsOf(await quirks.list()),
    watcher,
    plain: { sessions, log },
    ...started,
    onLearned: (lesson) => {
      const { upstream, model, change, evidence } = lesson;
      log.info({ upstream, model, change, evidence }, 'learned a quirk of the upstream');
      for (const [key, value] of Object.entries(change)) {
        quirks.put({ upstream, model, key, value, evidence }).catch((error: unknown) => {
          log.warn({ err: error }, 'a learned quirk could not be stored');
        });
      }
    },
    onMove: ({ from, to, reason }) => {
      metrics.targetLeft(from);
      log.info({ from, to, reason }, 'a conversation moved to another target');
    },
    onRetry: (upstream) => metrics.upstreamRetried(upstream),
    onRefusal: (upstream) => metrics.upstreamRefused(upstream),
    onUpstreamFailure: (upstream, error) => {
      metrics.upstreamFailed(upstream, error.code);
      log.warn(
        { upstream, status: error.status, error: error.code, message: error.message },
        'upstream failed',
      );
    },
  });
  const isOpen = { native: started.native !== undefined, claudeCode: started.claudeCode !== undefined };

  return Object.assign(dispatcher, {
    async reload(next: LoadedConfig) {
      const lessons = lessonsOf(await quirks.list());
      const isNew = Object.entries(next.config.models).filter(
        ([, { engine }]) =>
          !((engine === 'native' && isOpen.native) || (engine === 'claude-code' && isOpen.claudeCode)),
      );
      const opened = await enginesFor({ models: Object.fromEntries(isNew) });
      return () => {
        dispatcher.reconfigure({ config: next.config, lessons, ...opened });
        isOpen.native ||= opened.native !== undefined;
        isOpen.claudeCode ||= opened.claudeCode !== undefined;
      };
    },
  });
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
