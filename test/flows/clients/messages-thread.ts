/** `/v1/messages` with the Anthropic SDK. */
import type Anthropic from '@anthropic-ai/sdk';
import { anthropicClient } from '../../support/sdk.js';
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
  turned,
} from './thread.js';

type Entry = Anthropic.MessageParam;
type Content = Anthropic.ContentBlockParam;

const STOPS: Readonly<Record<string, Stop>> = { end_turn: 'end', tool_use: 'calls', pause_turn: 'pause' };

export const imageOf = (data: string): Anthropic.ImageBlockParam => ({
  type: 'image',
  source: { type: 'base64', media_type: 'image/png', data },
});

export const messagesTool = ({ name, description, schema }: ToolSpec): Anthropic.Tool => ({
  name,
  description,
  input_schema: schema,
});

function choiceOf(
  choice: Choice | undefined,
  parallel: boolean | undefined,
): Anthropic.ToolChoice | undefined {
  const one = parallel === undefined ? {} : { disable_parallel_tool_use: !parallel };
  if (choice === undefined) return parallel === undefined ? undefined : { type: 'auto', ...one };
  if (choice === 'none') return { type: 'none' };
  return typeof choice === 'string' ? { type: choice, ...one } : { type: 'tool', name: choice.tool, ...one };
}

export class MessagesThread implements Thread {
  readonly #options: ThreadOptions;
  readonly #entries: Entry[];
  #last: Anthropic.Message | undefined;

  constructor(options: ThreadOptions, entries: readonly Entry[] = []) {
    this.#options = options;
    this.#entries = [...entries];
  }

  get length(): number {
    return this.#entries.length;
  }

  user(text: string, image?: string): this {
    const content: Content[] = image === undefined ? [] : [{ type: 'text', text }, imageOf(image)];
    this.#entries.push({ role: 'user', content: image === undefined ? text : content });
    return this;
  }

  assistant(text: string, calls: readonly ClientCall[] = []): this {
    const said: Content[] = text === '' ? [] : [{ type: 'text', text }];
    const used = calls.map((call): Content => ({ type: 'tool_use', ...call }));
    this.#entries.push({ role: 'assistant', content: [...said, ...used] });
    return this;
  }

  results(results: readonly ClientResult[]): this {
    const content = results.map(
      ({ id, text, image, error }): Content => ({
        type: 'tool_result',
        tool_use_id: id,
        content: image === undefined ? text : [{ type: 'text', text }, imageOf(image)],
        ...(error === undefined ? {} : { is_error: error }),
      }),
    );
    this.#entries.push({ role: 'user', content });
    return this;
  }

  echo(): this {
    if (this.#last === undefined) throw new Error('There is no answer to echo');
    this.#entries.push({ role: 'assistant', content: this.#last.content });
    return this;
  }

  cut(length = this.#entries.length): Thread {
    return new MessagesThread(this.#options, this.#entries.slice(0, length));
  }

  rest(start: number): Thread {
    return new MessagesThread(this.#options, this.#entries.slice(start));
  }

  rewritten(how: Rewrite): Thread {
    return new MessagesThread(
      this.#options,
      this.#entries.map((entry) => rewrittenEntry(entry, how)),
    );
  }

  async send(options: SendOptions = {}): Promise<ClientAnswer> {
    const { url, key, model, stream } = this.#options;
    const client = anthropicClient(url, { apiKey: options.key ?? key });
    const choice = choiceOf(options.choice, options.parallel);
    const body: Anthropic.MessageCreateParamsNonStreaming = {
      model: options.model ?? model,
      max_tokens: 4096,
      messages: this.#entries,
      ...(options.system === undefined ? {} : { system: options.system }),
      ...(options.tools === undefined ? {} : { tools: options.tools.map(messagesTool) }),
      ...(choice === undefined ? {} : { tool_choice: choice }),
    };
    const request = { headers: { ...options.headers } };
    if (!(options.stream ?? stream)) {
      const { data, response } = await client.messages.create(body, request).withResponse();
      return this.#read(data, response);
    }
    const streamed = client.messages.stream(body, request);
    if (options.onText !== undefined) streamed.on('text', options.onText);
    const { response } = await streamed.withResponse();
    return this.#read(await streamed.finalMessage(), response);
  }

  #read(message: Anthropic.Message, response: Response): ClientAnswer {
    this.#last = message;
    const { content, stop_reason: wireStop } = message;
    return {
      text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
      calls: content.flatMap((block) =>
        block.type === 'tool_use' ? [{ id: block.id, name: block.name, input: block.input }] : [],
      ),
      stop: STOPS[wireStop ?? ''] ?? 'end',
      wireStop,
      ...headersOf(response),
    };
  }
}

function rewrittenEntry(entry: Entry, how: Rewrite): Entry {
  const { role, content } = entry;
  if (role === 'system') return entry;
  if (typeof content === 'string') {
    return how === 'texts in blocks' ? { role, content: [{ type: 'text', text: content }] } : entry;
  }
  switch (how) {
    case 'thinking dropped':
      return { role, content: content.filter(({ type }) => type !== 'thinking') };
    case 'arguments written anew':
      return {
        role,
        content: content.map((block) =>
          block.type === 'tool_use' ? { ...block, input: turned(block.input) } : block,
        ),
      };
    case 'texts as strings':
      return content.every(({ type }) => type === 'text')
        ? { role, content: content.map((block) => (block.type === 'text' ? block.text : '')).join('') }
        : { role, content: content.map(stringResult) };
    case 'texts in blocks':
      return { role, content: content.map(blockResult) };
  }
}

const stringResult = (block: Content): Content =>
  block.type === 'tool_result' &&
  Array.isArray(block.content) &&
  block.content.every(({ type }) => type === 'text')
    ? { ...block, content: block.content.map((part) => (part.type === 'text' ? part.text : '')).join('') }
    : block;

const blockResult = (block: Content): Content =>
  block.type === 'tool_result' && typeof block.content === 'string'
    ? { ...block, content: [{ type: 'text', text: block.content }] }
    : block;
