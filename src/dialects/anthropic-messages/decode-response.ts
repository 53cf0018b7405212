/** A whole answer of an upstream as the events it would have streamed. Never throws. */
import type { JsonObject, OpaqueBlock } from '../../core/conversation.js';
import { GatewayError } from '../../core/errors.js';
import type { ModelEvent, ToolExtensions } from '../../core/events.js';
import { isObject } from '../../core/is-object.js';
import type { ToolNames } from '../shared/tool-names.js';
import { extraFields } from './decode-content.js';
import { decodeUsage } from './decode-usage.js';
import { decodeErrorBody, errorObject } from './errors.js';
import { DIALECT, stopReasonFrom, TOOL_USE_FIELDS } from './wire.js';

/** Where the words came from: the neutral events have no place for it. */
export const CITATIONS_LOST: ModelEvent = {
  type: 'loss',
  path: 'content.citations',
  reason: 'only the byte lane carries citations',
};

export function decodeResponse(body: unknown, names: ToolNames): ModelEvent[] {
  if (!isObject(body) || body['type'] === 'error' || !Array.isArray(body['content'])) {
    return [{ type: 'error', error: notAnAnswer(body) }];
  }
  const events: ModelEvent[] = [decodeStart(body)];
  for (const [index, block] of body['content'].entries()) {
    if (isObject(block)) decodeBlock(block, index, names, events);
  }
  events.push(...ownFields(body), decodeStop(body));
  return events;
}

/** What only this wire says of an answer. */
export function ownFields(holder: JsonObject): ModelEvent[] {
  const told = Object.fromEntries(
    ['context_management', 'diagnostics'].flatMap((key) =>
      isObject(holder[key]) ? [[key, holder[key]]] : [],
    ),
  );
  return Object.keys(told).length === 0 ? [] : [{ type: 'extensions', extensions: { [DIALECT]: told } }];
}

function notAnAnswer(body: unknown): GatewayError {
  if (errorObject(body) !== undefined) return decodeErrorBody(body);
  return new GatewayError(
    'upstream_failed',
    'The upstream answered with something that is not a message. Check that its base_url speaks the Anthropic Messages API.',
  );
}

/** The head of `message`: id, model and the usage so far. */
export function decodeStart(message: JsonObject): ModelEvent {
  const { id, model } = message;
  const usage = decodeUsage(message['usage']);
  return {
    type: 'start',
    ...(typeof id === 'string' ? { id } : {}),
    ...(typeof model === 'string' ? { model } : {}),
    ...(usage === undefined ? {} : { usage }),
  };
}

export function decodeStop(holder: JsonObject): ModelEvent {
  const stopSequence = holder['stop_sequence'];
  return {
    type: 'stop',
    reason: stopReasonFrom(holder['stop_reason']),
    ...(typeof stopSequence === 'string' ? { stopSequence } : {}),
  };
}

/** The head of a call; `key` is any name for it within the answer. */
export function decodeToolStart(block: JsonObject, key: number, names: ToolNames): ModelEvent {
  const { id, name } = block;
  const extra = extraFields(block, TOOL_USE_FIELDS);
  const extensions: ToolExtensions | undefined = extra && { [DIALECT]: extra };
  return {
    type: 'tool',
    key,
    ...(typeof id === 'string' ? { id } : {}),
    ...(typeof name === 'string' ? { name: names.decode(name) } : {}),
    ...(extensions === undefined ? {} : { extensions }),
  };
}

export function opaque(value: JsonObject): OpaqueBlock {
  return { type: 'opaque', dialect: DIALECT, kind: String(value['type']), value };
}

function decodeBlock(block: JsonObject, key: number, names: ToolNames, out: ModelEvent[]): void {
  switch (block['type']) {
    case 'text':
      if (typeof block['text'] === 'string') out.push({ type: 'text', text: block['text'] });
      if (Array.isArray(block['citations']) && block['citations'].length > 0) out.push(CITATIONS_LOST);
      out.push({ type: 'break' });
      return;
    case 'thinking':
      decodeThinking(block, out);
      return;
    case 'redacted_thinking':
      if (typeof block['data'] !== 'string' || block['data'] === '') return;
      out.push({ type: 'block', block: { type: 'redacted_thinking', data: block['data'] } });
      return;
    case 'tool_use':
      out.push(decodeToolStart(block, key, names));
      out.push({ type: 'tool-input', key, json: inputText(block['input']) });
      out.push({ type: 'tool-end', key });
      return;
    default:
      if (typeof block['type'] === 'string' && block['type'] !== '')
        out.push({ type: 'block', block: opaque(block) });
  }
}

function decodeThinking({ thinking, signature }: JsonObject, out: ModelEvent[]): void {
  if (typeof thinking === 'string') out.push({ type: 'thinking', text: thinking });
  if (typeof signature === 'string' && signature !== '') out.push({ type: 'signature', signature });
  out.push({ type: 'break' });
}

/** Some servers give the arguments as the text that they are on other wires. */
export function inputText(input: unknown): string {
  if (typeof input === 'string') return input;
  return JSON.stringify(input ?? {});
}
