/** `/v1/responses` with the OpenAI SDK, with the whole conversation or by the id of the last answer. */
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

type Item = OpenAI.Responses.ResponseInputItem;
type Given = OpenAI.Responses.Response;

/** An entry of the thread; the answer's id where it is an echo. */
interface Entry {
  items: Item[];
  answer?: string;
}

export const responsesTool = ({ name, description, schema }: ToolSpec): OpenAI.Responses.FunctionTool => ({
  type: 'function',
  name,
  description,
  parameters: schema,
  strict: false,
});

function choiceOf(choice: Choice): OpenAI.Responses.ToolChoiceOptions | OpenAI.Responses.ToolChoiceFunction {
  if (typeof choice === 'object') return { type: 'function', name: choice.tool };
  return choice === 'any' ? 'required' : choice;
}

const pictureOf = (data: string): OpenAI.Responses.ResponseInputImage => ({
  type: 'input_image',
  detail: 'auto',
  image_url: `data:image/png;base64,${data}`,
});

export class ResponsesThread implements Thread {
  readonly #options: ThreadOptions;
  readonly #entries: Entry[];
  #last: Given | undefined;

  constructor(options: ThreadOptions, entries: readonly Entry[] = []) {
    this.#options = options;
    this.#entries = [...entries];
  }

  get length(): number {
    return this.#entries.length;
  }

  user(text: string, image?: string): this {
    const content: OpenAI.Responses.ResponseInputMessageContentList = [{ type: 'input_text', text }];
    if (image !== undefined) content.push(pictureOf(image));
    this.#entries.push({ items: [{ role: 'user', content: image === undefined ? text : content }] });
    return this;
  }

  assistant(text: string, calls: readonly ClientCall[] = []): this {
    const said: Item[] = text === '' ? [] : [{ role: 'assistant', content: text }];
    const called = calls.map(
      ({ id, name, input }): Item => ({
        type: 'function_call',
        call_id: id,
        name,
        arguments: JSON.stringify(input),
      }),
    );
    this.#entries.push({ items: [...said, ...called] });
    return this;
  }

  results(results: readonly ClientResult[]): this {
    const items = results.map(
      ({ id, text, image }): Item => ({
        type: 'function_call_output',
        call_id: id,
        output: image === undefined ? text : [{ type: 'input_text', text }, pictureOf(image)],
      }),
    );
    this.#entries.push({ items });
    return this;
  }

  echo(): this {
    if (this.#last === undefined) throw new Error('There is no answer to echo');
    this.#entries.push({ items: this.#last.output.flatMap(asInput), answer: this.#last.id });
    return this;
  }

  cut(length = this.#entries.length): Thread {
    return new ResponsesThread(this.#options, this.#entries.slice(0, length));
  }

  rest(start: number): Thread {
    return new ResponsesThread(this.#options, this.#entries.slice(start));
  }

  rewritten(how: Rewrite): Thread {
    const entries = this.#entries.map(({ items }) => ({
      items: items.flatMap((item) => rewrittenItem(item, how)),
    }));
    return new ResponsesThread(this.#options, entries);
  }

  async send(options: SendOptions = {}): Promise<ClientAnswer> {
    const { url, key, model, stream } = this.#options;
    const client = openaiClient(url, { apiKey: options.key ?? key });
    const { tools, choice, parallel } = options;
    const body: OpenAI.Responses.ResponseCreateParamsNonStreaming = {
      model: options.model ?? model,
      ...this.#input(),
      ...(options.system === undefined ? {} : { instructions: options.system }),
      ...(tools === undefined ? {} : { tools: tools.map(responsesTool) }),
      ...(choice === undefined ? {} : { tool_choice: choiceOf(choice) }),
      ...(parallel === undefined ? {} : { parallel_tool_calls: parallel }),
    };
    const request = { headers: { ...options.headers } };
    if (!(options.stream ?? stream)) {
      const { data, response } = await client.responses.create(body, request).withResponse();
      return this.#read(data, response);
    }
    const { data, response } = await client.responses
      .create({ ...body, stream: true }, request)
      .withResponse();
    let streamed = '';
    for await (const event of data) {
      if (event.type === 'response.output_text.delta') {
        streamed += event.delta;
        options.onText?.(event.delta);
      }
      if (event.type === 'response.failed') throw new Error(event.response.error?.message ?? 'failed');
      if (event.type === 'response.completed' || event.type === 'response.incomplete') {
        const answer = this.#read(event.response, response);
        if (answer.text !== streamed) throw new Error(`${answer.text} was streamed as ${streamed}`);
        return answer;
      }
    }
    throw new Error('The stream has no end');
  }

  #input(): { input: Item[]; previous_response_id?: string } {
    const at = this.#options.byId ? this.#entries.findLastIndex(({ answer }) => answer !== undefined) : -1;
    const answer = this.#entries[at]?.answer;
    return {
      input: this.#entries.slice(at + 1).flatMap(({ items }) => items),
      ...(answer === undefined ? {} : { previous_response_id: answer }),
    };
  }

  #read(given: Given, response: Response): ClientAnswer {
    this.#last = given;
    const calls = given.output.flatMap((item) =>
      item.type === 'function_call'
        ? [{ id: item.call_id, name: item.name, input: JSON.parse(item.arguments) }]
        : [],
    );
    const whole: Stop = calls.length > 0 ? 'calls' : 'end';
    return {
      text: given.output
        .flatMap((item) => (item.type === 'message' ? item.content : []))
        .map((part) => (part.type === 'output_text' ? part.text : ''))
        .join(''),
      calls,
      stop: given.status === 'incomplete' ? 'pause' : whole,
      wireStop: given.incomplete_details?.reason ?? given.status ?? null,
      ...headersOf(response),
    };
  }
}

/** As the documentation tells to: items of the output go in as they are. */
function asInput(item: OpenAI.Responses.ResponseOutputItem): Item[] {
  switch (item.type) {
    case 'message':
    case 'function_call':
    case 'reasoning':
      return [item];
    default:
      return [];
  }
}

function rewrittenItem(item: Item, how: Rewrite): Item[] {
  if (how === 'thinking dropped') return item.type === 'reasoning' ? [] : [item];
  if (how === 'arguments written anew' && item.type === 'function_call')
    return [
      {
        type: 'function_call',
        call_id: item.call_id,
        name: item.name,
        arguments: writtenAnew(item.arguments),
      },
    ];
  if (
    how === 'texts as strings' &&
    item.type === 'message' &&
    item.role === 'assistant' &&
    Array.isArray(item.content)
  ) {
    const text = item.content.map((part) => ('text' in part ? part.text : '')).join('');
    return [{ role: 'assistant', content: text }];
  }
  if (how === 'texts in blocks' && 'role' in item && item.role === 'user' && typeof item.content === 'string')
    return [{ role: 'user', content: [{ type: 'input_text', text: item.content }] }];
  return [item];
}
