/** The sessions of a side bar: those that are pinned, and the newest of the others. */
import { useCallback, useEffect, useMemo, useState } from 'react';
import type { SessionWire } from '../../../src/server/console-api/wire/sessions.js';
import { get } from '../data/api.js';
import { store, useConsole } from '../data/store.js';

export const RECENT_MOST = 20;
const PINNED_MOST = 50;

interface FetchedSessions {
  sessions: readonly SessionWire[];
  /** There are more than these. */
  more: boolean;
  /** What the events had said before it was asked for: the answer is newer. */
  before: ReadonlyMap<string, SessionWire | null>;
}

interface RecentSessions {
  pinned: readonly SessionWire[];
  others: readonly SessionWire[];
}

interface Recent extends RecentSessions {
  loading: boolean;
  error: Error | undefined;
  reload(): void;
}

/** Those of one key: an administrator sees everyone's on the page of sessions. */
export function useRecentSessions(key: string): Recent {
  const missed = useConsole((state) => state.missed);
  const changed = useConsole((state) => state.sessions);
  const [asked, setAsked] = useState(0);
  const [fetched, setFetched] = useState<FetchedSessions>();
  const [error, setError] = useState<Error>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: `missed` and `asked` say when to fetch again.
  useEffect(() => {
    const ended = new AbortController();
    fetchSessions(key, ended.signal).then(
      (found) => {
        setFetched(found);
        setError(undefined);
      },
      (reason: unknown) => {
        if (!ended.signal.aborted) setError(reason instanceof Error ? reason : new Error(String(reason)));
      },
    );
    return () => ended.abort();
  }, [key, missed, asked]);
  const shown = useMemo(
    () => (fetched === undefined ? { pinned: [], others: [] } : recentOf(fetched, changed, key)),
    [fetched, changed, key],
  );
  const reload = useCallback(() => setAsked((count) => count + 1), []);
  const isShort = fetched?.more === true && shown.others.length < RECENT_MOST / 2;
  useEffect(() => {
    if (isShort) reload();
  }, [isShort, reload]);
  return { ...shown, loading: fetched === undefined && error === undefined, error, reload };
}

async function fetchSessions(key: string, signal: AbortSignal): Promise<FetchedSessions> {
  const before = store.get().sessions;
  const page = (more: string) =>
    get<{ data: SessionWire[]; next: string | null }>(
      `/api/sessions?key=${encodeURIComponent(key)}&${more}`,
      signal,
    );
  const [pinned, others] = await Promise.all([
    page(`pinned=true&limit=${PINNED_MOST}`),
    page(`pinned=false&limit=${RECENT_MOST}`),
  ]);
  return { sessions: [...pinned.data, ...others.data], more: others.next !== null, before };
}

/** As fetched, with what the events have said since; the latest used first. */
export function recentOf(
  { sessions, before }: FetchedSessions,
  changed: ReadonlyMap<string, SessionWire | null>,
  key: string,
): RecentSessions {
  const now = new Map<string, SessionWire | null>(sessions.map((session) => [session.id, session]));
  for (const [id, session] of changed)
    if (before.get(id) !== session || !before.has(id)) now.set(id, session);
  const listed = [...now.values()]
    .filter((session) => session !== null)
    .filter((session) => session.key === key && !session.archived && session.state !== 'expired')
    .toSorted((a, b) => (a.updated_at < b.updated_at ? 1 : a.updated_at > b.updated_at ? -1 : 0));
  return {
    pinned: listed.filter(({ pinned }) => pinned),
    others: listed.filter(({ pinned }) => !pinned).slice(0, RECENT_MOST),
  };
}
