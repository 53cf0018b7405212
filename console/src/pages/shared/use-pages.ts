/** A list of the gateway that comes in pages, the newest first, and is kept up to date while it is shown. */
import { useCallback, useEffect, useRef, useState } from 'react';
import { get } from '../../data/api.js';
import { type Refresher, startRefresher } from './refresher.js';
import { useChange } from './use-fetched.js';

interface Paged<T> {
  items: readonly T[];
  error: Error | undefined;
  /** Nothing is there yet. */
  loading: boolean;
  loadingMore: boolean;
  hasMore: boolean;
  /** Of the whole list, where the gateway says it. */
  total: number | undefined;
  more(): void;
  reload(): void;
}

interface Page<T> {
  data: T[];
  next: string | null;
  total?: number | null;
}

interface State<T> {
  path: string;
  items: readonly T[];
  next: string | null;
  total: number | undefined;
  error: Error | undefined;
  loaded: boolean;
}

const PAGE = 50;
/** The most that the gateway gives at once. */
const MOST = 500;
const SETTLE_MS = 300;

/**
 * `path` has its filters, without `limit` and `cursor`. When `change` grows, what is shown is fetched
 * again as one page and put in its place at once, so that nothing jumps but what has changed.
 */
export function usePages<T>(path: string, change: number): Paged<T> {
  const [state, setState] = useState<State<T>>(() => empty(path));
  const [loadingMore, setLoadingMore] = useState(false);
  const refresher = useRef<Refresher>(undefined);
  const wanted = useRef(PAGE);
  const current = state.path === path ? state : empty<T>(path);

  useEffect(() => {
    wanted.current = PAGE;
    setLoadingMore(false);
    const fail = (error: unknown): void =>
      setState((before) => ({
        ...(before.path === path ? before : empty<T>(path)),
        error: error instanceof Error ? error : new Error(String(error)),
        loaded: true,
      }));
    const started = startRefresher(async (signal) => {
      try {
        const { items, next, total } = await fetchSome<T>(path, wanted.current, signal);
        if (!signal.aborted) setState({ path, items, next, total, error: undefined, loaded: true });
      } catch (error) {
        if (!signal.aborted) fail(error);
      }
      if (!signal.aborted) setLoadingMore(false);
    }, SETTLE_MS);
    refresher.current = started;
    return () => started.stop();
  }, [path]);

  useChange(change, refresher);
  const reload = useCallback(() => refresher.current?.soon(), []);
  const more = useCallback(() => {
    setLoadingMore(true);
    wanted.current += PAGE;
    refresher.current?.soon();
  }, []);
  return {
    items: current.items,
    error: current.error,
    loading: !current.loaded,
    loadingMore,
    hasMore: current.next !== null,
    total: current.total,
    more,
    reload,
  };
}

/** All of a list, for a file. */
export async function getAllPages<T>(path: string): Promise<T[]> {
  return (await fetchSome<T>(path, Number.POSITIVE_INFINITY)).items;
}

async function fetchSome<T>(
  path: string,
  wanted: number,
  signal?: AbortSignal,
): Promise<{ items: T[]; next: string | null; total: number | undefined }> {
  const items: T[] = [];
  let cursor: string | undefined;
  let total: number | undefined;
  for (;;) {
    const limit = String(Math.min(MOST, wanted - items.length));
    const page = await get<Page<T>>(withParameters(path, { limit, cursor }), signal);
    items.push(...page.data);
    total ??= page.total ?? undefined;
    if (page.next === null || items.length >= wanted) return { items, next: page.next, total };
    cursor = page.next;
  }
}

/** Empty values are left out. */
export function withParameters(
  path: string,
  parameters: Readonly<Record<string, string | undefined>>,
): string {
  const [base = '', query = ''] = path.split('?');
  const all = new URLSearchParams(query);
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== '') all.set(name, value);
  }
  const text = all.toString();
  return text === '' ? base : `${base}?${text}`;
}

function empty<T>(path: string): State<T> {
  return { path, items: [], next: null, total: undefined, error: undefined, loaded: false };
}
