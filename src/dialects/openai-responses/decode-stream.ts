/** The event stream of an upstream: wire to neutral. */
import type { JsonObject } from '../../core/conversation.js';
import { GatewayError } from '../../core/errors.js';
import type { ModelEvent } from '../../core/events.js';
import { isObject } from '../../core/is-object.js';
import type { ServerSentEvent } from '../../core/server-sent-event.js';
import type { StreamDecoder } from '../shared/dialect.js';
import { readEmbeddedError, readErrorBody } from '../shared/openai-error-body.js';
import { embeddedError } from '../shared/openai-errors.js';
import type { ToolNames } from '../shared/tool-names.js';
import { AnswerDecoder } from './decode-answer.js';

const SHOWN = 200;

export function createStreamDecoder(names: ToolNames): StreamDecoder {
  return new ResponseStreamDecoder(names);
}

class ResponseStreamDecoder implements StreamDecoder {
  readonly #answer: AnswerDecoder;
  #done = false;

  constructor(names: ToolNames) {
    this.#answer = new AnswerDecoder(names);
  }

  get done(): boolean {
    return this.#done;
  }

  push({ event, data }: ServerSentEvent, out: ModelEvent[]): void {
    if (this.#done || data === '') return;
    let value: unknown;
    try {
      value = JSON.parse(data);
    } catch {
      this.#onText(event, data.trim(), out);
      return;
    }
    if (isObject(value)) this.#onEvent(value, event, out);
    else if (event === 'error' || Array.isArray(value)) this.#onError(value, out);
  }

  end(out: ModelEvent[]): void {
    if (this.#done) return;
    const what = this.#answer.started ? 'before its answer was complete' : 'without an answer';
    this.#fail(`The upstream closed the connection ${what}. Retry the request.`, out);
  }

  #onEvent(value: JsonObject, event: string, out: ModelEvent[]): void {
    const answer = this.#answer;
    const type = value['type'] ?? event;
    switch (type) {
      case 'response.output_text.delta':
        answer.text(value, value['delta'], out);
        return;
      case 'response.function_call_arguments.delta':
      case 'response.custom_tool_call_input.delta':
        answer.input(value, value['delta'], out);
        return;
      case 'response.reasoning_summary_text.delta':
        answer.thinking(value, 'summary', value['delta'], out);
        return;
      case 'response.reasoning_text.delta':
        answer.thinking(value, 'content', value['delta'], out);
        return;
      case 'response.output_item.added':
        if (isObject(value['item'])) answer.itemAdded(value['item'], value['output_index'], out);
        return;
      case 'response.output_item.done':
        if (isObject(value['item'])) answer.itemDone(value['item'], value['output_index'], out);
        return;
      case 'response.output_text.done':
        answer.textDone(value, value['text'], out);
        return;
      case 'response.refusal.delta':
        answer.refusal(value, value['delta'], out);
        return;
      case 'response.refusal.done':
        answer.refusalDone(value, value['refusal'], out);
        return;
      case 'response.content_part.done':
        answer.partDone(value, out);
        return;
      case 'response.reasoning_summary_text.done':
        answer.thinkingDone(value, 'summary', value['text'], out);
        return;
      case 'response.reasoning_text.done':
        answer.thinkingDone(value, 'content', value['text'], out);
        return;
      case 'response.function_call_arguments.done':
        answer.inputDone(value, value['arguments'], out);
        return;
      case 'response.custom_tool_call_input.done':
        answer.inputDone(value, value['input'], out);
        return;
      default:
        this.#onLifecycle(type, value, out);
    }
  }

  #onLifecycle(type: unknown, value: JsonObject, out: ModelEvent[]): void {
    const response = isObject(value['response']) ? value['response'] : {};
    switch (type) {
      case 'response.created':
      case 'response.in_progress':
      case 'response.queued':
        this.#answer.start(response, out);
        return;
      case 'response.completed':
      case 'response.done':
        this.#finish(response, 'completed', out);
        return;
      case 'response.incomplete':
        this.#finish(response, 'incomplete', out);
        return;
      case 'response.failed':
        this.#finish(response, 'failed', out);
        return;
      case 'response.cancelled':
        this.#finish(response, 'cancelled', out);
        return;
      case 'error':
        this.#onError(value, out);
        return;
      case 'ping':
      case 'keepalive':
        out.push({ type: 'ping' });
        return;
      default:
        // Events still to come are not errors; `{error}` without a type is one, from servers like this.
        if (value['type'] === undefined && readEmbeddedError(value) !== undefined) this.#onError(value, out);
    }
  }

  /** What the event is called counts more than what is in it. */
  #finish(response: JsonObject, status: string, out: ModelEvent[]): void {
    this.#done = true;
    this.#answer.finish(response['status'] === status ? response : { ...response, status }, out);
  }

  #onError(value: unknown, out: ModelEvent[]): void {
    this.#done = true;
    const error = readErrorBody(value);
    if (error !== undefined) this.#answer.fail(embeddedError(error), out);
    else this.#fail('The upstream failed without saying why. Retry the request.', out);
  }

  #onText(event: string, data: string, out: ModelEvent[]): void {
    // Some servers end every stream as Chat Completions does.
    if (data === '' || data === '[DONE]') return;
    if (event === 'error') this.#onError(data, out);
    else this.#fail(`The upstream sent an event that is not JSON: ${data.slice(0, SHOWN)}`, out);
  }

  #fail(message: string, out: ModelEvent[]): void {
    this.#done = true;
    this.#answer.fail(new GatewayError('upstream_failed', message, { retryable: true }), out);
  }
}
