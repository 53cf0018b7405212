import type { NewPushSubscription, PushStore, PushSubscription } from '../push.js';
import { LIST_OWN_PUSH, LIST_PUSH, PUT_PUSH, pushValues, readPush, TRIM_PUSH } from '../sql/push.js';
import type { Context } from './context.js';

export class PostgresPush implements PushStore {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  put(subscription: NewPushSubscription, most: number): Promise<void> {
    const { database, now } = this.#context;
    const { principal } = subscription;
    return database.transaction(async (queries) => {
      await queries.run(PUT_PUSH, pushValues(subscription, now()));
      await queries.run(TRIM_PUSH, [principal, principal, most]);
    });
  }

  async get(id: string): Promise<PushSubscription | undefined> {
    const row = await this.#context.database.get('SELECT * FROM push_subscriptions WHERE id = ?', [id]);
    return row && readPush(row);
  }

  async list(principal?: string): Promise<PushSubscription[]> {
    const { database } = this.#context;
    const rows =
      principal === undefined
        ? await database.all(LIST_PUSH)
        : await database.all(LIST_OWN_PUSH, [principal]);
    return rows.map(readPush);
  }

  async remove(id: string): Promise<boolean> {
    const { database } = this.#context;
    return (await database.run('DELETE FROM push_subscriptions WHERE id = ?', [id])) === 1;
  }
}
