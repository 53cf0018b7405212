/**
 * `Idempotency-Key`: whatever a client does to make sure of an answer, it is made once. The first
 * request under a key is answered, the same request again gets that answer: the same while it is
 * being made, and for a day after. What failed is not kept, so that it can be tried again.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { type AnswerMemory, keyReused } from '../../../answers/answer-memory.js';
import { type Recorded, readRecorded, replay } from '../../../answers/recorded-answer.js';
import type { DialectName } from '../../../core/conversation.js';
import { GatewayError } from '../../../core/errors.js';
import { isObject } from '../../../core/is-object.js';
import type { ModelRequest } from '../../../engines/engine.js';
import type { Log } from '../../../observability/log.js';
import { digestOf } from '../../../store/json.js';
import { answerLease, type LeaseStore } from '../../../store/leases.js';
import { AnswerLeases } from './answer-leases.js';
import { AnswerRun, type Joining, type RunOptions, type SharedAnswer } from './answer-run.js';

const KEPT_MS = 24 * 3600 * 1000;

/** Visible ASCII: two headers of the name arrive joined by a comma and a space. */
const KEY = /^[\x21-\x7e]{1,255}$/;

/** Throws `invalid_request` for a key that cannot be kept. */
export function idempotencyKeyOf(headers: IncomingHttpHeaders): string | undefined {
  const key = headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key === 'string' && KEY.test(key)) return key;
  throw new GatewayError(
    'invalid_request',
    'Idempotency-Key: expected one key of 1 to 255 visible ASCII characters, such as a UUID.',
    { param: 'Idempotency-Key', detail: 'invalid_idempotency_key' },
  );
}

/** The same for bodies that ask for the same answer: how it is sent is no part of it. The same words to two sessions are two requests. */
export function requestDigest(dialect: DialectName, body: unknown, session?: string): string {
  const scope = session === undefined ? [dialect] : [dialect, session];
  if (!isObject(body)) return digestOf([...scope, body]);
  const { stream: _stream, stream_options: _options, ...asked } = body;
  return digestOf([...scope, asked]);
}

interface AnswerOnceOptions {
  answers: AnswerMemory;
  leases: LeaseStore;
  log: Log;
  /** Of this process as a node: what another node is answering is asked for there, and not waited for. */
  owner?: string | undefined;
}

type OnceRequest = Pick<RunOptions, 'digest' | 'dialect' | 'identity' | 'ask' | 'keep'> & {
  key: string;
  call: ModelRequest;
};

export class AnswerOnce {
  readonly #options: AnswerOnceOptions;
  readonly #leases: AnswerLeases;
  readonly #running = new Map<string, AnswerRun>();

  constructor(options: AnswerOnceOptions) {
    this.#options = options;
    this.#leases = new AnswerLeases(options.leases, options.log, options.owner);
  }

  /**
   * Rejects with `unprocessable` where the key stands for another request, and with whatever asking
   * rejects with. The call's own signal ends only this one's part in it.
   */
  async ask(request: OnceRequest): Promise<SharedAnswer> {
    const { key, digest, dialect, call } = request;
    const principal = call.principal.name;
    const name = JSON.stringify([principal, key]);
    const { stream } = call.request;
    const { signal, announce, observe } = call;
    const joining: Joining = { stream, signal, ...(announce === undefined ? {} : { announce }), observe };
    for (;;) {
      const recorded = await this.#find(principal, key, digest);
      if (recorded !== undefined) {
        const { answer, identity } = replay(recorded, dialect, stream);
        return { ...answer, identity, counts: () => false };
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
      lease: (signal) => this.#leases.hold(answerLease(principal, key), signal),
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
    const row = await this.#options.answers.get(principal, { kind: 'http', idempotencyKey: key }, digest);
    return readRecorded(row?.body);
  }

  async #put(
    body: Recorded,
    of: { principal: string; key: string; digest: string; session: string | undefined },
  ): Promise<void> {
    const { principal, key, digest, session } = of;
    const row = { digest, ...(session === undefined ? {} : { session }), body, keptMs: KEPT_MS };
    try {
      await this.#options.answers.put(principal, { kind: 'http', idempotencyKey: key }, row);
    } catch (error) {
      this.#options.log.warn({ err: error }, 'an answer could not be kept for its Idempotency-Key');
    }
  }
}
