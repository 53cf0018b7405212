/** What is kept of a finished exchange: one log line, the metrics, and for turns a usage row and a trace. */
import { costOf } from '../../core/price.js';
import type { Log } from '../../observability/log.js';
import type { Metrics } from '../../observability/metrics.js';
import type { Store } from '../../store/store.js';
import type { Trace } from '../../store/traces.js';
import type { UsageRecord } from '../../store/usage.js';
import type { Exchange } from '../http/exchange.js';
import { endRequestSpan } from './request-span.js';

/** Asked every few seconds by machines: not worth a line at the usual level. */
const QUIET_ROUTES: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics']);
const SHOWN_PATH_LENGTH = 200;
/** A client's own request id, if it is one. */
const CLIENT_ID = /^[\w.:/+=@-]{1,128}$/;
/** Of nginx; the client closed the connection before it had an answer. */
const CLIENT_CLOSED_STATUS = 499;

/** A request that is over, whether or not a connection waited for it. */
type Finished = Pick<
  Exchange,
  'id' | 'method' | 'path' | 'principal' | 'facts' | 'startedAt' | 'recorder' | 'span'
> & {
  /** The status of the answer. */
  answered: number;
  clientGone: boolean;
  /** The client's own. */
  requestId: unknown;
  traced: boolean;
};

export interface ReportContext {
  store: Pick<Store, 'traces' | 'usage'>;
  /** The console's event stream. */
  events: {
    readonly watched: boolean;
    publish(audience: string, event: { type: 'request'; trace: object }): void;
  };
  metrics: Metrics;
  log: Log;
  /** For what limits keys. */
  onUsage?: ((row: UsageRecord) => void) | undefined;
}

export function reportExchange(exchange: Exchange, context: ReportContext): void {
  const { id, method, path, principal, facts, startedAt, recorder, span, headers, response } = exchange;
  const { traced, clientGone } = exchange;
  const answered = response.statusCode;
  const requestId = headers['x-request-id'];
  report(
    {
      id,
      method,
      path,
      principal,
      facts,
      startedAt,
      recorder,
      span,
      traced,
      clientGone,
      answered,
      requestId,
    },
    context,
  );
}

/** A turn that the gateway took for itself. */
export function reportTurn(
  turn: Omit<Finished, 'answered' | 'clientGone' | 'requestId' | 'traced'>,
  context: ReportContext,
): void {
  const { id, method, path, principal, facts, startedAt, recorder, span } = turn;
  const answered = facts.error?.status ?? 200;
  const never = { clientGone: false, requestId: undefined } as const;
  report(
    { id, method, path, principal, facts, startedAt, recorder, span, answered, traced: true, ...never },
    context,
  );
}

function report(finished: Finished, context: ReportContext): void {
  const { log, metrics } = context;
  const { facts, id, method, startedAt, requestId: clientId } = finished;
  const now = performance.now();
  const durationMs = round(now - startedAt);
  const firstTokenMs = facts.firstTokenAt === undefined ? undefined : round(facts.firstTokenAt - startedAt);
  // A person's time says nothing about how fast the answer was.
  const waitedMs = Math.min(durationMs, round(facts.waitedMs?.() ?? 0));
  const status = finished.clientGone ? CLIENT_CLOSED_STATUS : finished.answered;
  const line = {
    id,
    ...(typeof clientId === 'string' && CLIENT_ID.test(clientId) ? { client_id: clientId } : {}),
    method,
    path: finished.path.slice(0, SHOWN_PATH_LENGTH),
    status,
    ms: durationMs,
    waited_ms: waitedMs || undefined,
    first_token_ms: firstTokenMs,
    model: facts.model,
    stream: facts.stream,
    upstream: facts.upstream,
    key: finished.principal.name === '' ? undefined : finished.principal.name,
    team: finished.principal.team,
    trace_id: finished.span?.traceId,
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
    seconds: (durationMs - waitedMs) / 1000,
    model: facts.model,
    upstream: facts.upstream,
    team: isInner(finished) ? undefined : finished.principal.team,
    costUsd: isInner(finished) ? undefined : costOfFacts(facts),
    firstTokenSeconds: firstTokenMs === undefined ? undefined : firstTokenMs / 1000,
    usage: isInner(finished) ? undefined : facts.usage,
    losses: facts.losses,
    repairs: facts.repairs,
    errorCode: facts.error?.code,
  });
  if (finished.span !== undefined) endRequestSpan(finished.span, facts, status);
  if (finished.traced) keepTurn(finished, context, { durationMs, waitedMs, firstTokenMs });
}

/** A model call of an agent: its tokens are counted with the answer that the agent gives. */
function isInner({ principal }: Finished): boolean {
  return principal.bound !== undefined;
}

interface Times {
  durationMs: number;
  /** Of those, how long it waited for people. */
  waitedMs: number;
  firstTokenMs: number | undefined;
}

function keepTurn(
  finished: Finished,
  { store, events, onUsage }: Pick<ReportContext, 'store' | 'events' | 'onUsage'>,
  { durationMs, waitedMs, firstTokenMs }: Times,
): void {
  const { facts, id, path, principal, recorder } = finished;
  const at = Math.round(Date.now() - durationMs);
  // An answer that failed after its head was out is a failure all the same.
  const status = facts.error?.status ?? finished.answered;
  const model = facts.model ?? '';
  const session = facts.session ?? principal.bound?.session;
  if (!isInner(finished)) {
    const row = usageOf(finished, { at, status, latencyMs: durationMs - waitedMs, firstTokenMs });
    store.usage.record(row);
    onUsage?.(row);
  }
  const trace = {
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
      ...(waitedMs === 0 ? {} : { waited_ms: waitedMs }),
      stop_reason: facts.stopReason ?? null,
      ...(session === undefined ? {} : { session }),
      ...(isInner(finished) ? { inner: true } : {}),
      usage: facts.usage ?? null,
      error: facts.error === undefined ? null : { code: facts.error.code, message: facts.error.message },
    },
  };
  store.traces.record(recorder === undefined ? trace : { ...trace, payload: recorder.finish() });
  if (events.watched) events.publish(principal.name, { type: 'request', trace: traceToWire(trace) });
}

/** A trace as `/api/traces` and `/api/events` show it. */
export function traceToWire(trace: Omit<Trace, 'payloadSize'> & { payloadSize?: number }): object {
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
    ...(trace.payloadSize === undefined ? {} : { payload_size: trace.payloadSize }),
  };
}

function usageOf(
  { facts, principal }: Finished,
  times: { at: number; status: number; latencyMs: number; firstTokenMs: number | undefined },
): UsageRecord {
  const { at, status, latencyMs, firstTokenMs } = times;
  const cost = costOfFacts(facts) ?? (isRefused(facts, status) ? 0 : undefined);
  return {
    at,
    principal: principal.name,
    ...(principal.team === undefined ? {} : { team: principal.team }),
    model: facts.model ?? '',
    upstream: facts.upstream ?? '',
    status,
    latencyMs,
    ...(firstTokenMs === undefined ? {} : { firstTokenMs }),
    inputTokens: facts.usage?.inputTokens ?? 0,
    outputTokens: facts.usage?.outputTokens ?? 0,
    cacheReadTokens: facts.usage?.cacheReadTokens ?? 0,
    cacheWriteTokens: facts.usage?.cacheWriteTokens ?? 0,
    ...(facts.session === undefined ? {} : { session: facts.session }),
    ...(cost === undefined ? {} : { costUsd: cost }),
    ...(facts.usage?.reasoningTokens === undefined ? {} : { reasoningTokens: facts.usage.reasoningTokens }),
  };
}

/** No upstream has answered, nor may one be working on it still, as where the client left or the time was over. */
function isRefused({ upstream }: Finished['facts'], status: number): boolean {
  return upstream === undefined && status >= 400 && status < 499;
}

function costOfFacts({ price, usage }: Finished['facts']): number | undefined {
  return price === undefined || usage === undefined ? undefined : costOf(usage, price);
}

function round(ms: number): number {
  return Math.round(ms * 100) / 100;
}
