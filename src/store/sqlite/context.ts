/** What every area of the SQLite store works with. */
import type { StoreLimits } from '../limits.js';
import type { Database } from './database.js';

export interface Context {
  database: Database;
  now: () => number;
  redact: (text: string) => string;
  /** See `StoreOptions`. */
  isClean: (utf8: Uint8Array) => boolean;
  limits: StoreLimits;
  onError: (error: unknown) => void;
}
