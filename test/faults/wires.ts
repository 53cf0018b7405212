/** Every dialect from both sides: what an upstream of it sends, and what a client of it accepts. */
import type { ConversationRequest, DialectName, JsonObject } from '../../src/core/conversation.js';
import { DIALECT_PATHS, DIALECTS } from '../../src/dialects/all.js';
import type { Dialect } from '../../src/dialects/shared/dialect.js';
import type { Scripted } from '../support/scripted.js';
import {
  type ParsedSse,
  parseSseText,
  validateAnthropicStream,
  validateChatStream,
  validateResponsesStream,
} from '../support/sse.js';
import { isRecord, type JsonRecord } from '../support/violation.js';
import {
  anthropicEvents,
  anthropicMessage,
  chatChunks,
  chatCompletion,
  responsesEvents,
  responsesObject,
  type Wire as WireObject,
} from '../support/wire.js';
import { TOOLS } from './random-answer.js';
import type { Frame } from './stream-faults.js';

/** What a client holds in the end, in the words of no dialect. */
export interface Said {
  text: string;
  thinking: string;
  calls: { id: string; name: string; input: unknown }[];
  stop: unknown;
  failed: boolean;
}

interface WireFunctions {
  /** The events of an upstream, its last word included. */
  frames(scripted: Scripted, interleave: boolean): Frame[];
  whole(scripted: Scripted): WireObject;
  /** Bodies that ask for different forms of an answer, without `stream`. */
  bodies: readonly [JsonObject, ...JsonObject[]];
  /** Throws StreamViolation where a strict client would. */
  accept(text: string): Said;
  /** The same of a whole answer. */
  read(body: unknown): Said;
  /** Whether a body is an error in the shape of this dialect. */
  isError(body: unknown): boolean;
}

export interface Wire extends WireFunctions {
  name: DialectName;
  dialect: Dialect;
  path: string;
  /** `bodies`, decoded, each with `stream`. */
  requests: readonly [ConversationRequest, ...ConversationRequest[]];
}

const SCHEMA = { type: 'object', properties: { city: { type: 'string' } } };
const QUESTION = 'What is the weather in Paris?';
const USER = { role: 'user', content: QUESTION };

function eventsOf(text: string): ParsedSse['events'] {
  const { events, rest } = parseSseText(text);
  if (rest !== '') throw new Error(`The stream ends inside an event: ${JSON.stringify(rest)}`);
  return events;
}

const record = (value: unknown): JsonRecord => (isRecord(value) ? value : {});
const list = (value: unknown): JsonRecord[] => (Array.isArray(value) ? value.filter(isRecord) : []);
const joined = (items: readonly JsonRecord[], field: string): string =>
  items.map((item) => (typeof item[field] === 'string' ? item[field] : '')).join('');
const isFilled = (value: unknown): boolean => typeof value === 'string' && value !== '';

/** Arguments that the answer's own limit cut off are compared by nobody. */
function parse(text: unknown): unknown {
  try {
    return typeof text === 'string' && text !== '' ? JSON.parse(text) : {};
  } catch {
    return undefined;
  }
}

function blocksSaid(content: unknown, stop: unknown, failed: boolean): Said {
  const blocks = list(content);
  const calls = blocks.filter(({ type }) => type === 'tool_use');
  return {
    text: joined(blocks, 'text'),
    thinking: joined(blocks, 'thinking'),
    calls: calls.map(({ id, name, input }) => ({
      id: String(id),
      name: String(name),
      input: isRecord(input) ? input : undefined,
    })),
    stop,
    failed,
  };
}

const ANTHROPIC_BODY = {
  model: 'm',
  max_tokens: 100,
  messages: [USER],
  tools: TOOLS.map((name) => ({ name, input_schema: SCHEMA })),
};

const anthropic: WireFunctions = {
  frames: (scripted) => anthropicEvents(scripted),
  whole: anthropicMessage,
  bodies: [
    ANTHROPIC_BODY,
    { ...ANTHROPIC_BODY, tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
    { ...ANTHROPIC_BODY, thinking: { type: 'enabled', budget_tokens: 1024 } },
  ],
  accept(text) {
    const { content, stopReason, error } = validateAnthropicStream(eventsOf(text), { error: 'allowed' });
    return blocksSaid(content, stopReason, error !== undefined);
  },
  read(body) {
    const { content, stop_reason: stop } = record(body);
    return blocksSaid(content, stop, false);
  },
  isError(body) {
    const { type, error, request_id: id } = record(body);
    return (
      type === 'error' &&
      isFilled(record(error)['type']) &&
      isFilled(record(error)['message']) &&
      isFilled(id)
    );
  },
};

function isOpenaiError(body: unknown): boolean {
  const { error } = record(body);
  const { type, message, param, code } = record(error);
  return isFilled(type) && isFilled(message) && param !== undefined && code !== undefined;
}

const CHAT_BODY = {
  model: 'm',
  messages: [USER],
  tools: TOOLS.map((name) => ({ type: 'function', function: { name, parameters: SCHEMA } })),
};

const chat: WireFunctions = {
  frames: (scripted, interleave) => [
    ...chatChunks(scripted, { usage: true, interleave }),
    'data: [DONE]\n\n',
  ],
  whole: chatCompletion,
  bodies: [
    CHAT_BODY,
    { ...CHAT_BODY, stream_options: { include_usage: true } },
    { ...CHAT_BODY, parallel_tool_calls: false },
  ],
  accept(text) {
    const said = validateChatStream(eventsOf(text), { error: 'allowed' });
    return {
      text: said.content,
      thinking: said.reasoning,
      calls: said.calls.map(({ id, name, arguments: json }) => ({ id, name, input: parse(json) })),
      stop: said.finishReason,
      failed: said.error !== undefined,
    };
  },
  read(body) {
    const [choice = {}] = list(record(body)['choices']);
    const message = record(choice['message']);
    return {
      text: joined([message], 'content'),
      thinking: joined([message], 'reasoning_content'),
      calls: list(message['tool_calls']).map(({ id, function: called }) => {
        const { name, arguments: json } = record(called);
        return { id: String(id), name: String(name), input: parse(json) };
      }),
      stop: choice['finish_reason'],
      failed: false,
    };
  },
  isError: isOpenaiError,
};

const RESPONSES_BODY = {
  model: 'm',
  input: QUESTION,
  tools: TOOLS.map((name) => ({ type: 'function', name, parameters: SCHEMA, strict: false })),
};

function itemsSaid(output: unknown, stop: unknown, failed: boolean): Said {
  const items = list(output);
  const parts = (type: string, field: string): JsonRecord[] =>
    items.filter((item) => item['type'] === type).flatMap((item) => list(item[field]));
  return {
    text: joined(parts('message', 'content'), 'text'),
    thinking: joined([...parts('reasoning', 'summary'), ...parts('reasoning', 'content')], 'text'),
    calls: items
      .filter(({ type }) => type === 'function_call')
      .map(({ call_id: id, name, arguments: json }) => ({
        id: String(id),
        name: String(name),
        input: parse(json),
      })),
    stop,
    failed,
  };
}

const responses: WireFunctions = {
  frames: (scripted) => responsesEvents(scripted),
  whole: responsesObject,
  bodies: [
    RESPONSES_BODY,
    { ...RESPONSES_BODY, parallel_tool_calls: false },
    { ...RESPONSES_BODY, reasoning: { effort: 'low', summary: 'auto' } },
  ],
  accept(text) {
    const { output, response, error } = validateResponsesStream(eventsOf(text), { error: 'allowed' });
    return itemsSaid(output, response?.['status'], error !== undefined);
  },
  read(body) {
    const { output, status } = record(body);
    return itemsSaid(output, status, false);
  },
  isError: isOpenaiError,
};

/** A new dialect is one more row. */
const FUNCTIONS: Readonly<Record<DialectName, WireFunctions>> = {
  'anthropic-messages': anthropic,
  'openai-chat': chat,
  'openai-responses': responses,
};

export const WIRES: readonly Wire[] = Object.values(DIALECTS).map((dialect) => {
  const functions = FUNCTIONS[dialect.name];
  const decode = (body: JsonObject): ConversationRequest =>
    dialect.ingress.decodeRequest({ ...body, stream: true });
  const [first, ...others] = functions.bodies;
  return {
    ...functions,
    name: dialect.name,
    dialect,
    path: DIALECT_PATHS[dialect.name],
    requests: [decode(first), ...others.map(decode)],
  };
});
