/** A plan as events: word by word, within the limits that the request sets. */
import { setImmediate as nextTick } from 'node:timers/promises';
import type { ConversationRequest, StopReason } from '../../core/conversation.js';
import { estimateTextTokens } from '../../core/estimate-tokens.js';
import type { ModelEvent } from '../../core/events.js';
import type { Plan, PlannedCall } from './plan.js';

/** A call's JSON comes in as many pieces. */
const INPUT_PIECES = 3;
const CALL_OVERHEAD = 6;

export interface Limits {
  maxTokens: number;
  stopSequences: readonly string[];
}

export function limitsOf(request: ConversationRequest): Limits {
  return {
    maxTokens: request.maxTokens ?? Number.POSITIVE_INFINITY,
    stopSequences: request.stopSequences.filter((sequence) => sequence !== ''),
  };
}

interface Ending {
  reason: StopReason;
  stopSequence?: string;
}

/** One batch a word; the event loop turns between two, and an abort ends it without a word. */
export async function* streamPlan(
  plan: Plan,
  limits: Limits,
  idOf: (index: number) => string,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent[]> {
  const budget = new Budget(limits.maxTokens);
  for (const piece of piecesOf(plan.thinking)) {
    const text = budget.take(piece);
    if (text !== '') yield [{ type: 'thinking', text }];
    if (budget.isSpent) return yield ending(budget, { reason: 'max_tokens' });
    await nextTick();
    if (signal.aborted) return;
  }
  const reasoning = budget.used;
  const { text: shown, stopSequence } = untilStop(plan.text, limits.stopSequences);
  for (const piece of piecesOf(shown)) {
    const text = budget.take(piece);
    if (text !== '') yield [{ type: 'text', text }];
    if (budget.isSpent) return yield ending(budget, { reason: 'max_tokens' }, reasoning);
    await nextTick();
    if (signal.aborted) return;
  }
  if (stopSequence !== undefined)
    return yield ending(budget, { reason: 'stop_sequence', stopSequence }, reasoning);
  for (const [index, call] of plan.calls.entries()) {
    const json = spacedJson(call.input);
    // A call is made whole or not at all: half a call helps nobody.
    if (!budget.spend(callTokens(call, json)))
      return yield ending(budget, { reason: 'max_tokens' }, reasoning);
    yield [{ type: 'tool', key: index, id: idOf(index), name: call.name }];
    for (const piece of slices(json, INPUT_PIECES)) {
      await nextTick();
      if (signal.aborted) return;
      yield [{ type: 'tool-input', key: index, json: piece }];
    }
    yield [{ type: 'tool-end', key: index }];
  }
  yield ending(budget, { reason: plan.calls.length > 0 ? 'tool_use' : 'end_turn' }, reasoning);
}

function ending(budget: Budget, end: Ending, reasoning = budget.used): ModelEvent[] {
  const reasoningTokens = Math.ceil(reasoning);
  return [
    {
      type: 'usage',
      usage: { outputTokens: Math.ceil(budget.used), ...(reasoningTokens > 0 ? { reasoningTokens } : {}) },
    },
    { type: 'stop', ...end },
  ];
}

function callTokens({ name }: PlannedCall, json: string): number {
  return CALL_OVERHEAD + estimateTextTokens(name) + estimateTextTokens(json);
}

/** Counts what was said. The last piece that fits only in part is cut. */
class Budget {
  readonly #max: number;
  used = 0;
  isSpent = false;

  constructor(max: number) {
    this.#max = max;
  }

  take(piece: string): string {
    for (let end = piece.length; end > 0; end--) {
      // Never between the halves of a surrogate pair.
      if (/[\ud800-\udbff]/.test(piece.charAt(end - 1))) continue;
      if (!this.spend(tokensOf(piece.slice(0, end)))) continue;
      this.isSpent = end < piece.length;
      return piece.slice(0, end);
    }
    this.isSpent = true;
    return '';
  }

  spend(tokens: number): boolean {
    if (this.used + tokens > this.#max) return false;
    this.used += tokens;
    return true;
  }
}

/** The demo model's own tokens: four characters, or one Chinese character, each. */
function tokensOf(piece: string): number {
  const han = piece.match(/[^\u0020-\u024f\s]/g)?.length ?? 0;
  return han + Math.ceil((piece.trim().length - han) / 4);
}

/** Words with the blank behind them, Chinese by the character. */
export function piecesOf(text: string): string[] {
  return (
    text.match(
      /\s*(?:[\p{Script=Han}\u3000-\u303f\uff00-\uffef]|[^\s\p{Script=Han}\u3000-\u303f\uff00-\uffef]+)\s*/gu,
    ) ?? []
  );
}

function untilStop(text: string, sequences: readonly string[]): { text: string; stopSequence?: string } {
  let at = text.length;
  let hit: string | undefined;
  for (const sequence of sequences) {
    const found = text.indexOf(sequence);
    if (found >= 0 && found < at) {
      at = found;
      hit = sequence;
    }
  }
  return hit === undefined ? { text } : { text: text.slice(0, at), stopSequence: hit };
}

/** `{"a": 1, "b": [2, 3]}`: with a blank behind each colon and comma, as models write it. */
export function spacedJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spacedJson).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const fields = Object.entries(value).filter(([, item]) => item !== undefined);
  return `{${fields.map(([key, item]) => `${JSON.stringify(key)}: ${spacedJson(item)}`).join(', ')}}`;
}

/** Nearly equal parts, none of which begins in the middle of a character. */
function slices(text: string, count: number): string[] {
  const length = Math.max(1, Math.ceil(text.length / count));
  const parts: string[] = [];
  let from = 0;
  while (from < text.length) {
    let to = Math.min(text.length, from + length);
    if (/[\udc00-\udfff]/.test(text.charAt(to))) to += 1;
    parts.push(text.slice(from, to));
    from = to;
  }
  return parts;
}
