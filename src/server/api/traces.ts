/** What happened to requests. Everyone sees their own key's, an administrator all of them. */
import { GatewayError } from '../../core/errors.js';
import type { Trace } from '../../store/traces.js';
import type { Handler } from '../context.js';
import type { Exchange } from '../exchange.js';
import { sendJson } from '../respond.js';
import { readInteger } from './query.js';

export const listTraces: Handler = async (exchange, { store }) => {
  const query = new URLSearchParams(exchange.query);
  const cursor = query.get('cursor');
  const page = await store.traces.list({
    ...ownOnly(exchange),
    ...(cursor === null ? {} : { cursor }),
    limit: readInteger(query, 'limit', { default: 50, min: 1, max: 500 }),
  });
  sendJson(
    exchange,
    200,
    { data: page.items.map(toWire), next: page.next ?? null },
    { 'cache-control': 'no-store' },
  );
};

export const getTrace: Handler = async (exchange, { store }, { id = '' }) => {
  const trace = await store.traces.get(id);
  const { principal } = ownOnly(exchange);
  // Another key's trace is as unknown as one that does not exist.
  if (trace === undefined || (principal !== undefined && trace.principal !== principal)) {
    throw new GatewayError('not_found', 'There is no such trace. It may have been deleted for its age.');
  }
  sendJson(
    exchange,
    200,
    { ...toWire(trace), payload: trace.payload ?? null },
    { 'cache-control': 'no-store' },
  );
};

/** For a query: nothing where the caller may see all. */
export function ownOnly({ principal }: Exchange): { principal?: string } {
  return principal.scopes.includes('admin') ? {} : { principal: principal.name };
}

function toWire(trace: Trace): object {
  return {
    id: trace.id,
    key: trace.principal,
    at: new Date(trace.at).toISOString(),
    model: trace.model,
    upstream: trace.upstream ?? null,
    status: trace.status,
    duration_ms: trace.durationMs,
    losses: trace.losses,
    repairs: trace.repairs,
    summary: trace.summary,
    payload_size: trace.payloadSize,
  };
}
