/** Every bound of sessions. */
export const LIMITS = {
  /** A lease that is not renewed lapses after this. */
  leaseMs: 30_000,
  /** Renewals in the time of a lease. */
  beatsPerLease: 3,
  titleChars: 80,
  /** A turn that is stopped is waited for so long. */
  stopMs: 10_000,
  /** Sessions with the same request or the same history that are looked at. */
  candidates: 16,
  /** Messages from the end of a request behind which a turn is looked for that broke off. */
  tails: 16,
  /** Tellings of one point of a conversation that are remembered. */
  fingerprints: 32,
  /** A session that another process changed meanwhile is read again so often. */
  rereads: 5,
  /** `setTimeout` takes no more. */
  timerMs: 2 ** 31 - 1,
} as const;
