/** How sessions stand now: as they were fetched, with what the events have said since. */
import { useMemo } from 'react';
import {
  type SessionStatus,
  type SessionWire,
  sessionStatus,
} from '../../../src/server/console-api/wire/sessions.js';
import { type ConsoleState, useConsole } from '../data/store.js';

/** What the events have reported since the list was fetched. */
export interface LiveSessions {
  /** Sessions with a running turn, and those with an ended one. */
  running: ReadonlySet<string>;
  ended: ReadonlySet<string>;
  /** Questions that wait, by session. */
  waiting: ReadonlyMap<string, number>;
}

export function pendingOf(session: SessionWire, { waiting }: LiveSessions): number {
  return Math.max(session.pending_approvals ?? 0, waiting.get(session.id) ?? 0);
}

export function isRunning(session: SessionWire, { running, ended }: LiveSessions): boolean {
  if (running.has(session.id)) return true;
  return session.running === true && !ended.has(session.id);
}

export function statusOf(session: SessionWire, live: LiveSessions): SessionStatus {
  return sessionStatus({
    pending_approvals: pendingOf(session, live),
    running: isRunning(session, live),
    interrupted: session.interrupted,
    state: session.state,
  });
}

/** What the events say about sessions, between two fetches of the list. */
export function useLiveSessions(): LiveSessions {
  // Strings compare by value: a running turn changes the state with every word, but not these.
  const turns = useConsole(turnsText);
  const waiting = useConsole(waitingText);
  return useMemo(() => {
    const known = split(turns);
    const counts = new Map<string, number>();
    for (const session of split(waiting)) counts.set(session, (counts.get(session) ?? 0) + 1);
    return {
      running: new Set(known.filter((each) => each.startsWith('+')).map((each) => each.slice(1))),
      ended: new Set(known.filter((each) => each.startsWith('-')).map((each) => each.slice(1))),
      waiting: counts,
    };
  }, [turns, waiting]);
}

const split = (text: string): string[] => (text === '' ? [] : text.split('\n'));

function turnsText({ turns }: ConsoleState): string {
  return [...turns.values()]
    .map(({ session, ended }) => `${ended === undefined ? '+' : '-'}${session}`)
    .join('\n');
}

function waitingText({ approvals }: ConsoleState): string {
  return [...approvals.values()]
    .filter(({ state }) => state === 'pending')
    .map(({ session }) => session)
    .join('\n');
}
