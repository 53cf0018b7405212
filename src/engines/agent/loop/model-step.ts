/**
 * The model behind an agent: one call after another over the relay, each made from the client's own
 * request, with the transcript kept within what the model takes. Usage goes to the tally, also that
 * of sub-agents.
 */
import type { AgentActivityBody } from '../../../activity/activity.js';
import {
  type Block,
  type ConversationRequest,
  type Extensions,
  type JsonObject,
  type Message,
  NO_USAGE,
  type TextBlock,
  type ToolChoice,
  type ToolDefinition,
  type Usage,
} from '../../../core/conversation.js';
import { GatewayError, toGatewayError } from '../../../core/errors.js';
import { estimateRequestTokens } from '../../../core/estimate-tokens.js';
import type { ModelEvent } from '../../../core/events.js';
import { CHARS_PER_TOKEN } from '../../../core/lifecycle.js';
import type { Loss } from '../../../core/losses.js';
import type { ModelRoute } from '../../../routing/model-router.js';
import type { Engine, ModelRequest } from '../../engine.js';
import type { UsageTally } from '../answer-assembler.js';
import { LIMITS } from '../limits.js';
import { MessageCollector } from '../message-collector.js';
import type { Toolbox } from '../toolbox.js';
import { elideTo, notesRequest, type Room, summarise } from './compaction.js';

const NO_BYTES = new Uint8Array(0);

interface ModelStepOptions {
  relay: Engine;
  call: ModelRequest;
  route: ModelRoute;
  /** The client's own, for everything but system, messages and tools. */
  request: ConversationRequest;
  system: readonly TextBlock[];
  /** What holds for the next step; behind the rest, which stays in prompt caches. */
  told?: () => Promise<readonly TextBlock[]>;
  toolbox: Toolbox;
  cacheKey: string;
  signal: AbortSignal;
  tally: UsageTally;
  notify(activity: Extract<AgentActivityBody, { type: 'compacted' }>): void;
  onProblem(message: string, error: unknown): void;
}

export interface OpenModelStep {
  upstream: string;
  losses: readonly Loss[];
  promptTokens: number | undefined;
  batches: AsyncIterable<readonly ModelEvent[]>;
  /** What it came to, by the upstream's count or by ours. Call once, when the message is whole or lost. */
  settle(collector: MessageCollector): Usage;
}

export class ModelStep {
  readonly #options: ModelStepOptions;
  /** Counted by the upstream over estimated. */
  #ratio = 1;
  #window: number;
  #told: readonly TextBlock[] = [];
  /** Tokens below which making room was tried and did not help. */
  #leastWorthwhile = 0;
  /** How often older messages were dropped. */
  compactions = 0;

  constructor(options: ModelStepOptions) {
    this.#options = options;
    this.#window = options.route.rule.contextWindow ?? LIMITS.context.window;
  }

  /**
   * Resolves at the first piece of the answer. `messages` is changed in place where it had to be
   * made shorter. Rejects as the relay does.
   */
  async open(messages: Message[], toolChoice: ToolChoice | undefined): Promise<OpenModelStep> {
    this.#told = (await this.#options.told?.()) ?? [];
    let request = this.#request(messages, toolChoice);
    let estimated = estimateRequestTokens(request);
    if (Math.round(estimated * this.#ratio) > Math.max(this.#limit(), this.#leastWorthwhile)) {
      await this.#shorten(messages);
      request = this.#request(messages, toolChoice);
      estimated = estimateRequestTokens(request);
    }
    for (let overflows = 0; ; overflows += 1) {
      try {
        return await this.#ask(request, estimated);
      } catch (error) {
        const failure = toGatewayError(error);
        if (failure.code !== 'context_overflow' || this.#options.signal.aborted) throw error;
        if (!(await this.#shrink(messages, overflows))) throw error;
        request = this.#request(messages, toolChoice);
        estimated = estimateRequestTokens(request);
      }
    }
  }

  #request(messages: readonly Message[], toolChoice?: ToolChoice): ConversationRequest {
    const { request, toolbox, cacheKey } = this.#options;
    const system = [...this.#options.system, ...this.#told];
    return stepRequest(request, { system, messages, tools: toolbox.definitions, toolChoice, cacheKey });
  }

  #tokens(messages: readonly Message[]): number {
    return Math.round(estimateRequestTokens(this.#request(messages)) * this.#ratio);
  }

  /** Prompts above it are made shorter. */
  #limit(): number {
    const { compactAt, answerRoom } = LIMITS.context;
    const wished = Math.min(this.#options.request.maxTokens ?? 0, answerRoom * this.#window);
    return Math.min(compactAt * this.#window, this.#window - wished);
  }

  async #ask(
    request: ConversationRequest,
    estimated = estimateRequestTokens(request),
  ): Promise<OpenModelStep> {
    const { relay, call, route, signal } = this.#options;
    const answer = await relay.run({ ...call, request, raw: NO_BYTES, signal }, route);
    if (answer.body.kind !== 'events') throw new Error('The relay answered an agent with bytes.');
    if (answer.promptTokens !== undefined) this.#ratio = answer.promptTokens / Math.max(1, estimated);
    return {
      upstream: answer.upstream,
      losses: answer.losses,
      promptTokens: answer.promptTokens,
      batches: answer.body.batches,
      settle: (collector) => {
        const counted = collector.usage;
        if (counted !== undefined) {
          const prompt = counted.inputTokens + counted.cacheReadTokens + counted.cacheWriteTokens;
          if (prompt > 0) {
            answer.settle?.(counted);
            this.#ratio = prompt / Math.max(1, estimated);
          }
        }
        const usage = counted ?? {
          ...NO_USAGE,
          inputTokens: answer.promptTokens ?? estimated,
          outputTokens: Math.ceil(collector.chars / CHARS_PER_TOKEN),
        };
        this.#options.tally.add(usage);
        return usage;
      },
    };
  }

  /** The transcript has grown to where the model would soon refuse it. */
  async #shorten(messages: Message[]): Promise<void> {
    const before = this.#tokens(messages);
    const limit = this.#limit();
    await summarise(messages, this.#room(), this.#options.signal);
    if (this.#tokens(messages) > limit) elideTo(messages, this.#room(), limit);
    this.#leastWorthwhile = this.#tokens(messages) * LIMITS.context.worthAgain;
    this.#compacted(before, messages);
  }

  /** The model has refused it: its window is smaller than was thought. False when nothing is left to drop. */
  async #shrink(messages: Message[], overflows: number): Promise<boolean> {
    const before = this.#tokens(messages);
    this.#window = Math.min(this.#window, before);
    if (overflows === 0 && (await summarise(messages, this.#room(), this.#options.signal))) {
      this.#compacted(before, messages);
      return true;
    }
    if (overflows > 1) return false;
    const elided = elideTo(messages, this.#room(), before / 2);
    if (elided) this.#compacted(before, messages);
    return elided;
  }

  #compacted(before: number, messages: readonly Message[]): void {
    const after = this.#tokens(messages);
    if (after >= before) return;
    this.compactions += 1;
    this.#options.notify({ type: 'compacted', before, after });
  }

  #room(): Room {
    const { request } = this.#options;
    const alone = { ...request, system: [], tools: [], providerTools: [] };
    return {
      window: this.#window,
      tokensOf: (messages) => this.#tokens(messages),
      messageTokens: (message) => estimateRequestTokens({ ...alone, messages: [message] }) * this.#ratio,
      ask: (question) => this.#notes(question),
    };
  }

  async #notes(question: string): Promise<string> {
    const { request, onProblem } = this.#options;
    try {
      const open = await this.#ask(notesRequest(request, question));
      const collector = new MessageCollector(new Set());
      for await (const batch of open.batches) collector.push(batch);
      open.settle(collector);
      const message = collector.finish();
      if (message instanceof GatewayError) throw message;
      return message.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
    } catch (error) {
      onProblem('the older messages could not be summarised', error);
      throw error;
    }
  }
}

interface StepRequestParts {
  system: readonly TextBlock[];
  messages: readonly Message[];
  tools: readonly ToolDefinition[];
  toolChoice?: ToolChoice | undefined;
  cacheKey: string;
}

const ANTHROPIC = 'anthropic-messages';
const CACHE_CONTROL = 'cache_control';
const MARK: JsonObject = { type: 'ephemeral' };
/** The dialect takes four: after the agent's own prompt, after the whole system prompt, and two of these. */
const MARKED_USER_MESSAGES = 2;

/** Streamed whatever the client asked for: a long answer must not look like silence. */
export function stepRequest(request: ConversationRequest, parts: StepRequestParts): ConversationRequest {
  const { toolChoice: _choice, continues: _continues, ...kept } = request;
  const { toolChoice, cacheKey } = parts;
  return {
    ...kept,
    system: markEnds(parts.system.map(withoutMark)),
    messages: markNewest(parts.messages.map(unmarked)),
    tools: parts.tools.map(withoutMark),
    ...(toolChoice === undefined || parts.tools.length === 0 ? {} : { toolChoice }),
    extensions: withoutMark({ extensions: request.extensions }).extensions,
    cacheKey: request.cacheKey ?? cacheKey,
    stream: true,
  };
}

/** Cache breakpoints are the agent's: the client cannot know where its prompt and its calls begin and end. */
function withoutMark<T extends { extensions?: Extensions }>(item: T): T {
  const own = item.extensions?.[ANTHROPIC];
  if (own?.[CACHE_CONTROL] === undefined) return item;
  const { [CACHE_CONTROL]: _mark, ...rest } = own;
  return { ...item, extensions: { ...item.extensions, [ANTHROPIC]: rest } };
}

function isMarked(block: Block): boolean {
  return 'extensions' in block && block.extensions?.[ANTHROPIC]?.[CACHE_CONTROL] !== undefined;
}

function unmarked(message: Message): Message {
  if (!message.content.some(isMarked)) return message;
  return {
    ...message,
    content: message.content.map((block) => (block.type === 'opaque' ? block : withoutMark(block))),
  };
}

function marked<T extends { extensions?: Extensions }>(item: T): T {
  const { extensions } = item;
  return {
    ...item,
    extensions: { ...extensions, [ANTHROPIC]: { ...extensions?.[ANTHROPIC], [CACHE_CONTROL]: MARK } },
  };
}

/** The first block is the agent's own prompt, which every conversation of the model shares. */
function markEnds(system: readonly TextBlock[]): TextBlock[] {
  return system.map((block, index) => (index === 0 || index === system.length - 1 ? marked(block) : block));
}

/** The newest is what the next call reads, the one before it what this call reads. */
function markNewest(messages: readonly Message[]): Message[] {
  const out = [...messages];
  let left = MARKED_USER_MESSAGES;
  for (let index = out.length - 1; index >= 0 && left > 0; index -= 1) {
    const message = out[index];
    if (message?.role !== 'user') continue;
    const at = message.content.findLastIndex(isMarkable);
    if (at < 0) continue;
    out[index] = {
      ...message,
      content: message.content.map((block, position) =>
        position === at && block.type !== 'opaque' ? marked(block) : block,
      ),
    };
    left -= 1;
  }
  return out;
}

function isMarkable(block: Block): boolean {
  switch (block.type) {
    case 'text':
      return /\S/.test(block.text);
    case 'image':
    case 'document':
    case 'tool_result':
      return true;
    default:
      return false;
  }
}
