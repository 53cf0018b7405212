/** Of the processes that share a store, one answers a request. A process that died holds nothing. */
import { isGone, ownerOfThisProcess } from '../../sessions/persistence/owner.js';
import { answerLease, type Lease, type LeaseStore } from '../../store/leases.js';

const LEASE_MS = 30_000;
const BEAT_MS = LEASE_MS / 3;
/** How often another process's answer is looked for. */
const LOOK_MS = 250;

export class AnswerLeases {
  readonly #leases: LeaseStore;
  /** Apart from the sessions' own, whose heartbeat has another measure. */
  readonly #owner = `${ownerOfThisProcess()}/answers`;
  #held = 0;
  #beat: NodeJS.Timeout | undefined;

  constructor(leases: LeaseStore) {
    this.#leases = leases;
  }

  /** Waits while another process holds it. Rejects with the signal's reason. */
  async hold(principal: string, key: string, signal: AbortSignal): Promise<{ release(): Promise<void> }> {
    const name = answerLease(principal, key);
    for (;;) {
      signal.throwIfAborted();
      const grant = await this.#leases.acquire(name, this.#owner, LEASE_MS);
      if (grant.granted) return this.#holding(grant.lease);
      if (isGone(grant.owner)) await this.#leases.releaseAll(grant.owner);
      else await pause(LOOK_MS, signal);
    }
  }

  #holding(lease: Lease): { release(): Promise<void> } {
    this.#held += 1;
    this.#beat ??= setInterval(() => {
      // One that cannot be renewed lapses, and of two answers the first is kept.
      this.#leases.renew(this.#owner, LEASE_MS).catch(() => {});
    }, BEAT_MS).unref();
    return {
      release: async () => {
        this.#held -= 1;
        if (this.#held === 0) {
          clearInterval(this.#beat);
          this.#beat = undefined;
        }
        // The store may be closed by now; then the lease ends with the process.
        await this.#leases.release(lease).catch(() => false);
      },
    };
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    signal.addEventListener('abort', onAbort, { once: true });
  });
}
