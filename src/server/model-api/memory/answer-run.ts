/**
 * One request that is being answered for everyone who asks it under the same key. It runs as long
 * as there is a reader; its answer is recorded before the first reader gets its end.
 */
import type { AgentObserver } from '../../../activity/activity.js';
import {
  type AnswerFacts,
  type AnswerRecorder,
  BytesRecorder,
  EventsRecorder,
  type Identity,
  KEPT_LIMIT,
  type Recorded,
  replay,
  sizeOfBatch,
} from '../../../answers/recorded-answer.js';
import { SharedStream, type StreamReader } from '../../../answers/shared-stream.js';
import type { AssistantMessage } from '../../../core/conversation.js';
import { deferred } from '../../../core/deferred.js';
import { GatewayError } from '../../../core/errors.js';
import type { ModelEvent } from '../../../core/events.js';
import type { LifecycleOptions } from '../../../core/lifecycle.js';
import type { Dialect } from '../../../dialects/shared/dialect.js';
import type { Answer, AnswerBody, ModelRequest } from '../../../engines/engine.js';

/** An answer, with what follows from others having it too. */
export interface SharedAnswer extends Answer {
  identity: Identity;
  /** Asked at the end: whether its figures are this reader's to report. Exactly one reader reports them. */
  counts(): boolean;
}

export interface RunOptions {
  digest: string;
  dialect: Dialect;
  call: ModelRequest;
  identity: Identity;
  /** Resolves when the request is this process's to answer; rejects when `signal` fires. */
  lease(signal: AbortSignal): Promise<{ release(): Promise<void> }>;
  /** Looked for once the lease is held: another process may have answered. May throw. */
  find(): Promise<Recorded | undefined>;
  ask(call: ModelRequest): Promise<Answer>;
  /** Never rejects. */
  put(recorded: Recorded, session: string | undefined): Promise<void>;
  /** Where the answer is remembered under its own id as well. */
  keep?(
    answer: Answer,
  ): { finish(message: AssistantMessage): Promise<void>; drop(): Promise<void> } | undefined;
}

/** One reader of a run. */
export interface Joining {
  stream: boolean;
  signal: AbortSignal;
  announce?: ModelRequest['announce'];
  observe?: AgentObserver | undefined;
}

type Headers = Readonly<Record<string, string>>;
/** Of an answer of events, or of one of bytes. */
type Piece = readonly ModelEvent[] | Uint8Array;
type Opened = { kind: 'recorded'; recorded: Recorded } | { kind: 'live'; answer: Answer };

export class AnswerRun {
  readonly digest: string;
  /** Resolves when nothing of it is left, whichever way it ended. */
  get over(): Promise<void> {
    return this.#over.promise;
  }
  readonly #over = deferred();
  readonly #dialect: Dialect;
  readonly #identity: Identity;
  readonly #stream: boolean;
  readonly #pieces = new SharedStream<Piece, Joining>({
    onEnd: (whole) => this.#end(whole),
    bound: { limit: KEPT_LIMIT, sizeOf: (piece) => (isBytes(piece) ? piece.length : sizeOfBatch(piece)) },
  });
  readonly #opened: Promise<Opened>;
  #announced: Headers | undefined;
  #counted = false;
  #outcome: Recorded | undefined;
  #record: (whole: boolean) => Promise<void> = async () => {};
  #release: () => Promise<void> = async () => {};

  constructor(options: RunOptions) {
    this.digest = options.digest;
    this.#dialect = options.dialect;
    this.#identity = options.identity;
    this.#stream = options.call.request.stream;
    this.#opened = this.#open(options);
    this.#opened.catch(() => {});
  }

  /**
   * Undefined, once the run is over, where it cannot be joined: it has no reader any more, it has
   * ended, or its beginning is gone. Its maker joins a run without waiting: without
   * readers it ends.
   */
  async join(joining: Joining): Promise<SharedAnswer | undefined> {
    const reader = this.#pieces.join(joining);
    if (reader === undefined) {
      await this.over;
      return undefined;
    }
    if (this.#announced !== undefined) joining.announce?.(this.#announced);
    try {
      const opened = await this.#opened;
      if (opened.kind === 'live') return await this.#live(opened.answer, joining, reader);
      void reader.return();
      return this.#replayed(opened.recorded, joining);
    } catch (error) {
      void reader.return();
      throw error;
    }
  }

  async #live(answer: Answer, joining: Joining, reader: StreamReader<Piece>): Promise<SharedAnswer> {
    if (answer.body.kind === 'events' || joining.stream === this.#stream) {
      const body = bodyOf(answer.body, reader);
      return { ...answer, body, identity: this.#identity, counts: () => this.#claim() };
    }
    // It is wanted in another form, which is made from the whole of it.
    for await (const _piece of reader);
    if (this.#outcome === undefined) {
      throw new GatewayError(
        'upstream_failed',
        'The answer failed before it was complete. Retry the request.',
        {
          retryable: true,
        },
      );
    }
    return this.#replayed(this.#outcome, joining);
  }

  #replayed(recorded: Recorded, { stream }: Joining): SharedAnswer {
    const { answer, identity } = replay(recorded, this.#dialect, stream);
    return { ...answer, identity, counts: () => false };
  }

  /** By the first who has read to the end, or the last who leaves. */
  #claim(): boolean {
    const isOpen = this.#outcome === undefined && this.#pieces.participants.length > 0;
    if (this.#counted || isOpen) return false;
    this.#counted = true;
    return true;
  }

  async #open(options: RunOptions): Promise<Opened> {
    const { signal } = this.#pieces;
    try {
      const { release } = await options.lease(signal);
      this.#release = release;
      const recorded = await options.find();
      if (recorded !== undefined) {
        void this.#pieces.fail();
        return { kind: 'recorded', recorded };
      }
      const answer = await options.ask({
        ...options.call,
        signal,
        announce: (headers) => this.#announce(headers),
        observe: (activity) => {
          for (const { observe } of this.#pieces.participants) observe?.(activity);
        },
      });
      this.#pieces.start(this.#share(options, answer));
      return { kind: 'live', answer };
    } catch (error) {
      void this.#pieces.fail();
      throw error;
    }
  }

  #share(options: RunOptions, answer: Answer): AsyncIterator<Piece> {
    const { body, upstream, losses, headers } = answer;
    const { id, created } = this.#identity;
    const facts: AnswerFacts = { upstream, losses, headers, created };
    if (body.kind === 'events') {
      const recorder = new EventsRecorder(lifecycleOptions(options, answer), facts);
      return this.#recorded(body.batches[Symbol.asyncIterator](), recorder, options, answer);
    }
    const { status, contentType } = body;
    const recorder = new BytesRecorder({ ...facts, id, status, contentType }, options.dialect);
    return this.#recorded(body.chunks[Symbol.asyncIterator](), recorder, options, answer);
  }

  #recorded<T>(
    source: AsyncIterator<T>,
    recorder: AnswerRecorder<T>,
    { keep, put }: RunOptions,
    answer: Answer,
  ): AsyncIterator<T> {
    const kept = answer.body.kind === 'events' ? keep?.(answer) : undefined;
    const session = answer.headers['x-session-id'];
    this.#record = async (whole) => {
      const finished = whole ? recorder.finish() : undefined;
      this.#outcome = finished?.recorded;
      if (finished?.turn === undefined) await kept?.drop();
      else await kept?.finish(finished.turn);
      if (finished !== undefined) await put(finished.recorded, session);
    };
    return {
      next: async () => {
        const step = await source.next();
        if (step.done !== true) recorder.take(step.value);
        return step;
      },
      // Nobody waits for it: it may be in the middle of a read.
      return: async () => {
        void source.return?.(undefined).catch(() => {});
        return { done: true, value: undefined };
      },
    };
  }

  async #end(whole: boolean): Promise<void> {
    try {
      await this.#record(whole);
    } finally {
      void this.#release().finally(this.#over.resolve);
    }
  }

  #announce(headers: Headers): void {
    this.#announced = headers;
    for (const { announce } of this.#pieces.participants) announce?.(headers);
  }
}

const isBytes = (piece: Piece): piece is Uint8Array => piece instanceof Uint8Array;
const isBatch = (piece: Piece): piece is readonly ModelEvent[] => !isBytes(piece);

function bodyOf(body: AnswerBody, reader: StreamReader<Piece>): AnswerBody {
  if (body.kind === 'events') return { kind: 'events', batches: only(reader, isBatch) };
  return { ...body, chunks: only(reader, isBytes) };
}

/** All pieces of an answer are of one kind. */
function only<T extends Piece>(
  reader: StreamReader<Piece>,
  isOne: (piece: Piece) => piece is T,
): AsyncIterable<T> {
  const iterator: AsyncIterator<T, undefined> = {
    async next() {
      const { value } = await reader.next();
      return value !== undefined && isOne(value) ? { done: false, value } : { done: true, value: undefined };
    },
    async return() {
      await reader.return();
      return { done: true, value: undefined };
    },
  };
  return { [Symbol.asyncIterator]: () => iterator };
}

function lifecycleOptions({ call, identity }: RunOptions, { promptTokens }: Answer): LifecycleOptions {
  const { model, parallelToolCalls } = call.request;
  return {
    id: identity.id,
    model,
    ...(promptTokens === undefined ? {} : { estimate: { inputTokens: promptTokens } }),
    ...(parallelToolCalls === undefined ? {} : { parallelToolCalls }),
  };
}
