/** What was said, append only. Written through `sessions.checkpoint`. */

/** The conversation itself; sub-agents and an engine's own records have channels beside it. */
export const MAIN_CHANNEL = 'main';

export interface TranscriptAppend {
  /** `MAIN_CHANNEL` when left out. */
  channel?: string;
  /** Where the writer believes the channel ends (0: empty); checked when given. */
  after?: number;
  entries: readonly NewTranscriptEntry[];
}

export interface NewTranscriptEntry {
  /** An entry whose uuid is in the channel already is skipped: engines repeat a batch they are unsure of. */
  uuid: string;
  /** JSON, kept exactly. */
  message: unknown;
  /** Notes for people (timing, tool activity); JSON, redacted. */
  meta?: unknown;
}

export interface TranscriptEntry extends NewTranscriptEntry {
  /** Dense from 1 in each channel. */
  seq: number;
  at: number;
}

export interface TranscriptRange {
  channel?: string;
  /** Entries with a higher seq than this. */
  after?: number;
  limit?: number;
}

export interface TranscriptStore {
  /** In order; empty for a session that is not there. */
  read(session: string, range?: TranscriptRange): Promise<TranscriptEntry[]>;
  channels(session: string): Promise<string[]>;
}
