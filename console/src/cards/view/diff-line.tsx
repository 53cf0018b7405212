/** One line of a change, or two side by side. */
import { memo } from 'react';
import { useText } from '../../text/language.js';
import { classes } from '../../ui/classes.js';
import { makeVisible } from '../../ui/visible.js';
import type { DiffRow } from '../parse/diff-rows.js';
import type { SplitPair } from '../parse/split-rows.js';
import { strings } from './strings.js';

export type DiffLine = Extract<DiffRow, { kind: 'same' | 'added' | 'removed' }>;

const LOOK = {
  same: { row: '', sign: ' ', mark: '' },
  added: { row: 'bg-ok-soft', sign: '+', mark: 'rounded-sm bg-ok/25' },
  removed: { row: 'bg-danger-soft', sign: '−', mark: 'rounded-sm bg-danger/25' },
};

export const DiffLineRow = memo(function DiffLineRow({
  row,
  wrap,
  numbers,
}: {
  row: DiffRow;
  wrap: boolean;
  numbers: boolean;
}) {
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
        <bdi data-code-line>{content(row, look.mark)}</bdi>
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

function content(row: DiffLine, mark: string) {
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

/** Of four columns: a number and a line on each side. */
export const PairRow = memo(function PairRow({ pair, wrap }: { pair: SplitPair; wrap: boolean }) {
  return (
    <tr>
      <Side line={pair.left} number={pair.left?.old} wrap={wrap} />
      <Side line={pair.right} number={pair.right?.new} wrap={wrap} right />
    </tr>
  );
});

interface SideProps {
  line: DiffLine | undefined;
  number: number | undefined;
  wrap: boolean;
  right?: boolean;
}

function Side({ line, number, wrap, right = false }: SideProps) {
  const text = useText(strings);
  const look = line === undefined ? undefined : LOOK[line.kind];
  const edge = right && 'border-l border-line';
  return (
    <>
      <td
        className={classes(
          'w-10 px-1.5 text-right align-top text-muted tabular-nums select-none',
          look?.row,
          edge,
          line === undefined && 'bg-raised',
        )}
      >
        {number}
      </td>
      <td
        className={classes(
          'overflow-hidden pr-2 align-top',
          wrap ? 'whitespace-pre-wrap wrap-anywhere' : 'whitespace-pre',
          look?.row,
          line === undefined && 'bg-raised',
        )}
      >
        {line !== undefined && look !== undefined && (
          <>
            {line.kind !== 'same' && (
              <span className="sr-only">{line.kind === 'added' ? text.added : text.removed}</span>
            )}
            <bdi data-code-line>{content(line, look.mark)}</bdi>
          </>
        )}
      </td>
    </>
  );
}
