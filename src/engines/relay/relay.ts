/** One model call for one request: the first upstream of the route that answers, translated or as bytes. */

import { setTimeout as delay } from 'node:timers/promises';
import type { ConversationRequest } from '../../core/conversation.js';
import { GatewayError, toGatewayError } from '../../core/errors.js';
import type { Loss } from '../../core/losses.js';
import type { WireHeaders } from '../../dialects/shared/dialect.js';
import { clampEffort } from '../../dialects/shared/effort.js';
import type { ModelRoute, ModelRule } from '../../routing/model-router.js';
import { chainOf, seedOf } from '../../sessions/history/history-fingerprint.js';
import { atomsOf } from '../../sessions/history/visible-history.js';
import { isAboutRequest, mayFallBack } from '../../upstreams/failures.js';
import type { Upstream, UpstreamAnswer, UpstreamRequest } from '../../upstreams/upstream.js';
import { ableUpstreams, notForwarded } from '../demands.js';
import type { Answer, Engine, ModelRequest, SideAnswer, SidePath } from '../engine.js';
import { CircuitBreakers } from './circuit-breakers.js';
import { askShortened } from './context-edits.js';
import type { ProviderTools } from './provider-tools.js';
import { spliceModel } from './splice-model.js';
import { ToolSearches } from './tool-searches.js';
import { TrySpans } from './try-spans.js';

interface RelayOptions {
  upstreams: ReadonlyMap<string, Upstream>;
  /** Called with each failed try, for logs and metrics. */
  onFailure?: (upstream: string, error: GatewayError) => void;
  /** Called with each try that is a repeat, and with each that was spared because the upstream is down. */
  onRetry?: (upstream: string) => void;
  onRefusal?: (upstream: string) => void;
  now?: () => number;
  retryBudgetMs?: number;
}

export class Relay implements Engine {
  readonly #options: RelayOptions;
  readonly #breakers: CircuitBreakers;
  readonly #searches = new ToolSearches();
  readonly #now: () => number;
  /** By the list of names in a rule, which stays the same object in every copy of the rule. */
  readonly #upstreams = new WeakMap<readonly string[], ReadonlyMap<string, Upstream>>();

  constructor(options: RelayOptions) {
    this.#options = options;
    // Nobody sets it: a corrected clock must not keep an upstream closed.
    this.#now = options.now ?? (() => performance.now());
    this.#breakers = new CircuitBreakers(this.#now);
  }

  /** Rejects with the last error when every upstream of the route has failed, twice at most. */
  async run(call: ModelRequest, route: ModelRoute): Promise<Answer> {
    const upstreams = ableToForward(ableUpstreams(this.#upstreamsOf(route), call.request), call, route);
    const { name: key } = call.principal;
    const deadline = this.#now() + (this.#options.retryBudgetMs ?? RETRY_BUDGET_MS);
    const failures = new Map<Upstream, GatewayError>();
    const spans = TrySpans.of(call);
    const first = await this.#tryEach(this.#breakers.order(upstreams, key), call, route, spans, failures);
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
    const second = await this.#tryEach(this.#breakers.order(again, key), call, route, spans);
    if (second instanceof GatewayError) throw second;
    return second;
  }

  /** As the first upstream of the route would count. */
  async countTokens(call: ModelRequest, route: ModelRoute): Promise<number> {
    const [first] = ableUpstreams(this.#upstreamsOf(route), call.request);
    if (first === undefined) throw new Error(`The route ${route.pattern} has no upstream.`);
    const { headers, signal } = call;
    const body = forwardableBody(first, call, route);
    const { request } = this.#searches.of(first, call, call.request, route.rule, body) ?? call;
    const affinity = { key: call.principal.name, model: route.model };
    return first.countTokens({ request, model: route.model, headers, signal, affinity });
  }

  /** Another request about the same body, to the first upstream; undefined where that does not speak the client's dialect. */
  async ask(call: ModelRequest, route: ModelRoute, path: SidePath): Promise<SideAnswer | undefined> {
    const [first] = ableUpstreams(this.#upstreamsOf(route), call.request);
    const body = first === undefined ? undefined : forwardableBody(first, call, route);
    if (first?.ask === undefined || body === undefined) return undefined;
    const { headers, signal } = call;
    const { request } = fitRequest(call.request, route.rule, headers);
    const affinity = affinityOf(call, request, route);
    const answer = await first.ask({ method: 'POST', path, body, headers, signal, affinity });
    return { ...answer, upstream: answer.upstream ?? first.name };
  }

  /** From now on, for models whose entry says so. */
  runProviderTools(providerTools: ProviderTools): void {
    this.#searches.providerTools = providerTools;
  }

  /** Other upstreams from now on. What runs by `rules` of before keeps those that they named. */
  use(upstreams: ReadonlyMap<string, Upstream>, rules: readonly ModelRule[]): void {
    for (const rule of rules) this.#upstreams.set(rule.upstreams, upstreams);
  }

  #upstreamsOf(route: ModelRoute): readonly Upstream[] {
    const upstreams = this.#upstreams.get(route.rule.upstreams) ?? this.#options.upstreams;
    return route.rule.upstreams.map((name) => {
      const upstream = upstreams.get(name);
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
    spans: TrySpans | undefined,
    failures?: Map<Upstream, GatewayError>,
  ): Promise<Answer | GatewayError> {
    const { name: key } = call.principal;
    const isRetry = failures === undefined;
    let last: GatewayError | undefined;
    for (const upstream of upstreams) {
      const { name } = upstream;
      const begun = this.#breakers.begin(name, key, isRetry);
      if (begun instanceof GatewayError) {
        last = begun;
        spans?.refused(name, begun);
        this.#options.onRefusal?.(name);
        continue;
      }
      if (isRetry) this.#options.onRetry?.(name);
      try {
        const answer = await (spans === undefined
          ? attempt(upstream, call, route, this.#searches)
          : spans.run(upstream, route, (traced) => attempt(upstream, traced, route, this.#searches)));
        begun.succeeded();
        return answer;
      } catch (error) {
        const failure = toGatewayError(error);
        const isForNext = !call.signal.aborted && mayFallBack(failure);
        if (isForNext && !isAboutRequest(failure)) begun.failed(failure);
        else begun.abandoned();
        if (call.signal.aborted) throw clientGone();
        this.#options.onFailure?.(name, failure);
        if (!isForNext) throw failure;
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
  // What an upstream makes for nobody in particular it does not bill to an answer either.
  if (call.metered && verbatim.param === 'background') throw notForwarded(verbatim);
  const { changed } = fitRequest(call.request, route.rule, call.headers);
  const able = changed ? [] : upstreams.filter((each) => forwardableBody(each, call, route) !== undefined);
  if (able.length === 0) throw notForwarded(verbatim);
  return able;
}

async function attempt(
  upstream: Upstream,
  call: ModelRequest,
  route: ModelRoute,
  searches: ToolSearches,
): Promise<Answer> {
  const { request, losses, changed } = fitRequest(call.request, route.rule, call.headers);
  const { efforts } = route.rule;
  const shared = {
    model: route.model,
    headers: call.headers,
    signal: call.signal,
    affinity: affinityOf(call, request, route),
    ...(call.trace === undefined ? {} : { trace: call.trace }),
    ...(call.span === undefined ? {} : { propagated: call.span.propagated }),
  };
  const body = changed ? undefined : forwardableBody(upstream, call, route);
  const searched = searches.of(upstream, call, request, route.rule, body);
  const ask = (asked: ConversationRequest): Promise<UpstreamAnswer> => {
    const sent = { ...shared, request: asked, ...(efforts === undefined ? {} : { efforts }) };
    const own = asked === request ? searched : searches.of(upstream, call, asked, route.rule, undefined);
    return own === undefined ? upstream.call(sent) : own.call(upstream, sent);
  };
  if (body !== undefined && searched === undefined && upstream.forward !== undefined) {
    const { stream } = request;
    const verbatim = request.verbatim !== undefined;
    const metered = call.metered ? { metered: request } : {};
    const forwarded = await upstream.forward({ ...shared, body, stream, verbatim, ...metered });
    return {
      upstream: forwarded.upstream ?? upstream.name,
      losses: [],
      headers: {},
      body:
        'batches' in forwarded
          ? { kind: 'events', batches: forwarded.batches }
          : { kind: 'bytes', ...forwarded },
    };
  }
  const answer = await (upstream.dialect === 'anthropic-messages'
    ? ask(request)
    : askShortened(request, ask));
  const { batches, ...rest } = answer;
  return {
    ...rest,
    losses: losses.length === 0 ? rest.losses : [...losses, ...rest.losses],
    upstream: answer.upstream ?? upstream.name,
    headers: {},
    body: { kind: 'events', batches },
  };
}

/** By what a conversation is known again, so that it goes where its prompt cache is. */
function affinityOf(
  { principal }: ModelRequest,
  request: ConversationRequest,
  { model, rule: { engine, cwd = '' } }: ModelRoute,
): NonNullable<UpstreamRequest['affinity']> {
  const { cacheKey, messages, continues } = request;
  return {
    key: principal.name,
    model,
    conversation: cacheKey,
    follows: continues?.id,
    opening: () => {
      const answered = messages.findIndex(({ role }) => role === 'assistant');
      const opening = answered === -1 ? messages : messages.slice(0, Math.max(1, answered));
      const said = atomsOf(opening);
      return said.length === 0 ? undefined : chainOf(seedOf({ engine, root: cwd }), said).at(-1)?.hash;
    },
  };
}

/** The byte lane, where client and upstream speak the same dialect and nothing has to change. */
function forwardableBody(upstream: Upstream, call: ModelRequest, route: ModelRoute): Uint8Array | undefined {
  if (upstream.dialect !== call.clientDialect.name || upstream.forward === undefined) return undefined;
  if (upstream.forwards?.(route.model) === false || call.raw.length === 0) return undefined;
  if (call.request.ownSummary) return undefined;
  const raw = Buffer.from(call.raw.buffer, call.raw.byteOffset, call.raw.byteLength);
  // A key that may not call every model gets a body that names one model, however it is read.
  const isAsAsked = call.request.model === route.model && call.principal.models.includes('*');
  return isAsAsked ? raw : spliceModel(raw, route.model);
}

/** Both tries of one request together. */
const RETRY_BUDGET_MS = 10_000;
const RETRY_DELAY_MS = 400;

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
