/** Who can answer questions now: open connections, and for a while every look at the list. Nodes share it in the store. */
import { randomUUID } from 'node:crypto';
import type { PresenceStore, Present } from '../../store/presence.js';
import type { PermissionLog } from './rule-cache.js';

/** Clients poll more often than this. */
const SEEN_MS = 60_000;
/** Presence expires unless it is renewed, so that of a killed node nothing stays. */
const RENEW_MS = 10_000;
const HOLDS_MS = 30_000;

interface PresenceOptions {
  now: () => number;
  /** Presence on all nodes; undefined where there is one. */
  shared: PresenceStore | undefined;
  log: PermissionLog;
}

export class Presence {
  readonly #options: PresenceOptions;
  readonly #node = randomUUID();
  /** Null: for everyone, as an administrator or the person at the terminal. */
  readonly #present = new Map<string | null, number>();
  readonly #seenAt = new Map<string | null, number>();
  #timer: NodeJS.Timeout | undefined;
  /** The names that were shared last. */
  #sharedNames = '[]';
  #sharing: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(options: PresenceOptions) {
    this.#options = options;
  }

  /** Until the returned function is called; calling it again does nothing. */
  attend(principal: string | undefined): () => void {
    const whose = principal ?? null;
    this.#present.set(whose, (this.#present.get(whose) ?? 0) + 1);
    this.#changed();
    let here = true;
    return () => {
      if (!here) return;
      here = false;
      const left = (this.#present.get(whose) ?? 0) - 1;
      if (left > 0) this.#present.set(whose, left);
      else this.#present.delete(whose);
      this.#changed();
    };
  }

  seen(principal: string | undefined): void {
    this.#seenAt.set(principal ?? null, this.#options.now());
    this.#changed();
  }

  /** Here or on another node. Rejects as the store does. */
  async isAttended(principal: string): Promise<boolean> {
    if (this.#isHere(principal) || this.#isHere(null)) return true;
    return (await this.#options.shared?.isThere(principal)) ?? false;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    clearInterval(this.#timer);
    this.#present.clear();
    this.#seenAt.clear();
    if (this.#sharedNames !== '[]') this.#share();
    await this.#sharing;
  }

  #isHere(whose: string | null): boolean {
    return this.#present.has(whose) || this.#seenFor(whose) > 0;
  }

  #seenFor(whose: string | null): number {
    const at = this.#seenAt.get(whose);
    return at === undefined ? 0 : at + SEEN_MS - this.#options.now();
  }

  #all(): Present[] {
    for (const whose of [...this.#seenAt.keys()]) if (this.#seenFor(whose) <= 0) this.#seenAt.delete(whose);
    const names = new Set([...this.#present.keys(), ...this.#seenAt.keys()]);
    return [...names].map((principal) => ({
      principal,
      forMs: Math.max(this.#present.has(principal) ? HOLDS_MS : 0, this.#seenFor(principal)),
    }));
  }

  #changed(): void {
    if (this.#options.shared === undefined || this.#closed) return;
    // Renewing a client that polls can wait for the timer.
    if (namesOf(this.#all()) === this.#sharedNames) return;
    this.#share();
    this.#timer ??= setInterval(() => {
      if (this.#sharedNames !== '[]') this.#share();
    }, RENEW_MS).unref();
  }

  #share(): void {
    const { shared, log } = this.#options;
    this.#sharedNames = namesOf(this.#all());
    this.#sharing = this.#sharing
      .then(() => shared?.put(this.#node, this.#all()))
      .catch((error: unknown) => {
        log.warn({ err: error }, 'presence could not be shared with other nodes');
      });
  }
}

function namesOf(present: readonly Present[]): string {
  return JSON.stringify(present.map(({ principal }) => principal).sort());
}
