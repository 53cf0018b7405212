/**
 * A conversation with a plain model that the gateway keeps itself: the model gets all of it each
 * time, and what it says becomes part of it. No tools: there is no client that could run them.
 */
import type {
  Block,
  ConversationRequest,
  Message,
  StopReason,
  ToolDefinition,
  Usage,
} from '../../core/conversation.js';
import { GatewayError, toGatewayError } from '../../core/errors.js';
import type { AnswerEvent, ModelEvent } from '../../core/events.js';
import { StreamLifecycle } from '../../core/lifecycle.js';
import { causeOf } from '../../core/stopping.js';
import type { ModelRoute } from '../../routing/model-router.js';
import { SESSION_HEADER } from '../agent/attach-turn.js';
import type { AgentDriver, AskedModel, DriverTurn, OpeningTurn, StepsEnd } from '../agent/driver.js';
import { LIMITS } from '../agent/limits.js';
import { ToolCallStream } from '../agent/tool-call-stream.js';
import type { CountingEngine, ModelRequest } from '../engine.js';

/** A conversation without one. */
interface NoFolder {
  root: '';
}

const NO_BYTES = new Uint8Array(0);

export class PlainDriver implements AgentDriver<NoFolder> {
  readonly name = 'plain';
  readonly #relay: CountingEngine;

  constructor(relay: CountingEngine) {
    this.#relay = relay;
  }

  workspaceOf(): NoFolder {
    return { root: '' };
  }

  async open(opening: OpeningTurn<NoFolder>): Promise<DriverTurn> {
    return new PlainTurn(this.#relay, opening);
  }

  countTokens(call: ModelRequest, route: ModelRoute): Promise<number> {
    return this.#relay.countTokens(call, route);
  }

  async close(): Promise<void> {}
}

class PlainTurn implements DriverTurn {
  readonly losses = [];
  readonly shown = new ToolCallStream({ isClients: () => false, claimId: (id) => id, single: false });
  readonly #relay: CountingEngine;
  readonly #opening: OpeningTurn<NoFolder>;
  readonly #answer: PlainAnswer;
  #batches: AsyncIterable<readonly ModelEvent[]> | undefined;

  constructor(relay: CountingEngine, opening: OpeningTurn<NoFolder>) {
    this.#relay = relay;
    this.#opening = opening;
    this.#answer = new PlainAnswer(opening.call.request.model);
  }

  get said(): readonly Block[] {
    return this.#answer.blocks;
  }

  get usage(): Usage | undefined {
    return this.#answer.end?.usage;
  }

  async begin(): Promise<AskedModel> {
    const { call, route, turn, signal } = this.#opening;
    const request = modelRequest(call.request, turn);
    // Without a body of its own nothing can be forwarded as it came.
    const headers = { [SESSION_HEADER]: turn.id };
    const asked = await this.#relay.run({ ...call, request, raw: NO_BYTES, headers, signal }, route);
    if (asked.body.kind !== 'events') throw new Error('A conversation that is kept was answered with bytes.');
    this.#batches = asked.body.batches;
    return asked;
  }

  async *steps(): AsyncGenerator<readonly ModelEvent[], StepsEnd, void> {
    const { call, turn, observe } = this.#opening;
    const { id: session, transcript } = turn;
    const answer = this.#answer;
    observe({ session, type: 'model-start', step: 1, model: call.request.model });
    for await (const batch of this.#batches ?? []) {
      for (const piece of answer.push(batch)) observe({ session, ...piece });
      if (turn.signal.aborted || answer.error !== undefined) break;
      const pieces = batch.filter(({ type }) => type !== 'stop');
      if (pieces.length > 0) yield pieces;
    }
    const keep = () => {
      const content = answer.blocks;
      if (content.length > 0) transcript.push({ role: 'assistant', content });
    };
    if (turn.signal.aborted) {
      // Nothing said leaves the turn as it is.
      if (causeOf(turn.signal) !== 'person-stopped' || !answer.blocks.some(({ type }) => type === 'text'))
        return { kind: 'aborted' };
      keep();
      return { kind: 'stopped' };
    }
    const end = answer.error ?? answer.finish();
    if (end instanceof GatewayError) return { kind: 'failed', error: end };
    const { reason, usage, ...more } = end;
    observe({ session, type: 'model-end', step: 1, usage, stopReason: reason });
    keep();
    return { kind: 'done', reason, ...more };
  }

  completed(): void {}

  async close(): Promise<void> {}
}

function modelRequest(
  request: ConversationRequest,
  turn: OpeningTurn<NoFolder>['turn'],
): ConversationRequest {
  const messages = [...turn.transcript];
  const tools = toolsOfHistory(messages);
  return {
    ...request,
    system: [...turn.system],
    messages,
    tools,
    ...(tools.length === 0 ? {} : { toolChoice: { type: 'none' } as const }),
    providerTools: [],
    cacheKey: turn.id,
    stream: true,
  };
}

/**
 * Some servers refuse calls in a history whose request knows no tools. They are named, and none may
 * be called.
 */
function toolsOfHistory(messages: readonly Message[]): ToolDefinition[] {
  const names = new Set<string>();
  for (const { content } of messages) {
    for (const block of content) if (block.type === 'tool_use') names.add(block.name);
  }
  return [...names].map((name) => ({ name, inputSchema: { type: 'object', properties: {} } }));
}

interface PlainEnd {
  reason: StopReason;
  stopSequence?: string;
  usage: Usage;
}

type Said = Extract<Block, { type: 'text' | 'thinking' }>;

/** What a plain model has said so far, also where it is stopped in the middle. */
export class PlainAnswer {
  readonly #lifecycle: StreamLifecycle;
  readonly #blocks: Block[] = [];
  readonly #mostChars: number;
  #chars = 0;
  #open: Said | undefined;
  #end: PlainEnd | undefined;
  #error: GatewayError | undefined;

  constructor(model: string, mostChars: number = LIMITS.message.chars) {
    this.#lifecycle = new StreamLifecycle({ id: '', model });
    this.#mostChars = mostChars;
  }

  /** Returns what there is to report of them. */
  push(events: readonly ModelEvent[]): { type: 'text' | 'thinking'; text: string }[] {
    return this.#take(this.#lifecycle.push(events));
  }

  /** Nothing more comes. */
  finish(): PlainEnd | GatewayError {
    this.#take(this.#lifecycle.end());
    return this.#error ?? this.#end ?? toGatewayError(undefined);
  }

  get error(): GatewayError | undefined {
    return this.#error;
  }

  get end(): PlainEnd | undefined {
    return this.#end;
  }

  /** Tool calls are left out: nothing could run them. */
  get blocks(): Block[] {
    return [...this.#blocks, ...(this.#open === undefined ? [] : [this.#open])].filter(isWorthKeeping);
  }

  #take(events: readonly AnswerEvent[]): { type: 'text' | 'thinking'; text: string }[] {
    const deltas: { type: 'text' | 'thinking'; text: string }[] = [];
    for (const event of events) {
      switch (event.type) {
        case 'block-start': {
          const { block } = event;
          if (block.type === 'text') this.#open = { type: 'text', text: '' };
          else if (block.type === 'thinking') this.#open = { type: 'thinking', thinking: '' };
          else if (block.type !== 'tool_use') this.#blocks.push(block);
          break;
        }
        case 'block-delta': {
          const { delta } = event;
          if (delta.type === 'text' || delta.type === 'thinking') {
            this.#count(delta.text);
            deltas.push(delta);
          }
          this.#add(delta);
          break;
        }
        case 'block-stop':
          if (this.#open !== undefined) this.#blocks.push(this.#open);
          this.#open = undefined;
          break;
        case 'message-delta': {
          const { stopReason: reason, stopSequence, usage } = event;
          this.#end = { reason, usage, ...(stopSequence === undefined ? {} : { stopSequence }) };
          break;
        }
        case 'error':
          this.#error = event.error;
      }
    }
    return deltas;
  }

  /** All of it is held until it is over. */
  #count(text: string): void {
    this.#chars += text.length;
    if (this.#chars <= this.#mostChars) return;
    this.#error ??= new GatewayError('upstream_failed', 'The upstream sent a message that is too large.');
  }

  #add(delta: Extract<AnswerEvent, { type: 'block-delta' }>['delta']): void {
    const open = this.#open;
    if (open?.type === 'text' && delta.type === 'text') open.text += delta.text;
    else if (open?.type !== 'thinking') return;
    else if (delta.type === 'thinking') open.thinking += delta.text;
    else if (delta.type === 'signature') open.signature = (open.signature ?? '') + delta.signature;
  }
}

function isWorthKeeping(block: Block): boolean {
  return block.type !== 'text' || block.text !== '';
}
