/**
 * `Idempotency-Key`: whatever a client does to make sure of an answer, it is made once. The first
 * request under a key is answered, the same request again gets that answer: the same while it is
 * being made, and for a day after. What failed is not kept, so that it can be tried again.
 */
import type { ModelRequest } from '../../engines/engine.js';
import type { Log } from '../../observability/log.js';
import type { AnswerStore, RecordedAnswer } from '../../store/answers.js';
import { AnswerRun, type Joining, type RunOptions, type SharedAnswer } from './answer-run.js';
import { keyReused } from './idempotency-key.js';
import { type Recorded, readRecorded, replay } from './recorded-answer.js';

const KEPT_MS = 24 * 3600 * 1000;

export interface AnswerOnceOptions {
  answers: AnswerStore;
  /** Resolves when nobody else answers what `name` stands for; rejects when `signal` fires. */
  hold(principal: string, key: string, signal: AbortSignal): Promise<{ release(): Promise<void> }>;
  log: Log;
}

export type OnceRequest = Pick<RunOptions, 'digest' | 'dialect' | 'identity' | 'ask' | 'keep'> & {
  key: string;
  call: ModelRequest;
};

export class AnswerOnce {
  readonly #options: AnswerOnceOptions;
  readonly #running = new Map<string, AnswerRun>();

  constructor(options: AnswerOnceOptions) {
    this.#options = options;
  }

  /**
   * Rejects with `unprocessable` where the key stands for another request, and with whatever asking
   * rejects with. The call's own signal ends only this one's part in it.
   */
  async ask(request: OnceRequest): Promise<SharedAnswer> {
    const { key, digest, call } = request;
    const principal = call.principal.name;
    const name = JSON.stringify([principal, key]);
    const { stream } = call.request;
    const { signal, announce, observe } = call;
    const joining: Joining = { stream, signal, ...(announce === undefined ? {} : { announce }), observe };
    for (;;) {
      const recorded = await this.#find(principal, key, digest);
      if (recorded !== undefined) {
        return { ...replayed(recorded, request), counts: () => false };
      }
      signal.throwIfAborted();
      const running = this.#running.get(name);
      if (running !== undefined && running.digest !== digest) throw keyReused();
      const answer = await (running ?? this.#start(name, request)).join(joining);
      if (answer !== undefined) return answer;
    }
  }

  #start(name: string, request: OnceRequest): AnswerRun {
    const { key, digest, call } = request;
    const principal = call.principal.name;
    const run = new AnswerRun({
      ...request,
      lease: (signal) => this.#options.hold(principal, key, signal),
      find: () => this.#find(principal, key, digest),
      put: (recorded, session) => this.#put(recorded, { principal, key, digest, session }),
    });
    this.#running.set(name, run);
    void run.over.then(() => {
      if (this.#running.get(name) === run) this.#running.delete(name);
    });
    return run;
  }

  async #find(principal: string, key: string, digest: string): Promise<Recorded | undefined> {
    const row = await this.#options.answers.get(principal, storeKey(key));
    if (row === undefined) return undefined;
    if (row.digest !== digest) throw keyReused();
    return readRecorded(row.body);
  }

  async #put(
    recorded: Recorded,
    row: Pick<RecordedAnswer, 'principal' | 'digest'> & { key: string; session: string | undefined },
  ): Promise<void> {
    const { principal, key, digest, session } = row;
    try {
      await this.#options.answers.put({
        principal,
        key: storeKey(key),
        digest,
        ...(session === undefined ? {} : { session }),
        body: recorded,
        expiresAt: Date.now() + KEPT_MS,
      });
    } catch (error) {
      this.#options.log.warn({ err: error }, 'an answer could not be kept for its Idempotency-Key');
    }
  }
}

function replayed(recorded: Recorded, { dialect, call }: OnceRequest): Omit<SharedAnswer, 'counts'> {
  const { answer, identity } = replay(recorded, dialect, call.request.stream);
  return { ...answer, identity };
}

/** A namespace of its own: sessions keep what they answered under a key as well. */
function storeKey(key: string): string {
  return `http:${key}`;
}
