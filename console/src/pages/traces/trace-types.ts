/** Lines of `GET /api/traces` and what `GET /api/traces/:id` adds. */
import { isTracePayload, type TracePayload } from './payload.js';

interface LossWire {
  path: string;
  reason: string;
}

export interface TraceWire {
  /** Of the request. */
  id: string;
  key: string;
  at: string;
  model: string;
  upstream: string | null;
  status: number;
  duration_ms: number;
  losses: LossWire[];
  repairs: string[];
  summary: Readonly<Record<string, unknown>>;
  /** 0 where only the facts were kept. */
  payload_size: number;
  session?: string | null;
}

export interface TraceDetailWire extends TraceWire {
  payload: unknown;
}

interface Tokens {
  input: number;
  output: number;
  cached: number;
}

interface TraceFacts {
  path: string;
  stream: boolean;
  firstTokenMs: number | undefined;
  /** Of its duration, how long it waited for people. */
  waitedMs: number;
  /** A model call of an agent, which its answer counts. */
  inner: boolean;
  stopReason: string | undefined;
  tokens: Tokens | undefined;
  error: { code: string; message: string } | undefined;
  session: string | undefined;
}

export function factsOf({ summary, session }: TraceWire): TraceFacts {
  const usage = fields(summary['usage']);
  const error = fields(summary['error']);
  return {
    path: text(summary['path']) ?? '',
    stream: summary['stream'] === true,
    firstTokenMs: number(summary['first_token_ms']),
    waitedMs: number(summary['waited_ms']) ?? 0,
    inner: summary['inner'] === true,
    stopReason: text(summary['stop_reason']),
    tokens:
      usage === undefined
        ? undefined
        : {
            input: number(usage['inputTokens']) ?? 0,
            output: number(usage['outputTokens']) ?? 0,
            cached: number(usage['cacheReadTokens']) ?? 0,
          },
    error:
      error === undefined
        ? undefined
        : { code: text(error['code']) ?? '', message: text(error['message']) ?? '' },
    session: session ?? text(summary['session']),
  };
}

export const payloadOf = ({ payload }: TraceDetailWire): TracePayload | undefined =>
  isTracePayload(payload) ? payload : undefined;

/** The file that `toolgate trace --replay` reads. */
export function replayFile({ id, at, model, payload }: TraceDetailWire): string {
  const kept = typeof payload === 'object' && payload !== null ? payload : {};
  return `${JSON.stringify({ request: id, at: Date.parse(at), model, ...kept }, null, 2)}\n`;
}

/** `kind` or `kind (3 times)`. */
export function readRepair(repair: string): { kind: string; count: number } {
  const [, kind = repair, times = '1'] = /^(.*?)(?: \((\d+) times\))?$/s.exec(repair) ?? [];
  return { kind, count: Number(times) };
}

function fields(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null ? { ...value } : undefined;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function number(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
