/** How much is kept, and how it is written. One table; `StoreOptions.limits` overrides single figures. */

const SECOND = 1000;
const HOUR = 3600 * SECOND;
const DAY = 24 * HOUR;
const MIB = 1024 * 1024;

/** Sizes are counted in characters of the stored text, compressed bytes for trace payloads. */
const STORE_LIMITS = {
  /** Past its time a session still answers "expired" instead of "unknown" for `graceMs`. */
  sessions: { graceMs: HOUR, maxRows: 20_000, maxBytes: 2048 * MIB },
  /** Of keys; rows that say whose something is are kept until they expire. */
  answers: { maxRows: 100_000, maxBytes: 512 * MIB },
  /** Decided ones; one that waits is never pruned. */
  approvals: { maxAgeMs: 30 * DAY, maxRows: 50_000 },
  /** Rules of sessions that the store does not hold. */
  rules: { maxAgeMs: 30 * DAY },
  audit: { maxAgeMs: 365 * DAY, maxRows: 500_000, maxBytes: 256 * MIB },
  traces: { maxAgeMs: 7 * DAY, maxRows: 20_000, maxBytes: 256 * MIB },
  /** What was learned is tried again some day: upstreams change. */
  quirks: { maxAgeMs: 90 * DAY, maxRows: 10_000 },
  /** Budgets count what is younger than `budgetMs` (a month): it stays, however many rows there are. */
  usage: { maxAgeMs: 400 * DAY, maxRows: 1_000_000, budgetMs: 31 * DAY },
  leases: { maxAgeMs: HOUR },
  /** What other nodes hear of; one that has been away for longer has missed some of it. */
  changes: { maxAgeMs: HOUR, maxRows: 100_000 },
  /** Turns that never reached a session and were not resumed. */
  runs: { maxAgeMs: 7 * DAY },
  /** Each says itself when its time is over. */
  signIns: { maxRows: 1000 },
  /** Revoked ones. */
  keys: { maxRows: 10_000 },
  /** Messages that were sent, given up or dropped. */
  outbox: { maxAgeMs: 7 * DAY, maxRows: 20_000 },
  /** What was said, as far as one answer looks through it, once for each word; its next page continues after it. */
  search: { maxBytes: 64 * MIB },
  buffer: { delayMs: SECOND, flushRows: 200, maxRows: 10_000, maxPayloadBytes: 32 * MIB },
  /** The other process that holds the write lock is waited for this long, without blocking. */
  lockWaitMs: 5 * SECOND,
  /** A database server that is not there at the start is waited for this long. */
  startWaitMs: 30 * SECOND,
};

export type StoreLimits = typeof STORE_LIMITS;

export type LimitOverrides = {
  [Area in keyof StoreLimits]?: StoreLimits[Area] extends number ? number : Partial<StoreLimits[Area]>;
};

export function resolveLimits(overrides: LimitOverrides = {}): StoreLimits {
  return {
    sessions: { ...STORE_LIMITS.sessions, ...overrides.sessions },
    answers: { ...STORE_LIMITS.answers, ...overrides.answers },
    approvals: { ...STORE_LIMITS.approvals, ...overrides.approvals },
    rules: { ...STORE_LIMITS.rules, ...overrides.rules },
    audit: { ...STORE_LIMITS.audit, ...overrides.audit },
    traces: { ...STORE_LIMITS.traces, ...overrides.traces },
    quirks: { ...STORE_LIMITS.quirks, ...overrides.quirks },
    usage: { ...STORE_LIMITS.usage, ...overrides.usage },
    leases: { ...STORE_LIMITS.leases, ...overrides.leases },
    changes: { ...STORE_LIMITS.changes, ...overrides.changes },
    runs: { ...STORE_LIMITS.runs, ...overrides.runs },
    signIns: { ...STORE_LIMITS.signIns, ...overrides.signIns },
    keys: { ...STORE_LIMITS.keys, ...overrides.keys },
    outbox: { ...STORE_LIMITS.outbox, ...overrides.outbox },
    search: { ...STORE_LIMITS.search, ...overrides.search },
    buffer: { ...STORE_LIMITS.buffer, ...overrides.buffer },
    lockWaitMs: overrides.lockWaitMs ?? STORE_LIMITS.lockWaitMs,
    startWaitMs: overrides.startWaitMs ?? STORE_LIMITS.startWaitMs,
  };
}
