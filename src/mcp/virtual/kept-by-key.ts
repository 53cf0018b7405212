/**
 * What the servers keep for clients between requests, found by its id and only by the key that it
 * belongs to. Bounded for each key and in all; what is unused for long ends.
 */
import { GatewayError } from '../../core/errors.js';
import type { McpLog } from '../client/wire/log.js';

export interface Kept {
  readonly principal: string;
  readonly isIdle: boolean;
  /** `performance.now()` */
  readonly usedAt: number;
  /** `reason` is the abort reason of what runs in it. */
  close(reason: unknown): Promise<void>;
}

interface KeptByKeyOptions {
  /** In all, and of one key. Beyond that the longest idle one of the key ends. */
  most: number;
  mostOfKey: number;
  idleMs: number;
  sweepMs: number;
  /** In the plural, and how a client gets rid of one. */
  words: { many: string; remedy: string };
  log: McpLog;
}

export class KeptByKey<T extends Kept> {
  readonly #options: KeptByKeyOptions;
  readonly #entries = new Map<string, T>();
  /** Being ended. */
  readonly #ending = new Set<Promise<void>>();
  #sweeper: NodeJS.Timeout | undefined;

  constructor(options: KeptByKeyOptions) {
    this.#options = options;
  }

  /** Another key's is as unknown as one that never was. */
  find(id: string, principal: string): T | undefined {
    const entry = this.#entries.get(id);
    return entry?.principal === principal ? entry : undefined;
  }

  entries(): IterableIterator<[string, T]> {
    return this.#entries.entries();
  }

  /** Throws `rate_limited` or `unavailable` where no more fit; the key's own longest idle one goes first. */
  add(id: string, principal: string, make: () => T): T {
    this.#makeRoom(principal);
    const entry = make();
    this.#entries.set(id, entry);
    this.#sweeper ??= setInterval(() => this.#sweep(), this.#options.sweepMs).unref();
    return entry;
  }

  async end(id: string, reason: unknown): Promise<void> {
    const entry = this.#entries.get(id);
    this.#entries.delete(id);
    if (this.#entries.size === 0) {
      clearInterval(this.#sweeper);
      this.#sweeper = undefined;
    }
    if (entry === undefined) return;
    const { log, words } = this.#options;
    const ending = entry
      .close(reason)
      .catch((error: unknown) => log.warn({ err: error }, `one of the ${words.many} could not be ended`))
      .finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
    await ending;
  }

  async endAll(reason: unknown): Promise<void> {
    await Promise.all([...this.#entries.keys()].map((id) => this.end(id, reason)));
    await Promise.all(this.#ending);
  }

  #makeRoom(principal: string): void {
    const { most, mostOfKey, words } = this.#options;
    const own = [...this.#entries].filter(([, entry]) => entry.principal === principal);
    if (own.length < mostOfKey && this.#entries.size < most) return;
    const [oldest] = own.filter(([, entry]) => entry.isIdle).toSorted(([, a], [, b]) => a.usedAt - b.usedAt);
    if (oldest !== undefined) {
      void this.end(oldest[0], clientLeft());
      return;
    }
    throw new GatewayError(
      own.length >= mostOfKey ? 'rate_limited' : 'unavailable',
      `No more ${words.many} fit (${own.length} of this key are in use). ${words.remedy}, or try again later.`,
      { retryable: true, retryAfter: 30 },
    );
  }

  #sweep(): void {
    const now = performance.now();
    for (const [id, entry] of this.#entries) {
      if (entry.isIdle && now - entry.usedAt >= this.#options.idleMs) void this.end(id, clientLeft());
    }
  }
}

export function clientLeft(): DOMException {
  return new DOMException('The client ended its session.', 'AbortError');
}
