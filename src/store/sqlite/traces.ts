import { setImmediate as nextTurn } from 'node:timers/promises';
import type { TracePayload } from '../../core/trace-payload.js';
import { pageSize } from '../pages.js';
import { Conditions, numberCursor, toPage } from '../sql/paging.js';
import { bytes, number, type SqlValue } from '../sql/rows.js';
import { type PreparedTrace, prepareTrace, readTrace, TRACE_COLUMNS } from '../sql/traces.js';
import type { Page } from '../store.js';
import { decodeTraceBody } from '../trace-body.js';
import type { NewTrace, Trace, TraceQuery, TraceStore } from '../traces.js';
import { WriteBuffer } from '../write-buffer.js';
import type { Context } from './context.js';

interface Buffered {
  trace: NewTrace;
  payloadSize: number;
}

export class SqliteTraces implements TraceStore {
  readonly #context: Context;
  readonly #buffer: WriteBuffer<Buffered>;
  #payloadBytes = 0;

  constructor(context: Context) {
    this.#context = context;
    const { delayMs, flushRows, maxRows } = context.limits.buffer;
    this.#buffer = new WriteBuffer({
      write: (rows) => this.#write(rows),
      delayMs,
      flushRows,
      maxRows,
      onError: context.onError,
    });
  }

  record(trace: NewTrace): void {
    const { payload, ...rest } = trace;
    const { maxPayloadBytes } = this.#context.limits.buffer;
    const payloadSize = payload === undefined ? 0 : Math.max(1, payload.size);
    // What waits here is memory; a burst of large requests must not become the gateway's own.
    const keep = this.#payloadBytes + payloadSize <= maxPayloadBytes;
    if (keep) this.#payloadBytes += payloadSize;
    void this.#buffer.add({ trace: keep ? trace : rest, payloadSize });
  }

  async list(query: TraceQuery): Promise<Page<Trace>> {
    const { database } = this.#context;
    await this.#buffer.flush();
    const { sql, params } = listSql(query);
    const rows = await database.read(() => database.all(sql, params));
    return toPage(rows, query.limit, readTrace, (row) => String(number(row, 'seq')));
  }

  async get(id: string): Promise<(Trace & { payload?: TracePayload }) | undefined> {
    const { database } = this.#context;
    await this.#buffer.flush();
    const sql = `SELECT traces.*, trace_payloads.body FROM traces
      LEFT JOIN trace_payloads ON trace_payloads.seq = traces.seq WHERE traces.id = ?`;
    const row = await database.read(() => database.get(sql, [id]));
    if (row === undefined) return undefined;
    const trace = readTrace(row);
    if (row['body'] === null) return trace;
    return { ...trace, payload: await decodeTraceBody(bytes(row, 'body')) };
  }

  flush(): Promise<void> {
    return this.#buffer.flush();
  }

  async #write(rows: Buffered[]): Promise<void> {
    const prepared: PreparedTrace[] = [];
    for (const row of rows) {
      try {
        prepared.push(await prepareTrace(row.trace, row.payloadSize, this.#context));
      } catch (error) {
        // One trace that cannot be serialised (nested too deep) costs only itself.
        this.#context.onError(error);
      }
      if (row.trace.payload === undefined) continue;
      this.#payloadBytes -= row.payloadSize;
      // About a millisecond for a usual one: requests come between them.
      await nextTurn();
    }
    await this.#context.database.write(() => {
      for (const row of prepared) this.#insert(row);
    }, 'relaxed');
  }

  #insert({ values, payload }: PreparedTrace): void {
    const { database } = this.#context;
    const sql = `INSERT INTO traces (${TRACE_COLUMNS})
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING RETURNING seq`;
    const inserted = database.get(sql, values);
    if (inserted === undefined || payload === undefined) return;
    database.run('INSERT INTO trace_payloads (seq, body) VALUES (?, ?)', [number(inserted, 'seq'), payload]);
  }
}

/** One row more than the page has. What an index is to answer is held to this by the test of the migrations. */
export function listSql(query: TraceQuery): { sql: string; params: SqlValue[] } {
  const where = new Conditions();
  where.add('seq < ?', numberCursor(query.cursor));
  where.equal('principal', query.principal);
  where.equal('model', query.model);
  where.equal(`json_extract(summary, '$.session')`, query.session);
  if (query.status !== undefined) where.add('status BETWEEN ? AND ?', query.status.from, query.status.to);
  if (query.status?.except !== undefined) where.add('status <> ?', query.status.except);
  return {
    sql: `SELECT * FROM traces WHERE ${where} ORDER BY seq DESC LIMIT ?`,
    params: [...where.params, pageSize(query.limit) + 1],
  };
}
