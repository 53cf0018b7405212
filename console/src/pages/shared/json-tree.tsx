/** A JSON value that can be folded. Only what is in sight is drawn, so its size does not matter. */
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { VList, type VListHandle } from 'virtua';
import { useText } from '../../text/language.js';
import { classes } from '../../ui/classes.js';
import { formatNumber } from '../../ui/format.js';
import { ChevronRightIcon } from '../../ui/icons.js';
import { VisibleText } from '../../ui/visible-text.js';
import { ancestors, type JsonRow, jsonRows, openAtFirst } from './json-rows.js';
import { strings } from './strings.js';

/** `loss`: the gateway could not pass it on. `only`: it is only on this side of the translation. */
type MarkKind = 'loss' | 'only';

export interface Mark {
  kind: MarkKind;
  /** In words. */
  text: string;
}

interface JsonTreeProps {
  label: string;
  value: unknown;
  marks?: ReadonlyMap<string, Mark> | undefined;
  /** Opens and shows this place; another object asks again. */
  goTo?: { path: string } | undefined;
  /** Takes the room that is left in a column; else it is as high as it needs to be, up to half a screen. */
  fill?: boolean | undefined;
}

/** Fewer lines are drawn at once: they can be searched in the browser and printed. */
const FEW_ROWS = 150;
const INDENT_REM = 0.8;
const HEIGHT = '24rem';
const NO_MARKS: ReadonlyMap<string, Mark> = new Map();

export function JsonTree({ label, value, marks = NO_MARKS, goTo, fill = false }: JsonTreeProps) {
  const [folds, setFolds] = useState<ReadonlyMap<string, boolean>>(new Map());
  const list = useRef<VListHandle>(null);
  const plain = useRef<HTMLDivElement>(null);
  const losses = useMemo(
    () => [...marks].flatMap(([path, { kind }]) => (kind === 'loss' ? [path] : [])),
    [marks],
  );
  const first = useMemo(() => openAtFirst(value), [value]);
  const rows = useMemo(() => jsonRows(value, folds, losses, first), [value, folds, losses, first]);
  const shownRows = useRef(rows);
  shownRows.current = rows;

  useEffect(() => {
    if (goTo === undefined) return;
    setFolds((before) => new Map([...before, ...ancestors(goTo.path).map((path) => [path, true] as const)]));
    // The rows of what was folded are there after the next drawing.
    const frame = requestAnimationFrame(() => {
      const index = shownRows.current.findIndex((row) => row.path === goTo.path);
      list.current?.scrollToIndex(Math.max(0, index), { align: 'center' });
      plain.current
        ?.querySelector(`[data-path="${CSS.escape(goTo.path)}"]`)
        ?.scrollIntoView({ block: 'nearest' });
    });
    return () => cancelAnimationFrame(frame);
  }, [goTo]);

  const toggle = (path: string, open: boolean) => setFolds((before) => new Map(before).set(path, open));
  const lines = rows.map((row) => (
    <Line key={row.id} row={row} mark={markOf(row, marks)} onToggle={toggle} />
  ));
  const shared = {
    role: 'group',
    'aria-label': label,
    tabIndex: 0,
    className: classes(
      'overflow-auto rounded-md bg-code p-2 font-mono text-xs leading-relaxed focus-visible:-outline-offset-2',
      fill ? 'min-h-0 flex-1' : 'max-h-96',
    ),
  } as const;
  if (rows.length <= FEW_ROWS) {
    return (
      <div ref={plain} {...shared}>
        {lines}
      </div>
    );
  }
  return (
    <VList ref={list} {...shared} style={{ height: fill ? 'auto' : HEIGHT }}>
      {lines}
    </VList>
  );
}

function markOf(row: JsonRow, marks: ReadonlyMap<string, Mark>): Mark | undefined {
  return row.kind === 'end' || row.kind === 'piece' ? undefined : marks.get(row.path);
}

const MARKS: Record<MarkKind, string> = {
  loss: 'bg-warn-soft text-ink outline outline-warn/50',
  only: 'bg-info-soft text-ink',
};

const VALUES: Record<'string' | 'number' | 'boolean' | 'null', string> = {
  string: 'text-ok',
  number: 'text-info',
  boolean: 'text-info',
  null: 'text-muted',
};

function Line({
  row,
  mark,
  onToggle,
}: {
  row: JsonRow;
  mark: Mark | undefined;
  onToggle: (path: string, open: boolean) => void;
}) {
  const text = useText(strings);
  const indent = { paddingInlineStart: `${row.depth * INDENT_REM + 1}rem` };
  if (row.kind === 'end') return <div style={indent}>{row.shape === 'array' ? ']' : '}'}</div>;
  if (row.kind === 'piece') {
    return (
      <div style={indent} className="break-all whitespace-pre-wrap text-ok">
        {row.text === '' ? ' ' : <VisibleText text={row.text} />}
      </div>
    );
  }
  const name = row.name !== undefined && (
    <span className="text-muted">
      <VisibleText text={row.name.slice(0, 300)} />:{' '}
    </span>
  );
  const foldable = row.kind === 'node' ? row.size > 0 : row.length !== undefined;
  const body = (
    <>
      {name}
      {row.kind === 'node' ? (
        <NodeText row={row} />
      ) : (
        <>
          <span className={classes(VALUES[row.type], 'break-all whitespace-pre-wrap')}>
            <VisibleText text={row.text} />
          </span>
          {row.length !== undefined && (
            <span className="ml-1.5 text-muted">{text.characters(formatNumber(row.length))}</span>
          )}
        </>
      )}
      {mark !== undefined && <MarkNote mark={mark} />}
    </>
  );
  return (
    <div data-path={row.path} data-mark={mark?.kind} style={indent} className="relative">
      <Foldable open={row.open} foldable={foldable} onToggle={(open) => onToggle(row.path, open)}>
        <span className={classes('rounded-sm', mark !== undefined && MARKS[mark.kind])}>{body}</span>
      </Foldable>
    </div>
  );
}

function NodeText({ row }: { row: Extract<JsonRow, { kind: 'node' }> }) {
  const text = useText(strings);
  const [begin, end] = row.shape === 'array' ? ['[', ']'] : ['{', '}'];
  if (row.size === 0) return <span className="text-muted">{`${begin}${end}`}</span>;
  if (row.open) return <span>{begin}</span>;
  return (
    <span>
      {begin}
      <span className="text-muted">
        {' '}
        {row.shape === 'array' ? text.items(row.size) : text.fields(row.size)}{' '}
      </span>
      {end}
    </span>
  );
}

function MarkNote({ mark }: { mark: Mark }) {
  return mark.kind === 'loss' ? (
    <span className="ml-1.5 rounded bg-warn-soft px-1 font-sans text-warn">⚠ {mark.text}</span>
  ) : (
    <span className="sr-only"> ({mark.text})</span>
  );
}

function Foldable({
  open,
  foldable,
  onToggle,
  children,
}: {
  open: boolean;
  foldable: boolean;
  onToggle: (open: boolean) => void;
  children: ReactNode;
}) {
  if (!foldable) return <div className="min-w-0">{children}</div>;
  return (
    <button
      type="button"
      aria-expanded={open}
      onClick={() => onToggle(!open)}
      className="-ml-4 flex w-[calc(100%+1rem)] cursor-pointer items-start rounded text-left hover:bg-raised focus-visible:-outline-offset-2"
    >
      <ChevronRightIcon size={12} className={classes('mt-1 mr-1 shrink-0 text-muted', open && 'rotate-90')} />
      <span className="min-w-0">{children}</span>
    </button>
  );
}
