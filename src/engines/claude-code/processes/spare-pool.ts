/** Processes that wait for a conversation, by profile. One costs some 200 MB, so they do not wait for ever. */
import type { RuntimeLog } from '../../../tools/runtime/runtime-log.js';
import type { ProcessProfile } from './claude-processes.js';
import type { StartedProcess } from './start-process.js';
import { warmUp } from './warm-up.js';

interface SparePoolOptions {
  /** For each profile. */
  count: number;
  /** For all profiles together; the one that was wanted longest ago goes. */
  total: number;
  idleMs: number;
  warmUpMs: number;
  start: (profile: ProcessProfile) => Promise<StartedProcess>;
  log: RuntimeLog;
}

interface Spare {
  key: string;
  /** Undefined when it did not come up. */
  ready: Promise<StartedProcess | undefined>;
  timer: NodeJS.Timeout | undefined;
}

export class SparePool {
  readonly #options: SparePoolOptions;
  /** In the order in which they were started. */
  readonly #spares = new Set<Spare>();
  #closed = false;

  constructor(options: SparePoolOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#spares.size;
  }

  /** One that waits, or that is about to; undefined where there is none. It is the caller's then. */
  async take(profile: ProcessProfile): Promise<StartedProcess | undefined> {
    const key = keyOf(profile);
    for (const spare of this.#spares) {
      if (spare.key !== key) continue;
      this.#remove(spare);
      const started = await spare.ready;
      if (started?.launched.running === true) return started;
    }
    return undefined;
  }

  /** Starts what is missing of the profile's spares. */
  fill(profile: ProcessProfile): void {
    const { count, total } = this.#options;
    const key = keyOf(profile);
    const same = [...this.#spares].filter((spare) => spare.key === key);
    for (const spare of same) this.#rest(spare);
    if (this.#closed) return;
    for (let missing = Math.min(count, total) - same.length; missing > 0; missing -= 1)
      this.#add(key, profile);
    for (const spare of this.#spares) {
      if (this.#spares.size <= total) return;
      if (spare.key !== key) this.#drop(spare);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#spares].map((spare) => this.#drop(spare)));
  }

  #add(key: string, profile: ProcessProfile): void {
    const spare: Spare = { key, ready: Promise.resolve(undefined), timer: undefined };
    this.#spares.add(spare);
    this.#rest(spare);
    spare.ready = this.#start(spare, profile);
  }

  async #start(spare: Spare, profile: ProcessProfile): Promise<StartedProcess | undefined> {
    const { start, log, warmUpMs } = this.#options;
    let started: StartedProcess | undefined;
    try {
      started = await start(profile);
      void started.launched.exited.then(() => this.#remove(spare));
      await warmUp(started.launched, warmUpMs);
      return started;
    } catch (error) {
      this.#remove(spare);
      await started?.launched.close();
      // The conversation that would have had it starts one of its own, and reports what goes wrong.
      log.warn({ err: error }, 'a spare process of Claude Code did not come up');
      return undefined;
    }
  }

  /** It waits from now on. */
  #rest(spare: Spare): void {
    clearTimeout(spare.timer);
    spare.timer = setTimeout(() => void this.#drop(spare), this.#options.idleMs);
    spare.timer.unref();
  }

  #remove(spare: Spare): void {
    clearTimeout(spare.timer);
    this.#spares.delete(spare);
  }

  async #drop(spare: Spare): Promise<void> {
    this.#remove(spare);
    await (await spare.ready)?.launched.close();
  }
}

function keyOf({ cwd, model, baseUrl, tools, contextWindow }: ProcessProfile): string {
  return JSON.stringify([cwd, model, baseUrl, tools, contextWindow ?? null]);
}
