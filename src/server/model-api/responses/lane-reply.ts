/** The answer to one message of a WebSocket: the events of the stream, each as a message of its own. */
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import type { JsonObject } from '../../../core/conversation.js';
import type { GatewayError } from '../../../core/errors.js';
import { isObject } from '../../../core/is-object.js';
import type { ServerSentEvent } from '../../../core/server-sent-event.js';
import { SseReader } from '../../../transport/sse-reader.js';
import type { Exchange, SocketMessage } from '../../http/exchange.js';
import { errorHeaders } from '../../http/respond.js';
import type { StreamWriter } from '../../http/sse-writer.js';
import type { MessageSocket } from '../../http/web-socket.js';
import type { TakenOver } from '../requests/context.js';

const BEGIN = 'response.created';
const ENDS: ReadonlySet<string> = new Set([
  'response.completed',
  'response.incomplete',
  'response.failed',
  'error',
]);

interface LaneReplyOptions {
  socket: MessageSocket;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** Undefined on the lane without a name. */
  streamId: string | undefined;
  /** Called with the response of an answer that came to its end, before its client gets it. */
  onEnd(response: unknown): void;
}

export class LaneReply implements SocketMessage {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly #options: LaneReplyOptions;
  #onSent: ((taken: boolean) => void)[] = [];
  /** Once the answer is whole. */
  #sent = false;
  /** The event that began it. */
  #begun: string | undefined;
  /** Who takes it where the connection is gone. */
  #taker: TakenOver | undefined;

  constructor(options: LaneReplyOptions) {
    this.headers = options.headers;
    this.body = options.body;
    this.#options = options;
  }

  /** The response as its client got to see it begin; undefined where it has not. */
  get begun(): JsonObject | undefined {
    const event = this.#begun === undefined ? undefined : parse(this.#begun);
    return isObject(event) && isObject(event['response']) ? event['response'] : undefined;
  }

  /** What comes from now on goes there. */
  giveTo(taker: TakenOver): void {
    this.#taker = taker;
  }

  stream({ facts }: Exchange, headers: OutgoingHttpHeaders): StreamWriter {
    return new MessageWriter(this.#options.socket, {
      encode: (event) => this.#encode(event, headers, facts),
      onEnd: () => this.#end(),
    });
  }

  onSent(listener: (taken: boolean) => void): void {
    if (this.#sent) listener(this.#taker !== undefined || this.#options.socket.isOpen);
    else this.#onSent.push(listener);
  }

  fail(exchange: Exchange, error: GatewayError): void {
    if (this.#taker !== undefined) {
      this.#taker.fail(exchange, error);
      this.#end();
      return;
    }
    exchange.response.statusCode = error.status;
    const shape = exchange.encodeError(error, exchange.id);
    const headers = { 'x-request-id': exchange.id, ...errorHeaders(error) };
    this.#options.socket.send(
      this.#named(JSON.stringify({ type: 'error', status: statusOf(error), ...shape, headers })),
    );
    this.#end();
  }

  #end(): void {
    const listeners = this.#onSent;
    this.#onSent = [];
    this.#sent = true;
    if (this.#taker !== undefined) {
      // It is there for its client, who asks for it.
      for (const each of listeners) each(true);
      return;
    }
    this.#options.socket.onSent((taken) => {
      for (const each of listeners) each(taken);
    });
  }

  #encode(
    { event, data }: ServerSentEvent,
    headers: OutgoingHttpHeaders,
    { error }: Exchange['facts'],
  ): Encoded | undefined {
    const text = data.trim();
    // `[DONE]`, which some servers add.
    if (!text.startsWith('{') || !text.endsWith('}')) return undefined;
    const type = event === '' || event === 'message' ? typeIn(text) : event;
    if (this.#taker !== undefined) {
      this.#taker.take({ event: type, data: text });
      return undefined;
    }
    if (type === BEGIN) {
      this.#begun = text;
      return { text: this.#named(withField(text, 'headers', shown(headers))), kind: 'event' };
    }
    if (!ENDS.has(type)) return { text: this.#named(text), kind: 'event' };
    const last = parse(text);
    if (type !== 'error') {
      this.#options.onEnd(type === 'response.failed' || !isObject(last) ? undefined : last['response']);
      return { text: this.#named(text), kind: 'end' };
    }
    // Over a WebSocket an error has the status that it would have had over HTTP; clients go by it.
    const isWhole = isObject(last) && typeof last['status'] === 'number';
    const status = error === undefined ? UNKNOWN_STATUS : statusOf(error);
    return { text: this.#named(isWhole ? text : withField(text, 'status', status)), kind: 'error' };
  }

  #named(text: string): string {
    const { streamId } = this.#options;
    return streamId === undefined ? text : withField(text, 'stream_id', streamId);
  }
}

/** Of an error that an upstream put into its own stream. */
const UNKNOWN_STATUS = 500;

/** An answer that is not there is a mistake in the request here, and not in its address. */
function statusOf({ status, detail }: GatewayError): number {
  return detail === 'previous_response_not_found' ? 400 : status;
}

interface Encoded {
  text: string;
  /** `end`: nothing follows it. `error`: only a response that failed does, which then says the same. */
  kind: 'event' | 'end' | 'error';
}

interface MessageWriterOptions {
  encode(event: ServerSentEvent): Encoded | undefined;
  /** Everything was sent. */
  onEnd(): void;
}

class MessageWriter implements StreamWriter {
  quietTicks = 0;
  /** The socket has its own. */
  readonly stalledTicks = undefined;
  onQuiet: () => void = () => {};
  readonly #socket: MessageSocket;
  readonly #options: MessageWriterOptions;
  readonly #reader = new SseReader();
  #isOver = false;
  /** Held back: clients look for a response that failed first, and give up at an error. */
  #error: string | undefined;
  #ended = false;

  constructor(socket: MessageSocket, options: MessageWriterOptions) {
    this.#socket = socket;
    this.#options = options;
  }

  get behind(): boolean {
    return this.#socket.behind;
  }

  write(text: string): boolean {
    return this.writeBytes(Buffer.from(text));
  }

  writeBytes(bytes: Uint8Array): boolean {
    const events: ServerSentEvent[] = [];
    this.#reader.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), events);
    return this.#send(events);
  }

  drained(): Promise<void> {
    return this.#socket.drained();
  }

  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    const events: ServerSentEvent[] = [];
    this.#reader.end(events);
    this.#send(events);
    // The end of an HTTP stream says that nothing comes any more; here only an event does.
    if (!this.#isOver) this.#send([{ event: 'error', data: JSON.stringify(BROKEN_OFF) }]);
    if (!this.#isOver && this.#error !== undefined) this.#socket.send(this.#error);
    this.#options.onEnd();
  }

  onStall(): void {}

  #send(events: readonly ServerSentEvent[]): boolean {
    let keepsUp = !this.#socket.behind;
    for (const event of events) {
      const message = this.#isOver ? undefined : this.#options.encode(event);
      if (message === undefined) continue;
      if (message.kind === 'error') {
        this.#error ??= message.text;
        continue;
      }
      this.#isOver = message.kind === 'end';
      keepsUp = this.#socket.send(message.text);
    }
    return keepsUp;
  }
}

const BROKEN_OFF = {
  type: 'error',
  status: 502,
  error: {
    type: 'server_error',
    code: 'upstream_failed',
    message: 'The answer broke off before it was complete. Retry the request.',
    param: null,
  },
} as const;

/** Headers of an answer over HTTP that a client may go by, in the event that begins it. */
const SHOWN = /^(?:x-(?!content-type|accel)|openai-|retry-after)/;

function shown(headers: OutgoingHttpHeaders): object {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => SHOWN.test(name)));
}

/** `text` is a JSON object that is not empty. */
function withField(text: string, name: string, value: unknown): string {
  return `${text.slice(0, -1)},${JSON.stringify(name)}:${JSON.stringify(value)}}`;
}

function typeIn(text: string): string {
  const value = parse(text);
  return isObject(value) && typeof value['type'] === 'string' ? value['type'] : '';
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
