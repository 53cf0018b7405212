/** What a session does, in one word: for the filter of the list, and for the page that shows it. */
import type { SessionWire } from './sessions.js';

/** In the order in which they want attention. */
export const SESSION_STATUSES = ['waiting', 'running', 'interrupted', 'client', 'idle'] as const;

/**
 * `waiting`: for a person who allows or denies something. `client`: for the client, which has calls
 * to run. A session has the first of these that is true of it.
 */
export type SessionStatus = (typeof SESSION_STATUSES)[number];

type StatusFacts = Pick<SessionWire, 'pending_approvals' | 'running' | 'interrupted' | 'state'>;

export function sessionStatus({
  pending_approvals,
  running,
  interrupted,
  state,
}: StatusFacts): SessionStatus {
  if (pending_approvals > 0) return 'waiting';
  if (running) return 'running';
  if (interrupted) return 'interrupted';
  return state === 'parked' || state === 'hibernated' ? 'client' : 'idle';
}
