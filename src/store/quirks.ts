/** What an upstream's own errors taught us. */

export interface LearnedQuirk {
  upstream: string;
  /** The upstream's own model name. */
  model: string;
  key: string;
  /** JSON. */
  value: unknown;
  /** The error it was learned from; redacted. */
  evidence: string;
  learnedAt: number;
}

export interface QuirkStore {
  /** The latest lesson for an upstream, model and key replaces the one before. */
  put(quirk: Omit<LearnedQuirk, 'learnedAt'>): Promise<void>;
  /** All of them: they are few, are loaded at start and shown by `doctor`. */
  list(): Promise<LearnedQuirk[]>;
}
