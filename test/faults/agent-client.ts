/** One conversation with an agent as a client has it, over either API and in either manner. */
import type Anthropic from '@anthropic-ai/sdk';
import type OpenAI from 'openai';
import { anthropicClient, openaiClient } from '../support/sdk.js';

export interface ToolCall {
  id: string;
  name: string;
  input: unknown;
}

export interface Reply {
  text: string;
  calls: readonly ToolCall[];
  stop: string;
  session: string;
  attach: string;
}

export interface ToolResult {
  id: string;
  text: string;
}

/** What a client keeps of a conversation and sends again each time. */
export type Line =
  | { kind: 'user'; text: string }
  | { kind: 'reply'; reply: Reply }
  | { kind: 'results'; results: readonly ToolResult[] };

export interface Asking {
  url: string;
  key: string;
  model: string;
  lines: readonly Line[];
  headers?: Readonly<Record<string, string>>;
  signal?: AbortSignal;
  /** Told of the text so far, where it is streamed. */
  onText?: (text: string) => void;
}

export interface AgentClient {
  name: string;
  stream: boolean;
  ask(asking: Asking): Promise<Reply>;
}

/** The client's own tool. */
export const LOOKUP = 'lookup';

const DESCRIPTION = 'Looks a word up in the book of the client.';
const SCHEMA = {
  type: 'object' as const,
  properties: { word: { type: 'string' } },
  required: ['word'],
};

/** What the client finds: known before, so that a test can say what the model must have been told. */
export const found = (call: Pick<ToolCall, 'id'>): string => `found for ${call.id}`;

export const resultOf = (call: ToolCall): ToolResult => ({ id: call.id, text: found(call) });

export const user = (text: string): Line => ({ kind: 'user', text });
export const said = (reply: Reply): Line => ({ kind: 'reply', reply });
export const results = (list: readonly ToolResult[]): Line => ({ kind: 'results', results: list });

const MAX_TOKENS = 2000;

function messageOf(line: Line): Anthropic.MessageParam {
  switch (line.kind) {
    case 'user':
      return { role: 'user', content: line.text };
    case 'results':
      return {
        role: 'user',
        content: line.results.map(({ id, text }) => ({
          type: 'tool_result',
          tool_use_id: id,
          content: text,
        })),
      };
    case 'reply': {
      const { text, calls } = line.reply;
      const content: Anthropic.ContentBlockParam[] = calls.map((call) => ({ type: 'tool_use', ...call }));
      if (text !== '') content.unshift({ type: 'text', text });
      return { role: 'assistant', content };
    }
  }
}

function chatMessagesOf(line: Line): OpenAI.Chat.ChatCompletionMessageParam[] {
  switch (line.kind) {
    case 'user':
      return [{ role: 'user', content: line.text }];
    case 'results':
      return line.results.map(({ id, text }) => ({ role: 'tool', tool_call_id: id, content: text }));
    case 'reply': {
      const { text, calls } = line.reply;
      const tool_calls = calls.map(({ id, name, input }) => ({
        id,
        type: 'function' as const,
        function: { name, arguments: JSON.stringify(input) },
      }));
      return [
        { role: 'assistant', content: text || null, ...(tool_calls.length === 0 ? {} : { tool_calls }) },
      ];
    }
  }
}

const sessionOf = (headers: Headers | undefined): Pick<Reply, 'session' | 'attach'> => ({
  session: headers?.get('x-session-id') ?? '',
  attach: headers?.get('x-toolgate-attach') ?? '',
});

function ofMessage({ content, stop_reason }: Anthropic.Message, headers: Headers | undefined): Reply {
  return {
    text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
    calls: content.flatMap((block) =>
      block.type === 'tool_use' ? [{ id: block.id, name: block.name, input: block.input }] : [],
    ),
    stop: stop_reason ?? '',
    ...sessionOf(headers),
  };
}

function ofCompletion(
  { choices: [choice] }: OpenAI.Chat.ChatCompletion,
  headers: Headers | undefined,
): Reply {
  return {
    text: choice?.message.content ?? '',
    calls: (choice?.message.tool_calls ?? []).flatMap((call) =>
      call.type === 'function'
        ? [{ id: call.id, name: call.function.name, input: JSON.parse(call.function.arguments) }]
        : [],
    ),
    stop: choice?.finish_reason ?? '',
    ...sessionOf(headers),
  };
}

const options = ({ headers, signal }: Asking) => ({
  ...(headers === undefined ? {} : { headers }),
  ...(signal === undefined ? {} : { signal }),
});

function messages(stream: boolean): AgentClient['ask'] {
  return async (asking) => {
    const { messages: api } = anthropicClient(asking.url, { apiKey: asking.key });
    const body = {
      model: asking.model,
      max_tokens: MAX_TOKENS,
      messages: asking.lines.map(messageOf),
      tools: [{ name: LOOKUP, description: DESCRIPTION, input_schema: SCHEMA }],
    };
    if (!stream) {
      const { data, response } = await api.create(body, options(asking)).withResponse();
      return ofMessage(data, response.headers);
    }
    const running = api.stream(body, options(asking));
    running.on('text', (_piece, text) => asking.onText?.(text));
    return ofMessage(await running.finalMessage(), running.response?.headers);
  };
}

function completions(stream: boolean): AgentClient['ask'] {
  return async (asking) => {
    const { completions: api } = openaiClient(asking.url, { apiKey: asking.key }).chat;
    const body = {
      model: asking.model,
      messages: asking.lines.flatMap(chatMessagesOf),
      tools: [
        {
          type: 'function' as const,
          function: { name: LOOKUP, description: DESCRIPTION, parameters: SCHEMA },
        },
      ],
    };
    if (!stream) {
      const { data, response } = await api.create(body, options(asking)).withResponse();
      return ofCompletion(data, response.headers);
    }
    const { data, response } = await api.create({ ...body, stream: true }, options(asking)).withResponse();
    return readChunks(data, response.headers, asking.onText);
  };
}

async function readChunks(
  chunks: AsyncIterable<OpenAI.Chat.ChatCompletionChunk>,
  headers: Headers,
  onText: Asking['onText'],
): Promise<Reply> {
  let text = '';
  let stop = '';
  const calls: { id: string; name: string; json: string }[] = [];
  for await (const { choices } of chunks) {
    for (const { delta, finish_reason } of choices) {
      if (delta.content) {
        text += delta.content;
        onText?.(text);
      }
      for (const { index, id, function: called } of delta.tool_calls ?? []) {
        const call = calls[index] ?? { id: '', name: '', json: '' };
        calls[index] = call;
        call.id += id ?? '';
        call.name += called?.name ?? '';
        call.json += called?.arguments ?? '';
      }
      stop = finish_reason ?? stop;
    }
  }
  // The official client takes a stream that ends early for one that is over.
  if (stop === '') throw new Error('The stream broke off');
  return {
    text,
    calls: calls.map(({ id, name, json }) => ({ id, name, input: JSON.parse(json) })),
    stop,
    ...sessionOf(headers),
  };
}

export const CLIENTS: readonly [AgentClient, ...AgentClient[]] = [
  { name: 'messages, streaming', stream: true, ask: messages(true) },
  { name: 'chat completions, whole', stream: false, ask: completions(false) },
  { name: 'messages, whole', stream: false, ask: messages(false) },
  { name: 'chat completions, streaming', stream: true, ask: completions(true) },
];
