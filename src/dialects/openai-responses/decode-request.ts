/** The body of `POST /v1/responses`, checked and decoded in one pass. */
import type { ConversationRequest, JsonObject, OutputFormat, Verbatim } from '../../core/conversation.js';
import { isObject } from '../../core/is-object.js';
import { EFFORT_ORDER } from '../shared/effort.js';
import { extraFields } from '../shared/extra-fields.js';
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
import { type DecodedInput, decodeInput } from './decode-input.js';
import { decodeToolChoice, decodeTools } from './decode-tools.js';
import { FlatNames } from './flat-names.js';
import { DIALECT, REASONING_FIELDS, REQUEST_FIELDS, TEXT_CONFIG_FIELDS } from './wire.js';

type Check = (value: unknown, path: string) => unknown;

/** Documented fields without a neutral meaning: checked here, passed on as they came. */
const CHECKS: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['background', readBoolean],
  ['client_metadata', readObject],
  ['context_management', readArray],
  ['include', readArray],
  ['max_tool_calls', (value, path) => readInteger(value, path, 1)],
  ['metadata', readObject],
  ['moderation', readObject],
  ['previous_response_id', readNonEmpty],
  ['prompt', readObject],
  ['prompt_cache_options', readObject],
  ['prompt_cache_retention', readString],
  ['safety_identifier', readString],
  ['store', readBoolean],
  ['stream_options', readObject],
  ['top_logprobs', (value, path) => readNumber(value, path, 0, 20)],
  ['truncation', (value, path) => readOneOf(value, path, ['auto', 'disabled'])],
]);

const BACKGROUND: Verbatim = {
  param: 'background',
  message:
    'background: answers in the background are not supported by this model. Leave it out, and stream the answer if it takes long.',
};

export function decodeRequest(value: unknown): ConversationRequest {
  const body = readObject(value, '');
  const extensions = extraFields(body, REQUEST_FIELDS) ?? {};
  for (const key in extensions) CHECKS.get(key)?.(extensions[key], key);
  const request: ConversationRequest = {
    model: readNonEmpty(body['model'], 'model'),
    system: [],
    messages: [],
    tools: [],
    providerTools: [],
    stopSequences: [],
    stream: optional(body['stream'], 'stream', readBoolean) ?? false,
    extensions: { [DIALECT]: extensions },
  };
  const names = new FlatNames();
  decodeTools(body, request, names);
  const { system, messages, reference } = decodeInput(body['input'], body['instructions'], names);
  request.system = system;
  decodeSealed(body['input'], request);
  request.messages = messages;
  decodeToolChoice(body['tool_choice'], request, names);
  decodeLimits(body, request);
  decodeReasoningConfig(body['reasoning'], request, extensions);
  decodeText(body['text'], request, extensions);
  decodeIdentity(body, request);
  if (extensions['background'] === true) request.verbatim = BACKGROUND;
  decodeContinuation(request, extensions, reference);
  requireInput(body, request);
  return request;
}

/** History that an upstream keeps; a stored prompt is the same: only its keeper knows what it says. */
function decodeContinuation(
  request: ConversationRequest,
  extensions: JsonObject,
  reference: DecodedInput['reference'],
): void {
  const { previous_response_id: previous, conversation, prompt } = extensions;
  if (previous !== undefined && conversation !== undefined) {
    fail('conversation', 'nothing together with previous_response_id', conversation);
  }
  const from = (id: string, param: string) => {
    request.continues = { dialect: DIALECT, id, param };
  };
  if (typeof previous === 'string') from(previous, 'previous_response_id');
  else if (conversation !== undefined) {
    const id = isObject(conversation) ? conversation['id'] : conversation;
    from(readNonEmpty(id, 'conversation'), 'conversation');
  } else if (isObject(prompt)) {
    from(readNonEmpty(prompt['id'], 'prompt.id'), 'prompt.id');
  } else if (reference !== undefined) from(reference.id, reference.path);
}

/** A compaction of this wire is encrypted; everything that was said before it is in there. */
function decodeSealed(input: unknown, request: ConversationRequest): void {
  const items: readonly unknown[] = Array.isArray(input) ? input : [];
  const at = items.findIndex((item) => isObject(item) && SEALED.has(item['type']));
  if (at >= 0) request.sealed = { dialect: DIALECT, param: `input.${at}` };
}

/** Codex's own word for it, and the wire's. */
const SEALED: ReadonlySet<unknown> = new Set(['compaction', 'compaction_summary']);

function requireInput(body: JsonObject, request: ConversationRequest): void {
  if (request.messages.length > 0 || request.continues !== undefined) return;
  if (request.system.length === 0 || (body['input'] === undefined && body['instructions'] === undefined)) {
    fail('input', 'a string or at least one item', body['input']);
  }
}

function decodeLimits(body: JsonObject, request: ConversationRequest): void {
  const maxTokens = optional(body['max_output_tokens'], 'max_output_tokens', (value, path) =>
    readInteger(value, path, 1),
  );
  if (maxTokens !== undefined) request.maxTokens = maxTokens;
  const temperature = optional(body['temperature'], 'temperature', (value, path) =>
    readNumber(value, path, 0, 2),
  );
  if (temperature !== undefined) request.temperature = temperature;
  const topP = optional(body['top_p'], 'top_p', (value, path) => readNumber(value, path, 0, 1));
  if (topP !== undefined) request.topP = topP;
  const parallel = optional(body['parallel_tool_calls'], 'parallel_tool_calls', readBoolean);
  if (parallel !== undefined) request.parallelToolCalls = parallel;
}

function decodeReasoningConfig(value: unknown, request: ConversationRequest, extensions: JsonObject): void {
  if (value === undefined || value === null) return;
  const reasoning = readObject(value, 'reasoning');
  const effort = optional(reasoning['effort'], 'reasoning.effort', (given, path) =>
    readOneOf(given, path, EFFORT_ORDER),
  );
  if (effort !== undefined) request.effort = effort;
  const summary = reasoning['summary'] ?? reasoning['generate_summary'];
  if (typeof summary === 'string') extensions['$summary'] = summary;
  const rest = extraFields(reasoning, REASONING_FIELDS);
  if (rest !== undefined) extensions['reasoning'] = rest;
}

function decodeText(value: unknown, request: ConversationRequest, extensions: JsonObject): void {
  if (value === undefined || value === null) return;
  const text = readObject(value, 'text');
  const format = optional(text['format'], 'text.format', readFormat);
  if (format !== undefined) request.format = format;
  const rest = extraFields(text, TEXT_CONFIG_FIELDS);
  if (rest !== undefined) extensions['text'] = rest;
}

function readFormat(value: unknown, path: string): OutputFormat | undefined {
  const format = readObject(value, path);
  const type = readOneOf(format['type'], `${path}.type`, ['text', 'json_object', 'json_schema']);
  if (type === 'text') return undefined;
  if (type === 'json_object') return { type };
  const out: OutputFormat = { type, schema: readObject(format['schema'], `${path}.schema`) };
  const name = optional(format['name'], `${path}.name`, readNonEmpty);
  if (name !== undefined) out.name = name;
  const description = optional(format['description'], `${path}.description`, readString);
  if (description !== undefined) out.description = description;
  const strict = optional(format['strict'], `${path}.strict`, readBoolean);
  if (strict !== undefined) out.strict = strict;
  return out;
}

function decodeIdentity(body: JsonObject, request: ConversationRequest): void {
  const userId = optional(body['user'], 'user', readString);
  if (userId !== undefined && userId !== '') request.userId = userId;
  const serviceTier = optional(body['service_tier'], 'service_tier', readString);
  if (serviceTier !== undefined) request.serviceTier = serviceTier;
  const cacheKey = optional(body['prompt_cache_key'], 'prompt_cache_key', readString);
  if (cacheKey !== undefined && cacheKey !== '') request.cacheKey = cacheKey;
}
