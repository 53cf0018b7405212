/**
 * Several keys or deployments of one upstream, which answer as one. A conversation belongs to the target
 * that has its prompt cache; it is elsewhere only while that target is down or cooling, and the trace says why.
 */
import type { DialectName } from '../core/conversation.js';
import { GatewayError, toGatewayError } from '../core/errors.js';
import type { WireHeaders } from '../dialects/shared/dialect.js';
import { UnreachableError } from '../transport/http-client/failure.js';
import { isAboutRequest, mayFallBack } from './failures.js';
import type { HttpUpstream } from './http-upstream.js';
import { type Affinity, type ConversationHomes, conversationOf } from './pool/conversation-homes.js';
import type { PoolTargetState } from './pool/pool-states.js';
import { limitedForSeconds, spentForSeconds } from './pool/rate-limit-headers.js';
import { byRendezvous } from './pool/rendezvous.js';
import type { Asker, CoolKind } from './pool/target-health.js';
import type {
  ForwardedAnswer,
  ForwardRequest,
  ListedModel,
  PassRequest,
  RequestTrace,
  SideRequest,
  Upstream,
  UpstreamAnswer,
  UpstreamRequest,
} from './upstream.js';

/** One of them, with what outlives a changed configuration. */
export interface PoolTarget {
  /** The same as long as address and credential are. */
  id: string;
  upstream: HttpUpstream;
  weight: number;
  state: PoolTargetState;
}

/** Where a conversation went on, and why not where it was. */
export interface TargetMove {
  from: string;
  to: string;
  reason: string;
}

interface PoolOptions {
  name: string;
  /** At least one. */
  targets: readonly [PoolTarget, ...PoolTarget[]];
  homes: ConversationHomes;
  onFailure?: ((target: string, error: GatewayError) => void) | undefined;
  onMove?: ((move: TargetMove) => void) | undefined;
}

/** Of one request, for anything but a limit: an outage is not multiplied by the number of targets. */
const MOST_TRIES = 2;

type PooledCall = Pick<UpstreamRequest, 'signal' | 'trace' | 'affinity'>;

/** Where a request belongs. */
interface Place {
  conversation: string | undefined;
  /** In the order in which they are asked; without one each target has its turn. */
  order: readonly PoolTarget[] | undefined;
  /** The first of them keeps the answer that the request goes on from. */
  isKept: boolean;
  last: PoolTarget | undefined;
}

export class UpstreamPool implements Upstream {
  readonly name: string;
  readonly dialect: DialectName;
  readonly region?: string;
  /** Of the first target, before it is known which one answers. */
  readonly served: NonNullable<Upstream['served']>;
  readonly #options: PoolOptions;
  readonly #first: HttpUpstream;

  constructor(options: PoolOptions) {
    this.name = options.name;
    this.#options = options;
    this.#first = options.targets[0].upstream;
    this.dialect = this.#first.dialect;
    if (this.#first.region !== undefined) this.region = this.#first.region;
    this.served = this.#first.served;
  }

  forwards(model: string): boolean {
    return this.#first.forwards(model);
  }

  call(call: UpstreamRequest): Promise<UpstreamAnswer> {
    return this.#over(call, call, (upstream, own) => upstream.call(own));
  }

  forward(call: ForwardRequest): Promise<ForwardedAnswer | UpstreamAnswer> {
    return this.#over(call, call, (upstream, own) => upstream.forward(own));
  }

  ask(call: SideRequest): Promise<ForwardedAnswer> {
    return this.#over(call, call, (upstream, own) => upstream.ask(own));
  }

  /** What an account keeps is made and found with the first target. */
  pass(call: PassRequest): Promise<ForwardedAnswer> {
    if (call.affinity === undefined) return this.#first.pass(call);
    return this.#over(call, call, async (upstream, own, isLast) => {
      const answer = await upstream.pass(own);
      if (isLast || !LEAVES.has(answer.status)) return answer;
      throw new PassedFailure(answer);
    }).catch((error: unknown) => {
      if (error instanceof PassedFailure) return error.answer;
      throw error;
    });
  }

  /** By a limit of its own, which says nothing about answers. */
  countTokens(call: UpstreamRequest): Promise<number> {
    return this.#ready(call).countTokens(call);
  }

  listModels(signal: AbortSignal): Promise<readonly ListedModel[]> {
    return this.#ready({}).listModels(signal);
  }

  #ready({ affinity }: Pick<UpstreamRequest, 'affinity'>): HttpUpstream {
    const asker = { key: affinity?.key ?? '', model: affinity?.model ?? '' };
    const ready = this.#options.targets.find(({ state }) => state.health.rank(asker) !== undefined);
    return ready?.upstream ?? this.#first;
  }

  async #over<C extends PooledCall, A extends { id?: string } | UpstreamAnswer>(
    call: C,
    { affinity, signal }: PooledCall,
    ask: (upstream: HttpUpstream, call: C, isLast: boolean) => Promise<A>,
  ): Promise<A & { upstream: string }> {
    const { homes, onFailure } = this.#options;
    const asker: Asker = { key: affinity?.key ?? '', model: affinity?.model ?? '' };
    const place = this.#place(affinity);
    const failed = new Map<PoolTarget, string>();
    let last: GatewayError | undefined;
    for (let tries = 0; tries < MOST_TRIES; ) {
      const target = this.#pick(asker, place, failed);
      if (target === undefined) throw last ?? this.#refusal(asker);
      const { upstream, state } = target;
      const { name } = upstream;
      const seen = new SeenAnswer(call.trace, this.#reason(target, place, asker, failed));
      const begun = state.health.begin(asker);
      try {
        const isLast = failed.size + 1 === this.#options.targets.length || tries + 1 === MOST_TRIES;
        const answer = await ask(upstream, { ...call, trace: seen }, isLast);
        begun.succeeded(spentForSeconds(seen.headers, Date.now()));
        const { id } = 'id' in answer ? answer : {};
        if (affinity !== undefined) homes.remember(affinity.key, place.conversation, target.id, id);
        return { ...answer, upstream: name };
      } catch (thrown) {
        const error = thrown instanceof PassedFailure ? thrown : toGatewayError(thrown);
        const isElsewhere = !signal.aborted && (mayFallBack(error) || isUnknownThere(error));
        if (!isElsewhere) {
          begun.abandoned();
          throw thrown;
        }
        const cool = coolingOf(error, seen);
        if (cool === undefined) begun.abandoned();
        else begun.failed(cool.kind, error, cool.seconds);
        // Neither a limit nor an answer that is kept elsewhere is a sign of an outage.
        if (cool?.kind !== 'limit' && !isUnknownThere(error)) tries += 1;
        onFailure?.(name, error);
        failed.set(target, String(seen.status ?? 'no answer'));
        last = error;
      }
    }
    throw spent(last ?? this.#refusal(asker));
  }

  #place(affinity: Affinity | undefined): Place {
    const { homes, targets } = this.#options;
    const conversation = affinity && conversationOf(affinity);
    const keeper = affinity && this.#target(homes.keeper(affinity));
    const last = affinity && conversation ? this.#target(homes.last(affinity.key, conversation)) : undefined;
    const hashed = conversation === undefined ? undefined : byRendezvous(targets, conversation);
    if (keeper === undefined) return { conversation, order: hashed, isKept: false, last };
    const others = (hashed ?? targets).filter((each) => each !== keeper);
    return { conversation, order: [keeper, ...others], isKept: true, last };
  }

  #target(id: string | undefined): PoolTarget | undefined {
    return id === undefined ? undefined : this.#options.targets.find((each) => each.id === id);
  }

  #pick(
    asker: Asker,
    { order, isKept }: Place,
    failed: ReadonlyMap<PoolTarget, string>,
  ): PoolTarget | undefined {
    const open = (order ?? this.#options.targets)
      .filter((each) => !failed.has(each))
      .flatMap((target) => {
        const rank = target.state.health.rank(asker);
        return rank === undefined ? [] : [{ target, rank }];
      });
    const [first] = open;
    // Nobody else has the answer that it goes on from.
    if (isKept && first?.target === order?.[0]) return first?.target;
    const best = Math.min(...open.map(({ rank }) => rank));
    const equal = open.filter(({ rank }) => rank === best).map(({ target }) => target);
    return order === undefined ? byWeight(equal) : equal[0];
  }

  /** Why this target; tells whoever watches where a conversation moves. */
  #reason(
    target: PoolTarget,
    { order, isKept, last }: Place,
    asker: Asker,
    failed: ReadonlyMap<PoolTarget, string>,
  ): string {
    const to = target.upstream.name;
    const [left, status] = [...failed].at(-1) ?? [];
    const home = order?.[0];
    const reason =
      left !== undefined
        ? `moved from ${left.upstream.name}, which failed: ${status}`
        : home === undefined
          ? 'by weight'
          : home === target
            ? homeReason(isKept, last === undefined || last === target ? undefined : last.upstream.name)
            : `moved from ${home.upstream.name}, ${restReason(home, asker)}`;
    const from = last ?? left;
    if (from !== undefined && from !== target) {
      this.#options.onMove?.({ from: from.upstream.name, to, reason });
    }
    return reason;
  }

  /** Nobody is asked: each has said, or shown, that it is too early. */
  #refusal(asker: Asker): GatewayError {
    const cooling = this.#options.targets.flatMap(({ state }) => state.health.cooling(asker) ?? []);
    const [soonest] = cooling.sort((one, two) => one.waitMs - two.waitMs);
    if (soonest === undefined)
      return new GatewayError('unavailable', `The upstream ${this.name} has no target.`);
    const { last, waitMs } = soonest;
    const retryAfter = seconds(waitMs);
    return new GatewayError(
      last.code,
      `No target of the upstream ${this.name} can be asked now; the next can in ${retryAfter} s. Its last error: ${last.message}`,
      {
        status: last.status,
        retryAfter,
        retryable: true,
        ...(last.detail === undefined ? {} : { detail: last.detail }),
      },
    );
  }
}

function homeReason(isKept: boolean, back: string | undefined): string {
  if (isKept) return 'it keeps the answer that the request goes on from';
  const home = 'the home of the conversation';
  return back === undefined ? home : `back from ${back} to ${home}`;
}

function restReason({ state: { health } }: PoolTarget, asker: Asker): string {
  const waitMs = health.cooling(asker)?.waitMs;
  if (waitMs === undefined) return 'whose limit is used up';
  return waitMs > 0
    ? `which is asked again in ${seconds(waitMs)} s`
    : 'which another request is asking whether it is well again';
}

const seconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1000));

/** Each in its turn, as often as its weight says, and never by chance. */
function byWeight(targets: readonly PoolTarget[]): PoolTarget | undefined {
  let due: PoolTarget | undefined;
  let total = 0;
  for (const target of targets) {
    target.state.credit += target.weight;
    total += target.weight;
    if (due === undefined || target.state.credit > due.state.credit) due = target;
  }
  if (due !== undefined) due.state.credit -= total;
  return due;
}

/** Of a request that is passed on as it came: another target may do better. */
const LEAVES = new Set([401, 402, 429, 502, 503, 529]);

/** What an upstream said to a request that is passed on; it is the answer where no other target gives a better one. */
class PassedFailure extends GatewayError {
  readonly answer: ForwardedAnswer;

  constructor(answer: ForwardedAnswer) {
    super('upstream_failed', `The upstream answered ${answer.status}.`, { status: answer.status });
    this.answer = answer;
  }
}

/** The answer that a request goes on from is another target's. */
const isUnknownThere = ({ detail }: GatewayError): boolean => detail === 'previous_response_not_found';

/** Undefined where the failure says nothing about the target. */
function coolingOf(
  error: GatewayError,
  seen: SeenAnswer,
): { kind: CoolKind; seconds: number | undefined } | undefined {
  if (error instanceof UnreachableError) return { kind: 'unreachable', seconds: undefined };
  if (isAboutRequest(error) || isUnknownThere(error)) return undefined;
  const asked = limitedForSeconds(seen.headers, Date.now());
  // Without such words a 429 may be about one request, such as one that is larger than the limit.
  if (seen.status === 429 && asked !== undefined) return { kind: 'limit', seconds: asked };
  return { kind: 'key', seconds: asked ?? error.retryAfter };
}

/** Both tries were made: the request is not repeated here. */
function spent(error: GatewayError): GatewayError {
  if (error instanceof PassedFailure || !error.retryable) return error;
  const { code, message, status, retryAfter, param, detail, cause } = error;
  return new GatewayError(code, message, {
    status,
    ...(retryAfter === undefined ? {} : { retryAfter }),
    ...(param === undefined ? {} : { param }),
    ...(detail === undefined ? {} : { detail }),
    cause,
  });
}

/** Sees the head of the answer, and says in the trace why this target was asked. */
class SeenAnswer implements RequestTrace {
  status: number | undefined;
  headers: WireHeaders = {};
  readonly #trace: RequestTrace | undefined;
  readonly #reason: string;

  constructor(trace: RequestTrace | undefined, reason: string) {
    this.#trace = trace;
    this.#reason = reason;
  }

  outbound(request: Parameters<RequestTrace['outbound']>[0]): void {
    this.#trace?.outbound({ ...request, reason: this.#reason });
  }

  upstreamHead(status: number, headers: WireHeaders): void {
    this.status = status;
    this.headers = headers;
    this.#trace?.upstreamHead(status, headers);
  }

  upstreamChunk(chunk: Uint8Array): void {
    this.#trace?.upstreamChunk(chunk);
  }
}
