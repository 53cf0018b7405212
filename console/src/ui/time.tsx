import { useLanguage } from '../text/language.js';
import { clockEvery } from './clock.js';
import { formatRelative, formatTime, type Moment } from './format.js';

const useNow = clockEvery(15_000);

interface TimeProps {
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
