/** Who is there to answer. Presence is counted; a look at the list counts for a while. Nodes say it to each other. */
import { randomUUID } from 'node:crypto';
import type { PresenceStore, Present } from '../../store/presence.js';
import type { PermissionLog } from './rule-cache.js';

/** Clients that poll do so well within this. */
const SEEN_MS = 60_000;
/** Somebody who is there is said to be so again and again: a node that was killed says it no more. */
const RENEW_MS = 10_000;
const HOLDS_MS = 30_000;

interface PresenceOptions {
  now: () => number;
  /** What other nodes are told, and say. */
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
  /** Whom the others were told of last. */
  #told = '[]';
  #telling: Promise<void> = Promise.resolve();
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
    if (this.#told !== '[]') this.#tell();
    await this.#telling;
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
    // A client that polls is no news each time.
    if (namesOf(this.#all()) === this.#told) return;
    this.#tell();
    this.#timer ??= setInterval(() => {
      if (this.#told !== '[]') this.#tell();
    }, RENEW_MS).unref();
  }

  #tell(): void {
    const { shared, log } = this.#options;
    this.#told = namesOf(this.#all());
    this.#telling = this.#telling
      .then(() => shared?.put(this.#node, this.#all()))
      .catch((error: unknown) => {
        log.warn({ err: error }, 'other nodes could not be told who is present');
      });
  }
}

function namesOf(present: readonly Present[]): string {
  return JSON.stringify(present.map(({ principal }) => principal).sort());
}
