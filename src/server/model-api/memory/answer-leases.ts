/** Of the processes that share a store, one answers a request. A process that died holds nothing. */
import { setTimeout as delay } from 'node:timers/promises';
import { HeldElsewhere } from '../../../core/elsewhere.js';
import type { Log } from '../../../observability/log.js';
import { isGone, ownerOfThisProcess } from '../../../sessions/persistence/lease-keeper.js';
import type { Lease, LeaseStore } from '../../../store/leases.js';

const LEASE_MS = 30_000;
export const BEAT_MS = LEASE_MS / 3;
/** How often another process's answer is looked for. */
const LOOK_MS = 250;

const answeredElsewhere = (owner: string) =>
  new HeldElsewhere(
    'Idempotency-Key: another gateway process is answering this request. Send it again in half a minute.',
    { at: { owner }, param: 'Idempotency-Key', retryable: true },
  );

interface Held {
  /** Undefined where another process has taken it. */
  lease: Lease | undefined;
}

export class AnswerLeases {
  readonly #leases: LeaseStore;
  readonly #log: Pick<Log, 'warn'>;
  /** Apart from the sessions' own, whose heartbeat has another measure. */
  readonly #owner: string;
  readonly #isNode: boolean;
  readonly #held = new Set<Held>();
  /** The store could not be told of their end. A renewal is for all that this process holds, so it would keep them. */
  readonly #unreleased = new Set<Lease>();
  #beat: NodeJS.Timeout | undefined;
  #renewing = false;

  constructor(leases: LeaseStore, log: Pick<Log, 'warn'>, node: string | undefined) {
    this.#leases = leases;
    this.#log = log;
    this.#isNode = node !== undefined;
    this.#owner = `${node ?? ownerOfThisProcess()}/answers`;
  }

  /** Waits while another process holds it. Rejects with the signal's reason, and with HeldElsewhere among nodes. */
  async hold(name: string, signal: AbortSignal): Promise<{ release(): Promise<void> }> {
    for (;;) {
      signal.throwIfAborted();
      const grant = await this.#leases.acquire(name, this.#owner, LEASE_MS);
      if (grant.granted) return this.#holding(grant.lease);
      if (isGone(grant.owner)) await this.#leases.releaseAll(grant.owner);
      else if (this.#isNode && grant.owner !== this.#owner) throw answeredElsewhere(grant.owner);
      else await delay(LOOK_MS, undefined, { signal }).catch(() => {});
    }
  }

  #holding(lease: Lease): { release(): Promise<void> } {
    const held: Held = { lease };
    this.#held.add(held);
    this.#beat ??= setInterval(() => void this.#renew(), BEAT_MS).unref();
    return {
      release: async () => {
        this.#held.delete(held);
        if (this.#held.size === 0) {
          clearInterval(this.#beat);
          this.#beat = undefined;
        }
        if (held.lease !== undefined) await this.#release(held.lease);
      },
    };
  }

  /** Never rejects: the store may be closed by now, and then the lease ends with the process. */
  async #release(lease: Lease): Promise<void> {
    try {
      await this.#leases.release(lease);
      this.#unreleased.delete(lease);
    } catch {
      this.#unreleased.add(lease);
    }
  }

  async #renew(): Promise<void> {
    // The store has not answered the beat before.
    if (this.#renewing) return;
    this.#renewing = true;
    const before = [...this.#held];
    try {
      for (const lease of [...this.#unreleased]) await this.#release(lease);
      const renewed = await this.#leases.renew(this.#owner, LEASE_MS);
      const tokens = new Set(renewed.map(({ token }) => token));
      for (const held of before) {
        if (held.lease !== undefined && !tokens.has(held.lease.token)) await this.#retake(held, held.lease);
      }
    } catch (error) {
      this.#log.warn({ err: error }, 'leases of answers could not be renewed');
    } finally {
      this.#renewing = false;
    }
  }

  /** The lease expired while the store could not be reached, and another process may have it by now. */
  async #retake(held: Held, lost: Lease): Promise<void> {
    if (!this.#held.has(held)) return;
    const grant = await this.#leases.acquire(lost.name, this.#owner, LEASE_MS);
    if (!grant.granted) {
      held.lease = undefined;
      // Its readers have a part of this answer already, so it goes on; of two answers the first is kept.
      this.#log.warn({ owner: grant.owner }, 'a request with an Idempotency-Key is answered twice');
    } else if (this.#held.has(held)) held.lease = grant.lease;
    else await this.#release(grant.lease);
  }
}
