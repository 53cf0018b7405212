/** Streams an answer to its reader: never faster than it is read, never longer than it is wanted. */
import { type DialectName, NO_USAGE } from '../../../core/conversation.js';
import { GatewayError, toGatewayError } from '../../../core/errors.js';
import { type AnswerEvent, isContent, type ModelEvent } from '../../../core/events.js';
import { StreamLifecycle } from '../../../core/lifecycle.js';
import type { StreamEncoder } from '../../../dialects/shared/dialect.js';
import type { AnswerBody } from '../../../engines/engine.js';
import type { Exchange } from '../../http/exchange.js';
import { baseHeaders } from '../../http/respond.js';
import type { StreamWriter, Ticking } from '../../http/sse-writer.js';
import type { ActivityFeed } from './activity-feed.js';
import type { ModelApiContext } from './context.js';

export const SSE_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  // nginx would collect the events otherwise.
  'x-accel-buffering': 'no',
};

const PING: readonly ModelEvent[] = [{ type: 'ping' }];
/** A comment: every reader of event streams skips it. */
const PING_COMMENT = ': ping\n\n';
const NEWLINE = 0x0a;

export type EventsBody = Extract<AnswerBody, { kind: 'events' }>;
type BytesBody = Extract<AnswerBody, { kind: 'bytes' }>;

/** Resolves when the answer is written, whole or with an error event at its end. Never rejects. */
export async function streamEvents(
  exchange: Exchange,
  context: ModelApiContext,
  writer: StreamWriter,
  body: EventsBody & { dialect: DialectName },
  lifecycle: StreamLifecycle,
  encoder: StreamEncoder,
  feed?: ActivityFeed,
): Promise<void> {
  const { facts } = exchange;
  feed?.open(writer, (text) => exchange.recorder?.emitted(text));
  const say = (events: readonly AnswerEvent[]): boolean => {
    if (lifecycle.finished) {
      noteError(exchange, events.at(-1));
      feed?.close();
    } else feed?.flush();
    const text = encoder.encode(events);
    if (text === '') return true;
    if (facts.firstTokenAt === undefined && events.some(isContent)) facts.firstTokenAt = performance.now();
    exchange.recorder?.emitted(text);
    return writer.write(text);
  };
  writer.onQuiet = () => {
    say(lifecycle.push(PING));
  };
  await streaming(exchange, context, writer, body.batches, {
    take: (batch) => {
      noteForeign(batch, body.dialect, lifecycle);
      return say(lifecycle.push(batch));
    },
    finished: () => lifecycle.finished,
    end: () => say(lifecycle.end()),
    fail: (error) => say(lifecycle.push([{ type: 'error', error }])),
  });
}

/** The same for bytes that are the client's own dialect already. */
export async function streamBytes(
  exchange: Exchange,
  context: ModelApiContext,
  writer: StreamWriter,
  body: BytesBody,
  encoder: StreamEncoder | undefined,
): Promise<void> {
  const isEvents = body.contentType.includes('text/event-stream');
  let betweenEvents = true;
  writer.onQuiet = () => {
    if (isEvents && betweenEvents) writer.write(PING_COMMENT);
  };
  await streaming(exchange, context, writer, body.chunks, {
    take: (chunk) => {
      if (chunk.length === 0) return true;
      if (isEvents) {
        exchange.facts.firstTokenAt ??= performance.now();
        betweenEvents = endsEvent(chunk);
      }
      return writer.writeBytes(chunk);
    },
    finished: () => false,
    end: () => {},
    fail: (error) => {
      exchange.facts.error = error;
      if (isEvents && encoder !== undefined) {
        const text = body.failure?.(error, exchange.id) ?? encoder.encode([{ type: 'error', error }]);
        if (text !== '') writer.write((betweenEvents ? '' : '\n\n') + text);
      } else {
        // Half of a JSON body: only a broken connection says that it is not the whole.
        exchange.response.destroy();
      }
    },
  });
  const usage = body.usage();
  if (usage !== undefined) exchange.facts.usage = { ...NO_USAGE, ...usage };
}

/** Blocks that only another dialect knows are left out of a stream whose head is already out: log and trace say so. */
function noteForeign(batch: readonly ModelEvent[], dialect: DialectName, { losses }: StreamLifecycle): void {
  for (const event of batch) {
    if (event.type !== 'block' || event.block.type !== 'opaque' || event.block.dialect === dialect) continue;
    losses.add('content', `${event.block.kind}: only ${event.block.dialect} has it`);
  }
}

interface Sink<T> {
  /** False when the reader is behind. */
  take(piece: T): boolean;
  /** The answer is over before its source is. */
  finished(): boolean;
  end(): void;
  fail(error: GatewayError): void;
}

async function streaming<T>(
  exchange: Exchange,
  { clock, metrics, log }: ModelApiContext,
  writer: StreamWriter,
  source: AsyncIterable<T>,
  sink: Sink<T>,
): Promise<void> {
  const iterator = source[Symbol.asyncIterator]();
  clock.add(writer);
  metrics.openStreams.add(1);
  try {
    await exchange.untilAborted(pump(exchange, writer, iterator, sink));
  } catch (error) {
    stop(iterator);
    if (!(error instanceof GatewayError)) log.error({ id: exchange.id, err: error }, 'bug while streaming');
    if (exchange.clientGone) exchange.facts.error = toGatewayError(error);
    else sink.fail(toGatewayError(error));
  } finally {
    clock.delete(writer);
    metrics.openStreams.add(-1);
    writer.end();
  }
}

async function pump<T>(
  exchange: Exchange,
  writer: StreamWriter,
  iterator: AsyncIterator<T>,
  sink: Sink<T>,
): Promise<void> {
  for (;;) {
    const step = await iterator.next();
    if (exchange.failure !== undefined) return;
    if (step.done) break;
    if (!sink.take(step.value)) await writer.drained();
    if (sink.finished()) {
      stop(iterator);
      return;
    }
  }
  sink.end();
}

/** Cancels what the iterator stands for, without waiting: it may be in the middle of a read. */
export function stop(iterator: AsyncIterator<unknown>): void {
  iterator.return?.(undefined).catch(() => {});
}

function noteError(exchange: Exchange, last: AnswerEvent | undefined): void {
  if (last?.type === 'error') exchange.facts.error = last.error;
}

function endsEvent(chunk: Uint8Array): boolean {
  const last = chunk.length - 1;
  if (chunk[last] !== NEWLINE) return false;
  return chunk[last - 1] === NEWLINE || (chunk[last - 1] === 0x0d && chunk[last - 2] === NEWLINE);
}

/**
 * A stream whose engine has not said a word yet. For a while the status is kept open, so that an
 * error can still be one; after that the head goes out and pings follow, because a client that
 * gets nothing gives up and sends the same request again.
 */
export class EarlyStream implements Ticking {
  quietTicks = 0;
  readonly stalledTicks = undefined;
  readonly #exchange: Exchange;
  readonly #encoder: StreamEncoder;
  readonly #feed: ActivityFeed | undefined;
  #writer: StreamWriter | undefined;
  #headers: Readonly<Record<string, string>> = {};

  constructor(exchange: Exchange, encoder: StreamEncoder, feed?: ActivityFeed) {
    this.#exchange = exchange;
    this.#encoder = encoder;
    this.#feed = feed;
  }

  /** Set once the head is out: the answer goes on there. */
  get writer(): StreamWriter | undefined {
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

  #begin(): StreamWriter {
    if (this.#writer !== undefined) return this.#writer;
    const { recorder } = this.#exchange;
    const headers = { ...baseHeaders(this.#exchange), ...this.#headers, ...SSE_HEADERS };
    this.#writer = this.#exchange.stream(200, headers);
    this.#feed?.open(this.#writer, (text) => recorder?.emitted(text));
    return this.#writer;
  }
}
