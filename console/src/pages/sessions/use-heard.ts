/** What the events say about sessions, between two fetches of the list. */
import { useMemo } from 'react';
import type { ConsoleState } from '../../data/store.js';
import { useConsole } from '../../data/store.js';
import type { Heard } from './session-rows.js';

export function useHeard(): Heard {
  // Texts, because a turn that runs changes the state with every word, and these do not.
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
