/** One model call for one request: the first upstream of the route that answers, translated or as bytes. */

import { setTimeout as delay } from 'node:timers/promises';
import type { ConversationRequest } from '../../core/conversation.js';
import { GatewayError, toGatewayError } from '../../core/errors.js';
import type { Loss } from '../../core/losses.js';
import type { WireHeaders } from '../../dialects/shared/dialect.js';
import { clampEffort } from '../../dialects/shared/effort.js';
import type { ModelRoute, ModelRule } from '../../routing/model-router.js';
import type { Upstream } from '../../upstreams/upstream.js';
import { ableUpstreams, notForwarded } from '../demands.js';
import type { Answer, Engine, ModelRequest, SideAnswer } from '../engine.js';
import { CircuitBreakers } from './circuit-breakers.js';
import { spliceModel } from './splice-model.js';

interface RelayOptions {
  upstreams: ReadonlyMap<string, Upstream>;
  /** Called with each failed try, for logs and metrics. */
  onFailure?: (upstream: string, error: GatewayError) => void;
  now?: () => number;
  retryBudgetMs?: number;
}

export class Relay implements Engine {
  readonly #options: RelayOptions;
  readonly #breakers: CircuitBreakers;
  readonly #now: () => number;

  constructor(options: RelayOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#breakers = new CircuitBreakers(this.#now);
  }

  /** Rejects with the last error when every upstream of the route has failed, twice at most. */
  async run(call: ModelRequest, route: ModelRoute): Promise<Answer> {
    const upstreams = ableToForward(ableUpstreams(this.#upstreamsOf(route), call.request), call, route);
    const { name: key } = call.principal;
    const deadline = this.#now() + (this.#options.retryBudgetMs ?? RETRY_BUDGET_MS);
    const failures = new Map<Upstream, GatewayError>();
    const first = await this.#tryEach(this.#breakers.order(upstreams, key), call, route, failures);
    if (!(first instanceof GatewayError)) return first;
    const delay = retryDelay(first);
    if (!first.retryable || this.#now() + delay > deadline) throw first;
    const again = upstreams.filter((upstream) => {
      const failure = failures.get(upstream);
      const isReady = failure?.retryable === true && (failure.retryAfter ?? 0) * 1000 <= delay;
      return isReady && this.#breakers.mayRetry(upstream.name, key);
    });
    if (again.length === 0) throw first;
    await waitFor(delay, call.signal);
    const second = await this.#tryEach(this.#breakers.order(again, key), call, route);
    if (second instanceof GatewayError) throw second;
    return second;
  }

  /** As the first upstream of the route would count. */
  async countTokens(call: ModelRequest, route: ModelRoute): Promise<number> {
    const [first] = ableUpstreams(this.#upstreamsOf(route), call.request);
    if (first === undefined) throw new Error(`The route ${route.pattern} has no upstream.`);
    const { request, headers, signal } = call;
    return first.countTokens({ request, model: route.model, headers, signal });
  }

  /** Another request about the same body, to the first upstream; undefined where that does not speak the client's dialect. */
  async ask(call: ModelRequest, route: ModelRoute, path: string): Promise<SideAnswer | undefined> {
    const [first] = ableUpstreams(this.#upstreamsOf(route), call.request);
    const body = first === undefined ? undefined : forwardableBody(first, call, route);
    if (first?.ask === undefined || body === undefined) return undefined;
    const { headers, signal } = call;
    const answer = await first.ask({ method: 'POST', path, body, headers, signal });
    return { ...answer, upstream: first.name };
  }

  #upstreamsOf(route: ModelRoute): readonly Upstream[] {
    return route.rule.upstreams.map((name) => {
      const upstream = this.#options.upstreams.get(name);
      if (upstream === undefined)
        throw new Error(`The route ${route.pattern} names the unknown upstream ${name}.`);
      return upstream;
    });
  }

  /** The first answer, or the last error once no upstream is left. Of first tries it notes the `failures`. */
  async #tryEach(
    upstreams: readonly Upstream[],
    call: ModelRequest,
    route: ModelRoute,
    failures?: Map<Upstream, GatewayError>,
  ): Promise<Answer | GatewayError> {
    const { name: key } = call.principal;
    const isRetry = failures === undefined;
    let last: GatewayError | undefined;
    for (const upstream of upstreams) {
      const { name } = upstream;
      const refusal = this.#breakers.refusal(name, key, isRetry);
      if (refusal !== undefined) {
        last = refusal;
        continue;
      }
      try {
        const answer = await attempt(upstream, call, route);
        this.#breakers.succeeded(name, key);
        return answer;
      } catch (error) {
        const failure = toGatewayError(error);
        const isVerdict = !call.signal.aborted && mayFallBack(failure);
        if (isVerdict) this.#breakers.failed(name, key, failure);
        else this.#breakers.abandoned(name, key);
        if (call.signal.aborted) throw clientGone();
        this.#options.onFailure?.(name, failure);
        if (!isVerdict) throw failure;
        failures?.set(upstream, failure);
        last = failure;
      }
    }
    return last ?? new GatewayError('internal', `The route ${route.pattern} has no upstream.`);
  }
}

/** What only the dialect itself can say is asked for in the client's own bytes. */
function ableToForward(
  upstreams: readonly Upstream[],
  call: ModelRequest,
  route: ModelRoute,
): readonly Upstream[] {
  const { verbatim } = call.request;
  if (verbatim === undefined) return upstreams;
  const { changed } = fitRequest(call.request, route.rule, call.headers);
  const able = changed ? [] : upstreams.filter((each) => forwardableBody(each, call, route) !== undefined);
  if (able.length === 0) throw notForwarded(verbatim);
  return able;
}

async function attempt(upstream: Upstream, call: ModelRequest, route: ModelRoute): Promise<Answer> {
  const { request, losses, changed } = fitRequest(call.request, route.rule, call.headers);
  const { efforts } = route.rule;
  const shared = {
    model: route.model,
    headers: call.headers,
    signal: call.signal,
    ...(call.trace === undefined ? {} : { trace: call.trace }),
  };
  const body = changed ? undefined : forwardableBody(upstream, call, route);
  if (body !== undefined && upstream.forward !== undefined) {
    const { stream } = request;
    const verbatim = request.verbatim !== undefined;
    const forwarded = await upstream.forward({ ...shared, body, stream, verbatim });
    return {
      upstream: upstream.name,
      losses: [],
      headers: {},
      body:
        'batches' in forwarded
          ? { kind: 'events', batches: forwarded.batches }
          : { kind: 'bytes', ...forwarded },
    };
  }
  const answer = await upstream.call({ ...shared, request, ...(efforts === undefined ? {} : { efforts }) });
  const { batches, ...rest } = answer;
  return {
    ...rest,
    losses: losses.length === 0 ? rest.losses : [...losses, ...rest.losses],
    upstream: upstream.name,
    headers: {},
    body: { kind: 'events', batches },
  };
}

/** The byte lane, where client and upstream speak the same dialect and nothing has to change. */
function forwardableBody(upstream: Upstream, call: ModelRequest, route: ModelRoute): Uint8Array | undefined {
  if (upstream.dialect !== call.clientDialect.name || upstream.forward === undefined) return undefined;
  if (upstream.forwards?.(route.model) === false || call.raw.length === 0) return undefined;
  const raw = Buffer.from(call.raw.buffer, call.raw.byteOffset, call.raw.byteLength);
  // A key that may not call every model gets a body that names one model, however it is read.
  const isAsAsked = call.request.model === route.model && call.principal.models.includes('*');
  return isAsAsked ? raw : spliceModel(raw, route.model);
}

/** Both tries of one request together. */
const RETRY_BUDGET_MS = 10_000;
const RETRY_DELAY_MS = 400;

/**
 * This upstream will not serve the request, but the next of the list may: it is down or answers with
 * something that is no answer; or the key is wrong, there is no such model, no credit.
 */
function mayFallBack(error: GatewayError): boolean {
  if (error.retryable) return true;
  // A bug in the gateway fails the same way everywhere.
  const isOwn = error.code === 'internal' && error.cause !== undefined;
  return ELSEWHERE.has(error.status) || (error.status >= 500 && !isOwn);
}

const ELSEWHERE = new Set([401, 402, 403, 404, 408, 425, 429]);

/** Milliseconds to wait before the second try: what the upstream asks for, else about a moment. */
export function retryDelay({ retryAfter }: GatewayError, random: () => number = Math.random): number {
  return retryAfter === undefined ? (RETRY_DELAY_MS / 2) * (1 + random()) : retryAfter * 1000;
}

/** Rejects at once when `signal` fires. */
async function waitFor(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => {
    throw clientGone();
  });
}

function clientGone(): GatewayError {
  return new GatewayError('client_closed', 'The client closed the connection.');
}

/** Headers by which clients name their conversation: Claude Code, Codex, and the contract's own. */
const CONVERSATION_HEADERS = ['x-claude-code-session-id', 'session-id', 'x-session-id'];

interface Fitted {
  request: ConversationRequest;
  losses: readonly Loss[];
  /** Something that the client wrote was changed, so its bytes cannot be forwarded. */
  changed: boolean;
}

/** A request within what its route allows, and with what its headers know about the conversation. */
export function fitRequest(request: ConversationRequest, rule: ModelRule, headers: WireHeaders): Fitted {
  const losses: Loss[] = [];
  const changes: Partial<ConversationRequest> = {};
  const { maxOutputTokens, efforts } = rule;
  if (maxOutputTokens !== undefined && (request.maxTokens ?? 0) > maxOutputTokens) {
    changes.maxTokens = maxOutputTokens;
    losses.push({
      path: 'max_tokens',
      reason: `cut to the ${maxOutputTokens} that the model is configured for`,
    });
  }
  if (efforts !== undefined && request.effort !== undefined) {
    const effort = clampEffort(request.effort, efforts);
    if (effort !== undefined && effort !== request.effort) {
      changes.effort = effort;
      losses.push({
        path: 'effort',
        reason: `${request.effort} became ${effort}, as the model is configured`,
      });
    }
  }
  const changed = losses.length > 0;
  const cacheKey = request.cacheKey ?? conversationOf(headers);
  if (cacheKey !== undefined && cacheKey !== request.cacheKey) changes.cacheKey = cacheKey;
  const isSame = !changed && changes.cacheKey === undefined;
  return { request: isSame ? request : { ...request, ...changes }, losses, changed };
}

function conversationOf(headers: WireHeaders): string | undefined {
  for (const name of CONVERSATION_HEADERS) {
    const value = headers[name];
    if (value !== undefined && value !== '') return value;
  }
  return undefined;
}
