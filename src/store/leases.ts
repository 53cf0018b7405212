/**
 * Ownership. Who holds a lease may act on what it names until the lease lapses; who takes over
 * gets a higher token, and writes that carry an older token are refused (`fenced`).
 */

export interface Lease {
  /** What is owned: `sessionLease(id)`, `answerLease(principal, key)` … */
  name: string;
  /** The node; other nodes forward to it. */
  owner: string;
  /** Grows with every grant of any lease and is never given twice. */
  token: number;
  until: number;
}

export type Grant =
  | { granted: true; lease: Lease }
  /** Held: by another node, or by another request of this one. */
  | { granted: false; owner: string; until: number };

export interface LeaseStore {
  /** Granted when it is free or has expired. Not re-entrant. */
  acquire(name: string, owner: string, ttlMs: number): Promise<Grant>;
  /** One heartbeat for everything `owner` holds. A lease that is not in the answer was lost. */
  renew(owner: string, ttlMs: number): Promise<Lease[]>;
  /** False when it was no longer held. */
  release(lease: Lease): Promise<boolean>;
  /** The holders of these leases; free ones are left out. */
  holders(names: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** The holders of all sessions that are held, by session. */
  heldSessions(): Promise<ReadonlyMap<string, string>>;
  /** For a node that starts again under its old name: what its former process held is free at once. */
  releaseAll(owner: string): Promise<number>;
}

/** The names of the leases of sessions are from this one on, up to the other. */
export const SESSION_LEASES = { prefix: 'session:', end: 'session;' } as const;

export function sessionLease(sessionId: string): string {
  return SESSION_LEASES.prefix + sessionId;
}

/** Held while the answer to an idempotent request is being made. */
export function answerLease(principal: string, key: string): string {
  return `answer:${JSON.stringify([principal, key])}`;
}
