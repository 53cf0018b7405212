/**
 * Sends what is in the outbox: claims what is due, a few messages at a time and fewer of one target, so that one
 * that hangs keeps nobody else waiting. Nothing in the gateway waits for it.
 */
import type { Delivery, DeliveryResult, OutboxStore } from '../../store/outbox.js';
import { FetchProblem } from '../../transport/guarded-fetch/fetch-problem.js';
import { SendProblem } from '../adapters/adapter.js';

export interface SenderOptions {
  outbox: OutboxStore;
  /** This process: claims are in its name. */
  owner: string;
  /** Resolves with what the provider calls it, or with why nobody needs it. Rejects where it was not taken. */
  send(delivery: Delivery, signal: AbortSignal): Promise<{ reference?: unknown } | { dropped: string }>;
  now: () => number;
  log: SenderLog;
  /** Between 0 and 1. */
  random?: () => number;
}

export interface SenderLog {
  warn(facts: object, message: string): void;
}

export const SENDING = {
  /** In flight, in all and for one target. */
  most: 16,
  mostOfTarget: 4,
  /** Longer than any attempt takes. */
  leaseMs: 60_000,
  /** 5 s, 10 s, 20 s … with jitter, for three to four hours in all. */
  firstPauseMs: 5000,
  longestPauseMs: 3_600_000,
  attempts: 12,
  /** Another node may have put something there. */
  pollMs: 15_000,
  leastPollMs: 10,
} as const;

export class OutboxSender {
  readonly #options: SenderOptions;
  /** How many of each target are in flight. */
  readonly #inFlight = new Map<string, number>();
  readonly #running = new Set<Promise<void>>();
  readonly #stop = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #again = false;

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  /** Something is new, or has ended. */
  wake(): void {
    if (this.#stop.signal.aborted) return;
    this.#again = true;
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
  }

  /** What is being sent is cut off, and another node or the next start sends it again. */
  async close(): Promise<void> {
    this.#stop.abort();
    clearTimeout(this.#timer);
    await this.#looking;
    await Promise.all(this.#running);
    await this.#options.outbox.release(this.#options.owner).catch(() => {});
  }

  async #look(): Promise<void> {
    const { outbox, now, log } = this.#options;
    let next: number | undefined;
    try {
      while (this.#again && !this.#stop.signal.aborted) {
        this.#again = false;
        await this.#claim();
        next = await outbox.nextDue(this.#full());
      }
    } catch (error) {
      log.warn({ err: error }, 'the outbox could not be read; it is tried again');
    }
    if (this.#stop.signal.aborted) return;
    const wait = Math.min(
      SENDING.pollMs,
      Math.max(SENDING.leastPollMs, (next ?? Number.POSITIVE_INFINITY) - now()),
    );
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.wake(), wait).unref();
  }

  async #claim(): Promise<void> {
    const { outbox, owner } = this.#options;
    for (;;) {
      const room = SENDING.most - this.#running.size;
      if (room <= 0 || this.#stop.signal.aborted) return;
      const { leaseMs } = SENDING;
      // One at a time once a target is near its limit would be exact; one claim may go over it by its own size.
      const limit = Math.min(room, SENDING.mostOfTarget);
      const claimed = await outbox.claim({ owner, leaseMs, limit, except: this.#full() });
      if (claimed.length === 0) return;
      for (const delivery of claimed) this.#begin(delivery);
    }
  }

  #full(): string[] {
    return [...this.#inFlight].flatMap(([target, n]) => (n >= SENDING.mostOfTarget ? [target] : []));
  }

  #begin(delivery: Delivery): void {
    const { target } = delivery;
    this.#inFlight.set(target, (this.#inFlight.get(target) ?? 0) + 1);
    const running = this.#deliver(delivery).finally(() => {
      this.#running.delete(running);
      const left = (this.#inFlight.get(target) ?? 1) - 1;
      if (left > 0) this.#inFlight.set(target, left);
      else this.#inFlight.delete(target);
      this.wake();
    });
    this.#running.add(running);
  }

  async #deliver(delivery: Delivery): Promise<void> {
    const { outbox, owner, log } = this.#options;
    const { id, target, event } = delivery;
    const result = await this.#attempt(delivery);
    if (this.#stop.signal.aborted && result.state !== 'sent') return;
    if (result.state === 'failed')
      log.warn({ id, target, event, error: result.error }, 'a message was given up');
    try {
      await outbox.settle(id, owner, result);
    } catch (error) {
      // It is sent once more when the claim is over, under the same id.
      log.warn({ err: error, id, target }, 'the outcome of a message could not be stored');
    }
  }

  async #attempt(delivery: Delivery): Promise<DeliveryResult> {
    try {
      const sent = await this.#options.send(delivery, this.#stop.signal);
      return 'dropped' in sent ? { state: 'dropped', error: sent.dropped } : { state: 'sent', ...sent };
    } catch (error) {
      return this.#failure(delivery, error);
    }
  }

  #failure({ attempts }: Delivery, cause: unknown): DeliveryResult {
    const { now, random = Math.random, log } = this.#options;
    const isKnown = cause instanceof SendProblem || cause instanceof FetchProblem;
    if (!isKnown) log.warn({ err: cause }, 'a message could not be sent');
    const error = isKnown ? cause.message : 'The message could not be sent; the log says why.';
    const again =
      cause instanceof SendProblem
        ? cause.again
        : !(cause instanceof FetchProblem && cause.kind === 'refused');
    if (again === false || attempts >= SENDING.attempts) return { state: 'failed', error };
    const doubled = SENDING.firstPauseMs * 2 ** (attempts - 1);
    const least = typeof again === 'number' ? again : 0;
    const pause = Math.min(SENDING.longestPauseMs, Math.max(least, doubled * (0.5 + random() / 2)));
    return { state: 'waiting', dueAt: now() + pause, error };
  }
}
