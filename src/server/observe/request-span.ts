/** The span of one request to the gateway, where its telemetry is collected. */
import type { Span } from '../../core/span.js';
import type { Principal } from '../../engines/engine.js';
import type { Tracer } from '../../observability/open-telemetry.js';
import type { Exchange, Facts } from '../http/exchange.js';
import { clientHeaders } from '../http/read-request.js';

/** Turns and MCP; not what pages and probes ask for, and not the telemetry of clients. */
const TRACED = /^\/(?:v1\/(?!(?:metrics|logs|traces)$)|mcp\/)/;

/** After the caller was admitted: a stranger begins no trace. */
export function beginRequestSpan(tracer: Tracer | undefined, exchange: Exchange): Span | undefined {
  const { facts, method, principal, startedAt, headers, id } = exchange;
  if (tracer === undefined || !TRACED.test(facts.route)) return undefined;
  const name = `${method} ${facts.route}`;
  const attributes = {
    'http.request.method': method,
    'http.route': facts.route,
    'toolgate.request.id': id,
    ...ownerOf(principal),
  };
  const inner = principal.bound?.spanOf?.(clientHeaders(headers));
  if (inner !== undefined) return inner.child(name, 'server', attributes);
  return tracer.begin({ name, kind: 'server', attributes, headers, startedAt });
}

/** Of a turn that the console began. */
export function beginTurnSpan(
  tracer: Tracer | undefined,
  { id, principal, facts }: { id: string; principal: Principal; facts: Facts },
): Span | undefined {
  return tracer?.begin({
    name: facts.route,
    kind: 'internal',
    attributes: { 'toolgate.request.id': id, ...ownerOf(principal) },
  });
}

export function endRequestSpan(span: Span, facts: Facts, status: number): void {
  const { model, stream, session, upstream, error } = facts;
  span.set({
    'http.response.status_code': status,
    'gen_ai.request.model': model,
    'gen_ai.request.stream': stream,
    'gen_ai.conversation.id': session,
    'toolgate.upstream': upstream,
    'toolgate.losses': facts.losses.length || undefined,
    ...(error === undefined ? {} : { 'error.type': error.code }),
  });
  // What the client did wrong is no failure of the server.
  const isFailure = status >= 500 || (error !== undefined && status < 400);
  span.end(
    isFailure ? { type: error?.code ?? String(status), ...(error && { message: error.message }) } : undefined,
  );
}

function ownerOf({ name, team }: Principal): Record<string, string | undefined> {
  return { 'toolgate.key': name, 'toolgate.team': team };
}
