/**
 * Limits that nodes share. Each node claims a part of a limit in the store and uses it up by itself, so a
 * request waits for the store only where the part does not reach: at the first use, and near the limit.
 * The parts never add up to more than the limit. While the store is away each node counts by itself.
 */
import type { LimitClaim, LimitClaimStore } from '../store/limit-claims.js';

const CLAIM_LIMITS = {
  /** So often a node says what it uses, and gives back what it does not. */
  exchangeMs: 500,
  /** Of a limit, what a node that uses it holds ready: rounded down, so of less than ten nothing. */
  ready: 0.1,
  /** So long nobody is asked again for a limit that is used up. */
  refusedMs: 250,
  /** So long a request waits for the store. */
  waitMs: 3_000,
  /** So long the store is left alone when it has not answered. */
  awayMs: 1_000,
  entries: 20_000,
} as const;

/** One limit of one holder, as this node uses it. */
export interface Shared {
  name: string;
  limit: number;
  /** Used by this node, with what is asked for. */
  used: () => number;
  /** How long the use counts when the node is not heard of any more. */
  forMs: number;
}

interface Entry {
  shared: Shared;
  granted: number;
  /** The claim lapses in the store. */
  until: number;
  refusedUntil: number;
  /** Of those that waited for the last exchange, how many more than it granted; undefined until the first of them looks. */
  over: number | undefined;
  /** Was asked for since the last exchange. */
  isActive: boolean;
}

interface LimitClaimsOptions {
  store: LimitClaimStore;
  /** Of this process; one that starts again has another. */
  node: string;
  /** Called when the store is away, once until it is back. */
  onAway?: (error: unknown) => void;
  now?: () => number;
}

export class LimitClaims {
  readonly #options: LimitClaimsOptions;
  readonly #now: () => number;
  readonly #entries = new Map<string, Entry>();
  readonly #timer: NodeJS.Timeout;
  #awayUntil = 0;
  #isAway = false;
  #running: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;

  constructor(options: LimitClaimsOptions) {
    this.#options = options;
    // Nobody sets it.
    this.#now = options.now ?? (() => performance.now());
    this.#timer = setInterval(() => void this.exchange(), CLAIM_LIMITS.exchangeMs).unref();
  }

  /** Each node counts by itself just now. */
  get isAway(): boolean {
    return this.#isAway;
  }

  /** Whether what this node uses of the limit, with what is asked for, is within it on all nodes together. */
  covers(shared: Shared): boolean | Promise<boolean> {
    if (shared.used() > shared.limit) return false;
    const entry = this.#take(shared);
    // There are too many holders to share the limits of all of them.
    if (entry === undefined) return true;
    const now = this.#now();
    if (isCovered(entry, now)) return true;
    if (this.#awayUntil > now) return true;
    if (entry.refusedUntil > now) return false;
    return this.#ask(entry);
  }

  /** What is used is said, and what is not is given back. Never rejects. */
  exchange(): Promise<void> {
    this.#next ??= this.#running.then(() => {
      this.#next = undefined;
      this.#running = this.#exchange();
      return this.#running;
    });
    return this.#next;
  }

  /** What was used this minute goes on counting for others. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    for (const entry of this.#entries.values()) entry.isActive = false;
    await this.exchange();
  }

  async #ask(entry: Entry): Promise<boolean> {
    await this.exchange();
    if (this.#isAway) return true;
    // Each that waited counts itself already: as many are refused as are too many, and not all of them.
    entry.over ??= Math.max(0, entry.shared.used() - entry.granted);
    if (entry.over === 0) return true;
    entry.over -= 1;
    entry.refusedUntil = this.#now() + CLAIM_LIMITS.refusedMs;
    return false;
  }

  #take(shared: Shared): Entry | undefined {
    const found = this.#entries.get(shared.name);
    if (found === undefined && this.#entries.size >= CLAIM_LIMITS.entries) return undefined;
    const entry = found ?? {
      ...{ shared, granted: 0, until: 0, refusedUntil: 0, over: undefined, isActive: true },
    };
    // Under another limit what was refused may fit.
    if (entry.shared.limit !== shared.limit) entry.refusedUntil = 0;
    entry.shared = shared;
    entry.isActive = true;
    if (found === undefined) this.#entries.set(shared.name, entry);
    return entry;
  }

  async #exchange(): Promise<void> {
    const began = this.#now();
    const asked = [...this.#entries.values()].map((entry) => ({ entry, claim: claimOf(entry, began) }));
    if (asked.length === 0) return;
    for (const { entry } of asked) entry.isActive = false;
    try {
      const claims = asked.map(({ claim }) => claim);
      const granted = await within(
        CLAIM_LIMITS.waitMs,
        this.#options.store.claim(this.#options.node, claims),
      );
      this.#isAway = false;
      this.#awayUntil = 0;
      for (const { entry, claim } of asked) {
        entry.granted = granted.get(claim.name) ?? 0;
        entry.until = began + claim.forMs;
        entry.over = undefined;
        // Nobody uses it: it is claimed again when somebody does.
        if (claim.wanted === 0 && !entry.isActive) this.#entries.delete(claim.name);
      }
    } catch (error) {
      this.#awayUntil = this.#now() + CLAIM_LIMITS.awayMs;
      const wasAway = this.#isAway;
      this.#isAway = true;
      if (!wasAway) this.#options.onAway?.(error);
    }
  }
}

const isCovered = ({ shared, granted, until }: Entry, now: number): boolean =>
  until > now && shared.used() <= granted;

function claimOf({ shared, granted, until, isActive }: Entry, now: number): LimitClaim {
  const { name, limit, forMs } = shared;
  const used = shared.used();
  const ready = isActive ? Math.floor(limit * CLAIM_LIMITS.ready) : 0;
  const wanted = Math.min(limit, used + ready);
  return { name, limit, held: Math.min(used, until > now ? granted : 0), wanted, forMs };
}

/** A store that does not answer must not hold a request. */
async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const tooLate = () => reject(new Error(`The store has not answered within ${ms} ms.`));
    // Where this process was busy for so long, the answer may be there and only not be read yet.
    timer = setTimeout(() => setImmediate(tooLate), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
