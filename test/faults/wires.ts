/** Every dialect from both sides: what an upstream of it sends, and what a client of it accepts. */
import type { ConversationRequest, DialectName, JsonObject } from '../../src/core/conversation.js';
import { anthropicMessages } from '../../src/dialects/anthropic-messages/index.js';
import type { Dialect } from '../../src/dialects/dialect.js';
import { openaiChat } from '../../src/dialects/openai-chat/index.js';
import type { Scripted } from '../support/scripted.js';
import { type ParsedSse, parseSseText, validateAnthropicStream, validateChatStream } from '../support/sse.js';
import { isRecord } from '../support/violation.js';
import {
  anthropicEvents,
  anthropicMessage,
  chatChunks,
  chatCompletion,
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

export interface Wire {
  name: DialectName;
  dialect: Dialect;
  /** The events of an upstream, its last word included. */
  frames(scripted: Scripted, interleave: boolean): Frame[];
  whole(scripted: Scripted): WireObject;
  /** The bodies of requests that ask for different forms of an answer. */
  requests: readonly ConversationRequest[];
  /** Throws StreamViolation where a strict client would. */
  accept(text: string): Said;
  /** The same of a whole answer. */
  read(body: JsonObject): Said;
}

const SCHEMA = { type: 'object', properties: { city: { type: 'string' } } };
const USER = { role: 'user', content: 'What is the weather in Paris?' };

function eventsOf(text: string): ParsedSse['events'] {
  const { events, rest } = parseSseText(text);
  if (rest !== '') throw new Error(`The stream ends inside an event: ${JSON.stringify(rest)}`);
  return events;
}

const list = (value: unknown): Record<string, unknown>[] => (Array.isArray(value) ? value.filter(isRecord) : []);
const joined = (items: readonly Record<string, unknown>[], field: string): string =>
  items.map((item) => (typeof item[field] === 'string' ? item[field] : '')).join('');
const parse = (text: unknown): unknown => (typeof text === 'string' && text !== '' ? JSON.parse(text) : {});

/** Arguments that the answer's limit cut off are compared by nobody. */
const parseLoosely = (text: string): unknown => {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
};

function blocksSaid(content: unknown, stop: unknown, failed: boolean): Said {
  const blocks = list(content);
  return {
    text: joined(blocks, 'text'),
    thinking: joined(blocks, 'thinking'),
    calls: blocks
      .filter(({ type }) => type === 'tool_use')
      .map(({ id, name, input }) => ({
        id: String(id),
        name: String(name),
        input: isRecord(input) ? input : undefined,
      })),
    stop,
    failed,
  };
}

const ANTHROPIC_BODY = { model: 'm', max_tokens: 100, stream: true, messages: [USER] };
const ANTHROPIC_TOOLS = TOOLS.map((name) => ({ name, input_schema: SCHEMA }));

const anthropic: Wire = {
  name: 'anthropic-messages',
  dialect: anthropicMessages,
  frames: (scripted) => anthropicEvents(scripted),
  whole: anthropicMessage,
  requests: [
    { ...ANTHROPIC_BODY, tools: ANTHROPIC_TOOLS },
    {
      ...ANTHROPIC_BODY,
      tools: ANTHROPIC_TOOLS,
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    },
    { ...ANTHROPIC_BODY, tools: ANTHROPIC_TOOLS, thinking: { type: 'enabled', budget_tokens: 1024 } },
  ].map(anthropicMessages.ingress.decodeRequest),
  accept(text) {
    const { content, stopReason, error } = validateAnthropicStream(eventsOf(text), { error: 'allowed' });
    return blocksSaid(content, stopReason, error !== undefined);
  },
  read: (body) => blocksSaid(body['content'], body['stop_reason'], false),
};

const CHAT_BODY = { model: 'm', stream: true, messages: [USER] };
const CHAT_TOOLS = TOOLS.map((name) => ({ type: 'function', function: { name, parameters: SCHEMA } }));

const chat: Wire = {
  name: 'openai-chat',
  dialect: openaiChat,
  frames: (scripted, interleave) => [...chatChunks(scripted, { usage: true, interleave }), 'data: [DONE]\n\n'],
  whole: chatCompletion,
  requests: [
    { ...CHAT_BODY, tools: CHAT_TOOLS },
    { ...CHAT_BODY, tools: CHAT_TOOLS, stream_options: { include_usage: true } },
    { ...CHAT_BODY, tools: CHAT_TOOLS, parallel_tool_calls: false },
  ].map(openaiChat.ingress.decodeRequest),
  accept(text) {
    const said = validateChatStream(eventsOf(text), { error: 'allowed' });
    return {
      text: said.content,
      thinking: said.reasoning,
      calls: said.calls.map(({ id, name, arguments: json }) => ({ id, name, input: parseLoosely(json) })),
      stop: said.finishReason,
      failed: said.error !== undefined,
    };
  },
  read(body) {
    const [choice = {}] = list(body['choices']);
    const message = isRecord(choice['message']) ? choice['message'] : {};
    return {
      text: joined([message], 'content'),
      thinking: joined([message], 'reasoning_content'),
      calls: list(message['tool_calls']).map(({ id, function: called }) => {
        const { name, arguments: json } = isRecord(called) ? called : {};
        return { id: String(id), name: String(name), input: parse(json) };
      }),
      stop: choice['finish_reason'],
      failed: false,
    };
  },
};

/** A new dialect is one more row. */
export const WIRES: readonly Wire[] = [anthropic, chat];
