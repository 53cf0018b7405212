/** The answers that may be asked for again: a repeated request, an `Idempotency-Key`, a stored response. */
import { GatewayError } from '../core/errors.js';
import type { AnswerStore, NewAnswer, RecordedAnswer } from '../store/answers.js';

/**
 * The kinds of rows in the store's table of answers. Rows of earlier versions are found by their
 * stored keys, so the form of a kind never changes.
 */
export type AnswerKey =
  /** What was answered over HTTP under an `Idempotency-Key`, for any model. */
  | { kind: 'http'; idempotencyKey: string }
  /** What a session answered under one; by its digest. */
  | { kind: 'session'; keyDigest: string }
  /** The answer to results, by the message whose calls they answer, so that any split of them finds it. */
  | { kind: 'results'; session: string; mark: number }
  /** By the end of the answer: there is one at most for each session. */
  | { kind: 'undelivered'; session: string; mark: number }
  /** An answer of `/v1/responses`, what its request added to the conversation, and whose it is where its upstream keeps it. */
  | { kind: 'response' | 'response-input' | 'response-owner'; id: string }
  /** The events of one that was made in the background. */
  | { kind: 'response-events'; id: string }
  /** What became of a conversation of `/v1/conversations`, one row a change. */
  | { kind: 'conversation'; id: string; change: number }
  /** The console's answer to the request that began a run. */
  | { kind: 'console-run'; run: string };

export function storedKey(key: AnswerKey): string {
  switch (key.kind) {
    case 'http':
      return `http:${key.idempotencyKey}`;
    case 'session':
      return `idempotency:${key.keyDigest}`;
    case 'results':
    case 'undelivered':
      return `${key.kind}:${key.session}:${key.mark}`;
    case 'response':
      return `response:${key.id}`;
    case 'response-input':
      return `response:${key.id}:input`;
    case 'response-events':
      return `response:${key.id}:events`;
    case 'response-owner':
      return `response:${key.id}:upstream`;
    case 'conversation':
      return `conversation:${key.id}:${key.change}`;
    case 'console-run':
      return `chat:${key.run}`;
  }
}

/** The principal of rows that are the gateway's own: no key has this name. */
export const GATEWAY = '';

/** Rejects as the store does. */
export class AnswerMemory {
  readonly #answers: AnswerStore;
  /** Rows that are being written: a client may ask for them before they are there. */
  readonly #writing = new Map<string, Promise<void>>();

  constructor(answers: AnswerStore) {
    this.#answers = answers;
  }

  /** Rejects with `unprocessable` where `digest` is given and the row is another request's. */
  async get(principal: string, key: AnswerKey, digest?: string): Promise<RecordedAnswer | undefined> {
    const stored = storedKey(key);
    await this.#writing.get(nameOf(principal, stored));
    const row = await this.#answers.get(principal, stored);
    if (row !== undefined && digest !== undefined && row.digest !== digest) throw keyReused();
    return row;
  }

  /** The first one stands, for `keptMs`. */
  async put(
    principal: string,
    key: AnswerKey,
    { keptMs, ...row }: Pick<NewAnswer, 'session' | 'body'> & { digest?: string; keptMs: number },
  ): Promise<void> {
    const stored = storedKey(key);
    const name = nameOf(principal, stored);
    const expiresAt = Date.now() + keptMs;
    const put = this.#answers.put({ digest: '', ...row, principal, key: stored, expiresAt });
    const written = put.then(
      () => {},
      () => {},
    );
    this.#writing.set(name, written);
    try {
      await put;
    } finally {
      if (this.#writing.get(name) === written) this.#writing.delete(name);
    }
  }

  async delete(principal: string, key: AnswerKey, durability?: 'relaxed'): Promise<boolean> {
    const stored = storedKey(key);
    await this.#writing.get(nameOf(principal, stored));
    return this.#answers.delete(principal, stored, durability);
  }

  /** From now on for `keptMs`. */
  async renew({ principal, key }: RecordedAnswer, keptMs: number): Promise<void> {
    await this.#answers.extend(principal, key, Date.now() + keptMs);
  }

  /** As `put`; false where another one stands there. */
  async claim(
    principal: string,
    key: AnswerKey,
    { body, keptMs }: { body: unknown; keptMs: number },
  ): Promise<boolean> {
    const expiresAt = Date.now() + keptMs;
    const put = { principal, key: storedKey(key), digest: '', body, expiresAt };
    return (await this.#answers.put(put)).recorded;
  }
}

const nameOf = (principal: string, stored: string): string => `${principal}\n${stored}`;

export function keyReused(): GatewayError {
  return new GatewayError(
    'unprocessable',
    'Idempotency-Key: the key was used for another request. Send that request unchanged, or use a new key for this one.',
    { param: 'Idempotency-Key', detail: 'idempotency_key_reused' },
  );
}
