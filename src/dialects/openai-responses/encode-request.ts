/** The body of `POST /responses`, as an upstream with these quirks takes it. */
import type { ConversationRequest, JsonObject, OutputFormat } from '../../core/conversation.js';
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
import { encodeInput } from './encode-input.js';
import { encodeTools } from './encode-tools.js';
import { ownSearchOf } from './own-search.js';
import { DIALECT, ENCRYPTED_REASONING, FORMAT_NAME, MIN_OUTPUT_TOKENS, nameLimits } from './wire.js';

const PATH = '/responses';

/** Fields that Chat Completions has with the same meaning. */
const SAME_IN_CHAT: ReadonlySet<string> = new Set([
  'metadata',
  'moderation',
  'prompt_cache_options',
  'prompt_cache_retention',
  'safety_identifier',
]);

/** Of the client's own, what is decided here: an answer is kept by the gateway, not by the upstream. */
const DECIDED: ReadonlySet<string> = new Set(['include', 'store', 'reasoning', 'text', 'stream_options']);

export function encodeRequest(given: ConversationRequest, target: Target): EncodedRequest {
  const request = withOfferedTools(given);
  const { quirks, losses } = target;
  const names = new ToolNames(nameLimits(quirks.toolNameLimit));
  const held = request.continues !== undefined;
  const search = quirks.toolSearch && !held ? ownSearchOf(request) : undefined;
  const context: EncodeContext = { quirks, losses, names, held, search };
  const body: JsonObject = { model: target.model };
  const addition = encodeFormat(request.format, context, body);
  const additional = encodeTools(request, context, body);
  const { instructions, input } = encodeInput(request, context, addition);
  if (instructions !== undefined) body['instructions'] = instructions;
  body['input'] = additional.length === 0 ? input : [...additional, ...input];
  encodeLimits(request, context, body);
  encodeReasoningConfig(request, context, body);
  encodeIdentity(request, context, body, { hasSafetyIdentifier: true });
  encodeStorage(request, context, body);
  encodeExtensions(request, context, body);
  if (request.stream) body['stream'] = true;
  return { path: PATH, headers: {}, body, names };
}

/** Sets `text`. Returns what the instructions must say where the upstream cannot be bound to the format. */
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
    body['text'] = { format: { type: 'json_object' } };
    return undefined;
  }
  if (structuredOutput === 'json_schema') {
    body['text'] = { format: encodeJsonSchema(format, quirks.schema, losses) };
    return undefined;
  }
  if (structuredOutput === 'json_object') {
    losses.add('format', 'the upstream is only told of the schema');
    body['text'] = { format: { type: 'json_object' } };
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
  const out: JsonObject = {
    type: 'json_schema',
    name: fitName(format.name ?? FORMAT_NAME, nameLimits(64)),
  };
  if (format.description !== undefined) out['description'] = format.description;
  // On the other wires a schema is always binding; here it is so only if it says `strict`.
  const strict = format.strict === false ? undefined : strictSchema(schema);
  out['schema'] = strict ?? schema;
  out['strict'] = strict !== undefined;
  if (format.strict === true && strict === undefined) {
    losses.add('format', 'the schema is not strict: an object is open or a property optional');
  }
  return out;
}

function encodeLimits(
  request: ConversationRequest,
  { quirks, losses }: EncodeContext,
  body: JsonObject,
): void {
  const { maxTokens, temperature, topP, topK } = request;
  if (maxTokens !== undefined) {
    if (maxTokens < MIN_OUTPUT_TOKENS) losses.add('maxTokens', `${maxTokens} became ${MIN_OUTPUT_TOKENS}`);
    body['max_output_tokens'] = Math.max(maxTokens, MIN_OUTPUT_TOKENS);
  }
  if (quirks.sampling) {
    if (temperature !== undefined) body['temperature'] = temperature;
    if (topP !== undefined) body['top_p'] = topP;
  } else {
    if (temperature !== undefined && temperature !== 1) losses.add('temperature', 'the upstream takes none');
    if (topP !== undefined && topP !== 1) losses.add('top_p', 'the upstream takes none');
  }
  if (topK !== undefined) losses.add('top_k', 'this wire has no such field');
  if (request.stopSequences.length > 0) losses.add('stop', 'this wire has no stop sequences');
}

/** `reasoning`, and that what was thought comes back encrypted so that it can be sent again. */
function encodeReasoningConfig(
  request: ConversationRequest,
  { quirks, losses }: EncodeContext,
  body: JsonObject,
): void {
  const own = request.extensions[DIALECT];
  const reasoning: JsonObject = isObject(own?.['reasoning']) ? { ...own['reasoning'] } : {};
  const summary = own?.['$summary'];
  if (summary !== undefined) {
    if (quirks.reasoningSummary) reasoning['summary'] = summary;
    else losses.add('reasoning.summary', 'the upstream shows none of its thinking');
  }
  const wanted = wantedEffort(request);
  if (wanted !== undefined && quirks.effortField === 'none') {
    if (wanted !== 'none') losses.add('effort', 'the upstream cannot be told how hard to think');
  } else if (wanted !== undefined) {
    const effort = clampEffort(wanted, quirks.efforts);
    if (effort === undefined) {
      if (wanted !== 'none') losses.add('effort', 'the model does not think');
    } else {
      if (effort !== wanted) losses.add('effort', `the model does not know ${wanted}; sent ${effort}`);
      reasoning['effort'] = effort;
      // Without it the thinking of this wire stays hidden.
      if (wanted !== 'none' && own === undefined && quirks.reasoningSummary) reasoning['summary'] = 'auto';
    }
  }
  if (Object.keys(reasoning).length > 0) body['reasoning'] = reasoning;
}

/**
 * The gateway keeps what is to be kept, so the upstream need not; unless the conversation is the
 * upstream's already, and the next answer has to be found there too.
 */
function encodeStorage(
  request: ConversationRequest,
  { held, quirks, losses }: EncodeContext,
  body: JsonObject,
): void {
  const own = request.extensions[DIALECT];
  const include = new Set(Array.isArray(own?.['include']) ? own['include'] : []);
  if (held) {
    if (own?.['store'] !== undefined) body['store'] = own['store'];
  } else {
    // Chat Completions keeps an answer only where it is asked to; here the gateway keeps what is kept.
    body['store'] = request.extensions['openai-chat']?.['store'] === true;
    const { reasoning } = body;
    if (isObject(reasoning) && reasoning['effort'] !== 'none') include.add(ENCRYPTED_REASONING);
  }
  if (!quirks.encryptedReasoning && include.delete(ENCRYPTED_REASONING)) {
    losses.add('include', 'the upstream does not give its thinking back encrypted');
  }
  if (include.size > 0) body['include'] = [...include];
}

function encodeExtensions(request: ConversationRequest, { losses }: EncodeContext, body: JsonObject): void {
  const own = request.extensions[DIALECT];
  const { verbosity: chatVerbosity, store: _store, ...chat } = request.extensions['openai-chat'] ?? {};
  const text = isObject(own?.['text']) ? own['text'] : chatVerbosity && { verbosity: chatVerbosity };
  if (isObject(text)) body['text'] = { ...text, ...(isObject(body['text']) ? body['text'] : {}) };
  for (const key in own) {
    if (!key.startsWith('$') && !DECIDED.has(key)) body[key] ??= own[key];
  }
  const rest: JsonObject = {};
  for (const key in chat) {
    if (SAME_IN_CHAT.has(key)) body[key] ??= chat[key];
    else rest[key] = chat[key];
  }
  loseForeign('', { ...request.extensions, 'openai-chat': rest }, DIALECT, losses);
}
