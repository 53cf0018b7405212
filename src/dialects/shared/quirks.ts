/**
 * What an upstream does differently, as data. An encoder asks these flags and never who the
 * upstream is; `upstreams/` holds a profile of them for each known provider, and what is learned
 * from an upstream's own errors overrides it.
 */
import type { Effort } from '../../core/conversation.js';

export interface Quirks {
  /** openai-chat: the field that bounds the answer. */
  maxTokensField: 'max_tokens' | 'max_completion_tokens';
  /** The longest answer that may be asked for. */
  maxOutputTokens: number;
  /** openai-chat: the role of the system prompt. */
  systemRole: 'system' | 'developer';
  /** openai-chat: a `system` message in the middle. `user` wraps it in a system-reminder. */
  midSystemRole: 'system' | 'developer' | 'user';
  /** openai-chat: `stream_options: {include_usage: true}` is understood. */
  streamUsage: boolean;
  /** openai-chat: the field in which history's thinking is replayed; `none` drops it as a loss. */
  reasoningHistory: 'none' | 'reasoning_content' | 'reasoning' | 'reasoning_details';
  /** openai-chat: an assistant turn with tool calls must carry the reasoning field, if only empty. */
  reasoningRequired: boolean;
  /** How effort is asked for. */
  effortField: 'none' | 'reasoning_effort' | 'reasoning.effort' | 'enable_thinking' | 'thinking';
  /** Efforts the model takes; another one is clamped to the nearest. */
  efforts: readonly Effort[];
  /** openai-chat: `reasoning_effort` may be sent together with tools. */
  effortWithTools: boolean;
  /** openai-responses: a summary of the thinking may be asked for. */
  reasoningSummary: boolean;
  /** openai-responses: thinking may be asked for in encrypted form, to be sent again. */
  encryptedReasoning: boolean;
  /** Sampling parameters (`temperature`, `top_p`) may be sent. */
  sampling: boolean;
  /** `parallel_tool_calls` / `disable_parallel_tool_use` is understood. */
  parallelToolCalls: boolean;
  /** `tool_choice` forms that are understood; others degrade as a loss. */
  toolChoice: readonly ('auto' | 'none' | 'any' | 'tool')[];
  /** A forced `tool_choice` may be sent while the model thinks. */
  thinkingWithForcedTool: boolean;
  /** Where an image in a tool result goes. */
  toolResultImage: 'inline' | 'user-message' | 'omit';
  /** Images can be sent at all. */
  images: boolean;
  /** Documents (PDF) can be sent. */
  documents: boolean;
  /** How tool schemas are cut down: `gemini` drops what it rejects, `openai` keeps to the known formats. */
  schema: 'full' | 'openai' | 'gemini' | 'mistral';
  /** `strict` on a function is understood. */
  strictTools: boolean;
  /** `response_format` / `output_config.format`. */
  structuredOutput: 'json_schema' | 'json_object' | 'none';
  stop: boolean;
  /** Longest list of stop sequences. */
  maxStops: number;
  /** openai-*: `prompt_cache_key` is understood. */
  cacheKey: boolean;
  /** openai-*: `user` is understood (and its longest value). */
  user: false | number;
  /** Tool messages need a `name`. */
  toolResultName: boolean;
  /** An assistant turn must stand between tool results and a user message. */
  assistantAfterTool: boolean;
  toolIdLimit: number;
  toolNameLimit: number;
  /** Gemini's `extra_content.google.thought_signature` must come back on its call. */
  thoughtSignatures: boolean;
  /** anthropic-messages: `cache_control` is understood. */
  cacheControl: boolean;
  /** anthropic-messages: a `system` role inside `messages` is understood. */
  midSystem: boolean;
  /** anthropic-messages: max_tokens is required; sent when the client gave none. */
  defaultMaxTokens: number;
  /** Tools can be kept back until a search, which the gateway does, has found them; else only what was found is sent. */
  toolSearch: boolean;
  /** Recover tool calls that the model wrote as text (only for offered names). */
  textToolCalls: boolean;
}

/** An upstream that follows its dialect's own documentation. */
export const STANDARD_QUIRKS: Quirks = Object.freeze({
  maxTokensField: 'max_completion_tokens',
  maxOutputTokens: Number.MAX_SAFE_INTEGER,
  systemRole: 'system',
  midSystemRole: 'user',
  streamUsage: true,
  reasoningHistory: 'none',
  reasoningRequired: false,
  effortField: 'reasoning_effort',
  efforts: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'],
  effortWithTools: true,
  reasoningSummary: true,
  encryptedReasoning: true,
  sampling: true,
  parallelToolCalls: true,
  toolChoice: ['auto', 'none', 'any', 'tool'],
  thinkingWithForcedTool: true,
  toolResultImage: 'user-message',
  images: true,
  documents: true,
  schema: 'full',
  strictTools: true,
  structuredOutput: 'json_schema',
  stop: true,
  maxStops: 4,
  cacheKey: true,
  user: 64,
  toolResultName: false,
  assistantAfterTool: false,
  toolIdLimit: 40,
  toolNameLimit: 64,
  thoughtSignatures: false,
  cacheControl: true,
  midSystem: true,
  defaultMaxTokens: 32_000,
  toolSearch: false,
  textToolCalls: false,
} satisfies Quirks);
