/** Names and limits of the Anthropic Messages wire, checked against the official SDK's types. */
import type {
  BetaDocumentBlock,
  BetaImageBlockParam,
  BetaMetadata,
  BetaOutputConfig,
  BetaRedactedThinkingBlockParam,
  BetaRequestDocumentBlock,
  BetaStopReason,
  BetaTextBlockParam,
  BetaThinkingBlockParam,
  BetaThinkingConfigEnabled,
  BetaTool,
  BetaToolResultBlockParam,
  BetaToolUseBlockParam,
  MessageCreateParamsBase,
} from '@anthropic-ai/sdk/resources/beta/messages/messages.js';
import type { Effort, StopReason } from '../../core/conversation.js';
import { fitName, type NameLimits } from '../shared/tool-names.js';

export const DIALECT = 'anthropic-messages';
export const VERSION = '2023-06-01';

/** Known fields of a wire object; the others travel as extensions. */
const fields = <T>(...names: (keyof T & string)[]): ReadonlySet<string> => new Set(names);

/** Newer models take no sampling parameters and the SDK no longer types them; older models do. */
interface Sampling {
  temperature: number;
  top_p: number;
  top_k: number;
}

export const REQUEST_FIELDS = fields<MessageCreateParamsBase & Sampling>(
  'model',
  'messages',
  'system',
  'tools',
  'tool_choice',
  'max_tokens',
  'temperature',
  'top_p',
  'top_k',
  'stop_sequences',
  'thinking',
  'output_config',
  'output_format',
  'metadata',
  'service_tier',
  'inference_geo',
  'stream',
);
export const MESSAGE_FIELDS = fields<{ role: string; content: unknown }>('role', 'content');
export const TEXT_FIELDS = fields<BetaTextBlockParam>('type', 'text');
export const IMAGE_FIELDS = fields<BetaImageBlockParam>('type', 'source');
export const DOCUMENT_FIELDS = fields<BetaRequestDocumentBlock>('type', 'source', 'title');
export const THINKING_FIELDS = fields<BetaThinkingBlockParam>('type', 'thinking', 'signature');
export const REDACTED_FIELDS = fields<BetaRedactedThinkingBlockParam>('type', 'data');
export const TOOL_USE_FIELDS = fields<BetaToolUseBlockParam>('type', 'id', 'name', 'input');
export const TOOL_RESULT_FIELDS = fields<BetaToolResultBlockParam>(
  'type',
  'tool_use_id',
  'content',
  'is_error',
);
export const TOOL_FIELDS = fields<BetaTool>('type', 'name', 'description', 'input_schema', 'strict');
export const THINKING_CONFIG_FIELDS = fields<BetaThinkingConfigEnabled>('type', 'budget_tokens');
export const OUTPUT_CONFIG_FIELDS = fields<BetaOutputConfig>('effort', 'format');
export const METADATA_FIELDS = fields<BetaMetadata>('user_id');

/** Fields of each media source; one with others is kept whole as an extension. */
export const SOURCE_FIELDS: Readonly<Record<string, ReadonlySet<string>>> = {
  base64: fields<Extract<BetaDocumentBlock['source'], { type: 'base64' }>>('type', 'media_type', 'data'),
  text: fields<Extract<BetaDocumentBlock['source'], { type: 'text' }>>('type', 'media_type', 'data'),
  url: new Set(['type', 'url']),
  file: new Set(['type', 'file_id']),
};

export const STOP_REASONS: Readonly<Record<StopReason, BetaStopReason>> = {
  end_turn: 'end_turn',
  max_tokens: 'max_tokens',
  stop_sequence: 'stop_sequence',
  tool_use: 'tool_use',
  pause_turn: 'pause_turn',
  compaction: 'compaction',
  refusal: 'refusal',
  context_window_exceeded: 'model_context_window_exceeded',
};

const NEUTRAL_STOP_REASONS: Readonly<Record<BetaStopReason, StopReason>> = {
  end_turn: 'end_turn',
  max_tokens: 'max_tokens',
  stop_sequence: 'stop_sequence',
  tool_use: 'tool_use',
  pause_turn: 'pause_turn',
  compaction: 'compaction',
  refusal: 'refusal',
  model_context_window_exceeded: 'context_window_exceeded',
};
const STOP_REASON_FROM: ReadonlyMap<unknown, StopReason> = new Map(Object.entries(NEUTRAL_STOP_REASONS));

/** A reason that this version does not know still ends the turn. */
export function stopReasonFrom(wire: unknown): StopReason {
  return STOP_REASON_FROM.get(wire) ?? 'end_turn';
}

/** `none` and `minimal` exist on other wires only. */
export const WIRE_EFFORTS: readonly Effort[] = [
  'low',
  'medium',
  'high',
  'xhigh',
  'max',
] satisfies NonNullable<BetaOutputConfig['effort']>[];

export const USER_ID_LIMIT = 256;
export const CACHE_BREAKPOINTS = 4;
export const CACHE_CONTROL = { type: 'ephemeral' } as const;

const ID = /^[a-zA-Z0-9_-]+$/;
export const TOOL_NAME_LIMITS: NameLimits = { pattern: ID, maxLength: 128 };
const BROKEN_ID_LIMITS: NameLimits = { pattern: ID, maxLength: 64 };

/** A call id in the wire's characters. Stable, and a fitted id stays as it is. */
export function fitId(id: string): string {
  return ID.test(id) ? id : fitName(id, BROKEN_ID_LIMITS);
}

const BASE64 = /^[A-Za-z0-9+/=_-]+$/;

/**
 * Signatures and redacted thinking of this wire are base64. Other dialects' decoders put a
 * namespace with another character in front of theirs; sent here, those would be a 400.
 */
export function isOwnProof(proof: string | undefined): proof is string {
  return proof !== undefined && BASE64.test(proof);
}
