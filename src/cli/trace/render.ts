/** Traces for a terminal. */
import type { ServerSentEvent } from '../../core/server-sent-event.js';
import { decodeChunk, type TracePayload } from '../../core/trace-payload.js';
import type { Trace } from '../../store/traces.js';
import { SseReader } from '../../transport/sse-reader.js';
import { isTracePayload } from './trace-file.js';

const COLUMN = 78;
const CUT_TEXT = 160;
const CUT_ITEMS = 6;

export function renderList(traces: readonly Trace[]): string[] {
  const rows = traces.map((trace) => [
    new Date(trace.at).toISOString().replace('T', ' ').slice(0, 19),
    trace.id,
    String(trace.status),
    `${Math.round(trace.durationMs)} ms`,
    trace.upstream === undefined ? trace.model : `${trace.model} → ${trace.upstream}`,
    remarks(trace),
  ]);
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(0, ...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

function remarks({ losses, repairs }: Trace): string {
  const parts = [
    losses.length === 0 ? '' : `${losses.length} ${losses.length === 1 ? 'loss' : 'losses'}`,
    repairs.length === 0 ? '' : `mended: ${repairs.join(', ')}`,
  ];
  return parts.filter((part) => part !== '').join('; ');
}

interface RenderOptions {
  full: boolean;
}

export function renderTrace(trace: Trace & { payload?: unknown }, options: RenderOptions): string[] {
  const lines = [
    ...renderList([trace]),
    ...trace.losses.map(({ path, reason }) => `  lost  ${path}: ${reason}`),
    ...trace.repairs.map((repair) => `  mended  ${repair}`),
    `  ${JSON.stringify(trace.summary)}`,
  ];
  const { payload } = trace;
  if (!isTracePayload(payload)) {
    return [...lines, '', 'Only these facts were kept: under load a sample is recorded whole.'];
  }
  return [...lines, ...renderPayload(payload, options)];
}

function renderPayload(payload: TracePayload, options: RenderOptions): string[] {
  const lines: string[] = [];
  const { inbound } = payload;
  if (inbound !== null) lines.push('', `── inbound  ${inbound.path}`, ...renderBody(inbound.body, options));
  for (const [index, attempt] of payload.attempts.entries()) {
    const status = attempt.status === null ? 'no answer' : `answered ${attempt.status}`;
    lines.push('', `── outbound ${index + 1}  ${attempt.upstream}  ${attempt.url}  ${status}`);
    if (attempt.reason !== undefined) lines.push(`   ${attempt.reason}`);
    lines.push(...renderBody(attempt.body, options));
  }
  if (payload.timeline.length > 0) lines.push('', ...renderTimeline(payload, options));
  if (payload.cut) lines.push('', 'Some of it was too large to keep.');
  return lines;
}

function renderBody(body: string, { full }: RenderOptions): string[] {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return [full ? body : shortText(body)];
  }
  return JSON.stringify(full ? value : shorten(value), null, 2).split('\n');
}

/** Left what the upstream sent, right what the client was sent for it. */
function renderTimeline({ timeline }: TracePayload, { full }: RenderOptions): string[] {
  const lines = [`${'── upstream events'.padEnd(COLUMN)}  ── emitted events`];
  const reader = new SseReader();
  for (const piece of timeline) {
    const time = `${piece.ms.toFixed(1).padStart(8)} ms  `;
    if (piece.from === 'upstream') {
      const events: ServerSentEvent[] = [];
      reader.push(decodeChunk(piece.data), events);
      const texts = events.length > 0 ? events.map(eventText) : [oneLine(piece.data)];
      for (const text of texts) lines.push(full ? time + text : cut(time + text, COLUMN));
    } else {
      for (const text of emittedEvents(piece.data)) {
        lines.push(full ? `→ ${text}` : `${' '.repeat(COLUMN)}  ${cut(text, COLUMN)}`);
      }
    }
  }
  return lines;
}

function eventText({ event, data }: ServerSentEvent): string {
  return event === '' ? oneLine(data) : `${event}: ${oneLine(data)}`;
}

function emittedEvents(text: string): string[] {
  return text
    .split('\n\n')
    .filter((event) => event.trim() !== '')
    .map((event) => oneLine(event.replace(/^event: (.*)\ndata: /, '$1: ').replace(/^data: /, '')));
}

const oneLine = (text: string): string => text.replaceAll('\n', '⏎');
const cut = (text: string, width: number): string =>
  text.length > width ? `${text.slice(0, width - 1)}…` : text;

function shortText(text: string): string {
  return text.length > CUT_TEXT ? `${text.slice(0, CUT_TEXT)}… (${text.length} characters)` : text;
}

function shorten(value: unknown): unknown {
  if (typeof value === 'string') return shortText(value);
  if (Array.isArray(value)) {
    const shown = value.slice(0, CUT_ITEMS).map(shorten);
    return value.length > CUT_ITEMS ? [...shown, `… ${value.length - CUT_ITEMS} more`] : shown;
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, shorten(each)]));
}
