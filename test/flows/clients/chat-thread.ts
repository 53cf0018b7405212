/** `/v1/chat/completions` with the OpenAI SDK. */
import type OpenAI from 'openai';
import { openaiClient } from '../../support/sdk.js';
import {
  type Choice,
  type ClientAnswer,
  type ClientCall,
  type ClientResult,
  headersOf,
  type Rewrite,
  type SendOptions,
  type Stop,
  type Thread,
  type ThreadOptions,
  type ToolSpec,
  writtenAnew,
} from './thread.js';

type Entry = OpenAI.ChatCompletionMessageParam;
type Call = OpenAI.ChatCompletionMessageFunctionToolCall;
type Said = Pick<OpenAI.ChatCompletionAssistantMessageParam, 'role' | 'content'> & { tool_calls?: Call[] };

const STOPS: Readonly<Record<string, Stop>> = { stop: 'end', tool_calls: 'calls', length: 'pause' };

export const chatTool = ({ name, description, schema }: ToolSpec): OpenAI.ChatCompletionFunctionTool => ({
  type: 'function',
  function: { name, description, parameters: schema },
});

function choiceOf(choice: Choice): OpenAI.ChatCompletionToolChoiceOption {
  if (typeof choice === 'object') return { type: 'function', function: { name: choice.tool } };
  return choice === 'any' ? 'required' : choice;
}

const pictureOf = (data: string): OpenAI.ChatCompletionContentPartImage => ({
  type: 'image_url',
  image_url: { url: `data:image/png;base64,${data}` },
});

export class ChatThread implements Thread {
  readonly #options: ThreadOptions;
  readonly #entries: Entry[];
  #last: Said | undefined;

  constructor(options: ThreadOptions, entries: readonly Entry[] = []) {
    this.#options = options;
    this.#entries = [...entries];
  }

  get length(): number {
    return this.#entries.length;
  }

  user(text: string, image?: string): this {
    const content = image === undefined ? text : [{ type: 'text' as const, text }, pictureOf(image)];
    this.#entries.push({ role: 'user', content });
    return this;
  }

  assistant(text: string, calls: readonly ClientCall[] = []): this {
    const toolCalls = calls.map(
      ({ id, name, input }): Call => ({
        id,
        type: 'function',
        function: { name, arguments: JSON.stringify(input) },
      }),
    );
    const content = text === '' ? null : text;
    this.#entries.push({
      role: 'assistant',
      content,
      ...(calls.length === 0 ? {} : { tool_calls: toolCalls }),
    });
    return this;
  }

  /** The wire has no images in results, and no mark of an error: pictures come from the user behind them. */
  results(results: readonly ClientResult[]): this {
    for (const { id, text } of results) this.#entries.push({ role: 'tool', tool_call_id: id, content: text });
    const pictures = results.flatMap(({ image }) => (image === undefined ? [] : [pictureOf(image)]));
    if (pictures.length > 0) this.#entries.push({ role: 'user', content: pictures });
    return this;
  }

  echo(): this {
    if (this.#last === undefined) throw new Error('There is no answer to echo');
    this.#entries.push(this.#last);
    return this;
  }

  cut(length = this.#entries.length): Thread {
    return new ChatThread(this.#options, this.#entries.slice(0, length));
  }

  rest(start: number): Thread {
    return new ChatThread(this.#options, this.#entries.slice(start));
  }

  rewritten(how: Rewrite): Thread {
    return new ChatThread(
      this.#options,
      this.#entries.map((entry) => rewrittenEntry(entry, how)),
    );
  }

  async send(options: SendOptions = {}): Promise<ClientAnswer> {
    const { url, key, model, stream } = this.#options;
    const client = openaiClient(url, { apiKey: options.key ?? key });
    const { tools, choice, parallel, system } = options;
    const first: Entry[] = system === undefined ? [] : [{ role: 'system', content: system }];
    const body: OpenAI.ChatCompletionCreateParamsNonStreaming = {
      model: options.model ?? model,
      messages: [...first, ...this.#entries],
      ...(tools === undefined ? {} : { tools: tools.map(chatTool) }),
      ...(choice === undefined ? {} : { tool_choice: choiceOf(choice) }),
      ...(parallel === undefined ? {} : { parallel_tool_calls: parallel }),
    };
    const request = { headers: { ...options.headers } };
    if (!(options.stream ?? stream)) {
      const { data, response } = await client.chat.completions.create(body, request).withResponse();
      const [first] = data.choices;
      if (first === undefined) throw new Error('The answer has no choice');
      const { message, finish_reason: stop } = first;
      const calls = (message.tool_calls ?? []).filter((call) => call.type === 'function');
      return this.#read(message.content, calls, stop, response);
    }
    const { data, response } = await client.chat.completions
      .create({ ...body, stream: true }, request)
      .withResponse();
    return this.#collect(data, response, options.onText);
  }

  async #collect(
    chunks: AsyncIterable<OpenAI.ChatCompletionChunk>,
    response: Response,
    onText: SendOptions['onText'],
  ): Promise<ClientAnswer> {
    let text = '';
    let stop = '';
    const calls: Call[] = [];
    for await (const { choices } of chunks) {
      const [choice] = choices;
      if (choice === undefined) continue;
      if (choice.finish_reason !== null) stop = choice.finish_reason;
      const { content, tool_calls: pieces = [] } = choice.delta;
      if (typeof content === 'string' && content !== '') {
        text += content;
        onText?.(content);
      }
      for (const { index, id, function: called } of pieces) {
        calls[index] ??= { id: id ?? '', type: 'function', function: { name: '', arguments: '' } };
        const known = calls[index].function;
        known.name += called?.name ?? '';
        known.arguments += called?.arguments ?? '';
      }
    }
    return this.#read(text === '' ? null : text, calls, stop, response);
  }

  #read(content: string | null, calls: Call[], wireStop: string, response: Response): ClientAnswer {
    this.#last = { role: 'assistant', content, ...(calls.length === 0 ? {} : { tool_calls: calls }) };
    return {
      text: content ?? '',
      calls: calls.map(({ id, function: { name, arguments: json } }) => ({
        id,
        name,
        input: JSON.parse(json),
      })),
      stop: STOPS[wireStop] ?? 'end',
      wireStop,
      ...headersOf(response),
    };
  }
}

function rewrittenEntry(entry: Entry, how: Rewrite): Entry {
  if (how === 'arguments written anew' && entry.role === 'assistant') {
    const calls = (entry.tool_calls ?? []).filter((call) => call.type === 'function');
    if (calls.length === 0) return entry;
    const anew = calls.map((call) => ({
      ...call,
      function: { ...call.function, arguments: writtenAnew(call.function.arguments) },
    }));
    // An empty text and none are the same.
    return { ...entry, content: entry.content ?? '', tool_calls: anew };
  }
  if (how === 'texts in blocks' && typeof entry.content === 'string' && entry.role !== 'function') {
    return { ...entry, content: [{ type: 'text', text: entry.content }] };
  }
  return entry;
}
