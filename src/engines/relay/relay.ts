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
import { spliceModel } from './splice-model.js';

const FIRST_MS = 2_000;
const LONGEST_MS = 60_000;

interface Entry {
  failures: number;
  until: number;
}

/**
 * Which upstreams failed a moment ago, so that a list is not tried from its dead end each time.
 * Advice, not truth: it lives in this process, and when all are cooling they are all tried.
 */
class CoolDown {
  readonly #entries = new Map<string, Entry>();
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  failed(upstream: string, retryAfterSeconds?: number): void {
    const failures = (this.#entries.get(upstream)?.failures ?? 0) + 1;
    const own = Math.min(FIRST_MS * 2 ** (failures - 1), LONGEST_MS);
    const asked = retryAfterSeconds === undefined ? 0 : Math.min(retryAfterSeconds * 1000, LONGEST_MS);
    this.#entries.set(upstream, { failures, until: this.#now() + Math.max(own, asked) });
  }

  succeeded(upstream: string): void {
    this.#entries.delete(upstream);
  }

  isCooling(upstream: string): boolean {
    const entry = this.#entries.get(upstream);
    return entry !== undefined && entry.until > this.#now();
  }

  /** The same upstreams, those that failed lately last. */
  order<T extends { name: string }>(upstreams: readonly T[]): readonly T[] {
    if (upstreams.length < 2 || !upstreams.some((each) => this.isCooling(each.name))) return upstreams;
    const ready = upstreams.filter((each) => !this.isCooling(each.name));
    return [...ready, ...upstreams.filter((each) => this.isCooling(each.name))];
  }
}

interface RelayOptions {
  upstreams: ReadonlyMap<string, Upstream>;
  /** Called with each failed try, for logs and metrics. */
  onFailure?: (upstream: string, error: GatewayError) => void;
  now?: () => number;
  retryBudgetMs?: number;
}

export class Relay implements Engine {
  readonly #options: RelayOptions;
  readonly #coolDown: CoolDown;
  readonly #now: () => number;

  constructor(options: RelayOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#coolDown = new CoolDown(this.#now);
  }

  /** Rejects with the last error when every upstream of the route has failed. */
  async run(call: ModelRequest, route: ModelRoute): Promise<Answer> {
    const upstreams = ableToForward(ableUpstreams(this.#upstreamsOf(route), call.request), call, route);
    const deadline = this.#now() + (this.#options.retryBudgetMs ?? RETRY_BUDGET_MS);
    for (let round = 0; ; round++) {
      const last = await this.#tryEach(this.#coolDown.order(upstreams), call, route);
      if (!(last instanceof GatewayError)) return last;
      const delay = retryDelay(round, last);
      if (!isRetryable(last) || this.#now() + delay > deadline) throw last;
      await waitFor(delay, call.signal);
    }
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

  /** The first answer, or the last error once no upstream is left. */
  async #tryEach(
    upstreams: readonly Upstream[],
    call: ModelRequest,
    route: ModelRoute,
  ): Promise<Answer | GatewayError> {
    let last: GatewayError | undefined;
    for (const upstream of upstreams) {
      try {
        const answer = await attempt(upstream, call, route);
        this.#coolDown.succeeded(upstream.name);
        return answer;
      } catch (error) {
        if (call.signal.aborted) throw clientGone();
        const failure = toGatewayError(error);
        this.#options.onFailure?.(upstream.name, failure);
        if (!mayFallBack(failure)) throw failure;
        this.#coolDown.failed(upstream.name, failure.retryAfter);
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

/** All tries of one request together. */
const RETRY_BUDGET_MS = 10_000;
const FIRST_DELAY_MS = 400;
const LONGEST_DELAY_MS = 4_000;

const RETRYABLE = new Set([408, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529]);
/** This upstream will not serve the request, but the next of the list may: wrong key, no such model, no credit. */
const ELSEWHERE = new Set([401, 402, 403, 404]);

function isRetryable(error: GatewayError): boolean {
  return error.retryable || (isFromUpstream(error) && RETRYABLE.has(error.status));
}

function mayFallBack(error: GatewayError): boolean {
  return isRetryable(error) || ELSEWHERE.has(error.status);
}

/** A bug in the gateway fails the same way everywhere. */
function isFromUpstream(error: GatewayError): boolean {
  return error.code !== 'internal' || error.cause === undefined;
}

/**
 * Milliseconds to wait before round `round` (0 is the first retry). `retry-after` is obeyed; from the
 * second round on no wait is shorter than ours, or an upstream that says 0 would be asked without pause.
 */
export function retryDelay(round: number, error: GatewayError, random: () => number = Math.random): number {
  const full = Math.min(FIRST_DELAY_MS * 2 ** round, LONGEST_DELAY_MS);
  if (error.retryAfter !== undefined) return Math.max(error.retryAfter * 1000, round === 0 ? 0 : full / 2);
  return full / 2 + (full / 2) * random();
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
