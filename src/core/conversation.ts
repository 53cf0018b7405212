/**
 * The neutral conversation: what every dialect decodes into and encodes from.
 *
 * Blocks have the shape of the Anthropic Messages API because it is the richest of the dialects.
 * What only one dialect has travels in `extensions[dialect]` and is restored verbatim when the
 * target is that dialect again; towards any other target it is a loss (see losses.ts).
 */

export const DIALECT_NAMES = ['anthropic-messages', 'openai-chat', 'openai-responses'] as const;

export type DialectName = (typeof DIALECT_NAMES)[number];

export type JsonObject = { [key: string]: unknown };

/** Fields that only `dialect` knows, kept as they came. */
export type Extensions = { [D in DialectName]?: JsonObject };

export interface TextBlock {
  type: 'text';
  text: string;
  extensions?: Extensions;
}

export type MediaSource =
  | { type: 'base64'; mediaType: string; data: string }
  | { type: 'url'; url: string; mediaType?: string }
  | { type: 'file'; fileId: string }
  /** Plain text given as a document. */
  | { type: 'text'; mediaType: string; data: string };

export interface ImageBlock {
  type: 'image';
  source: MediaSource;
  extensions?: Extensions;
}

export interface DocumentBlock {
  type: 'document';
  source: MediaSource;
  title?: string;
  extensions?: Extensions;
}

/**
 * Reasoning of the model. `signature` is an opaque proof by the producer of the thinking;
 * `origin` says which dialect's upstream made it, so that it is never sent to another one.
 */
export interface ThinkingBlock {
  type: 'thinking';
  thinking: string;
  signature?: string;
  extensions?: Extensions;
}

export interface RedactedThinkingBlock {
  type: 'redacted_thinking';
  data: string;
  extensions?: Extensions;
}

export interface ToolUseBlock {
  type: 'tool_use';
  id: string;
  name: string;
  /** Key order is the order the model wrote: prefix caches upstream depend on it. */
  input: JsonObject;
  extensions?: Extensions;
}

export type ToolResultContent = TextBlock | ImageBlock | DocumentBlock | OpaqueBlock;

export interface ToolResultBlock {
  type: 'tool_result';
  toolUseId: string;
  content: ToolResultContent[];
  isError: boolean;
  extensions?: Extensions;
}

/** A block that only one dialect knows (server tools, search results, tool references …). */
export interface OpaqueBlock {
  type: 'opaque';
  dialect: DialectName;
  /** The wire type, for messages to people: `server_tool_use`, `item_reference` … */
  kind: string;
  value: JsonObject;
}

export type Block =
  | TextBlock
  | ImageBlock
  | DocumentBlock
  | ThinkingBlock
  | RedactedThinkingBlock
  | ToolUseBlock
  | ToolResultBlock
  | OpaqueBlock;

/** `system` inside `messages` is an instruction in the middle of a conversation; it keeps its place. */
export type Role = 'user' | 'assistant' | 'system';

export interface Message {
  role: Role;
  content: Block[];
  extensions?: Extensions;
}

export interface ToolDefinition {
  name: string;
  description?: string;
  /** JSON Schema, untouched. Absent only where the client gave none. */
  inputSchema?: JsonObject;
  strict?: boolean;
  typed?: TypedTool;
  /** The gateway keeps it back until a search for tools has found it (tool-references.ts). */
  deferred?: true;
  extensions?: Extensions;
}

/**
 * A tool that a provider defines and the client runs (`bash_20250124`, `apply_patch` …). Upstreams of
 * `dialect` get `value`; every other one gets the tool as a function.
 */
export interface TypedTool {
  dialect: DialectName;
  /** The wire type, for messages to people. */
  kind: string;
  value: JsonObject;
}

/** A tool that the client expects the provider itself to run (`web_search_20250305` …). */
export interface ProviderToolDefinition {
  dialect: DialectName;
  /** The wire type, for messages to people. */
  kind: string;
  name: string;
  value: JsonObject;
}

export type ToolChoice =
  | { type: 'auto' }
  | { type: 'any' }
  | { type: 'none' }
  | { type: 'tool'; name: string };

export type Effort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';

export type Thinking =
  | { type: 'enabled'; budgetTokens: number }
  | { type: 'adaptive' }
  | { type: 'disabled' };

export type OutputFormat =
  | { type: 'json_object' }
  | { type: 'json_schema'; schema: JsonObject; name?: string; description?: string; strict?: boolean };

export interface Verbatim {
  /** The field that asks for it. */
  param: string;
  /** Why nothing but the upstream's own bytes will do, and what to do instead. */
  message: string;
}

/** Something that the request only names: an answer, a conversation, a prompt, an item. */
export interface Continuation {
  dialect: DialectName;
  id: string;
  /** The field that names it. */
  param: string;
}

export interface ConversationRequest {
  /** The name the client asked for. */
  model: string;
  system: TextBlock[];
  messages: Message[];
  tools: ToolDefinition[];
  providerTools: ProviderToolDefinition[];
  /** The tools as messages in the middle of the conversation leave them; see `withOfferedTools`. */
  offered?: Pick<ConversationRequest, 'tools' | 'providerTools'>;
  toolChoice?: ToolChoice;
  /** `false`: at most one tool call in the answer. */
  parallelToolCalls?: boolean;
  maxTokens?: number;
  temperature?: number;
  topP?: number;
  topK?: number;
  stopSequences: string[];
  thinking?: Thinking;
  effort?: Effort;
  format?: OutputFormat;
  userId?: string;
  serviceTier?: string;
  /** A stable key of the conversation, so that an upstream can keep its prompt cache warm. */
  cacheKey?: string;
  /** Where the model has to run: a promise that only some upstreams can make. */
  inferenceGeo?: string;
  /** The client's tool calls have to be checked by whoever answers, in the answer itself. */
  safeguards?: true;
  /** Part of the conversation is encrypted, and only upstreams of this dialect can read it. */
  sealed?: { dialect: DialectName; param: string };
  /** Nothing but a summary of the conversation is asked for, which takes its place afterwards. */
  summary?: { instructions?: string };
  /** The history holds a summary that this gateway made in the place of a provider, and that no provider would take. */
  ownSummary?: true;
  /** What was said before is kept by an upstream of this dialect; no other can continue it. */
  continues?: Continuation;
  /** It asks for an answer that only its own dialect has, so its bytes are forwarded or it is refused. */
  verbatim?: Verbatim;
  stream: boolean;
  /** Top-level fields that only one dialect has, as they came. */
  extensions: Extensions;
}

export type StopReason =
  | 'end_turn'
  | 'max_tokens'
  | 'stop_sequence'
  | 'tool_use'
  | 'pause_turn'
  /** The answer is a summary that takes the place of the conversation. */
  | 'compaction'
  | 'refusal'
  | 'context_window_exceeded';

/** Counts do not overlap: the prompt is `inputTokens + cacheReadTokens + cacheWriteTokens`. */
export interface Usage {
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
  /** Part of `outputTokens`. */
  reasoningTokens?: number;
  /** What the gateway did on the web for the answer, in the place of a provider. No tokens. */
  webSearches?: number;
  webFetches?: number;
}

/** A whole answer, as collected from a stream. */
export interface AssistantMessage {
  id: string;
  model: string;
  content: Block[];
  stopReason: StopReason;
  stopSequence?: string;
  usage: Usage;
  extensions?: Extensions;
}

export const NO_USAGE: Readonly<Usage> = Object.freeze({
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
});
