/** A change, line by line: signs and words say what the colours say. */
import { memo, useMemo, useState } from 'react';
import { useText } from '../../text/language.js';
import { Button } from '../../ui/button.js';
import { classes } from '../../ui/classes.js';
import { makeVisible } from '../../ui/visible.js';
import { countRows, type DiffRow } from '../parse/diff-rows.js';
import { ScrollArea } from './scroll-area.js';
import { strings } from './strings.js';

/** Rows at first; a run of unchanged lines longer than `fold` is folded but for `around` at its ends. */
const SHOWN = { first: 300, more: 2_000, fold: 10, around: 3 };

type Line = Extract<DiffRow, { kind: 'same' | 'added' | 'removed' }>;
type Shown = DiffRow | { kind: 'folded'; id: number; rows: readonly DiffRow[] };

interface DiffViewProps {
  rows: readonly DiffRow[];
  label: string;
  /** Numbers of lines mean nothing where the diff is of a piece of a file. */
  numbers?: boolean;
  maxHeight?: string;
  /** More may come: the end is what is looked at. */
  streaming?: boolean;
}

export function DiffView({ rows, label, numbers = true, maxHeight, streaming = false }: DiffViewProps) {
  const text = useText(strings);
  const [wrap, setWrap] = useState(true);
  const [wanted, setWanted] = useState(SHOWN.first);
  const [unfolded, setUnfolded] = useState<ReadonlySet<number>>(new Set());
  const count = useMemo(() => countRows(rows), [rows]);
  const all = useMemo(() => fold(rows, unfolded), [rows, unfolded]);
  const shown = streaming ? all.slice(-wanted) : all.slice(0, wanted);
  const left = all.length - shown.length;
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
      </div>
      <ScrollArea label={label} maxHeight={maxHeight}>
        {streaming && more}
        <table className="w-full border-collapse font-mono text-xs leading-relaxed">
          <caption className="sr-only">{label}</caption>
          <tbody>
            {shown.map((row, index) => {
              const key = `${index}`;
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
                <Row key={key} row={row} wrap={wrap} numbers={numbers} />
              );
            })}
          </tbody>
        </table>
        {!streaming && more}
      </ScrollArea>
    </div>
  );
}

const LOOK = {
  same: { row: '', sign: ' ', mark: '' },
  added: { row: 'bg-ok-soft', sign: '+', mark: 'rounded-sm bg-ok/25' },
  removed: { row: 'bg-danger-soft', sign: '−', mark: 'rounded-sm bg-danger/25' },
};

const Row = memo(function Row({ row, wrap, numbers }: { row: DiffRow; wrap: boolean; numbers: boolean }) {
  const text = useText(strings);
  if (row.kind === 'file' || row.kind === 'gap' || row.kind === 'note') {
    return (
      <tr>
        <td
          colSpan={4}
          className={classes(
            'px-2 py-0.5 text-muted',
            row.kind === 'file' && 'bg-raised font-semibold text-ink',
            row.kind === 'gap' && 'border-y border-line bg-raised',
            row.kind === 'note' && 'italic',
          )}
        >
          {row.kind === 'gap' && row.text === '' ? '⋯' : makeVisible(row.text)}
        </td>
      </tr>
    );
  }
  const look = LOOK[row.kind];
  return (
    <tr className={look.row}>
      {numbers && (
        <>
          <LineNumber value={row.old} />
          <LineNumber value={row.new} />
        </>
      )}
      <td className="w-4 px-1 text-center align-top select-none">
        <span aria-hidden="true">{look.sign}</span>
        {row.kind !== 'same' && (
          <span className="sr-only">{row.kind === 'added' ? text.added : text.removed}</span>
        )}
      </td>
      <td
        className={classes('pr-3 align-top', wrap ? 'whitespace-pre-wrap wrap-anywhere' : 'whitespace-pre')}
      >
        <bdi>{content(row, look.mark)}</bdi>
      </td>
    </tr>
  );
});

function LineNumber({ value }: { value: number | undefined }) {
  return (
    <td className="w-px px-1.5 text-right align-top text-muted tabular-nums select-none max-sm:hidden">
      {value}
    </td>
  );
}

function content(row: Line, mark: string) {
  if (row.pieces === undefined) return makeVisible(row.text);
  return row.pieces.map((piece, index) => {
    const key = `${index}`;
    return piece.changed ? (
      <mark key={key} className={classes('text-inherit underline decoration-1 underline-offset-2', mark)}>
        {makeVisible(piece.text)}
      </mark>
    ) : (
      makeVisible(piece.text)
    );
  });
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
