/**
 * One request that is being answered for everyone who asks it under the same key. It runs as long
 * as somebody reads; its answer is written down before the first of them hears of its end.
 */
import type { AgentActivity, AgentObserver } from '../../activity/activity.js';
import type { AssistantMessage } from '../../core/conversation.js';
import { GatewayError } from '../../core/errors.js';
import type { LifecycleOptions } from '../../core/lifecycle.js';
import type { Dialect } from '../../dialects/shared/dialect.js';
import type { Answer, AnswerBody, ModelRequest } from '../../engines/engine.js';
import { clientClosed } from '../http/exchange.js';
import {
  type AnswerRecorder,
  BytesRecorder,
  KEPT_LIMIT,
  sizeOfBatch,
  TurnRecorder,
} from './answer-recorder.js';
import { type AnswerFacts, type Identity, type Recorded, replay } from './recorded-answer.js';
import { SharedPieces } from './shared-pieces.js';

/** An answer, with what follows from others having it too. */
export interface SharedAnswer extends Answer {
  identity: Identity;
  /** Asked at the end: whether its figures are this reader's to report. Of all readers one is told so. */
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
  keep?(answer: Answer): { finish(turn: AssistantMessage): Promise<void>; drop(): Promise<void> } | undefined;
}

/** One reader of a run. */
export interface Joining {
  stream: boolean;
  signal: AbortSignal;
  announce?: ModelRequest['announce'];
  observe?: AgentObserver | undefined;
}

type Headers = Readonly<Record<string, string>>;
type Opened = { kind: 'recorded'; recorded: Recorded } | { kind: 'live'; answer: Answer; shared: Shared };

interface Shared {
  joinable(): boolean;
  read(onLeave: () => void): AnswerBody;
  /** For whoever wants another form: reads to the end. Rejects with the answer's failure. */
  drain(onLeave: () => void): Promise<void>;
}

export class AnswerRun {
  readonly digest: string;
  /** Resolves when nothing of it is left, whichever way it ended. */
  readonly over: Promise<void>;
  readonly #dialect: Dialect;
  readonly #identity: Identity;
  readonly #stream: boolean;
  readonly #abort = new AbortController();
  readonly #opened: Promise<Opened>;
  readonly #observers = new Set<AgentObserver>();
  readonly #announcers = new Set<(headers: Headers) => void>();
  #announced: Headers | undefined;
  #readers = 0;
  #abandoned = false;
  /** The answer is over; it may still be being written down. */
  #closed = false;
  #counted = false;
  #outcome: Recorded | undefined;
  #cancel: () => void = () => {};
  #finish: () => void = () => {};

  constructor(options: RunOptions) {
    this.digest = options.digest;
    this.#dialect = options.dialect;
    this.#identity = options.identity;
    this.#stream = options.call.request.stream;
    this.over = new Promise((resolve) => {
      this.#finish = resolve;
    });
    this.#opened = this.#open(options);
    this.#opened.catch(() => {});
  }

  /**
   * Undefined, once the run is over, where it cannot be joined: nobody read it any more, or its
   * beginning is gone. A run is joined without waiting by whoever made it: without readers it ends.
   */
  async join(joining: Joining): Promise<SharedAnswer | undefined> {
    if (this.#abandoned) {
      await this.over;
      return undefined;
    }
    const leave = this.#enter(joining);
    try {
      const opened = await this.#opened;
      if (opened.kind === 'recorded') {
        leave();
        return this.#replayed(opened.recorded, joining);
      }
      if (opened.shared.joinable()) return await this.#live(opened, joining, leave);
      leave();
      await this.over;
      return undefined;
    } catch (error) {
      leave();
      throw error;
    }
  }

  async #live(
    { answer, shared }: Extract<Opened, { kind: 'live' }>,
    joining: Joining,
    leave: () => void,
  ): Promise<SharedAnswer> {
    if (answer.body.kind === 'events' || joining.stream === this.#stream) {
      const body = shared.read(leave);
      return { ...answer, body, identity: this.#identity, counts: () => this.#claim() };
    }
    await shared.drain(leave);
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

  #enter({ signal, announce, observe }: Joining): () => void {
    this.#readers += 1;
    if (observe !== undefined) this.#observers.add(observe);
    if (announce !== undefined) this.#announcers.add(announce);
    if (announce !== undefined && this.#announced !== undefined) announce(this.#announced);
    let inside = true;
    const leave = (): void => {
      if (!inside) return;
      inside = false;
      signal.removeEventListener('abort', leave);
      if (observe !== undefined) this.#observers.delete(observe);
      if (announce !== undefined) this.#announcers.delete(announce);
      this.#readers -= 1;
      if (this.#readers > 0 || this.#closed) return;
      this.#abandoned = true;
      this.#abort.abort(clientClosed());
      this.#cancel();
    };
    signal.addEventListener('abort', leave, { once: true });
    return leave;
  }

  /** By the first who has read to the end, or the last who leaves. */
  #claim(): boolean {
    if (this.#counted || (this.#outcome === undefined && this.#readers > 0)) return false;
    this.#counted = true;
    return true;
  }

  async #open(options: RunOptions): Promise<Opened> {
    const { signal } = this.#abort;
    let release: () => Promise<void> = async () => {};
    const end = (): void => {
      void release().finally(this.#finish);
    };
    try {
      ({ release } = await options.lease(signal));
      const recorded = await options.find();
      if (recorded !== undefined) {
        end();
        return { kind: 'recorded', recorded };
      }
      const answer = await options.ask({
        ...options.call,
        signal,
        announce: (headers) => this.#announce(headers),
        observe: (activity) => this.#tell(activity),
      });
      const shared = this.#share(options, answer, end);
      if (signal.aborted) this.#cancel();
      return { kind: 'live', answer, shared };
    } catch (error) {
      end();
      throw error;
    }
  }

  #share(options: RunOptions, answer: Answer, end: () => void): Shared {
    const { body, upstream, losses, headers } = answer;
    const { id, created } = this.#identity;
    const facts: AnswerFacts = { upstream, losses, headers, created };
    if (body.kind === 'events') {
      const recorder = new TurnRecorder(lifecycleOptions(options, answer), facts);
      const source = this.#recorded(body.batches[Symbol.asyncIterator](), recorder, options, answer, end);
      const pieces = new SharedPieces({ source, sizeOf: sizeOfBatch, limit: KEPT_LIMIT });
      return sharedOf(pieces, (batches) => ({ kind: 'events', batches }));
    }
    const { status, contentType } = body;
    const recorder = new BytesRecorder({ ...facts, id, status, contentType }, options.dialect);
    const source = this.#recorded(body.chunks[Symbol.asyncIterator](), recorder, options, answer, end);
    const pieces = new SharedPieces({ source, sizeOf: (chunk) => chunk.length, limit: KEPT_LIMIT });
    return sharedOf(pieces, (chunks) => ({ ...body, chunks }));
  }

  /** The source itself, but that its end waits until the answer is written down. */
  #recorded<T>(
    source: AsyncIterator<T>,
    recorder: AnswerRecorder<T>,
    { keep, put }: RunOptions,
    answer: Answer,
    end: () => void,
  ): AsyncIterator<T> {
    const kept = answer.body.kind === 'events' ? keep?.(answer) : undefined;
    const session = answer.headers['x-session-id'];
    const close = async (finished: ReturnType<AnswerRecorder<T>['finish']>): Promise<void> => {
      if (this.#closed) return;
      this.#closed = true;
      this.#outcome = finished?.recorded;
      if (finished?.turn === undefined) await kept?.drop();
      else await kept?.finish(finished.turn);
      if (finished !== undefined) await put(finished.recorded, session);
      end();
    };
    this.#cancel = () => {
      void source.return?.(undefined).catch(() => {});
      void close(undefined);
    };
    return {
      next: async () => {
        try {
          const step = await source.next();
          if (step.done === true) await close(recorder.finish());
          else recorder.take(step.value);
          return step;
        } catch (error) {
          await close(undefined);
          throw error;
        }
      },
    };
  }

  #announce(headers: Headers): void {
    this.#announced = headers;
    for (const announce of this.#announcers) announce(headers);
  }

  #tell(activity: AgentActivity): void {
    for (const observe of this.#observers) observe(activity);
  }
}

function sharedOf<T>(pieces: SharedPieces<T>, bodyOf: (pieces: AsyncIterable<T>) => AnswerBody): Shared {
  return {
    joinable: () => pieces.joinable,
    read: (onLeave) => bodyOf(pieces.read(onLeave)),
    async drain(onLeave) {
      for await (const _piece of pieces.read(onLeave));
    },
  };
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
