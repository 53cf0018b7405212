/** A whole answer for the client. */
import type { BetaMessage, BetaUsage } from '@anthropic-ai/sdk/resources/beta/messages/messages.js';
import type { AssistantMessage, Block, JsonObject, Usage } from '../../core/conversation.js';
import type { LossLog } from '../../core/losses.js';
import type { AnswerContext } from '../shared/dialect.js';
import { DIALECT, fitId, STOP_REASONS } from './wire.js';

type WireUsage = Pick<
  BetaUsage,
  'input_tokens' | 'cache_creation_input_tokens' | 'cache_read_input_tokens' | 'output_tokens'
> &
  Partial<Pick<BetaUsage, 'output_tokens_details' | 'server_tool_use'>>;

type WireAnswer = Pick<
  BetaMessage,
  'id' | 'type' | 'role' | 'model' | 'stop_reason' | 'stop_sequence' | 'stop_details'
> & { content: JsonObject[]; usage: WireUsage };

export function encodeResponse(
  answer: AssistantMessage,
  context: AnswerContext,
  losses: LossLog,
): JsonObject {
  const content: JsonObject[] = [];
  for (const [index, block] of answer.content.entries()) {
    const wire = encodeAnswerBlock(block);
    if (wire !== undefined) content.push(wire);
    else losses.add(`content.${index}`, `an answer on this wire has no ${nameOf(block)}`);
  }
  // Clients read content[0] without asking.
  if (content.length === 0) content.push({ type: 'text', text: '' });
  return {
    id: answer.id,
    type: 'message',
    role: 'assistant',
    model: context.model,
    content,
    stop_reason: STOP_REASONS[answer.stopReason],
    stop_sequence: answer.stopSequence ?? null,
    stop_details: null,
    usage: encodeUsage(answer.usage),
    ...answer.extensions?.[DIALECT],
  } satisfies WireAnswer;
}

function nameOf(block: Block): string {
  return block.type === 'opaque' ? `${block.kind} (${block.dialect})` : block.type;
}

export function encodeUsage(usage: Usage): WireUsage {
  const { webSearches = 0, webFetches = 0 } = usage;
  return {
    input_tokens: usage.inputTokens,
    cache_creation_input_tokens: usage.cacheWriteTokens,
    cache_read_input_tokens: usage.cacheReadTokens,
    output_tokens: usage.outputTokens,
    ...(usage.reasoningTokens === undefined
      ? {}
      : { output_tokens_details: { thinking_tokens: usage.reasoningTokens } }),
    ...(webSearches + webFetches === 0
      ? {}
      : { server_tool_use: { web_search_requests: webSearches, web_fetch_requests: webFetches } }),
  };
}

/** Undefined for what an answer of this wire cannot hold. */
function encodeAnswerBlock(block: Block): JsonObject | undefined {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text, ...block.extensions?.[DIALECT] };
    case 'thinking':
      return { type: 'thinking', thinking: block.thinking, signature: block.signature ?? '' };
    case 'redacted_thinking':
      return { type: 'redacted_thinking', data: block.data };
    case 'tool_use': {
      const { id, name, input } = block;
      return { type: 'tool_use', id: fitId(id), name, input, ...block.extensions?.[DIALECT] };
    }
    case 'opaque':
      return block.dialect === DIALECT ? block.value : undefined;
    default:
      return undefined;
  }
}
