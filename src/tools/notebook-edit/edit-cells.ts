/** Changes one cell in the text of a notebook. Everything else keeps its bytes. */
import { randomBytes } from 'node:crypto';
import { arrayElements, type JsonRange, objectMembers, skipBlanks } from '../files/json-ranges.js';
import { hasCellIds, type Notebook, type NotebookCell } from '../files/notebook.js';

type CellType = 'code' | 'markdown';

interface CellLayout {
  text: string;
  notebook: Notebook;
  /** The value of `cells`, and each element of it. */
  array: JsonRange;
  cells: readonly JsonRange[];
}

/** `text` is what `notebook` was parsed from. */
export function layOut(text: string, notebook: Notebook): CellLayout {
  const members = objectMembers(text, skipBlanks(text, 0));
  // Of a key that is there twice the last counts, as it does for the parser.
  const array = members.findLast(({ key }) => key === 'cells');
  if (array === undefined) throw new Error('a notebook that was parsed has no cells in its text');
  return { text, notebook, array, cells: arrayElements(text, array.start) };
}

export function replaceCell(layout: CellLayout, index: number, source: string, type?: CellType): string {
  const { text, notebook } = layout;
  const cell = notebook.cells[index];
  const range = layout.cells[index];
  if (cell === undefined || range === undefined) throw new Error(`no cell ${index}`);
  const write = writerOf(text);
  const asString = typeof cell.source === 'string';
  if (type !== undefined && type !== cell.cell_type) {
    return splice(text, [{ ...range, put: write(convert(cell, type, sourceValue(source, asString)), 2) }]);
  }
  const put = new Map<string, string>([['source', write(sourceValue(source, asString), 3)]]);
  if (cell.cell_type === 'code') {
    put.set('outputs', '[]');
    put.set('execution_count', 'null');
  }
  return splice(
    text,
    objectMembers(text, range.start).flatMap(({ key, start, end }) => {
      const value = put.get(key);
      return value === undefined ? [] : [{ start, end, put: value }];
    }),
  );
}

/** After the cell `index`; -1 puts it first. Returns the id as well, where cells have ids. */
export function insertCell(
  layout: CellLayout,
  index: number,
  source: string,
  type: CellType,
): { text: string; id?: string } {
  const { text, notebook, array, cells } = layout;
  const id = hasCellIds(notebook) ? newId(notebook) : undefined;
  const value = {
    cell_type: type,
    ...(type === 'code' ? { execution_count: null } : {}),
    ...(id === undefined ? {} : { id }),
    metadata: {},
    ...(type === 'code' ? { outputs: [] } : {}),
    source: sourceValue(source, typeof notebook.cells[0]?.source === 'string'),
  };
  const cell = writerOf(text)(value, 2);
  const { newline, unit } = formatOf(text);
  const before = unit === undefined ? '' : newline + unit.repeat(2);
  const first = cells[0];
  const after = cells[index];
  const made = (start: number, end: number, put: string): { text: string; id?: string } => ({
    text: splice(text, [{ start, end, put }]),
    ...(id === undefined ? {} : { id }),
  });
  if (first === undefined) {
    const close = unit === undefined ? '' : newline + unit;
    return made(array.start, array.end, `[${before}${cell}${close}]`);
  }
  if (after === undefined) return made(first.start, first.start, `${cell},${before}`);
  return made(after.end, after.end, `,${before}${cell}`);
}

export function deleteCell({ text, array, cells }: CellLayout, index: number): string {
  const cell = cells[index];
  const next = cells[index + 1];
  const before = cells[index - 1];
  if (cell === undefined) throw new Error(`no cell ${index}`);
  if (next !== undefined) return splice(text, [{ start: cell.start, end: next.start, put: '' }]);
  if (before !== undefined) return splice(text, [{ start: before.end, end: cell.end, put: '' }]);
  return splice(text, [{ ...array, put: '[]' }]);
}

/** Keys that only code cells have. */
const CODE_KEYS: readonly string[] = ['outputs', 'execution_count'];

function convert(cell: NotebookCell, type: CellType, source: string | string[]): object {
  const kept = Object.entries(cell).filter(([key]) => !CODE_KEYS.includes(key) && key !== 'attachments');
  const code = type === 'code' ? { execution_count: null, outputs: [] } : {};
  return { ...Object.fromEntries(kept), ...code, cell_type: type, source };
}

function newId({ cells }: Notebook): string {
  const taken = new Set(cells.map(({ id }) => id));
  for (;;) {
    const id = randomBytes(4).toString('hex');
    if (!taken.has(id)) return id;
  }
}

function sourceValue(source: string, asString: boolean): string | string[] {
  if (asString) return source;
  return source === '' ? [] : source.split(/(?<=\n)/);
}

interface Format {
  newline: string;
  /** Of one level; none where all stands in one line. */
  unit: string | undefined;
  /** Nothing but ASCII, the rest as `\uXXXX`. */
  ascii: boolean;
}

function formatOf(text: string): Format {
  const match = /^\s*\{(\r?\n)([ \t]*)/.exec(text);
  return {
    newline: match?.[1] ?? '',
    unit: match === null ? undefined : (match[2] ?? ''),
    ascii: /\\u[0-9a-f]{4}/i.test(text) && !/[^\x00-\x7f]/.test(text),
  };
}

/** Writes values as the rest of the notebook is written. */
function writerOf(text: string): (value: unknown, depth: number) => string {
  const { newline, unit, ascii } = formatOf(text);
  return (value, depth) => {
    const json = JSON.stringify(value, null, unit);
    const placed = unit === undefined ? json : json.replaceAll('\n', newline + unit.repeat(depth));
    if (!ascii) return placed;
    return placed.replace(
      /[^\x00-\x7f]/g,
      (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
  };
}

function splice(text: string, changes: readonly (JsonRange & { put: string })[]): string {
  let result = text;
  for (const { start, end, put } of changes.toSorted((a, b) => b.start - a.start)) {
    result = result.slice(0, start) + put + result.slice(end);
  }
  return result;
}
