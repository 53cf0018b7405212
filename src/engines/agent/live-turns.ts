/**
 * The turns that run in this process, by session and request: the same request again is given the
 * answer that is being made.
 */
import type { AgentObserver } from '../../activity/activity.js';
import { SharedStream, type StreamReader } from '../../answers/shared-stream.js';
import { deferred } from '../../core/deferred.js';
import type { ModelEvent } from '../../core/events.js';
import { onAbort } from '../../core/stopping.js';
import type { Turn } from '../../sessions/sessions.js';
import type { Answer, Delivery, ModelRequest } from '../engine.js';

/** Everything of an answer but its events. */
export type AnswerHead = Omit<Answer, 'body' | 'delivery'>;

type Batch = readonly ModelEvent[];

interface LiveTurnOptions {
  /** The longest silence of a reader. */
  pingMs: number;
  /** Once, when the turn is over, however it ended; no reader gets the end before it has resolved. */
  onEnd(): Promise<void>;
  delivery: Delivery;
}

/** `headers`: what is said to this one alone. */
type Waiter = Pick<ModelRequest, 'signal' | 'observe'> & { headers: Readonly<Record<string, string>> };
type TurnName = Pick<Turn, 'id' | 'key' | 'principal'>;

export class LiveTurns {
  readonly #turns = new Map<string, LiveTurn>();

  /** At once after `attach`: from then on others see that the turn runs. */
  open(turn: TurnName, caller: Waiter, options: LiveTurnOptions): LiveTurn {
    const name = nameOf(turn.id, turn.key);
    const running: LiveTurn = new LiveTurn(turn.principal, caller, {
      ...options,
      onEnd: async () => {
        try {
          await options.onEnd();
        } finally {
          if (this.#turns.get(name) === running) this.#turns.delete(name);
        }
      },
    });
    this.#turns.set(name, running);
    return running;
  }

  /** Undefined where the turn is not there any more; resolves only once nothing of it runs. Rejects as the turn did. */
  async join(session: string, key: string, caller: Waiter): Promise<Answer | undefined> {
    const running = this.#turns.get(nameOf(session, key));
    return running?.join(caller);
  }

  /** Resolves when the principal's turns that are being stopped are over. False: there were none. */
  async stopped(principal: string, signal: AbortSignal): Promise<boolean> {
    const stopping = [...this.#turns.values()].filter((each) => each.closing && each.principal === principal);
    if (stopping.length === 0) return false;
    await orAborted(Promise.all(stopping.map(({ ended }) => ended)), signal);
    return true;
  }

  /** Stops all of them; resolves when they are over. */
  async close(): Promise<void> {
    await Promise.all([...this.#turns.values()].map((running) => running.stop()));
  }
}

export class LiveTurn {
  readonly principal: string;
  readonly #stream: SharedStream<Batch, Waiter>;
  readonly #own: StreamReader<Batch> | undefined;
  readonly #ownHeaders: Waiter['headers'];
  readonly #delivery: Delivery;
  readonly #head = deferred<AnswerHead>();

  constructor(principal: string, caller: Waiter, { pingMs, onEnd, delivery }: LiveTurnOptions) {
    this.principal = principal;
    this.#delivery = delivery;
    this.#stream = new SharedStream({ onEnd, ping: { afterMs: pingMs, piece: PING } });
    this.#own = this.#stream.join(caller);
    this.#ownHeaders = caller.headers;
    // There may be no reader to take a failure.
    this.#head.promise.catch(() => {});
  }

  /** Fires when the last reader has left. */
  get signal(): AbortSignal {
    return this.#stream.signal;
  }

  get closing(): boolean {
    return this.#stream.closing;
  }

  get ended(): Promise<void> {
    return this.#stream.ended;
  }

  /** Notifies every reader. What one of them throws is thrown after all have been notified. */
  readonly observe: AgentObserver = (activity) => {
    const failures: unknown[] = [];
    for (const { observe } of this.#stream.participants) {
      try {
        observe?.(activity);
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  };

  /** The answer of the request that the turn was begun for. */
  begin(head: AnswerHead, source: AsyncGenerator<Batch, void, void>): Answer {
    this.#stream.start(source);
    this.#head.resolve(head);
    return this.#answer(head, this.#ownHeaders, this.#own ?? NOTHING);
  }

  /** There will be no answer: readers that joined get the same error. */
  async fail(error: unknown): Promise<void> {
    this.#head.reject(error);
    await this.#stream.fail();
  }

  async join(caller: Waiter): Promise<Answer | undefined> {
    const reader = this.#stream.join(caller);
    if (reader !== undefined) {
      const head = await this.#head.promise;
      return this.#answer(head, caller.headers, reader);
    }
    await orAborted(this.ended, caller.signal);
    return undefined;
  }

  stop(): Promise<void> {
    return this.#stream.stop();
  }

  #answer(head: AnswerHead, own: Waiter['headers'], batches: AsyncIterable<Batch>): Answer {
    const headers = { ...head.headers, ...own };
    return { ...head, headers, delivery: this.#delivery, body: { kind: 'events', batches } };
  }
}

const PING: Batch = [{ type: 'ping' }];
const NOTHING: AsyncIterable<never> = {
  async *[Symbol.asyncIterator]() {},
};

function nameOf(session: string, key: string): string {
  return `${session}\n${key}`;
}

async function orAborted(settled: Promise<unknown>, signal: AbortSignal): Promise<void> {
  const aborted = deferred();
  const release = onAbort(signal, aborted.resolve);
  await Promise.race([settled, aborted.promise]);
  release();
}
