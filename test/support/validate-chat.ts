/** Holds a stream of `/v1/chat/completions` to what its strictest clients accept. */
import type { SseEvent } from './sse.js';
import type { ValidateOptions } from './validate-anthropic.js';
import { isRecord, type JsonRecord, Place, parseArguments } from './violation.js';

export interface ChatCall {
  id: string;
  name: string;
  arguments: string;
}

export interface ChatStreamResult {
  id: string;
  model: string;
  content: string;
  /** `reasoning_content`, which many servers of this dialect add. */
  reasoning: string;
  refusal: string;
  calls: ChatCall[];
  finishReason: string | undefined;
  usage: JsonRecord | undefined;
  error?: JsonRecord;
}

export interface ChatValidateOptions extends ValidateOptions {
  /** Whether the chunk that `include_usage` asks for must be there. Allowed without. */
  usage?: 'required' | 'refused' | 'allowed';
}

const FINISH_REASONS = new Set(['stop', 'length', 'tool_calls', 'content_filter']);
const CUT_OFF = new Set(['length', 'content_filter']);
/** Fields that every chunk of one answer repeats. */
const CONSTANT = ['id', 'created', 'model'] as const;

class ChatStream {
  phase: 'before' | 'open' | 'finished' | 'counted' | 'failed' | 'over' = 'before';
  first: JsonRecord = {};
  content = '';
  reasoning = '';
  refusal = '';
  calls: ChatCall[] = [];
  finishReason: string | undefined;
  usage: JsonRecord | undefined;
  error: JsonRecord | undefined;

  push(event: SseEvent, at: Place): void {
    at.check(event.event === '', 'events of this wire have no name');
    at.check(this.phase !== 'over', 'nothing may come after [DONE]');
    if (event.data === '[DONE]') {
      at.check(this.phase !== 'before' && this.phase !== 'open', '[DONE] before a finish_reason');
      this.phase = 'over';
      return;
    }
    at.check(this.phase !== 'failed', 'only [DONE] may come after an error');
    const chunk = at.json(event.data);
    if (chunk['error'] !== undefined) {
      this.#onError(chunk['error'], at);
      return;
    }
    at.check(chunk['object'] === 'chat.completion.chunk', 'object is not "chat.completion.chunk"');
    this.#checkConstants(chunk, at);
    const choices = at.array(chunk['choices'], 'choices');
    if (choices.length === 0) {
      this.#onUsage(chunk, at);
      return;
    }
    at.check(choices.length === 1, 'more than one choice');
    at.check(this.phase !== 'counted', 'a choice after the usage');
    this.#onChoice(at.object(choices[0], 'choice'), at);
    if (isRecord(chunk['usage'])) this.#setUsage(chunk['usage'], at);
  }

  #checkConstants(chunk: JsonRecord, at: Place): void {
    if (this.phase === 'before') {
      at.filled(chunk['id'], 'id');
      at.filled(chunk['model'], 'model');
      at.count(chunk['created'], 'created');
      this.first = chunk;
    }
    for (const field of CONSTANT) {
      at.check(chunk[field] === this.first[field], `${field} is not the one of the first chunk`);
    }
  }

  #onChoice(choice: JsonRecord, at: Place): void {
    at.check(choice['index'] === 0, 'choice.index is not 0');
    const delta = at.object(choice['delta'], 'delta');
    if (this.phase === 'before') {
      at.check(delta['role'] === 'assistant', 'the first delta does not name the role');
      this.phase = 'open';
    }
    at.check(this.phase === 'open' || Object.keys(delta).length === 0, 'content after the finish_reason');
    this.content += this.#text(delta, 'content', at);
    this.reasoning += this.#text(delta, 'reasoning_content', at);
    this.refusal += this.#text(delta, 'refusal', at);
    const calls = delta['tool_calls'] ?? [];
    for (const each of at.array(calls, 'tool_calls')) this.#onCall(at.object(each, 'tool_calls[]'), at);
    at.check(choice['finish_reason'] !== undefined, 'finish_reason is left out');
    if (choice['finish_reason'] !== null) this.#onFinish(choice['finish_reason'], at);
  }

  #text(delta: JsonRecord, field: string, at: Place): string {
    const value = delta[field];
    return value === undefined || value === null ? '' : at.string(value, `delta.${field}`);
  }

  #onCall(delta: JsonRecord, at: Place): void {
    const index = at.count(delta['index'], 'tool_calls[].index');
    const fields = at.object(delta['function'], 'tool_calls[].function');
    const known = this.calls[index];
    if (known === undefined) {
      at.check(index === this.calls.length, `call ${index} opens and the next is ${this.calls.length}`);
      const id = at.filled(delta['id'], 'tool_calls[].id');
      at.check(!this.calls.some((each) => each.id === id), `call id ${id} was used before`);
      at.check(delta['type'] === 'function', 'tool_calls[].type is not "function"');
      const name = at.filled(fields['name'], 'tool_calls[].function.name');
      this.calls.push({ id, name, arguments: at.string(fields['arguments'] ?? '', 'arguments') });
      return;
    }
    // Clients join what repeats: a second id or name would be appended to the first.
    at.check(delta['id'] === undefined, `the id of call ${index} is sent again`);
    at.check(fields['name'] === undefined, `the name of call ${index} is sent again`);
    known.arguments += at.string(fields['arguments'], 'arguments');
  }

  #onFinish(value: unknown, at: Place): void {
    const reason = at.filled(value, 'finish_reason');
    at.check(this.finishReason === undefined, 'a second finish_reason');
    at.check(FINISH_REASONS.has(reason), `unknown finish_reason ${reason}`);
    const cutOff = CUT_OFF.has(reason);
    if (reason === 'tool_calls')
      at.check(this.calls.length > 0, 'finish_reason is tool_calls and there are none');
    if (this.calls.length > 0) {
      at.check(reason === 'tool_calls' || cutOff, `there are tool calls and finish_reason is ${reason}`);
    }
    for (const [index, call] of this.calls.entries()) {
      const last = index === this.calls.length - 1;
      const whole = parseArguments(call.arguments) !== undefined;
      at.check(whole || (last && cutOff), `the arguments of call ${index} are not a JSON object`);
    }
    this.finishReason = reason;
    this.phase = 'finished';
  }

  #onUsage(chunk: JsonRecord, at: Place): void {
    at.check(this.phase === 'finished', 'the usage chunk does not follow the finish_reason');
    this.#setUsage(at.object(chunk['usage'], 'usage'), at);
    this.phase = 'counted';
  }

  #setUsage(usage: JsonRecord, at: Place): void {
    at.check(this.usage === undefined, 'usage for a second time');
    const prompt = at.count(usage['prompt_tokens'], 'usage.prompt_tokens');
    const completion = at.count(usage['completion_tokens'], 'usage.completion_tokens');
    at.check(usage['total_tokens'] === prompt + completion, 'usage.total_tokens is not the sum');
    this.usage = usage;
  }

  #onError(value: unknown, at: Place): void {
    const error = at.object(value, 'error');
    at.filled(error['message'], 'error.message');
    at.filled(error['type'], 'error.type');
    at.check(this.phase !== 'counted' && this.phase !== 'finished', 'an error after the finish_reason');
    this.error = error;
    this.phase = 'failed';
  }
}

/** Throws StreamViolation with the event and the reason; returns what a client has at the end. */
export function validateChatStream(
  events: readonly SseEvent[],
  { error = 'refused', usage = 'allowed' }: ChatValidateOptions = {},
): ChatStreamResult {
  const stream = new ChatStream();
  for (const [index, event] of events.entries()) stream.push(event, new Place(index, event));
  const end = new Place(events.length, undefined);
  if (error === 'refused')
    end.check(stream.error === undefined, `the stream failed: ${stream.error?.['message']}`);
  if (error === 'expected') end.check(stream.error !== undefined, 'the stream did not fail');
  end.check(stream.phase === 'over' || stream.error !== undefined, 'the stream ends without [DONE]');
  if (usage === 'required') end.check(stream.usage !== undefined, 'the usage chunk is missing');
  if (usage === 'refused') end.check(stream.usage === undefined, 'usage that nobody asked for');
  return {
    id: String(stream.first['id'] ?? ''),
    model: String(stream.first['model'] ?? ''),
    content: stream.content,
    reasoning: stream.reasoning,
    refusal: stream.refusal,
    calls: stream.calls,
    finishReason: stream.finishReason,
    usage: stream.usage,
    ...(stream.error === undefined ? {} : { error: stream.error }),
  };
}
