/** The body of `POST /v1/chat/completions`, checked and decoded in one pass. */
import type {
  ConversationRequest,
  Effort,
  JsonObject,
  OutputFormat,
  Thinking,
} from '../../core/conversation.js';
import { isObject } from '../../core/is-object.js';
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
import { decodeMessages } from './decode-messages.js';
import { decodeTools } from './decode-tools.js';
import { DIALECT, extraFields, REQUEST_FIELDS } from './wire.js';

type Check = (value: unknown, path: string) => unknown;

const between =
  (min: number, max: number): Check =>
  (value, path) =>
    readNumber(value, path, min, max);
const whole =
  (min: number): Check =>
  (value, path) =>
    readInteger(value, path, min);
const oneOf =
  (...known: string[]): Check =>
  (value, path) =>
    readOneOf(value, path, known);

/** Documented fields without a neutral meaning: checked here, passed on as they came. */
const CHECKS: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['audio', readObject],
  ['frequency_penalty', between(-2, 2)],
  ['logit_bias', readObject],
  ['logprobs', readBoolean],
  ['metadata', readObject],
  ['modalities', readArray],
  ['moderation', readObject],
  ['prediction', readObject],
  ['presence_penalty', between(-2, 2)],
  ['prompt_cache_options', readObject],
  ['prompt_cache_retention', readString],
  ['safety_identifier', readString],
  ['seed', whole(Number.MIN_SAFE_INTEGER)],
  ['store', readBoolean],
  ['stream_options', readObject],
  ['top_k', whole(0)],
  ['top_logprobs', between(0, 20)],
  ['verbosity', oneOf('low', 'medium', 'high')],
  ['web_search_options', readObject],
]);

export function decodeRequest(value: unknown): ConversationRequest {
  const body = readObject(value, '');
  const extensions = extraFields(body, REQUEST_FIELDS);
  for (const key in extensions) CHECKS.get(key)?.(extensions[key], key);
  const model = readNonEmpty(body['model'], 'model');
  const { system, messages } = decodeMessages(body['messages']);
  const request: ConversationRequest = {
    model,
    system,
    messages,
    tools: [],
    providerTools: [],
    stopSequences: readStops(body['stop']),
    stream: optional(body['stream'], 'stream', readBoolean) ?? false,
    extensions: extensions === undefined ? {} : { [DIALECT]: extensions },
  };
  decodeChoices(body['n'], request);
  decodeTools(body, request);
  decodeLimits(body, request);
  decodeThinking(body, request);
  decodeIdentity(body, request);
  const format = optional(body['response_format'], 'response_format', readFormat);
  if (format !== undefined) request.format = format;
  return request;
}

function decodeChoices(value: unknown, request: ConversationRequest): void {
  const n = optional(value, 'n', (given, path) => readInteger(given, path, 1));
  if (n === undefined || n === 1) return;
  request.verbatim = {
    param: 'n',
    message: `n: ${n} answers at once are not supported by this model. Send ${n} requests.`,
  };
}

function readStops(value: unknown): string[] {
  if (value === undefined || value === null) return [];
  if (typeof value === 'string') return value === '' ? [] : [value];
  if (!Array.isArray(value)) return fail('stop', 'a string or an array of strings', value);
  const stops = value.map((each, index) => readString(each, `stop.${index}`));
  return stops.filter((each) => each !== '');
}

function decodeLimits(body: JsonObject, request: ConversationRequest): void {
  for (const field of ['max_completion_tokens', 'max_tokens']) {
    const maxTokens = optional(body[field], field, (value, path) => readInteger(value, path, 1));
    if (maxTokens !== undefined) request.maxTokens ??= maxTokens;
  }
  const temperature = optional(body['temperature'], 'temperature', (value, path) =>
    readNumber(value, path, 0, 2),
  );
  if (temperature !== undefined) request.temperature = temperature;
  const topP = optional(body['top_p'], 'top_p', (value, path) => readNumber(value, path, 0, 1));
  if (topP !== undefined) request.topP = topP;
  const topK = body['top_k'];
  if (typeof topK === 'number') request.topK = topK;
  const parallel = optional(body['parallel_tool_calls'], 'parallel_tool_calls', readBoolean);
  if (parallel !== undefined) request.parallelToolCalls = parallel;
}

const NEUTRAL_REASONING: ReadonlySet<string> = new Set(['effort', 'enabled', 'max_tokens']);

const readEffort = (value: unknown, path: string): Effort => readOneOf(value, path, EFFORT_ORDER);

/** `reasoning_effort`, and what DeepSeek, Qwen, OpenRouter and their like have in its place. */
function decodeThinking(body: JsonObject, request: ConversationRequest): void {
  const effort = optional(body['reasoning_effort'], 'reasoning_effort', readEffort);
  if (effort !== undefined) request.effort = effort;
  const { thinking } = body;
  if (isObject(thinking)) request.thinking = thinkingOf(thinking['type'], thinking['budget_tokens']);
  if (typeof body['enable_thinking'] === 'boolean') {
    request.thinking ??= { type: body['enable_thinking'] ? 'adaptive' : 'disabled' };
  }
  const { reasoning } = body;
  if (!isObject(reasoning)) return;
  const rest = extraFields(reasoning, NEUTRAL_REASONING);
  if (rest !== undefined) {
    request.extensions[DIALECT] = { ...request.extensions[DIALECT], reasoning: rest };
  }
  const asked = optional(reasoning['effort'], 'reasoning.effort', readEffort);
  if (asked !== undefined) request.effort ??= asked;
  if (reasoning['enabled'] === false) request.thinking ??= { type: 'disabled' };
  else if (reasoning['max_tokens'] !== undefined || reasoning['enabled'] === true) {
    request.thinking ??= thinkingOf('enabled', reasoning['max_tokens']);
  }
}

function thinkingOf(type: unknown, budget: unknown): Thinking {
  if (type === 'disabled') return { type };
  if (type === 'enabled' && typeof budget === 'number' && budget > 0) return { type, budgetTokens: budget };
  return { type: 'adaptive' };
}

function decodeIdentity(body: JsonObject, request: ConversationRequest): void {
  const userId = optional(body['user'], 'user', readString);
  if (userId !== undefined && userId !== '') request.userId = userId;
  const serviceTier = optional(body['service_tier'], 'service_tier', readString);
  if (serviceTier !== undefined) request.serviceTier = serviceTier;
  const cacheKey = optional(body['prompt_cache_key'], 'prompt_cache_key', readString);
  if (cacheKey !== undefined && cacheKey !== '') request.cacheKey = cacheKey;
}

function readFormat(value: unknown, path: string): OutputFormat | undefined {
  const format = readObject(value, path);
  const type = readOneOf(format['type'], `${path}.type`, ['text', 'json_object', 'json_schema']);
  if (type === 'text') return undefined;
  if (type === 'json_object') return { type };
  const given = readObject(format['json_schema'], `${path}.json_schema`);
  const out: OutputFormat = {
    type,
    schema: optional(given['schema'], `${path}.json_schema.schema`, readObject) ?? {},
  };
  const name = optional(given['name'], `${path}.json_schema.name`, readNonEmpty);
  if (name !== undefined) out.name = name;
  const description = optional(given['description'], `${path}.json_schema.description`, readString);
  if (description !== undefined) out.description = description;
  const strict = optional(given['strict'], `${path}.json_schema.strict`, readBoolean);
  if (strict !== undefined) out.strict = strict;
  return out;
}
