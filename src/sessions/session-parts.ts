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
  emit(event: SessionEvent): void;
}
