/**
 * The byte lane of a stream: the upstream's own bytes, event by event. Nothing is held longer than
 * until its event is whole, so that whatever breaks, what the client has is a valid stream up to an
 * error event. As with translated streams, nothing is given out before the upstream has said
 * something: until then an error can still become a status, and another upstream can still answer.
 */
import type { Usage } from '../core/conversation.js';
import { GatewayError } from '../core/errors.js';
import type { ModelEvent } from '../core/events.js';
import { StreamLifecycle } from '../core/lifecycle.js';
import type { ServerSentEvent } from '../core/server-sent-event.js';
import type { Dialect, StreamDecoder } from '../dialects/shared/dialect.js';
import { ToolNames } from '../dialects/shared/tool-names.js';
import { SseReader } from '../transport/sse-reader.js';
import type { CredentialConcealer } from './conceal-credential.js';
import { isPrelude } from './first-chunk.js';
import { errorTextOf, isWholeEvent, lastWordOf, type Stage, stageOf } from './forwarded-end.js';
import type { RequestTrace } from './upstream.js';

/** An event larger than this is passed on in pieces. */
const HELD_LIMIT = 1024 * 1024;
/** An upstream that sends this much before its first word has none. */
const PRELUDE_LIMIT = 64 * 1024 * 1024;
/** Events that are kept to decide how a stream ended: no dialect ends with more. */
const RECENT = 4;
const LF = 0x0a;
const BLANK = Buffer.from('\n\n');

/** Nothing of a forwarded answer is renamed. */
export const OWN_NAMES = new ToolNames({ pattern: /^/, maxLength: 1_000 });

interface ForwardedOptions {
  trace?: RequestTrace | undefined;
  concealer?: CredentialConcealer | undefined;
  /**
   * Several answers in one stream, or one in the background: only the wire's last word ends it, and a
   * client has to have its id before the first word is said.
   */
  verbatim?: boolean;
  /** An estimate, where tokens that the upstream does not count have to be known. */
  promptTokens?: number | undefined;
}

export class ForwardedStream {
  /** What the upstream calls the answer, once it has begun. */
  id: string | undefined;
  readonly #dialect: Dialect;
  readonly #body: AsyncIterator<Buffer>;
  readonly #trace: RequestTrace | undefined;
  readonly #concealer: CredentialConcealer | undefined;
  readonly #verbatim: boolean;
  readonly #reader = new SseReader();
  /** What came before the first word. */
  #first = Buffer.alloc(0);
  /** The beginning of an event. */
  #rest: Buffer | undefined;
  #recent: readonly ServerSentEvent[] = [];
  #usage: Partial<Usage> | undefined;
  readonly #estimate: UsageEstimate | undefined;
  #ended = false;
  /** An event was too large to read: the client judges the rest. */
  #unread = false;

  private constructor(dialect: Dialect, body: AsyncIterable<Buffer>, options: ForwardedOptions) {
    this.#dialect = dialect;
    this.#body = body[Symbol.asyncIterator]();
    this.#trace = options.trace;
    this.#concealer = options.concealer;
    this.#verbatim = options.verbatim === true;
    if (options.promptTokens !== undefined) this.#estimate = new UsageEstimate(dialect, options.promptTokens);
  }

  /** Rejects with the error of a stream that begins with one, breaks, or ends without a word. */
  static async open(
    dialect: Dialect,
    body: AsyncIterable<Buffer>,
    options: ForwardedOptions = {},
  ): Promise<ForwardedStream> {
    const stream = new ForwardedStream(dialect, body, options);
    try {
      await stream.#begin();
      return stream;
    } catch (error) {
      await stream.#body.return?.();
      throw error;
    }
  }

  /** What was read of the figures so far. */
  usage(): Partial<Usage> | undefined {
    return this.#estimate?.usage ?? this.#usage;
  }

  /** The text that ends what has been given out so far; empty where it is complete. */
  failure(error: GatewayError, requestId: string): string {
    const { name, ingress } = this.#dialect;
    switch (this.#stage()) {
      case 'over':
        return '';
      case 'stopped':
        return lastWordOf(name);
      case 'open':
        return errorTextOf(name, this.#recent, ingress.encodeError(error, requestId));
    }
  }

  /** Throws GatewayError when the upstream breaks; `failure` has the text for it. */
  async *chunks(): AsyncGenerator<Uint8Array> {
    let broken: unknown;
    try {
      const first = this.#wholeEvents(this.#first);
      if (first.length > 0) yield first;
      while (!this.#ended) {
        const step = await this.#body.next();
        if (step.done === true) break;
        this.#read(step.value);
        const whole = this.#wholeEvents(step.value);
        if (whole.length > 0) yield whole;
      }
    } catch (error) {
      broken = error;
    } finally {
      await this.#body.return?.();
    }
    this.#readEnd();
    if (this.#rest !== undefined) yield Buffer.concat([this.#rest, BLANK]);
    const { name } = this.#dialect;
    const stage = this.#unread ? 'over' : this.#stage();
    if (stage === 'open') throw broken ?? endedEarly();
    const lastWord = stage === 'stopped' ? lastWordOf(name) : '';
    if (lastWord !== '') yield Buffer.from(lastWord);
  }

  #stage(): Stage {
    const stage = stageOf(this.#dialect.name, this.#recent);
    return this.#verbatim && stage === 'stopped' ? 'open' : stage;
  }

  async #begin(): Promise<void> {
    const decoder = this.#dialect.egress.createStreamDecoder(OWN_NAMES);
    const chunks: Buffer[] = [];
    let held = 0;
    for (;;) {
      const said: ModelEvent[] = [];
      const step = await this.#body.next();
      const events = step.done === true ? this.#readEnd() : this.#read(step.value);
      if (step.done !== true) held += chunks[chunks.push(step.value) - 1]?.length ?? 0;
      if (this.#unread || held > PRELUDE_LIMIT) throw tooLarge();
      for (const event of events) decoder.push(event, said);
      if (step.done === true) decoder.end(said);
      for (const event of said) if (event.type === 'start') this.id ??= event.id;
      const first = said.find((event) => this.#verbatim || !isPrelude(event));
      if (first?.type === 'error') throw this.#concealer?.error(first.error) ?? first.error;
      if (first === undefined && step.done === true) throw endedEarly();
      if (first === undefined) continue;
      this.#first = Buffer.concat(chunks);
      return;
    }
  }

  #read(chunk: Buffer): readonly ServerSentEvent[] {
    this.#trace?.upstreamChunk(chunk);
    const events: ServerSentEvent[] = [];
    if (this.#unread) return events;
    try {
      this.#reader.push(chunk, events);
    } catch {
      this.#unread = true;
    }
    this.#remember(events);
    return events;
  }

  /** What is left may be a last event that lacks only its blank line. Anything less is left out. */
  #readEnd(): readonly ServerSentEvent[] {
    const events: ServerSentEvent[] = [];
    if (this.#ended || this.#unread) return events;
    this.#ended = true;
    this.#reader.end(events);
    const isWhole = events.length > 0 && events.every(isWholeEvent);
    if (!isWhole) this.#rest = undefined;
    if (isWhole) this.#remember(events);
    return isWhole ? events : [];
  }

  #remember(events: readonly ServerSentEvent[]): void {
    if (events.length === 0) return;
    this.#recent =
      events.length >= RECENT ? events.slice(-RECENT) : [...this.#recent, ...events].slice(-RECENT);
    if (this.#estimate !== undefined) this.#estimate.read(events);
    else for (const event of events) if (event.data.includes('"usage"')) this.#readUsage(event);
  }

  /** Only the few events that speak of usage are parsed, each by a decoder of its own. */
  #readUsage(event: ServerSentEvent): void {
    const out: ModelEvent[] = [];
    this.#dialect.egress.createStreamDecoder(OWN_NAMES).push(event, out);
    this.#usage = usageIn(out, this.#usage);
  }

  #wholeEvents(chunk: Buffer): Buffer {
    const bytes = this.#rest === undefined ? chunk : Buffer.concat([this.#rest, chunk]);
    const end = endOfEvents(bytes);
    const passes = end === bytes.length || (end === 0 && bytes.length > HELD_LIMIT);
    this.#rest = passes ? undefined : bytes.subarray(end);
    const whole = passes ? bytes : bytes.subarray(0, end);
    return this.#concealer?.bytes(whole) ?? whole;
  }
}

/** Reads a stream along: of an answer whose figures do not come, the words that did are counted. */
class UsageEstimate {
  readonly #decoder: StreamDecoder;
  readonly #lifecycle: StreamLifecycle;

  constructor({ egress }: Dialect, promptTokens: number) {
    this.#decoder = egress.createStreamDecoder(OWN_NAMES);
    this.#lifecycle = lifecycleFor(promptTokens);
  }

  read(events: readonly ServerSentEvent[]): void {
    const said: ModelEvent[] = [];
    for (const event of events) this.#decoder.push(event, said);
    this.#lifecycle.push(said);
  }

  get usage(): Usage {
    return this.#lifecycle.usage;
  }
}

/** The figures in the events of a whole answer; those that are not there are estimated. */
export function estimatedUsage(events: readonly ModelEvent[], promptTokens: number): Usage {
  const lifecycle = lifecycleFor(promptTokens);
  lifecycle.push(events);
  return lifecycle.usage;
}

const lifecycleFor = (inputTokens: number): StreamLifecycle =>
  new StreamLifecycle({ id: '', model: '', estimate: { inputTokens } });

/** The figures in `events`, over those known before. */
export function usageIn(events: readonly ModelEvent[], before?: Partial<Usage>): Partial<Usage> | undefined {
  let usage = before;
  for (const event of events) {
    if ((event.type === 'usage' || event.type === 'start') && event.usage !== undefined) {
      usage = { ...usage, ...event.usage };
    }
  }
  return usage;
}

/** Behind the last event that is whole; the rest begins there. */
function endOfEvents(bytes: Buffer): number {
  const { length } = bytes;
  if (bytes[length - 1] === LF && bytes[length - 2] === LF) return length;
  for (const blank of ['\n\n', '\r\n\r\n', '\r\r']) {
    const at = bytes.lastIndexOf(blank);
    if (at >= 0) return at + blank.length;
  }
  return 0;
}

function tooLarge(): GatewayError {
  return new GatewayError('upstream_failed', 'The upstream sent too much before its answer began.');
}

function endedEarly(): GatewayError {
  return new GatewayError(
    'upstream_failed',
    'The upstream closed its stream before the answer was complete. Retry the request.',
    { retryable: true },
  );
}
