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
import type { Sessions } from '../sessions/sessions.js';
import type { LearnedQuirk, Store } from '../store/store.js';
import type { Lesson } from '../upstreams/quirks/create-quirk-source.js';
import type { AgentParts } from './agent-parts.js';
import { type ClosableDispatcher, createDispatcher } from './create-dispatcher.js';
import type { KeyLimits } from './key-limits.js';

/** The caller closes them, after the engines and before the store. */
export function openSessions({ sessions }: Pick<Config, 'sessions'>, store: Store, log: Log): Sessions {
  return createSessions({
    store,
    log,
    ttlMs: sessions.ttl_s * 1000,
    toolTimeoutMs: sessions.tool_timeout_s * 1000,
    onToolTimeout: sessions.on_tool_timeout,
  });
}

interface EnginesOptions {
  loaded: LoadedConfig;
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

/** Loads an engine only where a model asks for it. */
export async function openEngines(options: EnginesOptions): Promise<ClosableDispatcher> {
  const { loaded, agents, sessions, metrics, log, watcher, innerKeys, selfUrl, patience } = options;
  const { quirks } = options.store;
  const { config, baseDir } = loaded;
  const engines = new Set(Object.values(config.models).map(({ engine }) => engine));
  const shared = { sessions, log, startDir: process.cwd(), home: homedir(), baseDir };
  return createDispatcher({
    config,
    limits: options.keyLimits,
    lessons: lessonsOf(await quirks.list()),
    watcher,
    plain: { sessions, log },
    ...(engines.has('native')
      ? {
          native: {
            ...shared,
            create: (await import('../engines/native/driver.js')).createNativeDriver,
            runtime: await agents.tools(),
          },
        }
      : {}),
    ...(engines.has('claude-code')
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
