/** What the rooms of sessions share. */
import type { Store } from '../store/store.js';
import type { SessionEvent } from './sessions.js';

export type SessionsStore = Pick<
  Store,
  'sessions' | 'transcripts' | 'index' | 'toolCalls' | 'answers' | 'leases'
>;

export interface SessionsLog {
  warn(facts: object, message: string): void;
}

export interface SessionParts {
  store: SessionsStore;
  log: SessionsLog;
  ttlMs: number;
  toolTimeoutMs: number;
  onToolTimeout: 'hibernate' | 'fail';
  now: () => number;
  /** The author of results that the gateway recorded instead of the client. */
  node: string;
  /** This node among others; undefined for a gateway on its own. */
  place: SessionPlace | undefined;
  emit(event: SessionEvent): void;
}

/** Sessions work in folders, and nodes need not have the same. */
export interface SessionPlace {
  node: string;
  /** Other nodes have the folder too, at the same path. */
  shares(root: string): boolean;
}

/** Every bound of sessions. */
export const LIMITS = {
  /** A lease that is not renewed lapses after this. */
  leaseMs: 30_000,
  /** Renewals in the time of a lease. */
  beatsPerLease: 3,
  /** Transcripts in memory between turns. */
  heldTranscriptBytes: 32 * 1024 * 1024,
  /** Answers that are about to be delivered; of more, the session is read again. */
  dueAnswers: 1_000,
  /** Ids of messages said into running turns that a session remembers. */
  steered: 64,
  titleChars: 80,
  /** Sessions, the newest ones, whose titles the title of a fork differs from. */
  forkTitles: 500,
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
