import { isObject } from '../../core/is-object.js';
import { number, text } from '../sql/rows.js';
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
import { foundBy } from './checkpoint.js';
import type { Context } from './context.js';
import type { Queries } from './database.js';
import { countChange } from './rules.js';

export class PostgresTransfer implements TransferStore {
  readonly #context: Context;
  /** Rows that are buffered are not in the tables yet. */
  readonly #flush: () => Promise<void>;

  constructor(context: Context, flush: () => Promise<void>) {
    this.#context = context;
    this.#flush = flush;
  }

  async count(kind: TransferKind): Promise<number> {
    await this.#flush();
    return number((await this.#context.database.get(countSql(kind))) ?? {}, 'n');
  }

  async read(kind: TransferKind, after?: string): Promise<TransferPage> {
    await this.#flush();
    if (kind === 'session') return this.#readSession(after ?? '');
    if (kind === 'usage') return this.#readUsage(Number(after ?? -1));
    return numberedPage(kind, await this.#context.database.all(numberedSql(kind), [Number(after ?? 0)]));
  }

  /** One at a time, in a transaction that sees one state: another node may be writing it. */
  #readSession(after: string): Promise<TransferPage> {
    return this.#context.database.transaction(async (queries) => {
      await queries.run('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ');
      const row = await queries.get(NEXT_SESSION, [after]);
      if (row === undefined) return { records: [] };
      const id = text(row, 'id');
      const parts: Record<string, TransferRow[]> = {};
      for (const table of SESSION_PARTS) {
        parts[table] = (await queries.all(partSql(table), [id])).map((part) => transferRow(table, part));
      }
      return { records: [{ kind: 'session', row: transferRow('sessions', row), parts }], next: id };
    });
  }

  async #readUsage(after: number): Promise<TransferPage> {
    const { database } = this.#context;
    const page = await database.all(USAGE_AFTER, [after]);
    const last = page.at(-1);
    if (page.length < PAGE_ROWS || last === undefined) return usagePage(page);
    // A moment is never divided between two pages.
    const at = number(last, 'at');
    const whole = page.filter((row) => number(row, 'at') < at);
    return usagePage([...whole, ...(await database.all(USAGE_AT, [at]))]);
  }

  write(records: readonly TransferRecord[]): Promise<number> {
    return this.#context.database.transaction(async (queries) => {
      const added: TransferRecord[] = [];
      for (const record of records) if (await add(queries, record)) added.push(record);
      if (added.some(({ kind }) => kind === 'key')) await countChange(queries, 'keys');
      if (added.some(({ kind }) => kind === 'rule')) await countChange(queries, 'rules');
      return added.length;
    });
  }
}

async function add(queries: Queries, { kind, row, parts = {}, nth = 1 }: TransferRecord): Promise<boolean> {
  if (kind === 'usage') {
    const values = transferValues('usage', row);
    const there = await queries.get(equalUsage('IS NOT DISTINCT FROM'), values);
    if (number(there ?? {}, 'n') >= nth) return false;
    return (await queries.run(insertSql('usage'), values)) === 1;
  }
  const isNew = await insert(queries, TABLE_OF[kind], row);
  if (kind !== 'session' || !isNew) return isNew;
  for (const table of SESSION_PARTS)
    for (const part of parts[table] ?? []) await insert(queries, table, part);
  return true;
}

async function insert(queries: Queries, table: TransferTable, row: TransferRow): Promise<boolean> {
  const values = transferValues(table, row);
  if (table !== 'sessions')
    return (await queries.run(`${insertSql(table)} ON CONFLICT DO NOTHING`, values)) === 1;
  const metadata: unknown = JSON.parse(String(row['metadata']));
  const { prompt, turnOpen } = foundBy(isObject(metadata) ? metadata : {});
  const sql = `${insertSql(table, ['prompt', 'turn_open'])} ON CONFLICT DO NOTHING`;
  return (await queries.run(sql, [...values, prompt, turnOpen])) === 1;
}
