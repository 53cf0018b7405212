/**
 * The turns that run in this process, by session and request: the same request again is given the
 * answer that is being made.
 */
import type { AgentObserver } from '../../../activity/activity.js';
import type { ModelEvent } from '../../../core/events.js';
import type { Turn } from '../../../sessions/sessions.js';
import type { Answer, ModelRequest } from '../../engine.js';
import { SharedTurn, type SharedTurnOptions } from './shared-turn.js';

/** Everything of an answer but its events. */
export type AnswerHead = Omit<Answer, 'body' | 'delivered'>;

export interface LiveTurnOptions extends SharedTurnOptions {
  /** Somebody has the whole answer. */
  onDelivered(): void;
}

/** `headers`: what is said to this one alone. */
type Waiter = Pick<ModelRequest, 'signal' | 'observe'> & { headers: Readonly<Record<string, string>> };
type TurnName = Pick<Turn, 'id' | 'key' | 'principal'>;

export class LiveTurns {
  readonly #turns = new Map<string, LiveTurn>();

  /** At once after `attach`: from then on others are told that the turn runs. */
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
  readonly #shared: SharedTurn;
  readonly #own: ReturnType<SharedTurn['join']>;
  readonly #ownHeaders: Waiter['headers'];
  readonly #onDelivered: () => void;
  #resolve: (head: AnswerHead) => void = () => {};
  #reject: (error: unknown) => void = () => {};
  readonly #head = new Promise<AnswerHead>((resolve, reject) => {
    this.#resolve = resolve;
    this.#reject = reject;
  });

  constructor(principal: string, caller: Waiter, options: LiveTurnOptions) {
    this.principal = principal;
    this.#onDelivered = options.onDelivered;
    this.#shared = new SharedTurn(options);
    this.#own = this.#shared.join(caller);
    this.#ownHeaders = caller.headers;
    // Nobody may have joined to hear of a failure.
    this.#head.catch(() => {});
  }

  /** Fires when nobody waits for the turn any more. */
  get signal(): AbortSignal {
    return this.#shared.signal;
  }

  get closing(): boolean {
    return this.#shared.closing;
  }

  get ended(): Promise<void> {
    return this.#shared.ended;
  }

  get observe(): AgentObserver {
    return this.#shared.observe;
  }

  /** The answer of the request that the turn was begun for. */
  begin(head: AnswerHead, source: Parameters<SharedTurn['start']>[0]): Answer {
    this.#shared.start(source);
    this.#resolve(head);
    return this.#answer(head, this.#ownHeaders, this.#own ?? NOTHING);
  }

  /** There will be no answer: whoever joined is told the same. */
  async fail(error: unknown): Promise<void> {
    this.#reject(error);
    await this.#shared.fail();
  }

  async join(caller: Waiter): Promise<Answer | undefined> {
    const reader = this.#shared.join(caller);
    if (reader !== undefined) {
      const head = await this.#head;
      return this.#answer(head, caller.headers, reader);
    }
    await orAborted(this.ended, caller.signal);
    return undefined;
  }

  stop(): Promise<void> {
    return this.#shared.stop();
  }

  #answer(head: AnswerHead, own: Waiter['headers'], batches: AsyncIterable<readonly ModelEvent[]>): Answer {
    const headers = { ...head.headers, ...own };
    return { ...head, headers, delivered: this.#onDelivered, body: { kind: 'events', batches } };
  }
}

const NOTHING: AsyncIterable<never> = {
  async *[Symbol.asyncIterator]() {},
};

function nameOf(session: string, key: string): string {
  return `${session}\n${key}`;
}

async function orAborted(settled: Promise<unknown>, signal: AbortSignal): Promise<void> {
  let onAbort = () => {};
  const aborted = new Promise<void>((resolve) => {
    onAbort = resolve;
    if (signal.aborted) resolve();
    signal.addEventListener('abort', onAbort, { once: true });
  });
  await Promise.race([settled, aborted]);
  signal.removeEventListener('abort', onAbort);
}
