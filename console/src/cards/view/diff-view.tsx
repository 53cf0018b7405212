/** A change, line by line: signs and words say what the colours say. */
import { useMemo, useRef, useState } from 'react';
import { useText } from '../../text/language.js';
import { Button } from '../../ui/button.js';
import { classes } from '../../ui/classes.js';
import { useHighlight } from '../../ui/highlight.js';
import { usePhone } from '../../ui/use-media.js';
import { countRows, type DiffRow } from '../parse/diff-rows.js';
import { type SplitPair, splitRows } from '../parse/split-rows.js';
import { type DiffLine, DiffLineRow, PairRow } from './diff-line.js';
import { ScrollArea } from './scroll-area.js';
import { strings } from './strings.js';

/** Rows at first; a run of unchanged lines longer than `fold` is folded but for `around` at its ends. */
const SHOWN = { first: 300, more: 2_000, fold: 10, around: 3 };

type Shown = DiffRow | { kind: 'folded'; id: number; rows: readonly DiffRow[] };

interface DiffViewProps {
  rows: readonly DiffRow[];
  label: string;
  /** Numbers of lines mean nothing where the diff is of a piece of a file. */
  numbers?: boolean;
  maxHeight?: string;
  /** More may come: the end is what is looked at. */
  streaming?: boolean;
  /** Of the file, or the end of its name. */
  language?: string | undefined;
}

/** As the person looked at the last one. */
let lastSplit = false;

export function DiffView(props: DiffViewProps) {
  const { rows, label, numbers = true, maxHeight, streaming = false, language } = props;
  const text = useText(strings);
  const [wrap, setWrap] = useState(true);
  const [wantsSplit, setSplit] = useState(lastSplit);
  const isWide = !usePhone();
  const split = wantsSplit && isWide && !streaming;
  const table = useRef<HTMLTableElement>(null);
  const [wanted, setWanted] = useState(SHOWN.first);
  const [unfolded, setUnfolded] = useState<ReadonlySet<number>>(new Set());
  const count = useMemo(() => countRows(rows), [rows]);
  const all = useMemo(() => fold(rows, unfolded), [rows, unfolded]);
  const shown = streaming ? all.slice(-wanted) : all.slice(0, wanted);
  const left = all.length - shown.length;
  useHighlight(table, streaming ? undefined : language, `${all.length} ${shown.length} ${split}`);
  const drawn: (Shown | SplitPair)[] = split ? splitRows<Exclude<Shown, DiffLine>>(shown) : shown;
  if (rows.length === 0) return <p className="text-xs text-muted">{text.noChange}</p>;
  const more = left > 0 && (
    <div className="flex flex-wrap items-center gap-2 px-3 py-1.5 text-xs text-muted">
      <span>{text.moreLines(left)}</span>
      <Button size="small" onClick={() => setWanted(wanted + SHOWN.more)}>
        {text.showMore}
      </Button>
      <Button size="small" onClick={() => setWanted(Number.POSITIVE_INFINITY)}>
        {text.showAll}
      </Button>
    </div>
  );
  return (
    <div className="min-w-0">
      <div className="mb-1 flex flex-wrap items-center gap-x-3 gap-y-1 text-xs">
        <span className="font-medium text-ok">{text.linesAdded(count.added)}</span>
        <span className="font-medium text-danger">{text.linesRemoved(count.removed)}</span>
        <Button size="small" variant="ghost" aria-pressed={wrap} onClick={() => setWrap(!wrap)}>
          {wrap ? text.dontWrap : text.wrap}
        </Button>
        {isWide && !streaming && (
          <Button
            size="small"
            variant="ghost"
            aria-pressed={split}
            onClick={() => {
              lastSplit = !split;
              setSplit(!split);
            }}
          >
            {split ? text.unified : text.sideBySide}
          </Button>
        )}
      </div>
      <ScrollArea label={label} maxHeight={maxHeight}>
        {streaming && more}
        <table
          ref={table}
          className={classes(
            'w-full border-collapse font-mono text-xs leading-relaxed',
            split && 'table-fixed',
          )}
        >
          <caption className="sr-only">{label}</caption>
          <tbody>
            {drawn.map((row, index) => {
              const key = `${index}`;
              if (row.kind === 'pair') return <PairRow key={key} pair={row} wrap={wrap} />;
              return row.kind === 'folded' ? (
                <tr key={key}>
                  <td colSpan={4} className="border-y border-line bg-raised px-2 py-0.5">
                    <Button
                      size="small"
                      variant="ghost"
                      onClick={() => setUnfolded(new Set([...unfolded, row.id]))}
                    >
                      {text.unchangedLines(row.rows.length)}
                    </Button>
                  </td>
                </tr>
              ) : (
                <DiffLineRow key={key} row={row} wrap={wrap} numbers={numbers} />
              );
            })}
          </tbody>
        </table>
        {!streaming && more}
      </ScrollArea>
    </div>
  );
}

function fold(rows: readonly DiffRow[], unfolded: ReadonlySet<number>): Shown[] {
  const shown: Shown[] = [];
  for (let start = 0; start < rows.length; ) {
    let end = start;
    while (rows[end]?.kind === 'same') end += 1;
    const head = start === 0 ? 0 : SHOWN.around;
    const tail = end === rows.length ? 0 : SHOWN.around;
    if (end - start > SHOWN.fold && !unfolded.has(start)) {
      const inner = rows.slice(start + head, end - tail);
      shown.push(...rows.slice(start, start + head), { kind: 'folded', id: start, rows: inner });
      shown.push(...rows.slice(end - tail, end));
    } else {
      shown.push(...rows.slice(start, end));
    }
    const next = rows[end];
    if (next !== undefined) shown.push(next);
    start = end + 1;
  }
  return shown;
}
