/** The body of `POST /chat/completions`, as an upstream with these quirks takes it. */
import type { ConversationRequest, Effort, JsonObject, OutputFormat } from '../../core/conversation.js';
import { isObject } from '../../core/is-object.js';
import { withOfferedTools } from '../../core/tool-changes.js';
import type { EncodedRequest, Target } from '../shared/dialect.js';
import { clampEffort, wantedEffort } from '../shared/effort.js';
import { loseForeign } from '../shared/foreign-extensions.js';
import { normaliseOutputSchema } from '../shared/json-schema.js';
import { encodeIdentity } from '../shared/openai-identity.js';
import { strictSchema } from '../shared/strict-schema.js';
import { fitName, ToolNames } from '../shared/tool-names.js';
import type { EncodeContext } from './encode-content.js';
import { encodeMessages } from './encode-messages.js';
import { encodeTools } from './encode-tools.js';
import { DIALECT, FORMAT_NAME, nameLimits } from './wire.js';

const PATH = '/chat/completions';

/** Reasoning models refuse these together with `temperature`. */
const SAMPLING_FIELDS: ReadonlySet<string> = new Set([
  'frequency_penalty',
  'logit_bias',
  'logprobs',
  'presence_penalty',
  'top_logprobs',
]);

export function encodeRequest(given: ConversationRequest, target: Target): EncodedRequest {
  const request = withOfferedTools(given);
  const { quirks, losses } = target;
  const names = new ToolNames(nameLimits(quirks.toolNameLimit));
  names.textCalls = quirks.textToolCalls;
  const context: EncodeContext = { quirks, losses, names };
  const body: JsonObject = { model: target.model, messages: [] };
  const addition = encodeFormat(request.format, context, body);
  encodeTools(request, context, body);
  body['messages'] = encodeMessages(request, context, addition);
  encodeLimits(request, context, body);
  encodeSampling(request, context, body);
  encodeEffort(request, context, body);
  const hasSafetyIdentifier = request.extensions[DIALECT]?.['safety_identifier'] !== undefined;
  encodeIdentity(request, context, body, { hasSafetyIdentifier });
  encodeExtensions(request, context, body);
  encodeStream(request, context, body);
  return { path: PATH, headers: {}, body, names };
}

/** Returns what the system prompt must say where the upstream cannot be bound to the format. */
function encodeFormat(
  format: OutputFormat | undefined,
  { quirks, losses }: EncodeContext,
  body: JsonObject,
): string | undefined {
  if (format === undefined) return undefined;
  const { structuredOutput } = quirks;
  if (structuredOutput === 'none') losses.add('format', 'the upstream is only told of the format');
  if (format.type === 'json_object') {
    if (structuredOutput === 'none') return 'Answer with one JSON object and nothing else.';
    body['response_format'] = { type: 'json_object' };
    return undefined;
  }
  if (structuredOutput === 'json_schema') {
    body['response_format'] = {
      type: 'json_schema',
      json_schema: encodeJsonSchema(format, quirks.schema, losses),
    };
    return undefined;
  }
  if (structuredOutput === 'json_object') {
    losses.add('format', 'the upstream is only told of the schema');
    body['response_format'] = { type: 'json_object' };
  }
  return `Answer with one JSON value and nothing else. It must match this JSON Schema:\n${JSON.stringify(format.schema)}`;
}

function encodeJsonSchema(
  format: Extract<OutputFormat, { type: 'json_schema' }>,
  profile: EncodeContext['quirks']['schema'],
  losses: EncodeContext['losses'],
): JsonObject {
  const { schema, removed } = normaliseOutputSchema(format.schema, profile);
  if (removed.length > 0) losses.add('format.schema', `the upstream refuses ${removed.join(', ')}`);
  const out: JsonObject = { name: fitName(format.name ?? FORMAT_NAME, nameLimits(64)) };
  if (format.description !== undefined) out['description'] = format.description;
  // On the other wires a schema is always binding; here it is so only if it says `strict`.
  const strict = format.strict === false ? undefined : strictSchema(schema);
  out['schema'] = strict ?? schema;
  if (strict !== undefined) out['strict'] = true;
  else if (format.strict !== undefined) {
    out['strict'] = false;
    if (format.strict)
      losses.add('format', 'the schema is not strict: an object is open or a property optional');
  }
  return out;
}

function encodeLimits(
  request: ConversationRequest,
  { quirks, losses }: EncodeContext,
  body: JsonObject,
): void {
  if (request.maxTokens !== undefined) body[quirks.maxTokensField] = request.maxTokens;
  const stops = request.stopSequences;
  if (stops.length === 0) return;
  if (!quirks.stop) {
    losses.add('stop', 'the upstream takes no stop sequences');
    return;
  }
  if (stops.length > quirks.maxStops) {
    losses.add('stop', `the upstream takes ${quirks.maxStops} stop sequences, ${stops.length} were given`);
  }
  body['stop'] = stops.slice(0, quirks.maxStops);
}

function encodeSampling(
  request: ConversationRequest,
  { quirks, losses }: EncodeContext,
  body: JsonObject,
): void {
  const { temperature, topP, topK } = request;
  if (quirks.sampling) {
    if (temperature !== undefined) body['temperature'] = temperature;
    if (topP !== undefined) body['top_p'] = topP;
  } else {
    if (temperature !== undefined && temperature !== 1) losses.add('temperature', 'the upstream takes none');
    if (topP !== undefined && topP !== 1) losses.add('top_p', 'the upstream takes none');
  }
  if (topK !== undefined && request.extensions[DIALECT]?.['top_k'] === undefined) {
    losses.add('top_k', 'this wire has no such field');
  }
}

function encodeEffort(request: ConversationRequest, context: EncodeContext, body: JsonObject): void {
  const { quirks, losses } = context;
  const wanted = wantedEffort(request);
  const { effortField } = quirks;
  if (body['tools'] !== undefined && !quirks.effortWithTools) {
    if (wanted !== undefined && wanted !== 'none') {
      losses.add('effort', 'the upstream does not think while it has tools on this wire');
    }
    // Silence means the model's own default here, which is refused as well.
    if (quirks.efforts.includes('none')) writeEffort('none', effortField, body);
    return;
  }
  if (wanted === undefined) return;
  if (effortField === 'none') {
    if (wanted !== 'none') losses.add('effort', 'the upstream cannot be told how hard to think');
    return;
  }
  if (effortField === 'enable_thinking' || effortField === 'thinking') {
    if (request.effort !== undefined && wanted !== 'none') {
      losses.add('effort', 'the upstream can only be told whether to think');
    }
    const forced = request.toolChoice?.type === 'any' || request.toolChoice?.type === 'tool';
    if (forced && wanted !== 'none' && body['tool_choice'] !== undefined && !quirks.thinkingWithForcedTool) {
      losses.add('thinking', 'the upstream refuses a forced tool together with thinking');
      writeEffort('none', effortField, body);
    } else writeEffort(wanted, effortField, body);
    return;
  }
  const effort = clampEffort(wanted, quirks.efforts);
  if (effort === undefined) {
    if (wanted !== 'none') losses.add('effort', 'the model does not think');
    return;
  }
  if (effort !== wanted) losses.add('effort', `the model does not know ${wanted}; sent ${effort}`);
  writeEffort(effort, effortField, body);
}

function writeEffort(effort: Effort, field: EncodeContext['quirks']['effortField'], body: JsonObject): void {
  switch (field) {
    case 'reasoning_effort':
      body['reasoning_effort'] = effort;
      return;
    case 'reasoning.effort':
      body['reasoning'] = { effort };
      return;
    case 'enable_thinking':
      body['enable_thinking'] = effort !== 'none';
      return;
    case 'thinking':
      body['thinking'] = { type: effort === 'none' ? 'disabled' : 'enabled' };
  }
}

function encodeExtensions(
  request: ConversationRequest,
  { quirks, losses }: EncodeContext,
  body: JsonObject,
): void {
  const own = request.extensions[DIALECT];
  for (const key in own) {
    if (key.startsWith('$')) continue;
    if (!quirks.sampling && SAMPLING_FIELDS.has(key)) losses.add(key, 'the upstream takes none');
    else if (key === 'reasoning' && isObject(own[key])) {
      if (isObject(body['reasoning'])) body['reasoning'] = { ...own[key], ...body['reasoning'] };
      else losses.add(key, 'the upstream does not take it');
    } else body[key] ??= own[key];
  }
  loseForeign('', request.extensions, DIALECT, losses);
}

function encodeStream(request: ConversationRequest, { quirks }: EncodeContext, body: JsonObject): void {
  delete body['stream_options'];
  if (!request.stream) return;
  body['stream'] = true;
  if (quirks.streamUsage) {
    const asked = request.extensions[DIALECT]?.['stream_options'];
    body['stream_options'] = { ...(isObject(asked) ? asked : {}), include_usage: true };
  }
}
