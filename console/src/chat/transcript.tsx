/** The conversation as a list of which only what is in sight is drawn. */
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { Virtualizer } from 'virtua';
import type { ConversationView } from '../data/conversation.js';
import { useText } from '../text/language.js';
import { Button } from '../ui/button.js';
import { classes } from '../ui/classes.js';
import { ArrowDownIcon } from '../ui/icons.js';
import { Spinner } from '../ui/spinner.js';
import { useFollow } from './follow.js';
import { RowView } from './row-view.js';
import { type Row, RowMaker } from './rows.js';
import { strings } from './strings.js';

/** Earlier messages are fetched when the person comes this near to the first one. */
const EARLY_PX = 800;
/** Drawn above and below what is in sight, so that fast scrolling finds rows there. */
const BUFFER_PX = 600;

interface TranscriptProps {
  conversation: ConversationView;
  /** Grows with everything that the person says here: they want to see it. */
  sent: number;
}

export function Transcript({ conversation, sent }: TranscriptProps) {
  const text = useText(strings);
  const { parts, running, loadEarlier } = conversation;
  const maker = useRef<RowMaker>(undefined);
  maker.current ??= new RowMaker();
  const rows = maker.current.rows(parts, running);
  const { scroller, content, atEnd, toEnd } = useFollow();
  useEffect(() => {
    if (sent > 0) toEnd();
  }, [sent, toEnd]);
  const shift = usePrepended(rows);
  const earlier = useEarlier(loadEarlier);
  const news = useNews(rows, atEnd);

  const lookAhead = useCallback(() => {
    const element = scroller.current;
    if (element !== null && element.scrollTop < EARLY_PX) earlier.load();
  }, [scroller, earlier.load]);
  // The first page may be shorter than the window.
  const count = rows.length;
  useEffect(() => {
    if (count === 0) return;
    const frame = requestAnimationFrame(lookAhead);
    return () => cancelAnimationFrame(frame);
  }, [count, lookAhead]);

  const attach = useCallback(
    (element: HTMLDivElement | null) => {
      scroller.current = element;
      // What scrolls has to be reachable by keyboard, also where nothing in it takes the focus.
      if (element !== null) element.tabIndex = 0;
    },
    [scroller],
  );
  return (
    <div className="relative flex min-h-0 flex-1 flex-col">
      <section
        ref={attach}
        aria-label={text.transcript}
        aria-busy={running}
        onScroll={lookAhead}
        className="min-h-0 flex-1 overflow-x-hidden overflow-y-auto overscroll-contain [overflow-anchor:none] focus-visible:-outline-offset-2"
      >
        {/* The list takes no pointer while it scrolls, which it does all the time while an answer comes. */}
        <div ref={content} className="pb-6 *:pointer-events-auto!">
          <Virtualizer scrollRef={scroller} data={rows} shift={shift} bufferSize={BUFFER_PX}>
            {drawRow}
          </Virtualizer>
          <Working running={running} rows={rows} />
        </div>
      </section>
      <Earlier state={earlier.state} onRetry={earlier.load} />
      {!atEnd && (
        <div className="pointer-events-none absolute inset-x-0 bottom-2 flex justify-center">
          <Button
            size="small"
            variant={news ? 'primary' : 'plain'}
            className="pointer-events-auto !rounded-full shadow-md"
            icon={<ArrowDownIcon size={14} />}
            onClick={toEnd}
          >
            {news ? text.newBelow : text.toBottom}
          </Button>
        </div>
      )}
    </div>
  );
}

const drawRow = (row: Row) => <RowView key={row.key} row={row} />;

/** Something is done that shows nothing yet. */
function Working({ running, rows }: { running: boolean; rows: readonly Row[] }) {
  const text = useText(strings);
  const last = rows.at(-1);
  const shows =
    last?.kind === 'tool' || (last?.kind === 'text' && last.streaming) || last?.kind === 'thinking';
  return (
    <div className={classes('mx-auto w-full max-w-3xl px-4', (!running || shows) && 'hidden')}>
      <div className="pt-4 text-sm">
        <Spinner label={text.working} show size={14} />
      </div>
    </div>
  );
}

/** True in the one drawing in which rows came in front of those that were there. */
function usePrepended(rows: readonly Row[]): boolean {
  const before = useRef(rows);
  const first = before.current[0];
  const shift =
    before.current !== rows &&
    first !== undefined &&
    rows.length > before.current.length &&
    rows[0]?.key !== first.key &&
    rows.some(({ key }) => key === first.key);
  useLayoutEffect(() => {
    before.current = rows;
  });
  return shift;
}

type EarlierState = 'idle' | 'loading' | 'failed';

function useEarlier(loadEarlier: (() => Promise<void>) | undefined): {
  state: EarlierState;
  load: () => void;
} {
  const [state, setState] = useState<EarlierState>('idle');
  const busy = useRef(false);
  const load = useCallback(() => {
    if (loadEarlier === undefined || busy.current) return;
    busy.current = true;
    setState('loading');
    loadEarlier().then(
      () => {
        busy.current = false;
        setState('idle');
      },
      () => {
        busy.current = false;
        setState('failed');
      },
    );
  }, [loadEarlier]);
  return useMemo(() => ({ state, load }), [state, load]);
}

function Earlier({ state, onRetry }: { state: EarlierState; onRetry: () => void }) {
  const text = useText(strings);
  if (state === 'idle') return null;
  return (
    <div className="pointer-events-none absolute inset-x-0 top-2 flex justify-center">
      <div
        role="status"
        className="pointer-events-auto flex items-center gap-2 rounded-full border border-line bg-surface px-3 py-1 text-xs shadow-sm"
      >
        {state === 'loading' ? (
          <Spinner label={text.loadingEarlier} show size={12} />
        ) : (
          <>
            <span className="text-danger">{text.earlierFailed}</span>
            <Button size="small" onClick={onRetry}>
              {text.tryAgain}
            </Button>
          </>
        )}
      </div>
    </div>
  );
}

/** Whether something came since the person left the end. */
function useNews(rows: readonly Row[], atEnd: boolean): boolean {
  const last = rows.at(-1);
  const left = useRef(last);
  if (atEnd) left.current = last;
  return !atEnd && left.current !== last;
}
