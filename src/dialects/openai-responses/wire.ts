/** Names, limits and figures of the Responses wire, checked against the official SDK's types. */
import type {
  CustomTool,
  FunctionTool,
  NamespaceTool,
  Response,
  ResponseCreateParamsBase,
  ResponseCustomToolCall,
  ResponseFunctionToolCall,
  ResponseInputFile,
  ResponseInputImage,
  ResponseInputItem,
  ResponseInputText,
  ResponseOutputRefusal,
  ResponseOutputText,
  ResponseToolSearchOutputItemParam,
  ResponseUsage,
} from 'openai/resources/responses/responses.js';
import type { Reasoning } from 'openai/resources/shared.js';
import type { Extensions, JsonObject, StopReason, Usage } from '../../core/conversation.js';
import { isObject } from '../../core/is-object.js';
import { extendWith, fields } from '../shared/extra-fields.js';
import { countOf } from '../shared/read.js';
import type { NameLimits } from '../shared/tool-names.js';

export const DIALECT = 'openai-responses';

/** Fields that have a neutral meaning. */
export const REQUEST_FIELDS = fields<ResponseCreateParamsBase>(
  'model',
  'input',
  'instructions',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'max_output_tokens',
  'temperature',
  'top_p',
  'reasoning',
  'text',
  'user',
  'service_tier',
  'prompt_cache_key',
  'stream',
);
export const MESSAGE_FIELDS = fields<ResponseInputItem.Message>('type', 'role', 'content');
export const CALL_FIELDS = fields<ResponseFunctionToolCall>(
  'type',
  'call_id',
  'name',
  'namespace',
  'arguments',
);
export const CUSTOM_CALL_FIELDS = fields<ResponseCustomToolCall>(
  'type',
  'call_id',
  'name',
  'namespace',
  'input',
);
export const SEARCH_CALL_FIELDS = fields<ResponseInputItem.ToolSearchCall>('type', 'call_id', 'arguments');
export const SEARCH_OUTPUT_FIELDS = fields<ResponseToolSearchOutputItemParam>('type', 'call_id', 'tools');
export const ADDITIONAL_FIELDS = fields<ResponseInputItem.AdditionalTools>('type', 'tools');
export const RESULT_FIELDS = fields<ResponseInputItem.FunctionCallOutput>('type', 'call_id', 'output');
export const TEXT_FIELDS = fields<ResponseInputText>('type', 'text');
export const OUTPUT_TEXT_FIELDS = fields<ResponseOutputText>('type', 'text', 'annotations', 'logprobs');
export const REFUSAL_FIELDS = fields<ResponseOutputRefusal>('type', 'refusal');
export const IMAGE_FIELDS = fields<ResponseInputImage>('type', 'image_url', 'file_id');
export const FILE_FIELDS = fields<ResponseInputFile>('type', 'file_data', 'file_id', 'file_url', 'filename');
export const FUNCTION_FIELDS = fields<FunctionTool>('type', 'name', 'description', 'parameters', 'strict');
export const CUSTOM_FIELDS = fields<CustomTool>('type', 'name', 'description', 'format');
export const NAMESPACE_FIELDS = fields<NamespaceTool>('type', 'tools');
/** `summary` only says how much of its thinking the model shows; the other wires show what there is. */
export const REASONING_FIELDS = fields<Reasoning>('effort', 'summary', 'generate_summary');
export const TEXT_CONFIG_FIELDS = fields<NonNullable<ResponseCreateParamsBase['text']>>('format');

/** `block` with what only this wire has, where there is any. */
export function extend<T extends { extensions?: Extensions }>(block: T, extra: JsonObject | undefined): T {
  return extendWith(DIALECT, block, extra);
}

const NAME = /^[a-zA-Z0-9_-]+$/;

export function nameLimits(maxLength: number): NameLimits {
  return { pattern: NAME, maxLength };
}

export const CALL_ID_LIMIT = 64;
/** Fewer are refused. */
export const MIN_OUTPUT_TOKENS = 16;
/** The name of a `json_schema` format is required here and unknown elsewhere. */
export const FORMAT_NAME = 'answer';
/** What the model's search for tools is called on wires where it is a function like any other. */
export const SEARCH_NAME = 'tool_search';
export const ENCRYPTED_REASONING = 'reasoning.encrypted_content';

type IncompleteReason = NonNullable<NonNullable<Response['incomplete_details']>['reason']>;

/** Undefined for an answer that is complete. */
export const INCOMPLETE: Readonly<Record<StopReason, IncompleteReason | undefined>> = {
  end_turn: undefined,
  stop_sequence: undefined,
  tool_use: undefined,
  max_tokens: 'max_output_tokens',
  pause_turn: 'max_output_tokens',
  compaction: 'max_output_tokens',
  context_window_exceeded: 'max_output_tokens',
  refusal: 'content_filter',
};

/** A reason that this version does not know still means that the answer was cut. */
export function stopReasonFrom(incomplete: unknown): StopReason {
  return incomplete === 'content_filter' ? 'refusal' : 'max_tokens';
}

/** The namespace of tools that are in none; Codex writes it out where it lists tools in `input`. */
const DEFAULT_NAMESPACE = 'functions';

/** A namespaced tool by one name, for wires that have no namespaces. */
export function flatName(namespace: string, name: string): string {
  if (namespace === DEFAULT_NAMESPACE) return name;
  return namespace.endsWith('__') ? `${namespace}${name}` : `${namespace}__${name}`;
}

export function encodeUsage(usage: Usage): ResponseUsage {
  const input = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
  return {
    input_tokens: input,
    input_tokens_details: {
      cached_tokens: usage.cacheReadTokens,
      cache_write_tokens: usage.cacheWriteTokens,
    },
    output_tokens: usage.outputTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens ?? 0 },
    total_tokens: input + usage.outputTokens,
  };
}

/** What the upstream has counted; fields that it has not are left out. */
export function decodeUsage(value: unknown): Partial<Usage> | undefined {
  if (!isObject(value)) return undefined;
  const usage: Partial<Usage> = {};
  const input = countOf(value['input_tokens']) ?? countOf(value['prompt_tokens']);
  if (input !== undefined) {
    const details = isObject(value['input_tokens_details']) ? value['input_tokens_details'] : {};
    usage.cacheReadTokens = Math.min(countOf(details['cached_tokens']) ?? 0, input);
    usage.cacheWriteTokens = Math.min(
      countOf(details['cache_write_tokens']) ?? 0,
      input - usage.cacheReadTokens,
    );
    usage.inputTokens = input - usage.cacheReadTokens - usage.cacheWriteTokens;
  }
  const output = countOf(value['output_tokens']) ?? countOf(value['completion_tokens']);
  if (output !== undefined) usage.outputTokens = output;
  const details = value['output_tokens_details'];
  const reasoning = isObject(details) ? countOf(details['reasoning_tokens']) : undefined;
  if (reasoning !== undefined) usage.reasoningTokens = reasoning;
  return input === undefined && output === undefined ? undefined : usage;
}
