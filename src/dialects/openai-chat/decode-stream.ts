/** `text/event-stream` of chunks: wire to neutral. */
import type { JsonObject } from '../../core/conversation.js';
import { GatewayError } from '../../core/errors.js';
import type { ModelEvent } from '../../core/events.js';
import { isObject } from '../../core/is-object.js';
import type { ServerSentEvent } from '../../core/server-sent-event.js';
import type { StreamDecoder } from '../shared/dialect.js';
import { readErrorBody } from '../shared/openai-error-body.js';
import { embeddedError } from '../shared/openai-errors.js';
import type { ToolNames } from '../shared/tool-names.js';
import { AnswerDecoder } from './decode-answer.js';

const DONE = '[DONE]';
const SHOWN = 200;

export function createStreamDecoder(names: ToolNames): StreamDecoder {
  return new ChunkDecoder(names);
}

class ChunkDecoder implements StreamDecoder {
  readonly #answer: AnswerDecoder;
  #done = false;

  constructor(names: ToolNames) {
    this.#answer = new AnswerDecoder(names);
  }

  get done(): boolean {
    return this.#done;
  }

  push(event: ServerSentEvent, out: ModelEvent[]): void {
    if (this.#done || this.#answer.failed) return;
    const { data } = event;
    if (data.charCodeAt(0) === 0x5b && data.startsWith(DONE)) {
      this.#done = true;
      this.#answer.end(out);
      return;
    }
    const chunk = parse(data);
    if (isObject(chunk) && event.event !== 'error') this.#answer.push(chunk, out);
    else this.#other(event, chunk, out);
  }

  end(out: ModelEvent[]): void {
    if (this.#done || this.#answer.failed) return;
    this.#done = true;
    if (this.#answer.finished) {
      this.#answer.end(out);
      return;
    }
    this.#fail('The upstream closed the connection before its answer was complete. Retry the request.', out);
  }

  /** What is no chunk: an error in some shape, white space, or a broken chunk. */
  #other(event: ServerSentEvent, value: unknown, out: ModelEvent[]): void {
    const data = event.data.trim();
    if (data === '') return;
    if (data === DONE) {
      this.push({ event: event.event, data }, out);
      return;
    }
    if (event.event !== 'error' && !Array.isArray(value)) {
      this.#fail(`The upstream sent a chunk that is not JSON: ${data.slice(0, SHOWN)}`, out);
      return;
    }
    const error = readErrorBody(value ?? data);
    if (error === undefined) this.#fail(`The upstream failed: ${data.slice(0, SHOWN)}`, out);
    else this.#answer.fail(embeddedError(error), out);
  }

  #fail(message: string, out: ModelEvent[]): void {
    this.#answer.fail(new GatewayError('upstream_failed', message, { retryable: true }), out);
  }
}

function parse(data: string): JsonObject | unknown {
  try {
    return JSON.parse(data);
  } catch {
    return undefined;
  }
}
