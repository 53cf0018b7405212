/**
 * Calls of tools that the gateway answers itself, within the one request of a client: the model gets their
 * results and is asked again. The client sees what each of them shows, and the usage of all model calls.
 */
import {
  type Block,
  type Message,
  NO_USAGE,
  type StopReason,
  type ToolChoice,
  type ToolResultBlock,
  type ToolUseBlock,
  type Usage,
} from '../../core/conversation.js';
import { GatewayError, toGatewayError } from '../../core/errors.js';
import type { ModelEvent } from '../../core/events.js';
import { CHARS_PER_TOKEN } from '../../core/lifecycle.js';
import { knownTools, shownTools } from '../../core/tool-references.js';
import type { Upstream, UpstreamAnswer, UpstreamRequest } from '../../upstreams/upstream.js';
import { type CollectedMessage, MessageCollector, toolCallIds } from '../agent/message-collector.js';
import { SEARCH_TOOL } from '../tool-search/defer-tools.js';

/** Further model calls of one request. */
const MOST_ROUNDS = 5;
/** Ends after which there is nothing to continue. Others do not tell: many servers end a message with calls as one without. */
const CUT_OR_PAUSED: ReadonlySet<StopReason> = new Set([
  'max_tokens',
  'context_window_exceeded',
  'refusal',
  'pause_turn',
  'compaction',
]);

/** What came of a call. */
interface AnsweredCall {
  result: ToolResultBlock;
  /** What the client sees of it. */
  shown: readonly ModelEvent[];
  /** What it counts for, beside tokens. */
  usage?: Pick<Usage, 'webSearches' | 'webFetches'>;
}

/** Answers one call of a tool. Never rejects. */
export type GatewayToolRun = (call: ToolUseBlock, signal: AbortSignal) => Promise<AnsweredCall>;

type Remember = (said: readonly Block[], known: ReadonlySet<string>) => void;

export class GatewayRounds {
  readonly #upstream: Upstream;
  readonly #call: UpstreamRequest;
  readonly #runs: ReadonlyMap<string, GatewayToolRun>;
  readonly #remember: Remember;
  /** Of the rounds that are over. */
  #spent: Usage = NO_USAGE;
  readonly #said: Block[] = [];

  /** `runs` by the name of the tool. `remember`: what was said at the end, and the tools that the model knows by then. */
  constructor(
    upstream: Upstream,
    call: UpstreamRequest,
    runs: ReadonlyMap<string, GatewayToolRun>,
    remember: Remember,
  ) {
    this.#upstream = upstream;
    this.#call = call;
    this.#runs = runs;
    this.#remember = remember;
  }

  /** Never throws: a failure is an `error` event. Returning early cancels the upstream. */
  async *run(first: UpstreamAnswer): AsyncGenerator<readonly ModelEvent[]> {
    const messages = [...this.#call.request.messages];
    let answer = first;
    for (let round = 1; ; round += 1) {
      const message = yield* this.#read(answer, round, messages);
      if (message === undefined) return;
      const results: ToolResultBlock[] = [];
      for (const { block, problem } of message.calls) {
        const run = this.#runs.get(block.name);
        if (run === undefined) continue;
        const { result, shown, usage } =
          problem === undefined ? await run(block, this.#call.signal) : notRun(block, problem);
        results.push(result);
        this.#spent = sum(this.#spent, { ...NO_USAGE, ...usage });
        if (shown.length > 0) yield shown;
      }
      messages.push({ role: 'assistant', content: message.content }, { role: 'user', content: results });
      this.#said.push(...message.content.filter((block) => !this.#isOwn(block)));
      const isAnswered = results.length > 0 && results.length === message.calls.length;
      if (!isAnswered || CUT_OR_PAUSED.has(message.stopReason) || round > MOST_ROUNDS) {
        this.#remember(this.#said, knownTools({ messages }));
        yield [{ type: 'usage', usage: this.#spent }, this.#stop(message)];
        return;
      }
      try {
        const next = this.#next(messages, message);
        const request = round === MOST_ROUNDS ? this.#last(next) : next;
        answer = await this.#upstream.call({ ...this.#call, request });
      } catch (error) {
        yield [{ type: 'error', error: toGatewayError(error) }];
        return;
      }
      const prompt = { ...NO_USAGE, inputTokens: answer.promptTokens ?? 0 };
      yield [
        { type: 'break' },
        ...answer.losses.map((loss): ModelEvent => ({ type: 'loss', ...loss })),
        { type: 'usage', usage: sum(this.#spent, prompt) },
      ];
    }
  }

  /** A call that had to be made was made; a search for tools is none. */
  #next(messages: Message[], { calls }: CollectedMessage): UpstreamRequest['request'] {
    const { toolChoice, ...request } = this.#call.request;
    const isMade = calls.some(({ block }) => block.name !== SEARCH_TOOL);
    const kept: ToolChoice | undefined = isMade && toolChoice?.type !== 'none' ? undefined : toolChoice;
    return { ...request, messages, ...(kept === undefined ? {} : { toolChoice: kept }) };
  }

  /** The model has to answer now: it is shown what it knows, but for what is answered here. */
  #last(request: UpstreamRequest['request']): UpstreamRequest['request'] {
    const tools = shownTools(request)
      .filter(({ name }) => !this.#runs.has(name))
      .map(({ deferred: _deferred, ...tool }) => tool);
    // Some upstreams refuse a history with calls where there is no tool at all.
    return tools.length === 0 ? { ...request, toolChoice: { type: 'none' } } : { ...request, tools };
  }

  /** One message of the model, without the calls that are answered here. Undefined once the answer is over. */
  async *#read(
    answer: UpstreamAnswer,
    round: number,
    messages: readonly Message[],
  ): AsyncGenerator<readonly ModelEvent[], CollectedMessage | undefined> {
    const collector = new MessageCollector(toolCallIds(messages));
    const hidden = new HiddenToolCalls((name) => this.#runs.has(name), round === 1 ? '' : `${round}:`);
    for await (const batch of answer.batches) {
      collector.push(batch);
      const seen = hidden.push(batch).filter((event) => isPassed(event, round));
      // Told as it comes: the message may break off.
      if (round > 1 && collector.usage !== undefined && batch.some(hasUsage)) {
        seen.unshift({ type: 'usage', usage: sum(this.#spent, collector.usage) });
      }
      if (seen.length > 0) yield seen;
      if (batch.some(({ type }) => type === 'error')) return undefined;
    }
    const message = collector.finish();
    if (message instanceof GatewayError) {
      yield [{ type: 'error', error: message }];
      return undefined;
    }
    this.#spend(answer, collector);
    yield [{ type: 'usage', usage: this.#spent }];
    return message;
  }

  #spend(answer: UpstreamAnswer, collector: MessageCollector): void {
    const counted = collector.usage;
    if (counted !== undefined) answer.settle?.(counted);
    const round = counted ?? {
      ...NO_USAGE,
      inputTokens: answer.promptTokens ?? 0,
      outputTokens: Math.ceil(collector.chars / CHARS_PER_TOKEN),
    };
    this.#spent = sum(this.#spent, round);
  }

  /** What the client sees of it: an answer whose calls are all answered calls nothing. */
  #stop({ stopReason, stopSequence, calls }: CollectedMessage): ModelEvent {
    const isCall = calls.some(({ block }) => !this.#isOwn(block));
    const reason = stopReason === 'tool_use' && !isCall ? 'end_turn' : stopReason;
    return { type: 'stop', reason, ...(stopSequence === undefined ? {} : { stopSequence }) };
  }

  #isOwn(block: Block): boolean {
    return block.type === 'tool_use' && this.#runs.has(block.name);
  }
}

/** The model is told why, and the client sees nothing of it. */
function notRun({ id }: ToolUseBlock, problem: string): AnsweredCall {
  const content = [{ type: 'text' as const, text: problem }];
  return { result: { type: 'tool_result', toolUseId: id, content, isError: true }, shown: [] };
}

/** Only the first message begins the answer. Its end is said when all of them are over; figures of others are told as sums. */
function isPassed(event: ModelEvent, round: number): boolean {
  if (event.type === 'stop') return false;
  return round === 1 || !hasUsage(event);
}

function hasUsage({ type }: ModelEvent): boolean {
  return type === 'start' || type === 'usage';
}

/** Left out while it is nothing. */
const OPTIONAL = ['reasoningTokens', 'webSearches', 'webFetches'] as const;

function sum(a: Usage, b: Usage): Usage {
  const total: Usage = {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cacheReadTokens: a.cacheReadTokens + b.cacheReadTokens,
    cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
  };
  for (const key of OPTIONAL) {
    const count = (a[key] ?? 0) + (b[key] ?? 0);
    if (count > 0) total[key] = count;
  }
  return total;
}

type ToolCallEvent = Extract<ModelEvent, { key: number | string }>;
type ToolCallState = { hidden: boolean } | { held: ToolCallEvent[] };

/** Takes the calls of some tools out of a stream of events. A call is held until its name is known. */
class HiddenToolCalls {
  readonly #isHidden: (name: string) => boolean;
  readonly #prefix: string;
  readonly #calls = new Map<number | string, ToolCallState>();

  /** `prefix`: keeps the keys of this message apart from those of messages before it. */
  constructor(isHidden: (name: string) => boolean, prefix: string) {
    this.#isHidden = isHidden;
    this.#prefix = prefix;
  }

  push(batch: readonly ModelEvent[]): ModelEvent[] {
    return batch.flatMap((event) => ('key' in event ? this.#call(event) : [event]));
  }

  #call(event: ToolCallEvent): ModelEvent[] {
    const state = this.#calls.get(event.key) ?? { held: [] };
    if ('hidden' in state) return state.hidden ? [] : [this.#keyed(event)];
    state.held.push(event);
    const name = event.type === 'tool' ? event.name : undefined;
    if (name === undefined || name === '') {
      this.#calls.set(event.key, state);
      return [];
    }
    const hidden = this.#isHidden(name);
    this.#calls.set(event.key, { hidden });
    return hidden ? [] : state.held.map((each) => this.#keyed(each));
  }

  #keyed(event: ToolCallEvent): ModelEvent {
    return this.#prefix === '' ? event : { ...event, key: `${this.#prefix}${event.key}` };
  }
}
