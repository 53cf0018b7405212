/** What happened to requests. Everyone sees their own key's, an administrator all of them. */
import type { JsonObject } from '../../core/conversation.js';
import { GatewayError } from '../../core/errors.js';
import { toReplayFile } from '../../observability/replay-file.js';
import type { Trace, TraceQuery } from '../../store/traces.js';
import type { Exchange } from '../http/exchange.js';
import { readInteger, readSwitch } from '../http/read-request.js';
import { NO_STORE, sendJson } from '../http/respond.js';
import { traceToWire } from '../observe/report.js';
import type { ConsoleApiHandler } from './context.js';

const ERRORS = { from: 400, to: 599 } as const;

export const listTraces: ConsoleApiHandler = async (exchange, { store }) => {
  const query = new URLSearchParams(exchange.query);
  const cursor = query.get('cursor');
  const page = await store.traces.list({
    ...ownOnly(exchange),
    ...readFilter(query),
    ...(cursor === null ? {} : { cursor }),
    limit: readInteger(query, 'limit', { default: 50, min: 1, max: 500 }),
  });
  sendJson(exchange, 200, { data: page.items.map(traceToWire), next: page.next ?? null }, NO_STORE);
};

export const getTrace: ConsoleApiHandler = async (exchange, { store }, { id = '' }) => {
  const trace = await store.traces.get(id);
  const { principal } = ownOnly(exchange);
  // Another key's trace is as unknown as one that does not exist.
  if (trace === undefined || (principal !== undefined && trace.principal !== principal)) {
    throw new GatewayError('not_found', 'There is no such trace. It may have been deleted for its age.');
  }
  if (readSwitch(new URLSearchParams(exchange.query), 'download')) sendReplay(exchange, trace);
  else sendJson(exchange, 200, { ...traceToWire(trace), payload: trace.payload ?? null }, NO_STORE);
};

/** The file that `toolgate trace --replay` reads; `trace ID --save` writes the same. */
function sendReplay(exchange: Exchange, trace: Trace & { payload?: JsonObject }): void {
  const { id, payload } = trace;
  if (payload === undefined) {
    throw new GatewayError(
      'not_found',
      'Of this request only the facts were kept, so it cannot be replayed. Under load a sample is recorded whole; with traces.bodies off none is.',
    );
  }
  const name = id.replace(/[^\w.-]/g, '_');
  sendJson(exchange, 200, toReplayFile(trace, payload), {
    ...NO_STORE,
    'content-disposition': `attachment; filename="${name}.trace.json"`,
  });
}

/** `status`: `2xx`, `4xx`, `5xx` or one number; `errors=1`: 400 and more. */
function readFilter(query: URLSearchParams): Pick<TraceQuery, 'model' | 'session' | 'status'> {
  const model = query.get('model');
  const session = query.get('session');
  const status = readStatus(query.get('status'));
  const range = status ?? (readSwitch(query, 'errors') ? ERRORS : undefined);
  return {
    ...(model === null ? {} : { model }),
    ...(session === null ? {} : { session }),
    ...(range === undefined ? {} : { status: range }),
  };
}

function readStatus(given: string | null): TraceQuery['status'] {
  if (given === null) return undefined;
  const [, digit, whole] = /^(?:([1-5])xx|([1-5]\d\d))$/.exec(given) ?? [];
  if (digit !== undefined) return { from: Number(digit) * 100, to: Number(digit) * 100 + 99 };
  if (whole !== undefined) return { from: Number(whole), to: Number(whole) };
  throw new GatewayError('invalid_request', 'status: expected 2xx, 4xx, 5xx or a status like 429.', {
    param: 'status',
  });
}

/** For a query: nothing where the caller may see all. */
export function ownOnly({ principal }: Exchange): { principal?: string } {
  return principal.scopes.includes('admin') ? {} : { principal: principal.name };
}
