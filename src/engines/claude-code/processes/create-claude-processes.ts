/** Processes of Claude Code: spares that wait, and those that have a conversation. */
import { GatewayError } from '../../../core/errors.js';
import type { RuntimeLog } from '../../../tools/runtime/runtime.js';
import type { ClaudeProcess, ClaudeProcesses, OpenOptions, ProcessProfile } from './claude-processes.js';
import { converse } from './conversation-process.js';
import { type ClaudeSdk, loadClaudeSdk } from './load-sdk.js';
import { reapFolders } from './process-folder.js';
import { systemPrompt } from './query-options.js';
import { SparePool } from './spare-pool.js';
import { type LaunchedProcess, type StartedProcess, startProcess } from './start-process.js';

export interface ClaudeProcessesOptions {
  /** Folders of processes are made in `claude-code/` under it. */
  stateDir: string;
  log: RuntimeLog;
  loadSdk?: () => Promise<ClaudeSdk>;
  /** The gateway's environment; nothing but paths, locale and the like is taken from it. */
  environment?: Readonly<Record<string, string | undefined>>;
  /** How many processes wait for each profile that is in use; 0 for none. */
  spares?: number;
  /** For all profiles together. */
  totalSpares?: number;
  /** How long a spare waits before it is let go. */
  spareIdleMs?: number;
  /** How long one may take to come up. */
  startMs?: number;
  now?: () => number;
}

const DEFAULTS = {
  spares: 1,
  /** In all, of all profiles. */
  totalSpares: 2,
  spareIdleMs: 30 * 60_000,
  /** Ten times what a busy machine needs. */
  wakeUpMs: 20_000,
  startMs: 60_000,
} as const;

/** Ends at once, in the background, what a gateway that died has left in `stateDir`. */
export function createClaudeProcesses(options: ClaudeProcessesOptions): ClaudeProcesses {
  const { stateDir, log, environment = process.env, now = Date.now } = options;
  const loadSdk = options.loadSdk ?? (() => loadClaudeSdk(environment));
  const spares = options.spares ?? DEFAULTS.spares;
  const running = new Set<LaunchedProcess>();
  const opening = new Set<Promise<unknown>>();
  let closed: Promise<void> | undefined;
  let sdk: Promise<ClaudeSdk> | undefined;

  const reaped = reapFolders(stateDir).then(
    (count) => {
      if (count > 0) log.info({ count }, 'removed leftovers of Claude Code processes');
    },
    (error: unknown) => log.warn({ err: error }, 'leftovers of Claude Code processes could not be removed'),
  );

  /** A failure is not kept: it may be installed by the next time. */
  const load = (): Promise<ClaudeSdk> => {
    sdk ??= loadSdk();
    sdk.catch(() => (sdk = undefined));
    return sdk;
  };

  const start = async (
    profile: ProcessProfile,
    history: OpenOptions['history'],
    cwd = profile.cwd,
  ): Promise<StartedProcess> => {
    const context = { sdk: await load(), stateDir, environment, now, log };
    const started = await startProcess(context, profile, { history, cwd });
    const { launched } = started;
    running.add(launched);
    void launched.exited.then(() => running.delete(launched));
    return started;
  };

  const pool = new SparePool({
    count: spares,
    total: options.totalSpares ?? Math.max(spares, DEFAULTS.totalSpares),
    idleMs: options.spareIdleMs ?? DEFAULTS.spareIdleMs,
    wakeUpMs: DEFAULTS.wakeUpMs,
    start: (profile) => start(profile, []),
    log,
  });

  const open = async (asked: OpenOptions): Promise<ClaudeProcess> => {
    const { profile, history, signal, cwd = profile.cwd } = asked;
    signal.throwIfAborted();
    // What still runs of a gateway that died could change the same files.
    await reaped;
    const prompt = await systemPrompt(profile.cwd, asked);
    const fitsSpare = history.length === 0 && cwd === profile.cwd;
    const spare = fitsSpare ? await pool.take(profile) : undefined;
    const { launched, options: launchOptions } = spare ?? (await start(profile, history, cwd));
    if (closed !== undefined) {
      await launched.close();
      throw closing();
    }
    return await converse({
      sdk: await load(),
      launched,
      launchOptions,
      fromSpare: spare !== undefined,
      queryOptions: { ...asked, systemPrompt: prompt },
      signal,
      startMs: options.startMs ?? DEFAULTS.startMs,
      // Not before: two that start at once would keep each other from the first model call.
      onBusy: () => {
        if (spares > 0 && closed === undefined) pool.fill(profile);
      },
    });
  };

  return {
    async open(asked) {
      if (closed !== undefined) throw closing();
      const opened = open(asked);
      opening.add(opened);
      try {
        return await opened;
      } finally {
        opening.delete(opened);
      }
    },
    prepare(profile) {
      if (spares > 0 && closed === undefined) pool.fill(profile);
    },
    close() {
      closed ??= (async () => {
        await pool.close();
        await Promise.all([...running].map((launched) => launched.close()));
        await Promise.allSettled(opening);
        await Promise.all([...running].map((launched) => launched.close()));
        await reaped;
      })();
      return closed;
    },
  };
}

const closing = (): GatewayError =>
  new GatewayError('unavailable', 'The gateway is shutting down. Try again in a moment.', {
    retryable: true,
  });
