import { number, type SqlValue, text } from '../sql/rows.js';
import {
  countSql,
  equalUsage,
  insertSql,
  NEXT_SESSION,
  numberedPage,
  numberedSql,
  PAGE_ROWS,
  partSql,
  SESSION_PARTS,
  TABLE_OF,
  type TransferTable,
  transferRow,
  transferValues,
  USAGE_AFTER,
  USAGE_AT,
  usagePage,
} from '../sql/transfer.js';
import type { TransferKind, TransferPage, TransferRecord, TransferRow, TransferStore } from '../transfer.js';
import type { Context } from './context.js';
import { nextCount } from './leases.js';

export class SqliteTransfer implements TransferStore {
  readonly #context: Context;
  /** Rows that are buffered are not in the tables yet. */
  readonly #flush: () => Promise<void>;

  constructor(context: Context, flush: () => Promise<void>) {
    this.#context = context;
    this.#flush = flush;
  }

  async count(kind: TransferKind): Promise<number> {
    await this.#flush();
    const { database } = this.#context;
    return database.read(() => number(database.get(countSql(kind)) ?? {}, 'n'));
  }

  async read(kind: TransferKind, after?: string): Promise<TransferPage> {
    await this.#flush();
    if (kind === 'session') return this.#readSession(after ?? '');
    if (kind === 'usage') return this.#readUsage(Number(after ?? -1));
    const { database } = this.#context;
    const rows = await database.read(() => database.all(numberedSql(kind), [Number(after ?? 0)]));
    return numberedPage(kind, rows);
  }

  /** One at a time, in a transaction: another process may be writing it. */
  #readSession(after: string): Promise<TransferPage> {
    const { database } = this.#context;
    return database.write(() => {
      const row = database.get(NEXT_SESSION, [after]);
      if (row === undefined) return { records: [] };
      const id = text(row, 'id');
      const parts = SESSION_PARTS.map((table) => {
        return [table, database.all(partSql(table), [id]).map((part) => transferRow(table, part))] as const;
      });
      const session = { row: transferRow('sessions', row), parts: Object.fromEntries(parts) };
      return { records: [{ kind: 'session', ...session }], next: id };
    }, 'relaxed');
  }

  async #readUsage(after: number): Promise<TransferPage> {
    const { database } = this.#context;
    const rows = await database.read(() => {
      const page = database.all(USAGE_AFTER, [after]);
      const last = page.at(-1);
      if (page.length < PAGE_ROWS || last === undefined) return page;
      // A moment is never divided between two pages.
      const at = number(last, 'at');
      return [...page.filter((row) => number(row, 'at') < at), ...database.all(USAGE_AT, [at])];
    });
    return usagePage(rows);
  }

  write(records: readonly TransferRecord[]): Promise<number> {
    const { database } = this.#context;
    return database.write(() => {
      const added = records.filter((record) => this.#add(record));
      if (added.some(({ kind }) => kind === 'key')) nextCount(database, 'keys');
      if (added.some(({ kind }) => kind === 'rule')) nextCount(database, 'rules');
      return added.length;
    });
  }

  #add({ kind, row, parts = {}, nth = 1 }: TransferRecord): boolean {
    if (kind === 'usage') return this.#addUsage(transferValues('usage', row), nth);
    const isNew = this.#insert(TABLE_OF[kind], row);
    if (kind !== 'session' || !isNew) return isNew;
    for (const table of SESSION_PARTS) for (const part of parts[table] ?? []) this.#insert(table, part);
    return true;
  }

  #insert(table: TransferTable, row: TransferRow): boolean {
    const sql = `${insertSql(table)} ON CONFLICT DO NOTHING`;
    return this.#context.database.run(sql, transferValues(table, row)) === 1;
  }

  #addUsage(values: SqlValue[], nth: number): boolean {
    const { database } = this.#context;
    if (number(database.get(equalUsage('IS'), values) ?? {}, 'n') >= nth) return false;
    return database.run(insertSql('usage'), values) === 1;
  }
}
