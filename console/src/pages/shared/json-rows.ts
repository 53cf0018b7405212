/**
 * A JSON value as lines to draw. Only what is open becomes lines, and a long text becomes lines of
 * its own when it is opened, so that the largest body is drawn a screen at a time.
 */

export type JsonRow = NodeRow | LeafRow | PieceRow | EndRow;

interface RowBase {
  /** Unique among the rows. */
  id: string;
  /** JSON pointer of the value it belongs to. */
  path: string;
  depth: number;
}

interface NodeRow extends RowBase {
  kind: 'node';
  name: string | undefined;
  shape: 'array' | 'object';
  size: number;
  open: boolean;
}

interface LeafRow extends RowBase {
  kind: 'leaf';
  name: string | undefined;
  type: 'string' | 'number' | 'boolean' | 'null';
  /** As it is drawn: of a long text, its beginning. */
  text: string;
  /** Characters of the whole; undefined where all of it is in `text`. */
  length: number | undefined;
  open: boolean;
}

/** A line of a long text that is open. */
interface PieceRow extends RowBase {
  kind: 'piece';
  text: string;
}

interface EndRow extends RowBase {
  kind: 'end';
  shape: 'array' | 'object';
}

/** Longer texts are folded. */
const LONG_TEXT = 300;
const SHOWN_OF_LONG = 160;
/** Of one drawn line. */
const PIECE_LENGTH = 400;
/** So many lines are open at first, the outer ones before the inner ones; the outermost in any case. */
const FIRST_LINES = 250;
const OPEN_DEPTH = 2;

type Folds = ReadonlyMap<string, boolean>;

export function childPath(path: string, key: string | number): string {
  return `${path}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** The paths in front of it, the root first. */
export function ancestors(path: string): string[] {
  const parts = path.split('/');
  return parts.slice(0, -1).map((_, index) => parts.slice(0, index + 1).join('/'));
}

/** What is open before the person says otherwise. */
export function openAtFirst(value: unknown): ReadonlySet<string> {
  const open = new Set<string>();
  let level: [unknown, string][] = [[value, '']];
  let left = FIRST_LINES;
  for (let depth = 0; level.length > 0 && (left > 0 || depth < OPEN_DEPTH); depth++) {
    const next: [unknown, string][] = [];
    for (const [each, path] of level) {
      if (typeof each !== 'object' || each === null) continue;
      const entries = Object.entries(each);
      if (depth >= OPEN_DEPTH && entries.length > left) continue;
      left -= entries.length;
      open.add(path);
      for (const [key, child] of entries) {
        if (typeof child === 'object' && child !== null) next.push([child, childPath(path, key)]);
      }
    }
    level = next;
  }
  return open;
}

/** `marked` paths are open at first, whatever the size. */
export function jsonRows(
  value: unknown,
  folds: Folds,
  marked: Iterable<string> = [],
  first: ReadonlySet<string> = openAtFirst(value),
): JsonRow[] {
  const reached = new Set<string>();
  for (const path of marked) for (const each of ancestors(path)) reached.add(each);
  const rows: JsonRow[] = [];
  const isOpen = (path: string): boolean => folds.get(path) ?? (first.has(path) || reached.has(path));

  const add = (each: unknown, name: string | undefined, path: string, depth: number): void => {
    if (typeof each === 'object' && each !== null) {
      const shape = Array.isArray(each) ? 'array' : 'object';
      const entries = Object.entries(each);
      const open = entries.length > 0 && isOpen(path);
      rows.push({ kind: 'node', id: path, path, depth, name, shape, size: entries.length, open });
      if (!open) return;
      for (const [key, child] of entries) {
        add(child, shape === 'array' ? undefined : key, childPath(path, key), depth + 1);
      }
      rows.push({ kind: 'end', id: `${path}#end`, path, depth, shape });
      return;
    }
    addLeaf(rows, { value: each, name, path, depth, open: folds.get(path) ?? false });
  };
  add(value, undefined, '', 0);
  return rows;
}

interface Leaf {
  value: unknown;
  name: string | undefined;
  path: string;
  depth: number;
  open: boolean;
}

function addLeaf(rows: JsonRow[], { value, name, path, depth, open }: Leaf): void {
  const base = { kind: 'leaf', id: path, path, depth, name } as const;
  if (typeof value !== 'string') {
    const type = typeof value === 'number' ? 'number' : typeof value === 'boolean' ? 'boolean' : 'null';
    rows.push({ ...base, type, text: String(value), length: undefined, open: false });
    return;
  }
  const long = value.length > LONG_TEXT || value.includes('\n');
  if (!long) {
    rows.push({ ...base, type: 'string', text: JSON.stringify(value), length: undefined, open: false });
    return;
  }
  const begin = JSON.stringify(wholeCharacters(value, SHOWN_OF_LONG));
  const text = value.length > SHOWN_OF_LONG ? `${begin.slice(0, -1)}…"` : begin;
  rows.push({ ...base, type: 'string', text, length: value.length, open });
  if (!open) return;
  for (const [index, piece] of textPieces(value).entries()) {
    rows.push({ kind: 'piece', id: `${path}#${index}`, path, depth: depth + 1, text: piece });
  }
}

/** Lines, and the longest lines in pieces. */
export function textPieces(text: string): string[] {
  return text.split('\n').flatMap((line) => {
    if (line.length <= PIECE_LENGTH) return [line];
    const pieces: string[] = [];
    for (let from = 0; from < line.length; ) {
      const piece = wholeCharacters(line.slice(from), PIECE_LENGTH);
      pieces.push(piece);
      from += piece.length;
    }
    return pieces;
  });
}

/** No surrogate pair is cut in two. */
function wholeCharacters(text: string, length: number): string {
  const cut = text.slice(0, length);
  return /[\ud800-\udbff]$/.test(cut) && cut.length < text.length ? cut.slice(0, -1) : cut;
}
