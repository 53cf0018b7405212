import { useSyncExternalStore } from 'react';
import { useLanguage } from '../text/language.js';
import { formatRelative, formatTime, type Moment } from './format.js';

export interface TimeProps {
  at: Moment;
  /** "5 min ago", kept up to date; else the time itself. The other of both is in its title. */
  relative?: boolean | undefined;
}

export function Time({ at, relative = false }: TimeProps) {
  useLanguage();
  const now = useNow(relative);
  const date = new Date(at);
  const machine = Number.isNaN(date.getTime()) ? undefined : date.toISOString();
  return (
    <time dateTime={machine} title={formatTime(at, 'full')} className="whitespace-nowrap">
      {relative ? formatRelative(at, now) : formatTime(at)}
    </time>
  );
}

const EVERY_MS = 15_000;
const listeners = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

/** One clock for all of them. */
function useNow(wanted: boolean): number {
  return useSyncExternalStore(
    wanted ? watchClock : () => () => {},
    () => (wanted ? now : 0),
    () => 0,
  );
}

function watchClock(listener: () => void): () => void {
  listeners.add(listener);
  now = Date.now();
  timer ??= setInterval(() => {
    now = Date.now();
    for (const each of listeners) each();
  }, EVERY_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}
