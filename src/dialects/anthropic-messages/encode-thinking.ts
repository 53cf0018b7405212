/** Thinking, effort and the sampling parameters that they exclude. */
import type { ConversationRequest, Effort, JsonObject, Thinking } from '../../core/conversation.js';
import { isObject } from '../../core/is-object.js';
import { budgetOfEffort, clampEffort, MIN_BUDGET } from '../shared/effort.js';
import type { EncodeContext } from './encode-content.js';
import type { WireMessage } from './encode-history.js';
import { DIALECT, WIRE_EFFORTS } from './wire.js';

/** Below it the API refuses `top_p` while the model thinks. */
const LEAST_THINKING_TOP_P = 0.95;

/** Sets `thinking` and `output_config.effort` on `body`; `body` has its messages and max_tokens. */
export function encodeThinking(
  request: ConversationRequest,
  body: { max_tokens: number; messages: readonly WireMessage[] } & JsonObject,
  context: EncodeContext,
): void {
  const thinking = chooseThinking(request, body.max_tokens, context);
  if (thinking !== undefined && !breaksTurn(thinking, body.messages, context)) {
    body['thinking'] = wireThinking(thinking, request.extensions[DIALECT]?.['thinking']);
  }
  const effort = chooseEffort(request, context);
  if (effort !== undefined) body['output_config'] = { effort };
}

/** The upstream takes a budget and no effort. */
const wantsBudget = ({ quirks }: EncodeContext): boolean =>
  quirks.effortField === 'thinking' || quirks.effortField === 'enable_thinking';

function chooseThinking(
  request: ConversationRequest,
  maxTokens: number,
  context: EncodeContext,
): Thinking | undefined {
  const { thinking, effort, toolChoice } = request;
  if (thinking !== undefined && (thinking.type !== 'adaptive' || !wantsBudget(context))) return thinking;
  // A client of this wire that asks for effort alone does not ask for thinking.
  if (thinking === undefined && (effort === undefined || context.native)) return undefined;
  if (effort === 'none') return { type: 'disabled' };
  if (toolChoice?.type === 'any' || toolChoice?.type === 'tool') {
    context.losses.add('thinking', 'a model that must call a tool does not think first');
    return undefined;
  }
  if (!wantsBudget(context)) return context.quirks.effortField === 'none' ? undefined : { type: 'adaptive' };
  const budgetTokens = budgetOfEffort(effort ?? 'medium', maxTokens);
  if (budgetTokens >= MIN_BUDGET && budgetTokens < maxTokens) return { type: 'enabled', budgetTokens };
  context.losses.add(
    'thinking',
    `max_tokens leaves no room for the ${MIN_BUDGET} tokens that thinking takes`,
  );
  return undefined;
}

function wireThinking(thinking: Thinking, kept: unknown): JsonObject {
  const extra = isObject(kept) ? kept : undefined;
  if (thinking.type === 'adaptive' && extra?.['type'] !== undefined) return extra;
  return thinking.type === 'enabled'
    ? { ...extra, type: 'enabled', budget_tokens: thinking.budgetTokens }
    : { ...extra, type: thinking.type };
}

/**
 * With a budget, the turn whose tool results are sent now must begin with signed thinking. It has
 * none when another model began it.
 */
function breaksTurn(thinking: Thinking, messages: readonly WireMessage[], context: EncodeContext): boolean {
  if (thinking.type !== 'enabled') return false;
  const answered = messages.findLast(({ role }) => role === 'user')?.content[0]?.['type'] === 'tool_result';
  const turn = answered ? messages.findLast(({ role }) => role === 'assistant') : undefined;
  const first = turn?.content[0]?.['type'];
  if (turn === undefined || first === 'thinking' || first === 'redacted_thinking') return false;
  context.losses.add('thinking', 'the tool calls being answered were made without thinking of this wire');
  return true;
}

function chooseEffort({ effort }: ConversationRequest, context: EncodeContext): Effort | undefined {
  if (effort === undefined || effort === 'none' || wantsBudget(context)) return undefined;
  const { quirks, losses } = context;
  const known =
    quirks.effortField === 'none' ? [] : WIRE_EFFORTS.filter((each) => quirks.efforts.includes(each));
  const clamped = clampEffort(effort, known);
  if (clamped === undefined) losses.add('effort', 'the upstream takes no effort');
  else if (clamped !== effort) losses.add('effort', `"${effort}" became "${clamped}"`);
  return clamped;
}

/** Sets `temperature`, `top_p` and `top_k` on `body`, which has its thinking. */
export function encodeSampling(request: ConversationRequest, body: JsonObject, context: EncodeContext): void {
  const { temperature, topP, topK } = request;
  const { losses, quirks, native } = context;
  if (!quirks.sampling) {
    for (const [path, value] of Object.entries({ temperature, topP, topK })) {
      if (value !== undefined) losses.add(path, 'the model takes no sampling parameters');
    }
    return;
  }
  const thinking = isObject(body['thinking']) && body['thinking']['type'] !== 'disabled';
  if (temperature !== undefined) {
    if (thinking && temperature !== 1) losses.add('temperature', 'a model that thinks takes no temperature');
    else if (temperature > 1) {
      losses.add('temperature', `${temperature} became 1, the most of this wire`);
      body['temperature'] = 1;
    } else body['temperature'] = temperature;
  }
  if (topP !== undefined) {
    if (thinking && topP < LEAST_THINKING_TOP_P)
      losses.add('topP', 'a model that thinks takes no such top_p');
    // 1 is the default that many clients send along, and newer models refuse both at once.
    else if (native) body['top_p'] = topP;
    else if (topP < 1 && temperature === undefined) body['top_p'] = topP;
    else if (topP < 1) losses.add('topP', 'the wire takes temperature or top_p, not both');
  }
  if (topK !== undefined) {
    if (thinking) losses.add('topK', 'a model that thinks takes no top_k');
    else body['top_k'] = topK;
  }
}
