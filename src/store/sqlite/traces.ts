import { setImmediate as nextTurn } from 'node:timers/promises';
import type { JsonObject } from '../../core/conversation.js';
import type { Loss } from '../../core/losses.js';
import type { TracePayload } from '../../core/trace-payload.js';
import { redactJson } from '../json.js';
import type { Page } from '../store.js';
import { decodeTraceBody, encodeTraceBody } from '../trace-body.js';
import type { NewTrace, Trace, TraceQuery, TraceStore } from '../traces.js';
import { WriteBuffer } from '../write-buffer.js';
import type { Context } from './context.js';
import type { SqlValue } from './database.js';
import { Conditions, numberCursor, pageSize, toPage } from './paging.js';
import { bytes, json, number, optionalText, type Row, text, toJson, whole } from './rows.js';

interface Buffered {
  trace: NewTrace;
  payloadSize: number;
}

interface Prepared {
  trace: NewTrace;
  losses: string;
  repairs: string;
  summary: string;
  payloadSize: number;
  payload: Uint8Array | undefined;
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
    const prepared: Prepared[] = [];
    for (const row of rows) {
      try {
        prepared.push(this.#prepare(row));
      } catch (error) {
        // One trace that cannot be serialised (nested too deep) costs only itself.
        this.#context.onError(error);
      }
      if (row.trace.payload === undefined) continue;
      this.#payloadBytes -= row.payloadSize;
      // About a millisecond for a usual one, ten for the largest: requests come between them.
      await nextTurn();
    }
    await this.#context.database.write(() => {
      for (const row of prepared) this.#insert(row);
    }, 'relaxed');
  }

  #prepare({ trace, payloadSize }: Buffered): Prepared {
    const { redact, isClean } = this.#context;
    const clean = (value: unknown) => toJson(redactJson(value, redact));
    return {
      trace,
      losses: clean(trace.losses),
      repairs: clean(trace.repairs),
      summary: clean(trace.summary),
      payloadSize,
      payload: trace.payload && encodeTraceBody(trace.payload, { redact, isClean }),
    };
  }

  #insert({ trace, losses, repairs, summary, payloadSize, payload }: Prepared): void {
    const { database, redact } = this.#context;
    const sql = `INSERT INTO traces (id, principal, at, model, upstream, status, duration_ms, payload_size,
        size, losses, repairs, summary)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING RETURNING seq`;
    const inserted = database.get(sql, [
      trace.id,
      trace.principal,
      whole(trace.at),
      redact(trace.model),
      trace.upstream ?? null,
      trace.status,
      whole(trace.durationMs),
      payloadSize,
      losses.length + repairs.length + summary.length + (payload?.length ?? 0),
      losses,
      repairs,
      summary,
    ]);
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
  return {
    sql: `SELECT * FROM traces WHERE ${where} ORDER BY seq DESC LIMIT ?`,
    params: [...where.params, pageSize(query.limit) + 1],
  };
}

function readTrace(row: Row): Trace {
  const upstream = optionalText(row, 'upstream');
  return {
    id: text(row, 'id'),
    principal: text(row, 'principal'),
    at: number(row, 'at'),
    model: text(row, 'model'),
    ...(upstream !== undefined && { upstream }),
    status: number(row, 'status'),
    durationMs: number(row, 'duration_ms'),
    losses: json<Loss[]>(row, 'losses'),
    repairs: json<string[]>(row, 'repairs'),
    summary: json<JsonObject>(row, 'summary'),
    payloadSize: number(row, 'payload_size'),
  };
}
