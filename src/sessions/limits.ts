/** Every bound of sessions. */
export const LIMITS = {
  /** A lease that is not renewed lapses after this. */
  leaseMs: 30_000,
  /** Renewals in the time of a lease. */
  beatsPerLease: 3,
  titleChars: 80,
  /** How long `stop` waits for the turn to end. */
  stopMs: 10_000,
  /** Sessions with the same request or history that are considered. */
  candidates: 16,
  /** Messages from the end of a request after which a broken first turn is looked for. */
  unansweredRequests: 16,
  /** Fingerprints of one position that are stored. */
  fingerprints: 32,
  /** Attempts to match a request while others change its session. */
  rereads: 5,
  /** `setTimeout` takes no more. */
  timerMs: 2 ** 31 - 1,
} as const;
