/**
 * The demo model: embedded, deterministic, and honest about working by fixed rules. It answers
 * every request, never throws for what a request holds, and ends with exactly one stop unless it
 * is aborted, when it ends at once.
 */
import { createHash } from 'node:crypto';
import { setImmediate as nextTick } from 'node:timers/promises';
import type { ConversationRequest, JsonObject, StopReason } from '../../core/conversation.js';
import { estimateRequestTokens } from '../../core/estimate-tokens.js';
import type { ModelEvent } from '../../core/events.js';
import { isObject } from '../../core/is-object.js';
import { answer, answerAside, readConversation, type Situation } from './answer.js';
import { chooseTool } from './choose-tool.js';
import { askOf, fillArguments } from './fill-arguments.js';
import { isShallow } from './schema.js';

interface ToolCall {
  name: string;
  input: JsonObject;
}

interface Plan {
  id: string;
  text: string;
  calls: readonly ToolCall[];
  maxTokens: number;
  stopSequence: string | undefined;
}

/** The turn is decided at the call, so that the stream does not hold the request while it lasts. */
export function runDemo(request: ConversationRequest, signal: AbortSignal): AsyncGenerator<ModelEvent[]> {
  return stream(planOf(request), estimateRequestTokens(request), signal);
}

function planOf(request: ConversationRequest): Plan {
  const situation = readConversation(request);
  const calls = nextCalls(situation);
  const text = calls.length > 0 ? '' : answer(situation);
  const [stopSequence] = request.stopSequences
    .filter((each) => each !== '' && text.includes(each))
    .sort((a, b) => text.indexOf(a) - text.indexOf(b));
  return {
    id: digestOf(request),
    text: stopSequence === undefined ? text : text.slice(0, text.indexOf(stopSequence)),
    calls,
    maxTokens: request.maxTokens ?? Number.POSITIVE_INFINITY,
    stopSequence,
  };
}

const MAX_CALLS = 8;

/** The calls of the user's request that have no result yet. */
function nextCalls(situation: Situation): ToolCall[] {
  const { request, words, exchanges } = situation;
  const { toolChoice, tools } = request;
  const must = toolChoice?.type === 'any' || toolChoice?.type === 'tool';
  if (toolChoice?.type === 'none' || (!must && answerAside(situation) !== undefined)) return [];
  const ask = askOf(words);
  const offered = toolChoice?.type === 'tool' ? tools.filter(({ name }) => name === toolChoice.name) : tools;
  const choice = chooseTool(offered, ask, must);
  if (choice === undefined) return [];
  const { tool, about, filled } = choice;
  const planned = Array.from({ length: Math.min(MAX_CALLS, filled.calls) }, (_, pick) =>
    fillArguments(tool.inputSchema, ask, about, pick),
  ).flatMap(({ input, isValid }) => (isValid && isObject(input) ? [{ name: tool.name, input }] : []));
  const done = exchanges.filter(({ name }) => name === tool.name).map(keyOf);
  // A client may change the arguments, so as many results as calls were planned are enough as well.
  const open = done.length < planned.length ? planned.filter((call) => !done.includes(keyOf(call))) : [];
  return request.parallelToolCalls === false ? open.slice(0, 1) : open;
}

/** Clients reorder the fields when they echo a call. */
function keyOf({ input }: ToolCall): string {
  const fields = Object.entries(input).sort(([a], [b]) => (a < b ? -1 : 1));
  return isShallow(input) ? JSON.stringify(fields) : '';
}

/** One batch a word; the event loop turns between two, and an abort ends it without a word. */
async function* stream(plan: Plan, inputTokens: number, signal: AbortSignal): AsyncGenerator<ModelEvent[]> {
  if (signal.aborted) return;
  const usage = { inputTokens, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
  yield [{ type: 'start', id: `demo_${plan.id.slice(0, 24)}`, usage }];
  let outputTokens = 0;
  const end = (reason: StopReason): ModelEvent[] => [
    { type: 'usage', usage: { outputTokens } },
    { type: 'stop', reason, ...(reason === 'stop_sequence' && { stopSequence: plan.stopSequence ?? '' }) },
  ];
  for (const text of piecesOf(plan.text)) {
    await nextTick();
    if (signal.aborted) return;
    if (outputTokens + tokensOf(text) > plan.maxTokens) return yield end('max_tokens');
    outputTokens += tokensOf(text);
    yield [{ type: 'text', text }];
  }
  if (plan.stopSequence !== undefined) return yield end('stop_sequence');
  for (const [key, { name, input }] of plan.calls.entries()) {
    const json = JSON.stringify(input);
    // A call is made whole or not at all: half a call helps nobody.
    const tokens = tokensOf(name) + tokensOf(json);
    if (outputTokens + tokens > plan.maxTokens) return yield end('max_tokens');
    outputTokens += tokens;
    const id = createHash('sha256').update(`${plan.id}/${key}`).digest('hex');
    yield [{ type: 'tool', key, id: `call_${id.slice(0, 24)}`, name }];
    for (const piece of json.match(/.{1,12}/gsu) ?? []) {
      await nextTick();
      if (signal.aborted) return;
      yield [{ type: 'tool-input', key, json: piece }];
    }
    yield [{ type: 'tool-end', key }];
  }
  yield end(plan.calls.length > 0 ? 'tool_use' : 'end_turn');
}

/** The demo model's own tokens: four characters, or one Chinese character, each. */
function tokensOf(text: string): number {
  const wide = text.match(/[^\u0020-\u024f\s]/g)?.length ?? 0;
  return wide + Math.ceil((text.trim().length - wide) / 4);
}

/** Words with the blank after them, Chinese by the character. */
const piecesOf = (text: string): string[] =>
  text.match(
    /\s*(?:[\p{Script=Han}\u3000-\u303f\uff00-\uffef]|[^\s\p{Script=Han}\u3000-\u303f\uff00-\uffef]+)\s*/gu,
  ) ?? [];

/** The same conversation gives the same id; a later turn of it gives another. */
function digestOf({ messages }: ConversationRequest): string {
  const hash = createHash('sha256');
  for (const { role, content } of messages) {
    hash.update(role);
    for (const block of content)
      hash.update(block.type === 'text' ? block.text : 'id' in block ? String(block.id) : block.type);
  }
  return hash.digest('hex');
}
