/** One answer in the background. It needs no reader, and every reader may begin at any of its events. */
import type { IncomingHttpHeaders } from 'node:http';
import type { JsonObject } from '../../../core/conversation.js';
import { type Deferred, deferred } from '../../../core/deferred.js';
import { GatewayError } from '../../../core/errors.js';
import { isObject } from '../../../core/is-object.js';
import type { ServerSentEvent } from '../../../core/server-sent-event.js';
import { SseReader } from '../../../transport/sse-reader.js';
import type { Exchange, SocketMessage } from '../../http/exchange.js';
import type { StreamWriter } from '../../http/sse-writer.js';

/** Characters of events in memory. Of a longer answer only the newest events are held until it ends. */
const LOG_LIMIT = 16 * 1024 * 1024;

const BEGIN = 'response.created';
const ENDS: ReadonlySet<string> = new Set(['response.completed', 'response.incomplete', 'response.failed']);

interface LoggedEvent {
  sequence: number;
  text: string;
}

interface BackgroundRunOptions {
  id: string;
  /** The request as a POST that streams would carry it. */
  body: Buffer;
  headers: IncomingHttpHeaders;
  /** The response before its first event. */
  queued: JsonObject;
  /** The client may read its events. */
  streams: boolean;
}

export class BackgroundRun implements SocketMessage {
  readonly id: string;
  readonly body: Buffer;
  readonly headers: IncomingHttpHeaders;
  readonly streams: boolean;
  #response: JsonObject;
  /** Events in memory. */
  #events: LoggedEvent[] = [];
  #size = 0;
  /** Number of events so far. */
  #count = 0;
  #changed: Deferred<void> = deferred();
  #isOver = false;
  #told: ((taken: boolean) => void)[] = [];

  constructor({ id, body, headers, queued, streams }: BackgroundRunOptions) {
    this.id = id;
    this.body = body;
    this.headers = headers;
    this.streams = streams;
    this.#response = queued;
    // The client knows the id before the first event.
    for (const type of [BEGIN, 'response.queued']) this.#log(type, { response: queued });
  }

  /** The response as of the last event. */
  get response(): JsonObject {
    return this.#response;
  }

  get status(): unknown {
    return this.#response['status'];
  }

  /** All events; undefined where the client may not read them, or they were too many to hold. */
  get log(): readonly LoggedEvent[] | undefined {
    return this.streams && this.holds(-1) ? this.#events : undefined;
  }

  /** Whether the events after `after` are in memory. */
  holds(after: number): boolean {
    return after + 1 >= this.#first;
  }

  get #first(): number {
    return this.#count - this.#events.length;
  }

  stream(): StreamWriter {
    return new LogWriter((event) => this.take(event));
  }

  fail(exchange: Exchange, error: GatewayError): void {
    exchange.response.statusCode = error.status;
    this.end({ status: 'failed', error: { code: 'server_error', message: error.message } });
  }

  onSent(told: (taken: boolean) => void): void {
    this.#told.push(told);
  }

  /** Ends the run with a state that no event of it carries. */
  end(how: JsonObject): void {
    if (this.#isOver) return;
    this.#response = { ...this.#response, ...how };
    this.#log('response.failed', { response: this.#response });
    this.close();
  }

  /** Ends the streams of all readers. */
  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#changed.resolve();
    const isWhole = this.status === 'completed' || this.status === 'incomplete';
    for (const told of this.#told.splice(0)) told(isWhole);
  }

  /** The text of the events after `after`, as they come, to the end. Throws for a reader that is too slow to get them all. */
  async *read(after: number): AsyncGenerator<Uint8Array> {
    for (let last = after; ; ) {
      if (!this.holds(last)) throw eventsGone();
      const event = this.#events[last + 1 - this.#first];
      if (event !== undefined) {
        last = event.sequence;
        yield Buffer.from(event.text);
      } else if (this.#isOver) return;
      else await this.#changed.promise;
    }
  }

  /** The next event of the answer. */
  take({ event: type, data }: ServerSentEvent): void {
    if (this.#isOver) return;
    const event: unknown = JSON.parse(data);
    if (!isObject(event)) return;
    const { type: _type, sequence_number: _own, ...fields } = event;
    const { response, item } = fields;
    if (isObject(response)) this.#response = { ...response, output: outputOf(response, this.#response) };
    else if (type === 'response.output_item.done' && isObject(item)) {
      this.#response = { ...this.#response, output: [...outputOf(this.#response, {}), item] };
    }
    if (type !== BEGIN) this.#log(type, fields);
    if (ENDS.has(type)) this.close();
  }

  #log(type: string, fields: JsonObject): void {
    if (!this.streams) return;
    const sequence = this.#count;
    const data = JSON.stringify({ type, sequence_number: sequence, ...fields });
    const text = `event: ${type}\ndata: ${data}\n\n`;
    this.#count += 1;
    this.#size += text.length;
    this.#events.push({ sequence, text });
    // Drops half of them at once: dropping them one by one would move the rest each time.
    if (this.#size > LOG_LIMIT) {
      const dropped = this.#events.splice(0, this.#events.length / 2);
      for (const { text: gone } of dropped) this.#size -= gone.length;
    }
    this.#changed.resolve();
    this.#changed = deferred();
  }
}

export function eventsGone(): GatewayError {
  return new GatewayError(
    'invalid_request',
    'stream: the answer is too long for all of its events to be held. Leave stream out to get the whole, once it is over.',
    { param: 'stream' },
  );
}

/** The first events of an answer carry no items. */
function outputOf({ output }: JsonObject, before: JsonObject): readonly unknown[] {
  if (Array.isArray(output) && output.length > 0) return output;
  return Array.isArray(before['output']) ? before['output'] : [];
}

/** Nobody reads it, so writing never waits. */
class LogWriter implements StreamWriter {
  quietTicks = 0;
  readonly stalledTicks = undefined;
  readonly behind = false;
  onQuiet: () => void = () => {};
  readonly #reader = new SseReader();
  readonly #take: (event: ServerSentEvent) => void;

  constructor(take: (event: ServerSentEvent) => void) {
    this.#take = take;
  }

  write(text: string): boolean {
    return this.writeBytes(Buffer.from(text));
  }

  writeBytes(bytes: Uint8Array): boolean {
    const events: ServerSentEvent[] = [];
    this.#reader.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), events);
    for (const event of events) this.#take(event);
    return true;
  }

  async drained(): Promise<void> {}

  end(): void {}

  onStall(): void {}
}
