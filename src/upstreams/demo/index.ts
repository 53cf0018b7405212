/**
 * The demo model: embedded, deterministic, and honest about working by fixed rules. It answers
 * every request, never throws for what a request holds, and ends with exactly one stop unless it
 * is aborted, when it ends at once.
 */
import { createHash } from 'node:crypto';
import type { Block, ConversationRequest } from '../../core/conversation.js';
import { estimateRequestTokens } from '../../core/estimate-tokens.js';
import type { ModelEvent } from '../../core/events.js';
import { type Plan, planTurn } from './plan.js';
import { type Limits, limitsOf, streamPlan } from './stream.js';

export interface DemoOptions {
  /** The day that "tomorrow" is counted from. */
  now?: Date;
}

/** The turn is decided at the call, so that the stream does not hold the request while it lasts. */
export function runDemo(
  request: ConversationRequest,
  signal: AbortSignal,
  { now = new Date() }: DemoOptions = {},
): AsyncGenerator<ModelEvent[]> {
  const digest = digestOf(request);
  const start: ModelEvent = {
    type: 'start',
    id: `demo_${digest.slice(0, 24)}`,
    usage: {
      inputTokens: estimateRequestTokens(request),
      outputTokens: 0,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
    },
  };
  return stream(start, digest, planTurn(request, now), limitsOf(request), signal);
}

async function* stream(
  start: ModelEvent,
  digest: string,
  plan: Plan,
  limits: Limits,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent[]> {
  if (signal.aborted) return;
  yield [start];
  if (signal.aborted) return;
  yield* streamPlan(plan, limits, (index) => callId(digest, index), signal);
}

/** The same conversation gives the same ids; a later turn of it gives others. */
function callId(digest: string, index: number): string {
  return `call_${createHash('sha256').update(`${digest}/${index}`).digest('hex').slice(0, 24)}`;
}

const HASHED_TEXT = 2_000;

function digestOf({ messages }: ConversationRequest): string {
  const hash = createHash('sha256');
  for (const { role, content } of messages) {
    hash.update(`\n${role}`);
    for (const block of content) hash.update(`\n${markOf(block)}`);
  }
  return hash.digest('hex');
}

function markOf(block: Block): string {
  switch (block.type) {
    case 'text':
      return `${block.text.length} ${block.text.slice(0, HASHED_TEXT)}`;
    case 'tool_use':
      return `${block.id} ${block.name}`;
    case 'tool_result':
      return `${block.toolUseId} ${block.content.map(markOf).join(' ')}`;
    default:
      return block.type;
  }
}
