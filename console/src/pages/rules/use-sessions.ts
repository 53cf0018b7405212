/** Sessions that a rule could be for, and the folders that they work in. */
import { useMemo } from 'react';
import type { SessionWire } from '../../../../src/server/console-api/wire/sessions.js';
import { useFetched } from '../shared/use-fetched.js';

const SHOWN = 100;

export interface KnownSessions {
  sessions: readonly SessionWire[];
  folders: readonly string[];
}

export function useSessions(wanted: boolean): KnownSessions {
  const { data } = useFetched<{ data: SessionWire[] }>(wanted ? `/api/sessions?limit=${SHOWN}` : undefined);
  return useMemo(() => {
    const sessions = data?.data ?? [];
    const folders = sessions.flatMap(({ root }) => (root === null || root === undefined ? [] : [root]));
    return { sessions, folders: [...new Set(folders)].toSorted() };
  }, [data]);
}
