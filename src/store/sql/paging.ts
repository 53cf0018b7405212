/** Pages by a numbered key, newest first: the cursor is the last number that was shown. */
import { badCursor, pageSize } from '../pages.js';
import type { Page } from '../store.js';
import type { SqlValue } from './rows.js';

/** Before everything: the start of a list. */
const FIRST = Number.MAX_SAFE_INTEGER;

export function numberCursor(cursor: string | undefined): number {
  if (cursor === undefined) return FIRST;
  if (!/^\d{1,15}$/.test(cursor)) throw badCursor();
  return Number(cursor);
}

/** `rows` is one more than the page, where there is more. */
export function toPage<Row, T>(
  rows: readonly Row[],
  limit: number,
  read: (row: Row) => T,
  cursorOf: (row: Row) => string,
): Page<T> {
  const size = pageSize(limit);
  const shown = rows.slice(0, size);
  const last = shown.at(-1);
  const items = shown.map(read);
  return rows.length > size && last !== undefined ? { items, next: cursorOf(last) } : { items };
}

/** The conditions that were given, joined; each combination is one prepared statement. */
export class Conditions<Value = SqlValue> {
  readonly #terms: string[] = [];
  readonly params: (Value | string)[] = [];

  add(term: string, ...params: (Value | string)[]): void {
    this.#terms.push(term);
    this.params.push(...params);
  }

  equal(column: string, value: string | undefined): void {
    if (value !== undefined) this.add(`${column} = ?`, value);
  }

  toString(): string {
    return this.#terms.length === 0 ? 'true' : this.#terms.join(' AND ');
  }
}
