/**
 * A stream whose engine has not said a word yet. For a while the status is kept open, so that an
 * error can still be one; after that the head goes out and pings follow, because a client that
 * hears nothing gives up and sends the same request again.
 */
import type { GatewayError } from '../core/errors.js';
import { StreamLifecycle } from '../core/lifecycle.js';
import type { StreamEncoder } from '../dialects/dialect.js';
import type { Exchange } from './exchange.js';
import { baseHeaders } from './respond.js';
import { SseWriter } from './sse-writer.js';
import { SSE_HEADERS } from './stream-answer.js';
import type { Ticking } from './stream-clock.js';

export class EarlyStream implements Ticking {
  quietTicks = 0;
  readonly stalledTicks = undefined;
  readonly #exchange: Exchange;
  readonly #encoder: StreamEncoder;
  #writer: SseWriter | undefined;

  constructor(exchange: Exchange, encoder: StreamEncoder) {
    this.#exchange = exchange;
    this.#encoder = encoder;
  }

  /** Set once the head is out: the answer goes on there. */
  get writer(): SseWriter | undefined {
    return this.#writer;
  }

  onQuiet(): void {
    const { response } = this.#exchange;
    this.#writer ??= new SseWriter(response, 200, { ...baseHeaders(this.#exchange), ...SSE_HEADERS });
    this.#writer.write(this.#encoder.encode([{ type: 'ping' }]));
  }

  onStall(): void {}

  /** False while the status can still say it. */
  fail(error: GatewayError, model: string): boolean {
    if (this.#writer === undefined) return false;
    this.#exchange.facts.error = error;
    const lifecycle = new StreamLifecycle({ id: this.#exchange.id, model });
    this.#writer.write(this.#encoder.encode(lifecycle.push([{ type: 'error', error }])));
    this.#writer.end();
    return true;
  }
}
