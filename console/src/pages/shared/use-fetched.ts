/** Something of the gateway that a page shows, fetched again when it changes. */
import { useCallback, useEffect, useRef, useState } from 'react';
import { get } from '../../data/api.js';
import { type Refresher, startRefresher } from './refresher.js';

interface Fetched<T> {
  /** The newest answer; stays while it is fetched again. */
  data: T | undefined;
  /** Of the last try. */
  error: Error | undefined;
  /** Nothing is there yet. */
  loading: boolean;
  reload(): void;
}

interface State<T> {
  path: string | undefined;
  data: T | undefined;
  error: Error | undefined;
}

/** Changes come in bursts. */
const SETTLE_MS = 250;

/** `change` is any number that becomes another when the answer may have. Nothing is fetched without a path. */
export function useFetched<T>(path: string | undefined, change = 0): Fetched<T> {
  const [state, setState] = useState<State<T>>({ path, data: undefined, error: undefined });
  const refresher = useRef<Refresher>(undefined);

  useEffect(() => {
    if (path === undefined) return;
    const started = startRefresher(
      (signal) =>
        get<T>(path, signal).then(
          (data) => {
            if (!signal.aborted) setState({ path, data, error: undefined });
          },
          (error: unknown) => {
            if (signal.aborted) return;
            setState((before) => ({
              path,
              data: before.path === path ? before.data : undefined,
              error: error instanceof Error ? error : new Error(String(error)),
            }));
          },
        ),
      SETTLE_MS,
    );
    refresher.current = started;
    return () => started.stop();
  }, [path]);

  useChange(change, refresher);
  const reload = useCallback(() => refresher.current?.soon(), []);
  const current = state.path === path ? state : undefined;
  return {
    data: current?.data,
    error: current?.error,
    loading: path !== undefined && current?.data === undefined && current?.error === undefined,
    reload,
  };
}

/** Triggers another run when the number changes, but not for its first value. */
export function useChange(change: number, refresher: { readonly current: Refresher | undefined }): void {
  const seen = useRef(change);
  useEffect(() => {
    if (seen.current === change) return;
    seen.current = change;
    refresher.current?.soon();
  }, [change, refresher]);
}
