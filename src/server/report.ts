/** What is kept of a finished exchange: one log line, the metrics, and for turns a usage row and a trace. */
import { costOf } from '../core/price.js';
import type { ServerContext } from './context.js';
import type { Exchange } from './exchange.js';

/** Asked every few seconds by machines: not worth a line at the usual level. */
const QUIET_ROUTES: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics']);
const SHOWN_PATH_LENGTH = 200;
/** A client's own request id, if it is one. */
const CLIENT_ID = /^[\w.:/+=@-]{1,128}$/;
/** Of nginx; the client closed the connection before it had an answer. */
const CLIENT_CLOSED_STATUS = 499;

export function reportExchange(exchange: Exchange, { log, metrics, store }: ServerContext): void {
  const { facts, id, method, request, response, startedAt } = exchange;
  const now = performance.now();
  const durationMs = round(now - startedAt);
  const firstTokenMs = facts.firstTokenAt === undefined ? undefined : round(facts.firstTokenAt - startedAt);
  const status = exchange.clientGone ? CLIENT_CLOSED_STATUS : response.statusCode;
  const clientId = request.headers['x-request-id'];
  const line = {
    id,
    ...(typeof clientId === 'string' && CLIENT_ID.test(clientId) ? { client_id: clientId } : {}),
    method,
    path: exchange.path.slice(0, SHOWN_PATH_LENGTH),
    status,
    ms: durationMs,
    first_token_ms: firstTokenMs,
    model: facts.model,
    stream: facts.stream,
    upstream: facts.upstream,
    key: exchange.principal.name === '' ? undefined : exchange.principal.name,
    input_tokens: facts.usage?.inputTokens,
    output_tokens: facts.usage?.outputTokens,
    cache_read_tokens: facts.usage?.cacheReadTokens || undefined,
    stop: facts.stopReason,
    losses: facts.losses.length || undefined,
    repairs: facts.repairs.size === 0 ? undefined : Object.fromEntries(facts.repairs),
    error: facts.error?.code,
    message: facts.error?.message,
  };
  if (status >= 500) log.warn(line, 'request');
  else if (QUIET_ROUTES.has(facts.route)) log.debug(line, 'request');
  else log.info(line, 'request');
  metrics.record({
    route: facts.route,
    method,
    status,
    seconds: durationMs / 1000,
    model: facts.model,
    upstream: facts.upstream,
    firstTokenSeconds: firstTokenMs === undefined ? undefined : firstTokenMs / 1000,
    usage: isInner(exchange) ? undefined : facts.usage,
    losses: facts.losses,
    repairs: facts.repairs,
    errorCode: facts.error?.code,
  });
  if (exchange.traced) keepTurn(exchange, store, durationMs, firstTokenMs);
}

/** A model call of an agent: its tokens are counted with the answer that the agent gives. */
function isInner({ principal }: Exchange): boolean {
  return principal.pinned !== undefined;
}

function keepTurn(
  exchange: Exchange,
  store: ServerContext['store'],
  durationMs: number,
  firstTokenMs: number | undefined,
): void {
  const { facts, id, path, principal, recorder, response } = exchange;
  const at = Math.round(Date.now() - durationMs);
  // An answer that failed after its head was out is a failure all the same.
  const status = facts.error?.status ?? response.statusCode;
  const model = facts.model ?? '';
  if (!isInner(exchange)) recordUsage(exchange, store, { at, status, durationMs, firstTokenMs });
  store.traces.record({
    id,
    principal: principal.name,
    at,
    model,
    ...(facts.upstream === undefined ? {} : { upstream: facts.upstream }),
    status,
    durationMs,
    losses: facts.losses,
    repairs: [...facts.repairs].map(([kind, count]) => (count === 1 ? kind : `${kind} (${count} times)`)),
    summary: {
      path,
      stream: facts.stream ?? false,
      first_token_ms: firstTokenMs ?? null,
      stop_reason: facts.stopReason ?? null,
      usage: facts.usage ?? null,
      error: facts.error === undefined ? null : { code: facts.error.code, message: facts.error.message },
    },
    ...(recorder === undefined ? {} : { payload: recorder.finish() }),
  });
}

function recordUsage(
  { facts, principal }: Exchange,
  store: ServerContext['store'],
  times: { at: number; status: number; durationMs: number; firstTokenMs: number | undefined },
): void {
  const { at, status, durationMs, firstTokenMs } = times;
  store.usage.record({
    at,
    principal: principal.name,
    model: facts.model ?? '',
    upstream: facts.upstream ?? '',
    status,
    latencyMs: durationMs,
    ...(firstTokenMs === undefined ? {} : { firstTokenMs }),
    inputTokens: facts.usage?.inputTokens ?? 0,
    outputTokens: facts.usage?.outputTokens ?? 0,
    cacheReadTokens: facts.usage?.cacheReadTokens ?? 0,
    cacheWriteTokens: facts.usage?.cacheWriteTokens ?? 0,
    ...(facts.session === undefined ? {} : { session: facts.session }),
    ...(facts.price === undefined || facts.usage === undefined
      ? {}
      : { costUsd: costOf(facts.usage, facts.price) }),
    ...(facts.usage?.reasoningTokens === undefined ? {} : { reasoningTokens: facts.usage.reasoningTokens }),
  });
}

function round(ms: number): number {
  return Math.round(ms * 100) / 100;
}
