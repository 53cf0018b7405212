import { setImmediate as nextTurn } from 'node:timers/promises';
import type { TracePayload } from '../../core/trace-payload.js';
import { pageSize } from '../pages.js';
import { Conditions, numberCursor, toPage } from '../sql/paging.js';
import { bytes, number, type SqlValue, text } from '../sql/rows.js';
import { type PreparedTrace, prepareTrace, readTrace, TRACE_COLUMNS } from '../sql/traces.js';
import type { Page } from '../store.js';
import { decodeTraceBody } from '../trace-body.js';
import type { NewTrace, Trace, TraceQuery, TraceStore } from '../traces.js';
import { WriteBuffer } from '../write-buffer.js';
import type { Context } from './context.js';
import { insertRows, type Value } from './database.js';

interface Buffered {
  trace: NewTrace;
  payloadSize: number;
}

interface Written extends PreparedTrace {
  id: string;
  session: string | null;
}

export class PostgresTraces implements TraceStore {
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
    await this.#buffer.flush();
    const { sql, params } = listSql(query);
    const rows = await this.#context.database.all(sql, params);
    return toPage(rows, query.limit, readTrace, (row) => String(number(row, 'seq')));
  }

  async get(id: string): Promise<(Trace & { payload?: TracePayload }) | undefined> {
    await this.#buffer.flush();
    const sql = `SELECT traces.*, trace_payloads.body FROM traces
      LEFT JOIN trace_payloads ON trace_payloads.seq = traces.seq WHERE traces.id = ?`;
    const row = await this.#context.database.get(sql, [id]);
    if (row === undefined) return undefined;
    const trace = readTrace(row);
    if (row['body'] === null) return trace;
    return { ...trace, payload: await decodeTraceBody(bytes(row, 'body')) };
  }

  flush(): Promise<void> {
    return this.#buffer.flush();
  }

  async #write(rows: Buffered[]): Promise<void> {
    const prepared: Written[] = [];
    for (const { trace, payloadSize } of rows) {
      try {
        const session = trace.summary['session'];
        prepared.push({
          ...(await prepareTrace(trace, payloadSize, this.#context)),
          id: trace.id,
          session: typeof session === 'string' ? session : null,
        });
      } catch (error) {
        // One trace that cannot be serialised (nested too deep) costs only itself.
        this.#context.onError(error);
      }
      if (trace.payload === undefined) continue;
      this.#payloadBytes -= payloadSize;
      // About a millisecond for a usual one: requests come between them.
      await nextTurn();
    }
    if (prepared.length > 0) await this.#insert(prepared);
  }

  async #insert(traces: readonly Written[]): Promise<void> {
    const values = traces.map((each): Value[] => [...each.values, each.session]);
    const payloads = new Map<string, Uint8Array>();
    // The first of an id stands.
    for (const { id, payload } of [...traces].reverse()) {
      if (payload === undefined) payloads.delete(id);
      else payloads.set(id, payload);
    }
    await this.#context.database.transaction(async (queries) => {
      const once = 'ON CONFLICT (id) DO NOTHING RETURNING seq, id';
      const written = await insertRows(queries, `traces (${TRACE_COLUMNS}, session)`, values, once);
      const bodies = written.flatMap((row): Value[][] => {
        const body = payloads.get(text(row, 'id'));
        return body === undefined ? [] : [[number(row, 'seq'), body]];
      });
      await insertRows(queries, 'trace_payloads (seq, body)', bodies);
    }, 'relaxed');
  }
}

/** One row more than the page has. */
export function listSql(query: TraceQuery): { sql: string; params: SqlValue[] } {
  const where = new Conditions();
  where.add('seq < ?', numberCursor(query.cursor));
  where.equal('principal', query.principal);
  where.equal('model', query.model);
  where.equal('session', query.session);
  if (query.status !== undefined) where.add('status BETWEEN ? AND ?', query.status.from, query.status.to);
  if (query.status?.except !== undefined) where.add('status <> ?', query.status.except);
  return {
    sql: `SELECT * FROM traces WHERE ${where} ORDER BY seq DESC LIMIT ?`,
    params: [...where.params, pageSize(query.limit) + 1],
  };
}
