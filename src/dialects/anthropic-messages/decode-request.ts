/** The body of `POST /v1/messages`, checked and decoded in one pass. */
import type {
  ConversationRequest,
  JsonObject,
  OutputFormat,
  ProviderToolDefinition,
  Thinking,
  ToolDefinition,
  TypedTool,
} from '../../core/conversation.js';
import { isObject } from '../../core/is-object.js';
import { Memo } from '../../core/shared-values.js';
import { isOwnCompaction } from '../shared/compaction.js';
import { EFFORT_ORDER } from '../shared/effort.js';
import {
  fail,
  optional,
  readArray,
  readBoolean,
  readInteger,
  readNonEmpty,
  readNumber,
  readObject,
  readOneOf,
  readString,
} from '../shared/read.js';
import { typedTool } from '../shared/typed-tools.js';
import { decodeMessages, decodeSystem, extraFields } from './decode-content.js';
import { changedTools } from './tool-changes.js';
import {
  DIALECT,
  METADATA_FIELDS,
  OUTPUT_CONFIG_FIELDS,
  REQUEST_FIELDS,
  THINKING_CONFIG_FIELDS,
  TOOL_FIELDS,
} from './wire.js';

/**
 * `extensions` always names this dialect, if only with nothing in it: that is how an encoder knows
 * that the client speaks this wire and sets its own cache breakpoints.
 */
export function decodeRequest(value: unknown): ConversationRequest {
  const body = readObject(value, '');
  // 0 is allowed: it fills the prompt cache and generates nothing.
  const maxTokens = readInteger(body['max_tokens'], 'max_tokens', 0);
  const request = decodeCountTokensRequest(body);
  request.maxTokens = maxTokens;
  if (body['safeguards'] !== undefined && body['safeguards'] !== null) request.safeguards = true;
  return request;
}

/** The body of `POST /v1/messages/count_tokens`: the same without `max_tokens`. */
export function decodeCountTokensRequest(value: unknown): ConversationRequest {
  const body = readObject(value, '');
  const extensions = extraFields(body, REQUEST_FIELDS) ?? {};
  const request: ConversationRequest = {
    model: readNonEmpty(body['model'], 'model'),
    system: decodeSystem(body['system']),
    messages: decodeMessages(body['messages']),
    tools: [],
    providerTools: [],
    stopSequences: optional(body['stop_sequences'], 'stop_sequences', readStrings) ?? [],
    stream: optional(body['stream'], 'stream', readBoolean) ?? false,
    extensions: { [DIALECT]: extensions },
  };
  if (request.messages.some(({ content }) => content.some(isOwnCompaction))) request.ownSummary = true;
  decodeCompaction(body['compaction'], request);
  const maxTokens = optional(body['max_tokens'], 'max_tokens', (field, path) => readInteger(field, path, 0));
  if (maxTokens !== undefined) request.maxTokens = maxTokens;
  if (body['tools'] !== undefined && body['tools'] !== null) decodeTools(body['tools'], request);
  const changed = changedTools(body['tools'], request.messages);
  if (changed !== undefined) {
    request.offered = { tools: [], providerTools: [] };
    decodeTools(changed, request.offered);
  }
  if (body['tool_choice'] !== undefined && body['tool_choice'] !== null) {
    decodeToolChoice(body['tool_choice'], request);
  }
  decodeSampling(body, request);
  decodeThinking(body['thinking'], request, extensions);
  decodeOutputConfig(body, request, extensions);
  decodeMetadata(body['metadata'], request, extensions);
  const serviceTier = optional(body['service_tier'], 'service_tier', readString);
  if (serviceTier !== undefined) request.serviceTier = serviceTier;
  const inferenceGeo = optional(body['inference_geo'], 'inference_geo', readNonEmpty);
  if (inferenceGeo !== undefined) request.inferenceGeo = inferenceGeo;
  decodeThread(body['thread'], request);
  return request;
}

/** Instructions of white space count as none. */
function decodeCompaction(value: unknown, request: ConversationRequest): void {
  if (!isObject(value) || value['type'] !== 'summarize') return;
  const instructions = optional(value['instructions'], 'compaction.instructions', readString);
  request.summary = instructions === undefined || instructions.trim() === '' ? {} : { instructions };
}

/** A thread that goes on is a conversation that the provider keeps. */
function decodeThread(value: unknown, request: ConversationRequest): void {
  if (!isObject(value) || value['type'] !== 'continue') return;
  const id = readNonEmpty(value['previous_message_id'], 'thread.previous_message_id');
  request.continues = { dialect: DIALECT, id, param: 'thread.previous_message_id' };
}

function readStrings(value: unknown, path: string): string[] {
  return readArray(value, path).map((each, index) => readString(each, `${path}.${index}`));
}

const decodedTools = new Memo<JsonObject, ToolDefinition>();

function decodeTools(value: unknown, request: Pick<ConversationRequest, 'tools' | 'providerTools'>): void {
  const tools = readArray(value, 'tools');
  for (let index = 0; index < tools.length; index += 1) {
    const tool = tools[index];
    const path = `tools.${index}`;
    if (!isObject(tool)) fail(path, 'an object', tool);
    const { type } = tool;
    if (type === undefined || type === null || type === 'custom') {
      request.tools.push(decodedTools.get(tool) ?? decodedTools.keep(tool, decodeTool(tool, path)));
      continue;
    }
    const typed = typedTool(DIALECT, tool);
    if (typed === undefined) request.providerTools.push(decodeProviderTool(tool, path));
    else request.tools.push(decodeTyped(tool, typed, path));
  }
}

/** What a typed definition has in common with every other tool. */
function decodeTyped(
  tool: JsonObject,
  typed: ToolDefinition & { typed: TypedTool },
  path: string,
): ToolDefinition {
  const strict = optional(tool['strict'], `${path}.strict`, readBoolean);
  if (strict !== undefined) typed.strict = strict;
  const extra = extraFields(tool, new Set(['strict', ...Object.keys(typed.typed.value)]));
  if (extra !== undefined) typed.extensions = { [DIALECT]: extra };
  return typed;
}

function decodeTool(tool: JsonObject, path: string): ToolDefinition {
  const { name, description, strict } = tool;
  const inputSchema = tool['input_schema'];
  if (typeof name !== 'string' || name === '') fail(`${path}.name`, 'a non-empty string', name);
  const definition: ToolDefinition = { name };
  if (description !== undefined && description !== null) {
    definition.description =
      typeof description === 'string' ? description : fail(`${path}.description`, 'a string', description);
  }
  if (inputSchema !== undefined && inputSchema !== null) {
    definition.inputSchema = isObject(inputSchema)
      ? inputSchema
      : fail(`${path}.input_schema`, 'an object', inputSchema);
  }
  if (strict !== undefined && strict !== null) {
    definition.strict =
      typeof strict === 'boolean' ? strict : fail(`${path}.strict`, 'true or false', strict);
  }
  const extra = extraFields(tool, TOOL_FIELDS);
  if (extra !== undefined) definition.extensions = { [DIALECT]: extra };
  return definition;
}

/** A tool with a type that the table of typed tools does not have is the provider's to run. */
function decodeProviderTool(tool: JsonObject, path: string): ProviderToolDefinition {
  const kind = readNonEmpty(tool['type'], `${path}.type`);
  return { dialect: DIALECT, kind, name: providerToolName(tool, kind, path), value: tool };
}

/** Toolsets have no name: an MCP one names its server, the others are named in their type. */
function providerToolName(tool: JsonObject, kind: string, path: string): string {
  const { name } = tool;
  if (name !== undefined && name !== null) return readNonEmpty(name, `${path}.name`);
  const server = tool['mcp_server_name'];
  if (typeof server === 'string' && server !== '') return server;
  return kind.replace(/(?:_toolset)?(?:_\d{8})?$/, '') || kind;
}

function decodeToolChoice(value: unknown, request: ConversationRequest): void {
  const choice = readObject(value, 'tool_choice');
  const type = readOneOf(choice['type'], 'tool_choice.type', ['auto', 'any', 'tool', 'none']);
  request.toolChoice =
    type === 'tool' ? { type, name: readNonEmpty(choice['name'], 'tool_choice.name') } : { type };
  const path = 'tool_choice.disable_parallel_tool_use';
  const single = optional(choice['disable_parallel_tool_use'], path, readBoolean);
  if (single !== undefined) request.parallelToolCalls = !single;
}

function decodeSampling(body: JsonObject, request: ConversationRequest): void {
  const temperature = optional(body['temperature'], 'temperature', (value, path) =>
    readNumber(value, path, 0, 1),
  );
  if (temperature !== undefined) request.temperature = temperature;
  const topP = optional(body['top_p'], 'top_p', (value, path) => readNumber(value, path, 0, 1));
  if (topP !== undefined) request.topP = topP;
  const topK = optional(body['top_k'], 'top_k', (value, path) => readInteger(value, path, 0));
  if (topK !== undefined) request.topK = topK;
}

function decodeThinking(value: unknown, request: ConversationRequest, extensions: JsonObject): void {
  if (value === undefined || value === null) return;
  const config = readObject(value, 'thinking');
  const thinking = readThinking(config);
  if (thinking === undefined) {
    // `between_tools` and kinds still to come: the model decides, as far as other wires can say it.
    extensions['thinking'] = config;
    request.thinking = { type: 'adaptive' };
    return;
  }
  request.thinking = thinking;
  const extra = extraFields(config, THINKING_CONFIG_FIELDS);
  if (extra !== undefined) extensions['thinking'] = extra;
}

function readThinking(config: JsonObject): Thinking | undefined {
  const type = readNonEmpty(config['type'], 'thinking.type');
  switch (type) {
    case 'enabled':
      return { type, budgetTokens: readInteger(config['budget_tokens'], 'thinking.budget_tokens', 1) };
    case 'adaptive':
    case 'disabled':
      return { type };
    default:
      return undefined;
  }
}

function decodeOutputConfig(body: JsonObject, request: ConversationRequest, extensions: JsonObject): void {
  const config = optional(body['output_config'], 'output_config', readObject);
  const format =
    (config && optional(config['format'], 'output_config.format', decodeFormat)) ??
    optional(body['output_format'], 'output_format', decodeFormat);
  if (format !== undefined) request.format = format;
  if (config === undefined) return;
  const effort = optional(config['effort'], 'output_config.effort', (value, path) =>
    readOneOf(value, path, EFFORT_ORDER),
  );
  if (effort !== undefined) request.effort = effort;
  const extra = extraFields(config, OUTPUT_CONFIG_FIELDS);
  if (extra !== undefined) extensions['output_config'] = extra;
}

function decodeFormat(value: unknown, path: string): OutputFormat {
  const format = readObject(value, path);
  const type = readOneOf(format['type'], `${path}.type`, ['json_schema']);
  return { type, schema: readObject(format['schema'], `${path}.schema`) };
}

function decodeMetadata(value: unknown, request: ConversationRequest, extensions: JsonObject): void {
  if (value === undefined || value === null) return;
  const metadata = readObject(value, 'metadata');
  const userId = optional(metadata['user_id'], 'metadata.user_id', readString);
  if (userId !== undefined && userId !== '') {
    request.userId = userId;
    const session = sessionOf(userId);
    if (session !== undefined) request.cacheKey = session;
  }
  const extra = extraFields(metadata, METADATA_FIELDS);
  if (extra !== undefined) extensions['metadata'] = extra;
}

const SESSION = /_session_([a-zA-Z0-9-]{8,64})$/;

/** Claude Code's session in its user id: `…_session_<uuid>`, or JSON with a `session_id`. */
function sessionOf(userId: string): string | undefined {
  const named = SESSION.exec(userId)?.[1];
  if (named !== undefined || !userId.startsWith('{')) return named;
  try {
    const parsed: unknown = JSON.parse(userId);
    const session = isObject(parsed) ? parsed['session_id'] : undefined;
    return typeof session === 'string' && session !== '' ? session : undefined;
  } catch {
    return undefined;
  }
}
