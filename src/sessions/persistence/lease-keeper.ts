/** Who may use a session: between processes the holder of its lease, inside one the mutex of its id. */
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { type Grant, type Lease, type LeaseStore, sessionLease } from '../../store/leases.js';
import type { Claim, ClaimOutcome, SessionStore } from '../../store/sessions.js';
import { LIMITS, type SessionsLog } from '../session-parts.js';

interface LeaseKeeperOptions {
  leases: LeaseStore;
  sessions: Pick<SessionStore, 'claim'>;
  owner: string;
  leaseMs: number;
  /** Time to live of an unused session. */
  ttlMs: number;
  log: SessionsLog;
  /** With each heartbeat. */
  onBeat(): Promise<unknown>;
}

interface HeldLease {
  /** By `performance.now()`, counted from before it was asked for: another node may have it then. */
  ends: number;
  onLost: (() => void) | undefined;
}

/**
 * The leases that this process holds, each for a turn or a single step, renewed by one heartbeat. While
 * the store cannot be reached they count as lost before they end: nothing is acted on without one.
 */
export class LeaseKeeper {
  readonly #options: LeaseKeeperOptions;
  readonly #held = new Map<Lease, HeldLease>();
  readonly #pauseMs: number;
  readonly #heartbeat: NodeJS.Timeout;
  #renewing = false;

  constructor(options: LeaseKeeperOptions) {
    this.#options = options;
    const { leaseMs, ttlMs } = options;
    this.#pauseMs = Math.min(leaseMs, ttlMs) / LIMITS.beatsPerLease;
    this.#heartbeat = setInterval(() => void this.#beat(), this.#pauseMs).unref();
  }

  /** Takes over the leases of a dead process of this machine. */
  async acquire(session: string, onLost?: () => void): Promise<Grant> {
    const { leases, owner, leaseMs } = this.#options;
    const name = sessionLease(session);
    const ends = performance.now() + leaseMs;
    let grant = await leases.acquire(name, owner, leaseMs);
    if (!grant.granted && isGone(grant.owner)) {
      await leases.releaseAll(grant.owner);
      grant = await leases.acquire(name, owner, leaseMs);
    }
    if (grant.granted) this.#held.set(grant.lease, { ends, onLost });
    return grant;
  }

  /** Like `acquire`, with the first step under the lease in the same write. */
  async claim(
    session: string,
    metadata: Claim['metadata'],
    step: Parameters<SessionStore['claim']>[2],
    onLost: () => void,
  ): Promise<ClaimOutcome> {
    const { leases, sessions, owner, leaseMs } = this.#options;
    const claim = { owner, ttlMs: leaseMs, metadata };
    const ends = performance.now() + leaseMs;
    let outcome = await sessions.claim(session, claim, step);
    if (!outcome.ok && outcome.reason === 'held' && isGone(outcome.owner)) {
      await leases.releaseAll(outcome.owner);
      outcome = await sessions.claim(session, claim, step);
    }
    if (outcome.ok) this.#held.set(outcome.lease, { ends, onLost });
    return outcome;
  }

  /** The last write under the lease has released it. */
  released(lease: Lease): void {
    this.#held.delete(lease);
  }

  /** Held by this process itself. */
  isOwn({ owner }: { owner: string }): boolean {
    return owner === this.#options.owner;
  }

  /** Never rejects: a lease that is not released expires. */
  async release(lease: Lease): Promise<void> {
    if (!this.#held.delete(lease)) return;
    try {
      await this.#options.leases.release(lease);
    } catch (error) {
      this.#options.log.warn({ err: error, lease: lease.name }, 'a lease could not be released');
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#heartbeat);
    await Promise.all([...this.#held.keys()].map((lease) => this.release(lease)));
  }

  async #beat(): Promise<void> {
    const held = [...this.#held.keys()];
    if (held.length === 0) return;
    // The store has not answered the beat before.
    if (this.#renewing) return this.#loseEnding();
    const { leases, owner, leaseMs, log } = this.#options;
    const ends = performance.now() + leaseMs;
    this.#renewing = true;
    try {
      const renewed = new Set((await leases.renew(owner, leaseMs)).map(({ token }) => token));
      for (const lease of held) {
        const own = this.#held.get(lease);
        if (!renewed.has(lease.token)) this.#lose(lease);
        else if (own !== undefined) own.ends = ends;
      }
      this.#renewing = false;
      await this.#options.onBeat();
    } catch (error) {
      log.warn({ err: error }, 'leases could not be renewed');
      this.#loseEnding();
    } finally {
      this.#renewing = false;
    }
  }

  /** Those that end before the next beat. */
  #loseEnding(): void {
    const next = performance.now() + this.#pauseMs;
    for (const [lease, { ends }] of this.#held) if (ends <= next) this.#lose(lease);
  }

  #lose(lease: Lease): void {
    const own = this.#held.get(lease);
    if (this.#held.delete(lease)) own?.onLost?.();
  }
}

/** Runs one task at a time for each name, in the order of the calls. */
export class Mutex {
  readonly #tails = new Map<string, Promise<unknown>>();

  async run<T>(name: string, work: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(name);
    const mine = before === undefined ? work() : before.then(work, work);
    const tail = mine.catch(() => undefined);
    this.#tails.set(name, tail);
    try {
      return await mine;
    } finally {
      if (this.#tails.get(name) === tail) this.#tails.delete(name);
    }
  }
}

/**
 * The owner of a lease: one process of one machine. Process ids are reused, so the owner includes
 * the start time of the process.
 */
export function ownerOfThisProcess(): string {
  return ownerOf(process.pid);
}

export function ownerOf(pid: number): string {
  return `${host()}/${pid}/${startTimeOf(pid) ?? ''}`;
}

/** True for a process of this machine that has exited. False for an unknown state. */
export function isGone(owner: string): boolean {
  const [where, id = '', started = ''] = owner.split('/');
  const pid = Number(id);
  if (where !== host() || !Number.isSafeInteger(pid) || pid <= 0) return false;
  if (!isThere(pid)) return true;
  const now = startTimeOf(pid);
  return started !== '' && now !== undefined && now !== started;
}

/** The owner that a process of this machine writes when it stops in order. */
export const RELEASED = `${encodeURIComponent(hostname())}/released`;

/** A process that starts on the machine of an exited owner is its successor. */
export function mayTakeOver(owner: string): boolean {
  return owner === RELEASED || isGone(owner);
}

const host = (): string => encodeURIComponent(hostname());

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: the process exists and belongs to another user.
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}

/** Clock ticks from the start of the machine; undefined where there is no /proc. */
function startTimeOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name, in parentheses, may hold anything. After it the state is field 3, the start time 22.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // A zombie runs nothing: it waits for its parent to reap it.
    return fields[0] === 'Z' ? 'gone' : fields[19];
  } catch {
    return undefined;
  }
}
