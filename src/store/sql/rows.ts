/** Reading columns. A column of another type than the schema says is a bug and throws. */

/** What both databases take as a parameter. */
export type SqlValue = string | number | null | Uint8Array;

export type Row = { readonly [column: string]: unknown };

export function isRow(value: unknown): value is Row {
  return typeof value === 'object' && value !== null;
}

export function text(row: Row, column: string): string {
  const value = row[column];
  if (typeof value !== 'string') throw wrongType(column, 'text', value);
  return value;
}

export function optionalText(row: Row, column: string): string | undefined {
  return row[column] === null ? undefined : text(row, column);
}

export function number(row: Row, column: string): number {
  const value = row[column];
  if (typeof value !== 'number') throw wrongType(column, 'number', value);
  return value;
}

export function optionalNumber(row: Row, column: string): number | undefined {
  return row[column] === null ? undefined : number(row, column);
}

/** `T` is what the store itself serialised into this column. */
export function json<T>(row: Row, column: string): T {
  return JSON.parse(text(row, column));
}

export function optionalJson<T>(row: Row, column: string): T | undefined {
  return row[column] === null ? undefined : json<T>(row, column);
}

/** The binding gives a Buffer for a single row and an ArrayBuffer in a list. */
export function bytes(row: Row, column: string): Uint8Array {
  const value = row[column];
  if (value instanceof Uint8Array) return value;
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  throw wrongType(column, 'blob', value);
}

function wrongType(column: string, expected: string, value: unknown): TypeError {
  return new TypeError(`Column ${column} should hold ${expected}, not ${typeof value}.`);
}

export function toJson(value: unknown): string {
  return JSON.stringify(value) ?? 'null';
}

/** Columns that hold times and counts take whole numbers only. */
export function whole(value: number): number {
  return Math.round(value);
}
