import type { JsonObject } from '../../core/conversation.js';
import type { Loss } from '../../core/losses.js';
import { redactJson } from '../json.js';
import { encodeTraceBody } from '../trace-body.js';
import type { NewTrace, Trace } from '../traces.js';
import { json, number, optionalText, type Row, type SqlValue, text, toJson, whole } from './rows.js';

export const TRACE_COLUMNS = `id, principal, at, model, upstream, status, duration_ms, payload_size,
  size, losses, repairs, summary`;

interface Secrets {
  redact: (text: string) => string;
  isClean: (utf8: Uint8Array) => boolean;
}

export interface PreparedTrace {
  /** Of `TRACE_COLUMNS`. */
  values: SqlValue[];
  payload: Uint8Array | undefined;
}

/** Redacted and compressed: what it gives may be written. Rejects for what cannot be serialised. */
export async function prepareTrace(
  trace: NewTrace,
  payloadSize: number,
  secrets: Secrets,
): Promise<PreparedTrace> {
  const { redact } = secrets;
  const clean = (value: unknown) => toJson(redactJson(value, redact));
  const losses = clean(trace.losses);
  const repairs = clean(trace.repairs);
  const summary = clean(trace.summary);
  const payload = trace.payload && (await encodeTraceBody(trace.payload, secrets));
  const values = [
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
  ];
  return { values, payload };
}

export function readTrace(row: Row): Trace {
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
