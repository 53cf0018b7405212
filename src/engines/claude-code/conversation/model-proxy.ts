/**
 * The model calls of one Claude Code, on their way through the gateway's own `/v1/messages`. The
 * turn that runs is asked before each call, counts what all of them cost, those of sub-agents
 * included, and gets the upstream's error when a request failed.
 */
import { type ConversationRequest, type Message, NO_USAGE, type Usage } from '../../../core/conversation.js';
import { GatewayError, toGatewayError } from '../../../core/errors.js';
import type { ModelEvent } from '../../../core/events.js';
import type { Loss } from '../../../core/losses.js';
import type { Span } from '../../../core/span.js';
import type { ModelRoute } from '../../../routing/model-router.js';
import { UsageTally } from '../../agent/answer-assembler.js';
import { toolCallIds } from '../../agent/message-collector.js';
import type { Answer, AnswerBody, BoundModel, CountingEngine, ModelRequest } from '../../engine.js';
import type { ModelView } from './model-view.js';
import { EventCounter, type Meter, sinceLast } from './usage-meter.js';

/** Set by Claude Code on the calls of sub-agents. */
const AGENT_HEADER = 'x-claude-code-agent-id';
const NO_BYTES = new Uint8Array(0);

/** `main`: the next step of the conversation itself; `agent`: of a sub-agent; `aside`: anything else. */
export type ProxiedRequestKind = 'main' | 'agent' | 'aside';

export interface OpenedModelRequest {
  upstream: string;
  losses: readonly Loss[];
  promptTokens: number | undefined;
}

export interface AskedModelRequest {
  kind: ProxiedRequestKind;
  request: ConversationRequest;
  /** The sub-agent that makes it. */
  agentId: string | undefined;
  /** Fires when Claude Code does not wait for it any more. */
  signal: AbortSignal;
}

/** The turn that runs. */
export interface ModelProxyHost {
  /** Claude Code sums up its conversation: what it asks meanwhile is no step of it. */
  readonly compacting: boolean;
  /** Before the model is asked. Rejects where it must not be any more. */
  admit(call: AskedModelRequest): Promise<ConversationRequest>;
  opened(kind: ProxiedRequestKind, call: OpenedModelRequest): void;
  failed(kind: ProxiedRequestKind, error: GatewayError): void;
  /** A request of a sub-agent, as it streams. */
  follow(agentId: string, request: ConversationRequest): FollowedModelRequest;
}

interface FollowedModelRequest {
  push(batch: readonly ModelEvent[]): void;
  end(usage: Usage): void;
}

export interface ModelProxyOptions {
  relay: CountingEngine;
  /** Of the model's entry, for the relay. */
  route: ModelRoute;
  session: string;
  /** Whether the conversation has tools: what comes without them is then no part of it. */
  hasTools: boolean;
  /** Between Claude Code and its model. */
  view: Pick<ModelView, 'request' | 'events'>;
}

export class ModelProxy implements BoundModel {
  readonly session: string;
  readonly #options: ModelProxyOptions;
  #settled = new UsageTally();
  readonly #running = new Set<Meter>();
  /** What the calls of each sub-agent came to. */
  readonly #spentBy = new Map<string, UsageTally>();
  owner: ModelProxyHost | undefined;
  /** Of the turn that runs. */
  traced: Pick<ModelRequest, 'span' | 'turnSpans'> = {};

  constructor(options: ModelProxyOptions) {
    this.session = options.session;
    this.#options = options;
  }

  spanOf(headers: ModelRequest['headers']): Span | undefined {
    const agentId = headers[AGENT_HEADER];
    return agentId === undefined ? this.traced.span : this.traced.turnSpans?.ofAgent(agentId);
  }

  async run(call: ModelRequest): Promise<Answer> {
    const { owner } = this;
    if (owner === undefined) throw over();
    const agentId = call.headers[AGENT_HEADER];
    const kind = agentId === undefined ? this.#kindOf(call, owner) : 'agent';
    const { relay, route, session, view } = this.#options;
    const request = await owner.admit({ kind, request: call.request, agentId, signal: call.signal });
    const asked = view.request({ ...request, cacheKey: request.cacheKey ?? session }, agentId);
    let answer: Answer;
    try {
      // Never as bytes: what comes back has to be understood.
      answer = await relay.run({ ...call, request: asked, raw: NO_BYTES }, route);
    } catch (error) {
      const failure = toGatewayError(error);
      // The process has gone, and its call with it.
      if (!call.signal.aborted) owner.failed(kind, failure);
      throw error;
    }
    const { upstream, losses, promptTokens } = answer;
    owner.opened(kind, { upstream, losses, promptTokens });
    const failed = (error: unknown) => {
      if (!call.signal.aborted) owner.failed(kind, toGatewayError(error));
    };
    const followed = agentId === undefined ? undefined : owner.follow(agentId, asked);
    return { ...answer, body: this.#watched(answer, asked, { agentId, followed, failed }) };
  }

  countTokens(call: ModelRequest): Promise<number> {
    return this.#options.relay.countTokens(call, this.#options.route);
  }

  /** Of a sub-agent, as far as its calls are over. */
  spentBy(agentId: string): Usage {
    return this.#spentBy.get(agentId)?.total ?? NO_USAGE;
  }

  /** What the calls since the last time came to, as far as they have got. */
  takeUsage(): Usage {
    const tally = this.#settled;
    this.#settled = new UsageTally();
    for (const meter of this.#running) tally.add(meter());
    return tally.total;
  }

  #countFor(agentId: string, usage: Usage): void {
    const tally = this.#spentBy.get(agentId) ?? new UsageTally();
    tally.add(usage);
    this.#spentBy.set(agentId, tally);
  }

  #kindOf({ request }: ModelRequest, { compacting }: ModelProxyHost): ProxiedRequestKind {
    return compacting || (this.#options.hasTools && request.tools.length === 0) ? 'aside' : 'main';
  }

  #watched(
    { body, promptTokens }: Answer,
    request: ConversationRequest,
    watch: Pick<Watch, 'agentId' | 'followed' | 'failed'>,
  ): AnswerBody {
    if (body.kind !== 'events') throw new Error('The relay answered an agent with bytes.');
    const counter = new EventCounter(promptTokens, request);
    const meter = sinceLast(() => counter.usage);
    this.#running.add(meter);
    const ids = new FreshIds(request.messages);
    return { kind: 'events', batches: this.#through(body.batches, { counter, meter, ids, ...watch }) };
  }

  async *#through(
    source: AsyncIterable<readonly ModelEvent[]>,
    { counter, meter, ids, agentId, followed, failed }: Watch,
  ): AsyncGenerator<readonly ModelEvent[], void, void> {
    try {
      for await (const batch of source) {
        counter.push(batch);
        if (counter.error !== undefined) failed(counter.error);
        const own = ids.apply(this.#options.view.events(batch));
        followed?.push(own);
        yield own;
      }
    } catch (error) {
      failed(error);
      throw error;
    } finally {
      this.#running.delete(meter);
      this.#settled.add(meter());
      if (agentId !== undefined) this.#countFor(agentId, counter.usage);
      followed?.end(counter.usage);
    }
  }
}

interface Watch {
  agentId: string | undefined;
  followed: FollowedModelRequest | undefined;
  counter: EventCounter;
  meter: Meter;
  ids: FreshIds;
  failed: (error: unknown) => void;
}

/** Servers that count their calls use the same ids in every answer; Claude Code would take them for one call. */
class FreshIds {
  readonly #taken: Set<string>;
  readonly #byKey = new Map<number | string, string>();

  constructor(messages: readonly Message[]) {
    this.#taken = toolCallIds(messages);
  }

  apply(batch: readonly ModelEvent[]): readonly ModelEvent[] {
    if (!batch.some((event) => event.type === 'tool' && event.id !== undefined)) return batch;
    return batch.map((event) => {
      if (event.type !== 'tool' || event.id === undefined) return event;
      const id = this.#byKey.get(event.key) ?? this.#free(event.id);
      this.#byKey.set(event.key, id);
      return id === event.id ? event : { ...event, id };
    });
  }

  #free(id: string): string {
    let free = id;
    for (let copy = 2; this.#isTaken(free); copy += 1) free = `${id}-${copy}`;
    this.#taken.add(free);
    return free;
  }

  /** Claude Code loses the result of `x_2` where there is a call `x` before it. */
  #isTaken(id: string): boolean {
    return this.#taken.has(id) || this.#taken.has(id.replace(/_\d+$/, ''));
  }
}

function over(): GatewayError {
  return new GatewayError('conflict', 'The conversation that this key belongs to makes no model calls now.');
}
