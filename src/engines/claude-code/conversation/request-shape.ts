/**
 * What a client asks of the model and Claude Code has no option for, put into the model calls
 * themselves on their way through the gateway.
 */
import type { Block, ConversationRequest, Message, ToolChoice } from '../../../core/conversation.js';
import { type Loss, LossLog } from '../../../core/losses.js';
import { MIN_BUDGET } from '../../../dialects/shared/effort.js';
import { endUser } from '../../../dialects/shared/end-user-field.js';
import { loseForeign } from '../../../dialects/shared/foreign-extensions.js';
import { whyNotOffered } from '../../../dialects/shared/typed-tools.js';

interface ShapeOptions {
  /** The client's. */
  wished: ConversationRequest;
  /** In the model's names; for this call alone. */
  toolChoice: ToolChoice | undefined;
}

type Wishes = Partial<
  Pick<
    ConversationRequest,
    | 'maxTokens'
    | 'temperature'
    | 'topP'
    | 'topK'
    | 'thinking'
    | 'effort'
    | 'format'
    | 'userId'
    | 'serviceTier'
    | 'parallelToolCalls'
    | 'toolChoice'
    | 'stopSequences'
  >
>;

/** What every model request needs, of the main agent and of sub-agents. */
export function tidyRequest(request: ConversationRequest): ConversationRequest {
  return { ...request, messages: inToolCallOrder(request.messages) };
}

/** A call of the main agent. Where the client wishes nothing, it goes as it is. */
export function shapeRequest(
  asked: ConversationRequest,
  { wished, toolChoice }: ShapeOptions,
): ConversationRequest {
  const request = tidyRequest(asked);
  const wishes = wishesOf(wished);
  const choice = request.tools.length === 0 ? undefined : toolChoice;
  if (choice !== undefined && choice.type !== 'auto') wishes.toolChoice = choice;
  if (request.tools.length === 0) delete wishes.parallelToolCalls;
  const samples = [wished.temperature, wished.topP, wished.topK].some((value) => value !== undefined);
  const forced = choice?.type === 'any' || choice?.type === 'tool';
  // No model thinks with a temperature of its own or on the way to a call that it must make.
  if (forced || (samples && wished.thinking === undefined)) wishes.thinking = { type: 'disabled' };
  return withRoomToThink({ ...request, ...wishes }, wished);
}

/**
 * A budget of Claude Code's own is made for its own limit, and a budget is a part of the limit: under a
 * client's it takes at most half. Left out where that is too little, because some models cannot be made
 * not to think. What the client itself asks for is the upstream's to judge.
 */
function withRoomToThink(shaped: ConversationRequest, wished: ConversationRequest): ConversationRequest {
  const { thinking, ...rest } = shaped;
  const { maxTokens } = shaped;
  if (thinking?.type !== 'enabled' || maxTokens === undefined || wished.thinking !== undefined) return shaped;
  if (thinking.budgetTokens < maxTokens) return shaped;
  const budgetTokens = Math.floor(maxTokens / 2);
  return budgetTokens < MIN_BUDGET ? rest : { ...rest, thinking: { type: 'enabled', budgetTokens } };
}

function wishesOf(wished: ConversationRequest): Wishes {
  const { maxTokens, temperature, topP, topK, thinking, effort, format, serviceTier } = wished;
  const userId = endUser(wished, new LossLog());
  const { parallelToolCalls, stopSequences } = wished;
  return {
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { topP }),
    ...(topK === undefined ? {} : { topK }),
    ...(thinking === undefined ? {} : { thinking }),
    ...(effort === undefined ? {} : { effort }),
    ...(format === undefined ? {} : { format }),
    ...(userId === undefined ? {} : { userId }),
    ...(serviceTier === undefined ? {} : { serviceTier }),
    ...(parallelToolCalls === undefined ? {} : { parallelToolCalls }),
    ...(stopSequences.length === 0 ? {} : { stopSequences }),
  };
}

/** Of a request that no call can carry. */
export function lostWishes({ providerTools, extensions }: ConversationRequest): Loss[] {
  const tools = providerTools.map((tool) => ({
    path: 'tools',
    reason: whyNotOffered(tool, `${tool.kind} is run by a provider; Claude Code does not know it`),
  }));
  const log = new LossLog();
  // Claude Code marks what is to be cached itself.
  const { cache_control: _, ...messages } = extensions['anthropic-messages'] ?? {};
  const given = { ...extensions, 'anthropic-messages': messages };
  loseForeign('', given, undefined, log, 'Claude Code makes its own model calls');
  return [...tools, ...log.list()];
}

/**
 * Claude Code sends results in the order in which they came. In the order of the calls the
 * same conversation reads the same each time, also to a process that was not there.
 */
export function inToolCallOrder(messages: readonly Message[]): Message[] {
  let order: ReadonlyMap<string, number> = new Map();
  return messages.map((message) => {
    if (message.role === 'assistant') order = orderOf(message.content);
    if (message.role !== 'user') return message;
    const content = sorted(message.content, order);
    return content === message.content ? message : { ...message, content };
  });
}

function orderOf(content: readonly Block[]): Map<string, number> {
  const order = new Map<string, number>();
  for (const block of content) if (block.type === 'tool_use') order.set(block.id, order.size);
  return order;
}

/** Only results change places, and only among themselves. */
function sorted(content: Block[], order: ReadonlyMap<string, number>): Block[] {
  const results = content.filter((block) => block.type === 'tool_result');
  const inOrder = results.toSorted((a, b) => placeOf(a.toolUseId, order) - placeOf(b.toolUseId, order));
  if (inOrder.every((block, index) => block === results[index])) return content;
  const next = inOrder.values();
  return content.map((block) => (block.type === 'tool_result' ? (next.next().value ?? block) : block));
}

function placeOf(id: string, order: ReadonlyMap<string, number>): number {
  return order.get(id) ?? Number.MAX_SAFE_INTEGER;
}
