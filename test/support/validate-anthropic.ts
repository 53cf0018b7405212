/** Holds a stream of `/v1/messages` to what its strictest clients accept. */
import type { SseEvent } from './sse.js';
import { type JsonRecord, Place, parseArguments } from './violation.js';

export interface AnthropicStreamResult {
  /** As a whole answer would hold it. */
  content: JsonRecord[];
  id: string;
  model: string;
  /** `undefined` where the stream ended in an error. */
  stopReason: string | undefined;
  stopSequence: string | null;
  /** The figures of `message_start`, overlaid by those of `message_delta`. */
  usage: JsonRecord;
  error?: { type: string; message: string };
}

export interface ValidateOptions {
  /** Whether the stream must end well (the default), must fail, or may do either. */
  error?: 'refused' | 'expected' | 'allowed';
}

const STOP_REASONS = new Set([
  'end_turn',
  'max_tokens',
  'stop_sequence',
  'tool_use',
  'pause_turn',
  'compaction',
  'refusal',
  'model_context_window_exceeded',
]);

/** Reasons that may stand beside a client's tool call other than `tool_use`: the answer was cut off. */
const CUT_OFF = new Set(['max_tokens', 'refusal', 'model_context_window_exceeded']);

const DELTAS_OF: Readonly<Record<string, readonly string[]>> = {
  text: ['text_delta', 'citations_delta'],
  thinking: ['thinking_delta', 'signature_delta'],
  tool_use: ['input_json_delta'],
  server_tool_use: ['input_json_delta'],
  mcp_tool_use: ['input_json_delta'],
  compaction: ['compaction_delta'],
};

const TOOL_ID = /^[a-zA-Z0-9_-]+$/;
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,128}$/;

interface OpenBlock {
  value: JsonRecord;
  type: string;
  input: string;
  signed: boolean;
}

class AnthropicStream {
  phase: 'before' | 'open' | 'closing' | 'over' = 'before';
  content: JsonRecord[] = [];
  block: OpenBlock | undefined;
  message: JsonRecord = {};
  usage: JsonRecord = {};
  stopReason: string | undefined;
  stopSequence: string | null = null;
  error: { type: string; message: string } | undefined;
  /** A tool input that does not parse is right only in an answer that was cut off there. */
  brokenInput: number | undefined;

  push(event: SseEvent, at: Place): void {
    at.check(event.data !== '[DONE]', 'this wire has no [DONE]');
    const data = at.json(event.data);
    const type = at.filled(data['type'], 'type');
    at.check(
      event.event === type,
      `the event is named ${JSON.stringify(event.event)} and its type is ${type}`,
    );
    at.check(this.phase !== 'over', 'nothing may come after the end');
    switch (type) {
      case 'ping':
        return;
      case 'message_start':
        this.#onStart(data, at);
        break;
      case 'content_block_start':
        this.#onBlockStart(data, at);
        break;
      case 'content_block_delta':
        this.#onBlockDelta(data, at);
        break;
      case 'content_block_stop':
        this.#onBlockStop(data, at);
        break;
      case 'message_delta':
        this.#onMessageDelta(data, at);
        break;
      case 'message_stop':
        at.check(this.phase === 'closing', 'message_stop without a message_delta before it');
        this.phase = 'over';
        return;
      case 'error':
        this.#onError(data, at);
        break;
      default:
        at.fail(`unknown event type ${type}`);
    }
  }

  #onStart(data: JsonRecord, at: Place): void {
    at.check(this.phase === 'before', 'a second message_start');
    const message = at.object(data['message'], 'message');
    at.filled(message['id'], 'message.id');
    at.filled(message['model'], 'message.model');
    at.check(message['type'] === 'message', 'message.type is not "message"');
    at.check(message['role'] === 'assistant', 'message.role is not "assistant"');
    at.check(at.array(message['content'], 'message.content').length === 0, 'message.content is not empty');
    at.check(message['stop_reason'] === null, 'message.stop_reason is not null');
    at.check(message['stop_sequence'] === null, 'message.stop_sequence is not null');
    this.usage = { ...at.object(message['usage'], 'message.usage') };
    at.count(this.usage['input_tokens'], 'message.usage.input_tokens');
    at.count(this.usage['output_tokens'], 'message.usage.output_tokens');
    this.message = message;
    this.phase = 'open';
  }

  #onBlockStart(data: JsonRecord, at: Place): void {
    at.check(this.phase === 'open', 'a block outside of message_start and message_delta');
    at.check(this.block === undefined, `block ${this.content.length - 1} is still open`);
    at.check(data['index'] === this.content.length, `the index is not ${this.content.length}`);
    const value = { ...at.object(data['content_block'], 'content_block') };
    const type = at.filled(value['type'], 'content_block.type');
    if (type === 'text') at.check(value['text'] === '', 'a text block does not start empty');
    if (type === 'thinking') at.check(value['thinking'] === '', 'a thinking block does not start empty');
    if (type === 'redacted_thinking') at.filled(value['data'], 'content_block.data');
    if (type === 'tool_use') this.#checkTool(value, at);
    this.content.push(value);
    this.block = { value, type, input: '', signed: false };
  }

  #checkTool(value: JsonRecord, at: Place): void {
    const id = at.filled(value['id'], 'content_block.id');
    at.check(TOOL_ID.test(id), `tool id ${id} has characters that the API refuses`);
    at.check(!this.content.some((each) => each['id'] === id), `tool id ${id} was used before`);
    at.check(
      TOOL_NAME.test(at.filled(value['name'], 'content_block.name')),
      'a tool name that the API refuses',
    );
    const input = at.object(value['input'], 'content_block.input');
    at.check(Object.keys(input).length === 0, 'the input of a tool block comes in deltas, not in its start');
  }

  #onBlockDelta(data: JsonRecord, at: Place): void {
    const { block } = this;
    if (block === undefined) at.fail('a delta and no block is open');
    at.check(data['index'] === this.content.length - 1, `the open block is ${this.content.length - 1}`);
    const delta = at.object(data['delta'], 'delta');
    const type = at.filled(delta['type'], 'delta.type');
    at.check(DELTAS_OF[block.type]?.includes(type) === true, `${type} in a ${block.type} block`);
    if (type === 'text_delta') block.value['text'] += at.string(delta['text'], 'delta.text');
    if (type === 'thinking_delta') {
      at.check(!block.signed, 'thinking after its signature');
      block.value['thinking'] += at.string(delta['thinking'], 'delta.thinking');
    }
    if (type === 'signature_delta') {
      block.signed = true;
      block.value['signature'] =
        (block.value['signature'] ?? '') + at.filled(delta['signature'], 'delta.signature');
    }
    if (type === 'compaction_delta') block.value['content'] = delta['content'];
    if (type === 'input_json_delta') block.input += at.string(delta['partial_json'], 'delta.partial_json');
  }

  #onBlockStop(data: JsonRecord, at: Place): void {
    const { block } = this;
    if (block === undefined) at.fail('content_block_stop and no block is open');
    at.check(data['index'] === this.content.length - 1, `the open block is ${this.content.length - 1}`);
    if (DELTAS_OF[block.type]?.includes('input_json_delta') === true) {
      const input = parseArguments(block.input);
      if (input === undefined) this.brokenInput = this.content.length - 1;
      block.value['input'] = input ?? block.input;
    }
    this.block = undefined;
  }

  #onMessageDelta(data: JsonRecord, at: Place): void {
    at.check(
      this.phase === 'open',
      this.phase === 'before' ? 'message_delta first' : 'a second message_delta',
    );
    at.check(this.block === undefined, `block ${this.content.length - 1} is still open`);
    const delta = at.object(data['delta'], 'delta');
    const reason = at.filled(delta['stop_reason'], 'delta.stop_reason');
    at.check(STOP_REASONS.has(reason), `unknown stop_reason ${reason}`);
    const sequence = delta['stop_sequence'];
    if (reason === 'stop_sequence') at.filled(sequence, 'delta.stop_sequence');
    else at.check(sequence === null, 'delta.stop_sequence is not null');
    const called = this.content.some((block) => block['type'] === 'tool_use');
    if (reason === 'tool_use') at.check(called, 'stop_reason is tool_use and no tool was called');
    if (called)
      at.check(
        reason === 'tool_use' || CUT_OFF.has(reason),
        `a tool was called and stop_reason is ${reason}`,
      );
    if (this.brokenInput !== undefined) {
      const last = this.brokenInput === this.content.length - 1;
      at.check(
        last && CUT_OFF.has(reason),
        `the tool input of block ${this.brokenInput} is not a JSON object`,
      );
    }
    const usage = at.object(data['usage'], 'usage');
    at.count(usage['output_tokens'], 'usage.output_tokens');
    this.usage = { ...this.usage, ...usage };
    this.stopReason = reason;
    this.stopSequence = typeof sequence === 'string' ? sequence : null;
    this.phase = 'closing';
  }

  #onError(data: JsonRecord, at: Place): void {
    at.check(this.block === undefined, `block ${this.content.length - 1} is still open`);
    at.check(this.phase !== 'closing', 'an error after message_delta');
    const error = at.object(data['error'], 'error');
    this.error = {
      type: at.filled(error['type'], 'error.type'),
      message: at.filled(error['message'], 'error.message'),
    };
    this.phase = 'over';
  }
}

/** Throws StreamViolation with the event and the reason; returns what a client has at the end. */
export function validateAnthropicStream(
  events: readonly SseEvent[],
  { error = 'refused' }: ValidateOptions = {},
): AnthropicStreamResult {
  const stream = new AnthropicStream();
  for (const [index, event] of events.entries()) stream.push(event, new Place(index, event));
  const end = new Place(events.length, undefined);
  end.check(stream.phase === 'over', 'the stream ends without message_stop');
  if (error === 'refused')
    end.check(stream.error === undefined, `the stream failed: ${stream.error?.message}`);
  if (error === 'expected') end.check(stream.error !== undefined, 'the stream did not fail');
  return {
    content: stream.content,
    id: String(stream.message['id'] ?? ''),
    model: String(stream.message['model'] ?? ''),
    stopReason: stream.stopReason,
    stopSequence: stream.stopSequence,
    usage: stream.usage,
    ...(stream.error === undefined ? {} : { error: stream.error }),
  };
}
