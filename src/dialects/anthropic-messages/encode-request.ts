/** A neutral request as the body of `POST /v1/messages`. */
import type { ConversationRequest, JsonObject } from '../../core/conversation.js';
import { isObject } from '../../core/is-object.js';
import { Memo } from '../../core/shared-values.js';
import type { EncodedRequest, Target } from '../shared/dialect.js';
import { endUser } from '../shared/end-user-field.js';
import { loseForeign } from '../shared/foreign-extensions.js';
import { ToolNames } from '../shared/tool-names.js';
import type { EncodeContext } from './encode-content.js';
import { encodeHistory, type WireMessage } from './encode-history.js';
import { encodeSampling, encodeThinking } from './encode-thinking.js';
import { encodeToolChoice, encodeTools } from './encode-tools.js';
import {
  CACHE_BREAKPOINTS,
  CACHE_CONTROL,
  DIALECT,
  TOOL_NAME_LIMITS,
  USER_ID_LIMIT,
  VERSION,
} from './wire.js';

/** Blocks that may carry one. */
const CACHEABLE: ReadonlySet<unknown> = new Set(['text', 'image', 'document', 'tool_use', 'tool_result']);

/**
 * After the tools, after the system prompt, and after the last two user messages: the last is
 * what the next request reads, the one before it is what this request reads.
 */
function placeBreakpoints(tools: JsonObject[], system: JsonObject[], messages: WireMessage[]): void {
  // A provider's own tool is the client's object and is left as it is.
  mark(tools, (tool) => 'input_schema' in tool && tool['defer_loading'] !== true);
  mark(system, () => true);
  let left = CACHE_BREAKPOINTS - 2;
  for (let index = messages.length - 1; index >= 0 && left > 0; index -= 1) {
    const message = messages[index];
    if (message?.role !== 'user') continue;
    messages[index] = markedMessages.get(message) ?? markedMessages.keep(message, withMark(message));
    left -= 1;
  }
}

const markedMessages = new Memo<WireMessage, WireMessage>();
const marked = new Memo<JsonObject, JsonObject>();

function withMark(message: WireMessage): WireMessage {
  const content = [...message.content];
  mark(content, ({ type }) => CACHEABLE.has(type));
  return { ...message, content };
}

/** The last that can carry one, as a copy: the one in the list may be shared. */
function mark(list: JsonObject[], canCarry: (each: JsonObject) => boolean): void {
  const at = list.findLastIndex(canCarry);
  const found = list[at];
  if (found === undefined) return;
  list[at] = marked.get(found) ?? marked.keep(found, { ...found, cache_control: CACHE_CONTROL });
}

/** The client has set its own, in a dialect that lets them through. */
function hasBreakpoint(
  tools: readonly JsonObject[],
  system: readonly JsonObject[],
  messages: readonly WireMessage[],
): boolean {
  const marked = (each: JsonObject): boolean => each['cache_control'] !== undefined;
  return tools.some(marked) || system.some(marked) || messages.some(({ content }) => content.some(marked));
}

export function encodeRequest(request: ConversationRequest, target: Target): EncodedRequest {
  const { quirks, losses } = target;
  const kept = request.extensions[DIALECT];
  const names = new ToolNames(TOOL_NAME_LIMITS);
  const context: EncodeContext = { quirks, losses, names, native: kept !== undefined };

  const tools = encodeTools(request, context);
  const { system, messages } = encodeHistory(request.system, request.messages, context);
  if (quirks.cacheControl && !context.native && !hasBreakpoint(tools, system, messages)) {
    placeBreakpoints(tools, system, messages);
  }

  const body = {
    model: target.model,
    max_tokens: maxTokensOf(request, quirks.defaultMaxTokens),
    ...(system.length > 0 ? { system } : {}),
    messages,
    ...(tools.length > 0 ? { tools } : {}),
    stream: request.stream,
  } satisfies JsonObject;
  const toolChoice = encodeToolChoice(request, context);
  if (toolChoice !== undefined && tools.length > 0) Object.assign(body, { tool_choice: toolChoice });
  encodeThinking(request, body, context);
  encodeSampling(request, body, context);
  encodeFormat(request, body, context);
  encodeStops(request, body, context);
  encodeMetadata(request, body, context);
  encodeServiceTier(request, body, context);
  if (request.inferenceGeo !== undefined) Object.assign(body, { inference_geo: request.inferenceGeo });
  restoreFields(body, kept, context);
  loseForeign('', request.extensions, DIALECT, losses);
  return { path: '/v1/messages', headers: headersOf(kept), body, names };
}

/** Room kept for the answer after a budget that is larger than the default. */
const ANSWER_ROOM = 4096;

/** Required here. A budget for thinking is part of it and must be smaller. */
function maxTokensOf({ maxTokens, thinking }: ConversationRequest, standard: number): number {
  if (maxTokens !== undefined) return maxTokens;
  return thinking?.type === 'enabled' ? Math.max(standard, thinking.budgetTokens + ANSWER_ROOM) : standard;
}

function encodeFormat(
  request: ConversationRequest,
  body: JsonObject,
  { quirks, losses }: EncodeContext,
): void {
  const { format } = request;
  if (format === undefined) return;
  if (format.type === 'json_schema' && quirks.structuredOutput === 'json_schema') {
    mergeInto(body, 'output_config', { format: { type: 'json_schema', schema: format.schema } });
  } else {
    losses.add('format', `the upstream cannot be held to ${format.type}`);
  }
}

function encodeStops(
  request: ConversationRequest,
  body: JsonObject,
  { quirks, losses }: EncodeContext,
): void {
  // White space alone is a 400.
  const stops = request.stopSequences.filter((each) => /\S/.test(each));
  if (stops.length < request.stopSequences.length) {
    losses.add('stopSequences', 'the wire takes no stop sequence of white space');
  }
  if (stops.length === 0) return;
  if (quirks.stop) body['stop_sequences'] = stops;
  else losses.add('stopSequences', 'the upstream takes no stop sequences');
}

function encodeMetadata(
  request: ConversationRequest,
  body: JsonObject,
  { quirks, losses }: EncodeContext,
): void {
  const userId = endUser(request, losses);
  if (userId === undefined) return;
  if (quirks.user === false) losses.add('userId', 'the upstream takes no user id');
  else if (userId.length > USER_ID_LIMIT) losses.add('userId', `longer than ${USER_ID_LIMIT} characters`);
  else body['metadata'] = { user_id: userId };
}

/** Tiers of other wires in this one's words. */
const SERVICE_TIERS: Readonly<Record<string, string>> = {
  auto: 'auto',
  default: 'standard_only',
  priority: 'auto',
  standard_only: 'standard_only',
};

function encodeServiceTier(request: ConversationRequest, body: JsonObject, context: EncodeContext): void {
  const { serviceTier } = request;
  if (serviceTier === undefined) return;
  const tier = context.native ? serviceTier : SERVICE_TIERS[serviceTier];
  if (tier === undefined) context.losses.add('serviceTier', `this wire has no tier "${serviceTier}"`);
  else body['service_tier'] = tier;
}

/** What the client of this wire sent and the neutral request has no field for. */
function restoreFields(body: JsonObject, kept: JsonObject | undefined, { quirks }: EncodeContext): void {
  for (const key in kept) {
    if (key === 'thinking' || key === 'betas') continue;
    if (key === 'cache_control' && !quirks.cacheControl) continue;
    const value = kept[key];
    if ((key === 'output_config' || key === 'metadata') && isObject(value)) mergeInto(body, key, value);
    else body[key] = value;
  }
}

function mergeInto(body: JsonObject, key: string, fields: JsonObject): void {
  const present = body[key];
  body[key] = isObject(present) ? { ...present, ...fields } : fields;
}

/** `betas` is how the SDK writes the header; in the body it would be refused. */
function headersOf(kept: JsonObject | undefined): Record<string, string> {
  const betas = kept?.['betas'];
  const named = Array.isArray(betas) ? betas.filter((each) => typeof each === 'string') : [];
  return { 'anthropic-version': VERSION, ...(named.length > 0 ? { 'anthropic-beta': named.join(',') } : {}) };
}
