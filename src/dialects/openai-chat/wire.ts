/** Names, limits and figures of the Chat Completions wire, checked against the official SDK's types. */
import type {
  ChatCompletion,
  ChatCompletionAssistantMessageParam,
  ChatCompletionContentPart,
  ChatCompletionContentPartImage,
  ChatCompletionContentPartText,
  ChatCompletionCreateParamsBase,
  ChatCompletionFunctionTool,
  ChatCompletionMessageFunctionToolCall,
  ChatCompletionToolMessageParam,
  ChatCompletionUserMessageParam,
} from 'openai/resources/chat/completions/completions.js';
import type { CompletionUsage } from 'openai/resources/completions.js';
import type { FunctionDefinition } from 'openai/resources/shared.js';
import type { Extensions, JsonObject, StopReason, Usage } from '../../core/conversation.js';
import { isObject } from '../../core/is-object.js';
import { countOf } from '../shared/read.js';
import type { NameLimits } from '../shared/tool-names.js';

export const DIALECT = 'openai-chat';

/** Known fields of a wire object; the others travel as extensions. */
const fields = <T>(...names: (keyof T & string)[]): ReadonlySet<string> => new Set(names);

/** Ways to ask for thinking that other servers of this wire have. */
interface ThinkingFields {
  thinking: unknown;
  reasoning: unknown;
  enable_thinking: unknown;
}

/** Fields that have a neutral meaning, and those that only shape the answer to this client. */
export const REQUEST_FIELDS = fields<ChatCompletionCreateParamsBase & ThinkingFields>(
  'model',
  'messages',
  'tools',
  'tool_choice',
  'functions',
  'function_call',
  'parallel_tool_calls',
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'top_p',
  'stop',
  'n',
  'reasoning_effort',
  'thinking',
  'reasoning',
  'enable_thinking',
  'response_format',
  'user',
  'service_tier',
  'prompt_cache_key',
  'stream',
);

/** What other servers of this wire put beside `content`. */
interface ReasoningFields {
  reasoning_content: unknown;
  reasoning: unknown;
  reasoning_details: unknown;
  thinking_blocks: unknown;
}

/** Fields of an answer that a client sends back as they came; as history they say nothing. */
interface EchoedFields {
  annotations: unknown;
  parsed: unknown;
}

export const TEXT_MESSAGE_FIELDS = fields<ChatCompletionUserMessageParam>('role', 'content');
export const ASSISTANT_FIELDS = fields<ChatCompletionAssistantMessageParam & ReasoningFields & EchoedFields>(
  'role',
  'content',
  'refusal',
  'tool_calls',
  'function_call',
  'audio',
  'reasoning_content',
  'reasoning',
  'reasoning_details',
  'thinking_blocks',
  'annotations',
  'parsed',
);
export const TOOL_MESSAGE_FIELDS = fields<ChatCompletionToolMessageParam>('role', 'content', 'tool_call_id');
export const TEXT_PART_FIELDS = fields<ChatCompletionContentPartText>('type', 'text');
export const IMAGE_PART_FIELDS = fields<ChatCompletionContentPartImage>('type', 'image_url');
export const IMAGE_URL_FIELDS = fields<ChatCompletionContentPartImage['image_url']>('url');
export const FILE_PART_FIELDS = fields<ChatCompletionContentPart.File>('type', 'file');
export const FILE_FIELDS = fields<ChatCompletionContentPart.File['file']>('file_data', 'file_id', 'filename');
export const TOOL_CALL_FIELDS = fields<ChatCompletionMessageFunctionToolCall & { index: number }>(
  'id',
  'type',
  'function',
  'index',
);
export const TOOL_FIELDS = fields<ChatCompletionFunctionTool>('type', 'function');
export const FUNCTION_FIELDS = fields<FunctionDefinition>('name', 'description', 'parameters', 'strict');

/** `block` with what only this wire has, where there is any. */
export function extend<T extends { extensions?: Extensions }>(block: T, extra: JsonObject | undefined): T {
  if (extra !== undefined) block.extensions = { [DIALECT]: { ...block.extensions?.[DIALECT], ...extra } };
  return block;
}

/** Fields that `known` does not name. `null` is "not given": answers come back with their nulls. */
export function extraFields(value: JsonObject, known: ReadonlySet<string>): JsonObject | undefined {
  let rest: JsonObject | undefined;
  for (const key in value) {
    if (known.has(key) || key === '__proto__') continue;
    const field = value[key];
    if (field === null || field === undefined) continue;
    rest ??= {};
    rest[key] = field;
  }
  return rest;
}

const NAME = /^[a-zA-Z0-9_-]+$/;

export function nameLimits(maxLength: number): NameLimits {
  return { pattern: NAME, maxLength };
}

/** The name of a `json_schema` format is required here and unknown elsewhere. */
export const FORMAT_NAME = 'answer';

type FinishReason = ChatCompletion.Choice['finish_reason'];

export const FINISH_REASONS: Readonly<Record<StopReason, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'tool_calls',
  max_tokens: 'length',
  pause_turn: 'length',
  compaction: 'length',
  context_window_exceeded: 'length',
  refusal: 'content_filter',
};

/** Reasons that mean the answer failed, with the message for the client. */
const FAILURES: ReadonlySet<string> = new Set([
  'error',
  'network_error',
  'abort',
  'insufficient_system_resource',
  'malformed_function_call',
]);

/** Also what servers that only resemble this wire call them. */
const STOP_REASONS: ReadonlyMap<string, StopReason> = new Map<string, StopReason>([
  ['stop', 'end_turn'],
  ['end_turn', 'end_turn'],
  ['eos', 'end_turn'],
  ['eos_token', 'end_turn'],
  ['stop_sequence', 'stop_sequence'],
  ['length', 'max_tokens'],
  ['max_tokens', 'max_tokens'],
  ['model_length', 'max_tokens'],
  ['tool_calls', 'tool_use'],
  ['tool_use', 'tool_use'],
  ['function_call', 'tool_use'],
  ['content_filter', 'refusal'],
  ['refusal', 'refusal'],
  ['safety', 'refusal'],
  ['recitation', 'refusal'],
  ['prohibited_content', 'refusal'],
  ['blocklist', 'refusal'],
  ['sensitive', 'refusal'],
  ['model_context_window_exceeded', 'context_window_exceeded'],
]);

/** `undefined` for a reason that is a failure; one that this version does not know still ends the turn. */
export function stopReasonFrom(wire: string): StopReason | undefined {
  const word = wire.toLowerCase();
  if (FAILURES.has(word)) return undefined;
  return STOP_REASONS.get(word) ?? 'end_turn';
}

export function encodeUsage(usage: Usage): CompletionUsage {
  const prompt = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
  const cached: CompletionUsage.PromptTokensDetails = { cached_tokens: usage.cacheReadTokens };
  if (usage.cacheWriteTokens > 0) cached.cache_write_tokens = usage.cacheWriteTokens;
  return {
    prompt_tokens: prompt,
    completion_tokens: usage.outputTokens,
    total_tokens: prompt + usage.outputTokens,
    prompt_tokens_details: cached,
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens ?? 0 },
  };
}

/** What the upstream has counted; fields that it has not are left out. */
export function decodeUsage(value: unknown): Partial<Usage> | undefined {
  if (!isObject(value)) return undefined;
  const prompt = countOf(value['prompt_tokens']) ?? countOf(value['input_tokens']);
  const answer = countOf(value['completion_tokens']) ?? countOf(value['output_tokens']);
  const inPrompt = isObject(value['prompt_tokens_details']) ? value['prompt_tokens_details'] : value;
  const inAnswer = isObject(value['completion_tokens_details']) ? value['completion_tokens_details'] : value;
  const usage: Partial<Usage> = {};
  if (prompt !== undefined) {
    // DeepSeek and Moonshot count the cache beside the details, the others inside.
    const read =
      countOf(inPrompt['cached_tokens']) ??
      countOf(value['prompt_cache_hit_tokens']) ??
      countOf(value['cached_tokens']) ??
      0;
    const written =
      countOf(inPrompt['cache_write_tokens']) ?? countOf(value['cache_creation_input_tokens']) ?? 0;
    usage.cacheReadTokens = Math.min(read, prompt);
    usage.cacheWriteTokens = Math.min(written, prompt - usage.cacheReadTokens);
    usage.inputTokens = prompt - usage.cacheReadTokens - usage.cacheWriteTokens;
  }
  const reasoning = countOf(inAnswer['reasoning_tokens']);
  if (reasoning !== undefined) usage.reasoningTokens = reasoning;
  if (answer !== undefined) {
    // Gemini and xAI leave reasoning out of the answer and count it in the total only.
    const total = countOf(value['total_tokens']) ?? 0;
    usage.outputTokens = Math.max(answer, total - (prompt ?? total));
  }
  return usage.inputTokens === undefined && usage.outputTokens === undefined ? undefined : usage;
}
