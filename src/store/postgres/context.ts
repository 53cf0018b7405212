/** What every area of the PostgreSQL store works with. */
import type { StoreLimits } from '../limits.js';
import type { Database } from './database.js';
import type { Notifier } from './notifier.js';

export interface Context {
  database: Database;
  /** Woken after what other nodes hear of is written. */
  notifier: Notifier;
  now: () => number;
  /** Null: leases go by the clock of the database, which all nodes share. Otherwise a test's own. */
  leaseNow: () => number | null;
  redact: (text: string) => string;
  /** See `StoreOptions`. */
  isClean: (utf8: Uint8Array) => boolean;
  limits: StoreLimits;
  onError: (error: unknown) => void;
}
