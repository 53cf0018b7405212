/**
 * A stream whose engine has not said a word yet. For a while the status is kept open, so that an
 * error can still be one; after that the head goes out and pings follow, because a client that
 * gets nothing gives up and sends the same request again.
 */
import type { GatewayError } from '../../core/errors.js';
import type { ModelEvent } from '../../core/events.js';
import { StreamLifecycle } from '../../core/lifecycle.js';
import type { StreamEncoder } from '../../dialects/shared/dialect.js';
import type { Exchange } from '../http/exchange.js';
import { baseHeaders } from '../http/respond.js';
import { SseWriter } from '../http/sse-writer.js';
import type { Ticking } from '../http/stream-clock.js';
import type { ActivityFeed } from './activity-feed.js';
import { SSE_HEADERS } from './stream-answer.js';

export class EarlyStream implements Ticking {
  quietTicks = 0;
  readonly stalledTicks = undefined;
  readonly #exchange: Exchange;
  readonly #encoder: StreamEncoder;
  readonly #feed: ActivityFeed | undefined;
  #writer: SseWriter | undefined;
  #headers: Readonly<Record<string, string>> = {};

  constructor(exchange: Exchange, encoder: StreamEncoder, feed?: ActivityFeed) {
    this.#exchange = exchange;
    this.#encoder = encoder;
    this.#feed = feed;
  }

  /** Set once the head is out: the answer goes on there. */
  get writer(): SseWriter | undefined {
    return this.#writer;
  }

  /** Headers for a head that goes out before the answer is there. */
  announce(headers: Readonly<Record<string, string>>): void {
    this.#headers = headers;
  }

  onQuiet(): void {
    this.#begin().write(this.#encoder.encode([{ type: 'ping' }]));
  }

  onStall(): void {}

  /** False while the status can still say it, unless the client looks for it in an answer. */
  fail(error: GatewayError, model: string, inAnswer: boolean): boolean {
    if (this.#writer === undefined && !inAnswer) return false;
    this.#exchange.facts.error = error;
    const lifecycle = new StreamLifecycle({ id: this.#exchange.id, model });
    const events: ModelEvent[] = inAnswer ? [{ type: 'start' }] : [];
    const writer = this.#begin();
    this.#feed?.close();
    writer.write(this.#encoder.encode(lifecycle.push([...events, { type: 'error', error }])));
    writer.end();
    return true;
  }

  #begin(): SseWriter {
    if (this.#writer !== undefined) return this.#writer;
    const { response, recorder } = this.#exchange;
    const headers = { ...baseHeaders(this.#exchange), ...this.#headers, ...SSE_HEADERS };
    this.#writer = new SseWriter(response, 200, headers);
    this.#feed?.open(this.#writer, (text) => recorder?.emitted(text));
    return this.#writer;
  }
}
