/**
 * Says to other nodes that there is something to read. Never in the transaction of the change: a transaction that
 * notifies takes a lock at its end that all others of the database wait for. At most one notification in ten
 * milliseconds, whatever is written. One that is lost costs a moment: who is not woken looks by itself.
 */
import { randomBytes } from 'node:crypto';
import type { Queries } from './database.js';

export const CHANNEL = 'toolgate_changes';
const COALESCE_MS = 10;

export class Notifier {
  /** Of this process, in all of its notifications. */
  readonly origin = randomBytes(9).toString('base64url');
  readonly #queries: Pick<Queries, 'run'>;
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(queries: Pick<Queries, 'run'>) {
    this.#queries = queries;
  }

  /** Something was written. */
  wake(): void {
    if (this.#closed) return;
    this.#timer ??= setTimeout(() => this.#send(), COALESCE_MS).unref();
  }

  /** Only ids: a notification is read by whoever may listen on the database. Rejects as the store does. */
  async notify(...words: readonly string[]): Promise<void> {
    await this.#queries.run('SELECT pg_notify(?, ?)', [CHANNEL, [this.origin, ...words].join(' ')]);
  }

  /** What waits is said still. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#timer !== undefined) this.#send();
    await this.#sending;
  }

  #send(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sending = this.notify().catch(() => {});
  }
}
