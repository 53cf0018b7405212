import { useEffect, useRef, useState } from 'react';
import { type ConsoleState, useConsole } from '../data/store.js';
import { useText } from '../text/language.js';
import { announce } from '../ui/announce.js';
import { classes } from '../ui/classes.js';
import { formatTime } from '../ui/format.js';
import { WarnIcon } from '../ui/icons.js';
import { strings } from './strings.js';

type Connection = ConsoleState['connection'];

const DOTS: Record<Connection, string> = {
  live: 'bg-ok',
  connecting: 'bg-warn animate-pulse motion-reduce:animate-none',
  lost: 'bg-danger',
  'signed-out': 'bg-muted',
};

/** The state of the connection as one word, in the shell of every page. */
export function ConnectionState() {
  const text = useText(strings).connection;
  const connection = useConsole((state) => state.connection);
  const words: Record<Connection, string> = {
    live: text.live,
    connecting: text.connecting,
    lost: text.lost,
    'signed-out': text.signedOut,
  };
  return (
    <span className="inline-flex items-center gap-2 text-xs text-muted" data-connection={connection}>
      <span aria-hidden="true" className={classes('h-2 w-2 shrink-0 rounded-full', DOTS[connection])} />
      {words[connection]}
    </span>
  );
}

/** A banner while the page may be out of date: since when, and what to do. */
export function ConnectionBanner() {
  const text = useText(strings).connection;
  const connection = useConsole((state) => state.connection);
  const since = useLostSince(connection);
  const announced = useRef(false);
  useEffect(() => {
    if (connection === 'lost') {
      announced.current = true;
      announce(`${text.lost}. ${text.lostHint}`);
    } else if (connection === 'live' && announced.current) {
      announced.current = false;
      announce(text.live);
    }
  }, [connection, text]);
  if (since === undefined) return null;
  return (
    <div className="flex items-start gap-2.5 border-b border-warn/40 bg-warn-soft px-4 py-2 text-sm">
      <WarnIcon className="mt-0.5 shrink-0 text-warn" />
      <p className="min-w-0">
        <strong className="font-medium text-warn">{text.lostSince(formatTime(since))}.</strong>{' '}
        {text.lostHint}
      </p>
    </div>
  );
}

/** The time of the first loss; retries in between do not reset it. */
function useLostSince(connection: Connection): number | undefined {
  const [since, setSince] = useState<number>();
  useEffect(() => {
    if (connection === 'lost') setSince((known) => known ?? Date.now());
    else if (connection !== 'connecting') setSince(undefined);
  }, [connection]);
  return since;
}
