import type { NewPushSubscription, PushStore, PushSubscription } from '../push.js';
import { LIST_OWN_PUSH, LIST_PUSH, PUT_PUSH, pushValues, readPush, TRIM_PUSH } from '../sql/push.js';
import type { Context } from './context.js';

export class SqlitePush implements PushStore {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  put(subscription: NewPushSubscription, most: number): Promise<void> {
    const { database, now } = this.#context;
    const { principal } = subscription;
    return database.write(() => {
      database.run(PUT_PUSH, pushValues(subscription, now()));
      database.run(TRIM_PUSH, [principal, principal, most]);
    });
  }

  get(id: string): Promise<PushSubscription | undefined> {
    const { database } = this.#context;
    return database.read(() => {
      const row = database.get('SELECT * FROM push_subscriptions WHERE id = ?', [id]);
      return row && readPush(row);
    });
  }

  list(principal?: string): Promise<PushSubscription[]> {
    const { database } = this.#context;
    return database.read(() => {
      const rows =
        principal === undefined ? database.all(LIST_PUSH) : database.all(LIST_OWN_PUSH, [principal]);
      return rows.map(readPush);
    });
  }

  remove(id: string): Promise<boolean> {
    const { database } = this.#context;
    return database.write(() => database.run('DELETE FROM push_subscriptions WHERE id = ?', [id]) === 1);
  }
}
