/** Holds a stream of `/v1/responses` to what its strictest clients accept. */
import { isDeepStrictEqual } from 'node:util';
import type { SseEvent } from './sse.js';
import type { ValidateOptions } from './validate-anthropic.js';
import { type JsonRecord, Place, parseArguments } from './violation.js';

export interface ResponsesStreamResult {
  id: string;
  model: string;
  /** The items as their `output_item.done` gave them. */
  output: JsonRecord[];
  /** `undefined` where the stream ended in an `error` event. */
  response: JsonRecord | undefined;
  error?: JsonRecord;
}

const STATUS_OF_END: Readonly<Record<string, string>> = {
  'response.completed': 'completed',
  'response.incomplete': 'incomplete',
  'response.failed': 'failed',
};

/** Parts of an item that stream text: the part list they belong to and the field of their index. */
const TEXTS: Readonly<Record<string, { in: string; index: string; part: string }>> = {
  'response.output_text': { in: 'message', index: 'content_index', part: 'response.content_part' },
  'response.refusal': { in: 'message', index: 'content_index', part: 'response.content_part' },
  'response.reasoning_text': { in: 'reasoning', index: 'content_index', part: 'response.content_part' },
  'response.reasoning_summary_text': {
    in: 'reasoning',
    index: 'summary_index',
    part: 'response.reasoning_summary_part',
  },
};

/** Calls of typed tools that the client runs, with the field that says what to do. */
const TYPED_CALLS: Readonly<Record<string, string>> = {
  shell_call: 'action',
  local_shell_call: 'action',
  apply_patch_call: 'operation',
};

interface OpenPart {
  kind: string;
  index: number;
  text: string;
  textDone: boolean;
}

interface OpenItem {
  type: string;
  id: string;
  value: JsonRecord;
  parts: number;
  part: OpenPart | undefined;
  arguments: string;
  argumentsDone: boolean;
}

const textOf = (part: JsonRecord): unknown => part['text'] ?? part['refusal'];

class ResponsesStream {
  phase: 'before' | 'open' | 'failed' | 'over' = 'before';
  sequence = 0;
  begun: JsonRecord = {};
  output: JsonRecord[] = [];
  item: OpenItem | undefined;
  response: JsonRecord | undefined;
  error: JsonRecord | undefined;

  push(event: SseEvent, at: Place): void {
    at.check(event.data !== '[DONE]', 'this wire has no [DONE]');
    const data = at.json(event.data);
    const type = at.filled(data['type'], 'type');
    at.check(
      event.event === type,
      `the event is named ${JSON.stringify(event.event)} and its type is ${type}`,
    );
    at.check(this.phase !== 'over', 'nothing may come after the end');
    at.check(data['sequence_number'] === this.sequence, `sequence_number is not ${this.sequence}`);
    this.sequence++;
    if (type === 'error') this.#onError(data, at);
    else if (this.phase === 'failed') this.#onFailed(type, data, at);
    else if (type === 'response.created') this.#onCreated(data, at);
    else this.#onOpen(type, data, at);
  }

  #onOpen(type: string, data: JsonRecord, at: Place): void {
    at.check(this.phase === 'open', 'response.created does not come first');
    if (type === 'response.in_progress' || type === 'response.queued') this.#onProgress(data, at);
    else if (STATUS_OF_END[type] !== undefined) this.#onEnd(type, data, at);
    else if (type === 'response.output_item.added') this.#onItemAdded(data, at);
    else this.#onInside(type, data, at);
  }

  #onCreated(data: JsonRecord, at: Place): void {
    at.check(this.phase === 'before', 'a second response.created');
    const response = at.object(data['response'], 'response');
    at.filled(response['id'], 'response.id');
    at.filled(response['model'], 'response.model');
    at.check(response['object'] === 'response', 'response.object is not "response"');
    at.check(response['status'] === 'in_progress', 'response.status is not "in_progress"');
    at.check(at.array(response['output'], 'response.output').length === 0, 'response.output is not empty');
    this.begun = response;
    this.phase = 'open';
  }

  #onProgress(data: JsonRecord, at: Place): void {
    at.check(this.output.length === 0 && this.item === undefined, 'in progress after the first item');
    at.check(at.object(data['response'], 'response')['id'] === this.begun['id'], 'another response id');
  }

  #onItemAdded(data: JsonRecord, at: Place): void {
    at.check(this.item === undefined, `item ${this.output.length} is still open`);
    at.check(data['output_index'] === this.output.length, `output_index is not ${this.output.length}`);
    const value = at.object(data['item'], 'item');
    const id = at.filled(value['id'], 'item.id');
    const type = at.filled(value['type'], 'item.type');
    at.check(!this.output.some((each) => each['id'] === id), `item id ${id} was used before`);
    if (type === 'message') {
      at.check(value['role'] === 'assistant', 'item.role is not "assistant"');
      at.check(at.array(value['content'], 'item.content').length === 0, 'item.content does not start empty');
    }
    if (type === 'function_call') {
      const callId = at.filled(value['call_id'], 'item.call_id');
      at.check(!this.output.some((each) => each['call_id'] === callId), `call_id ${callId} was used before`);
      at.filled(value['name'], 'item.name');
      at.check(value['arguments'] === '', 'item.arguments does not start empty');
    }
    if (type === 'message' || type === 'function_call') {
      at.check(value['status'] === 'in_progress', 'item.status is not "in_progress"');
    }
    if (TYPED_CALLS[type] !== undefined) {
      const callId = at.filled(value['call_id'], 'item.call_id');
      at.check(!this.output.some((each) => each['call_id'] === callId), `call_id ${callId} was used before`);
      at.check(value['status'] === 'in_progress', 'item.status is not "in_progress"');
    }
    this.item = { type, id, value, parts: 0, part: undefined, arguments: '', argumentsDone: false };
  }

  #onInside(type: string, data: JsonRecord, at: Place): void {
    const { item } = this;
    if (item === undefined) at.fail(`${type} and no item is open`);
    at.check(data['output_index'] === this.output.length, `the open item is ${this.output.length}`);
    const dot = type.lastIndexOf('.');
    const [base, verb] = [type.slice(0, dot), type.slice(dot + 1)];
    if (base === 'response.output_item') {
      this.#onItemDone(item, data, at);
      return;
    }
    at.check(data['item_id'] === item.id, `the open item is ${item.id}`);
    if (base === 'response.function_call_arguments') this.#onArguments(item, verb, data, at);
    else if (base !== 'response.content_part' && base !== 'response.reasoning_summary_part') {
      this.#onText(item, base, verb, data, at);
    } else if (verb === 'added') this.#onPartAdded(item, base, data, at);
    else this.#onPartDone(item, base, data, at);
  }

  #onText(item: OpenItem, base: string, verb: string, data: JsonRecord, at: Place): void {
    const text = TEXTS[base];
    // Items of the provider's own tools have events of their own; they are no concern of a text.
    if (text === undefined) return;
    const { part } = item;
    at.check(item.type === text.in, `${base} in a ${item.type} item`);
    if (part === undefined || part.kind !== text.part) at.fail(`${base} and no part is open for it`);
    at.check(data[text.index] === part.index, `the open part is ${part.index}`);
    at.check(!part.textDone, 'text after it was done');
    if (verb === 'delta') {
      part.text += at.string(data['delta'], 'delta');
      return;
    }
    at.check(textOf(data) === part.text, 'the text is not what its deltas gave');
    part.textDone = true;
  }

  #onPartAdded(item: OpenItem, kind: string, data: JsonRecord, at: Place): void {
    at.check(item.part === undefined, 'the part before it is still open');
    const index = kind === 'response.content_part' ? data['content_index'] : data['summary_index'];
    at.check(index === item.parts, `the index of the part is not ${item.parts}`);
    at.check(textOf(at.object(data['part'], 'part')) === '', 'the part does not start empty');
    item.part = { kind, index: item.parts, text: '', textDone: false };
  }

  #onPartDone(item: OpenItem, kind: string, data: JsonRecord, at: Place): void {
    const { part } = item;
    if (part === undefined || part.kind !== kind) at.fail('no such part is open');
    at.check(part.textDone, 'the part ends before its text is done');
    at.check(textOf(at.object(data['part'], 'part')) === part.text, 'the part is not what its deltas gave');
    item.part = undefined;
    item.parts++;
  }

  #onArguments(item: OpenItem, verb: string, data: JsonRecord, at: Place): void {
    at.check(item.type === 'function_call', `arguments in a ${item.type} item`);
    at.check(!item.argumentsDone, 'arguments after they were done');
    if (verb === 'delta') {
      item.arguments += at.string(data['delta'], 'delta');
      return;
    }
    at.check(data['arguments'] === item.arguments, 'the arguments are not what their deltas gave');
    item.argumentsDone = true;
  }

  #onItemDone(item: OpenItem, data: JsonRecord, at: Place): void {
    const value = at.object(data['item'], 'item');
    at.check(value['id'] === item.id && value['type'] === item.type, `the open item is ${item.id}`);
    at.check(item.part === undefined, 'a part is still open');
    if (item.type === 'function_call') {
      at.check(item.argumentsDone, 'the item ends before its arguments are done');
      at.check(value['arguments'] === item.arguments, 'item.arguments is not what the deltas gave');
      at.check(value['call_id'] === item.value['call_id'], 'item.call_id has changed');
      at.check(value['name'] === item.value['name'], 'item.name has changed');
      if (value['status'] === 'completed') {
        at.check(parseArguments(item.arguments) !== undefined, 'the arguments are not a JSON object');
      }
    }
    const typed = TYPED_CALLS[item.type];
    if (typed !== undefined) {
      at.check(value['call_id'] === item.value['call_id'], 'item.call_id has changed');
      at.object(value[typed], `item.${typed}`);
    }
    if (item.type === 'message') {
      const content = at.array(value['content'], 'item.content');
      at.check(
        content.length === item.parts,
        `the item has ${content.length} parts and ${item.parts} were sent`,
      );
    }
    this.output.push(value);
    this.item = undefined;
  }

  #onEnd(type: string, data: JsonRecord, at: Place): void {
    const response = at.object(data['response'], 'response');
    const status = STATUS_OF_END[type];
    at.check(response['status'] === status, `response.status is not ${JSON.stringify(status)}`);
    at.check(response['id'] === this.begun['id'], 'another response id');
    if (status === 'failed') {
      this.error = at.object(response['error'], 'response.error');
      at.filled(this.error['message'], 'response.error.message');
    } else {
      at.check(this.item === undefined, `item ${this.output.length} is still open`);
      at.check(
        isDeepStrictEqual(response['output'], this.output),
        'response.output is not the items that were sent',
      );
      this.#checkUsage(at.object(response['usage'], 'response.usage'), at);
    }
    if (status === 'incomplete') {
      at.filled(at.object(response['incomplete_details'], 'incomplete_details')['reason'], 'the reason');
    }
    this.response = response;
    this.phase = 'over';
  }

  #checkUsage(usage: JsonRecord, at: Place): void {
    const input = at.count(usage['input_tokens'], 'usage.input_tokens');
    const output = at.count(usage['output_tokens'], 'usage.output_tokens');
    at.check(usage['total_tokens'] === input + output, 'usage.total_tokens is not the sum');
    at.object(usage['input_tokens_details'], 'usage.input_tokens_details');
    at.object(usage['output_tokens_details'], 'usage.output_tokens_details');
  }

  #onError(data: JsonRecord, at: Place): void {
    at.check(this.phase !== 'failed', 'a second error');
    at.filled(data['message'], 'message');
    this.error = data;
    this.phase = 'failed';
  }

  /** The API says it twice: as an error, and as the response that it ends. */
  #onFailed(type: string, data: JsonRecord, at: Place): void {
    at.check(type === 'response.failed', 'nothing but response.failed may come after an error');
    const { error } = this;
    this.#onEnd(type, data, at);
    this.error = error;
  }
}

/** Throws StreamViolation with the event and the reason; returns what a client has at the end. */
export function validateResponsesStream(
  events: readonly SseEvent[],
  { error = 'refused' }: ValidateOptions = {},
): ResponsesStreamResult {
  const stream = new ResponsesStream();
  for (const [index, event] of events.entries()) stream.push(event, new Place(index, event));
  const end = new Place(events.length, undefined);
  if (error === 'refused')
    end.check(stream.error === undefined, `the stream failed: ${stream.error?.['message']}`);
  if (error === 'expected') end.check(stream.error !== undefined, 'the stream did not fail');
  end.check(stream.phase === 'over' || stream.phase === 'failed', 'the stream ends without its last event');
  return {
    id: String(stream.begun['id'] ?? ''),
    model: String(stream.begun['model'] ?? ''),
    output: stream.output,
    response: stream.response,
    ...(stream.error === undefined ? {} : { error: stream.error }),
  };
}
