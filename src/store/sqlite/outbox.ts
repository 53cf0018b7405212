import type {
  Delivery,
  DeliveryClaim,
  DeliveryResult,
  NewDelivery,
  OutboxStore,
  SecretStore,
  TargetFigures,
} from '../outbox.js';
import {
  CLAIMANTS,
  DELIVERY_COLUMNS,
  deliveryValues,
  IS_NEXT,
  LAST_TRIED,
  RELEASE,
  readDelivery,
  readTarget,
  SETTLE,
  settleValues,
  TARGETS,
  UNENDED,
} from '../sql/outbox.js';
import { optionalNumber, text, whole } from '../sql/rows.js';
import type { Context } from './context.js';

const NOT_THESE = 'target NOT IN (SELECT value FROM json_each(?))';

export class SqliteOutbox implements OutboxStore {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  put(deliveries: readonly NewDelivery[]): Promise<number> {
    const { database, now } = this.#context;
    const sql = `INSERT INTO outbox (${DELIVERY_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (id) DO NOTHING`;
    return database.write(() =>
      deliveries.reduce((sum, each) => sum + database.run(sql, deliveryValues(each, now())), 0),
    );
  }

  get(id: string): Promise<Delivery | undefined> {
    const { database } = this.#context;
    return database.read(() => {
      const row = database.get('SELECT * FROM outbox WHERE id = ?', [id]);
      return row && readDelivery(row);
    });
  }

  about(subject: string): Promise<Delivery[]> {
    const { database } = this.#context;
    const sql = 'SELECT * FROM outbox WHERE subject = ? ORDER BY number';
    return database.read(() => database.all(sql, [subject]).map(readDelivery));
  }

  async claim({ owner, leaseMs, limit, except }: DeliveryClaim): Promise<Delivery[]> {
    const { database, now } = this.#context;
    const due = `SELECT number FROM outbox WHERE state = 'waiting' AND due_at <= ? AND claimed_until <= ?
      AND ${NOT_THESE} AND ${IS_NEXT} ORDER BY due_at, number LIMIT ?`;
    const params = [whole(now()), whole(now()), JSON.stringify(except), limit];
    // Looked at first without the write lock: mostly nothing is due.
    if ((await database.read(() => database.get(due, params))) === undefined) return [];
    const sql = `UPDATE outbox SET claimed_by = ?, claimed_until = ?, attempts = attempts + 1
      WHERE number IN (${due}) RETURNING *`;
    return database.write(() =>
      database.all(sql, [owner, whole(now() + leaseMs), ...params]).map(readDelivery),
    );
  }

  settle(id: string, owner: string, result: DeliveryResult): Promise<boolean> {
    const { database } = this.#context;
    return database.write(() => database.run(SETTLE, settleValues(id, owner, result, this.#context)) === 1);
  }

  withdraw(subject: string, targets: readonly string[]): Promise<number> {
    const { database, now } = this.#context;
    const sql = `UPDATE outbox SET state = 'dropped', ended_at = ? WHERE subject = ? AND state = 'waiting'
      AND claimed_until <= ? AND target IN (SELECT value FROM json_each(?))`;
    const params = [whole(now()), subject, whole(now()), JSON.stringify(targets)];
    return database.write(() => database.run(sql, params));
  }

  unended(event: string, limit: number): Promise<string[]> {
    const { database } = this.#context;
    const params = [event, event, limit];
    return database.read(() => database.all(UNENDED, params).map((row) => text(row, 'subject')));
  }

  claimants(): Promise<string[]> {
    const { database } = this.#context;
    return database.read(() => database.all(CLAIMANTS).map((row) => text(row, 'claimed_by')));
  }

  release(owner: string): Promise<number> {
    const { database } = this.#context;
    return database.write(() => database.run(RELEASE, [owner]));
  }

  nextDue(except: readonly string[]): Promise<number | undefined> {
    const { database } = this.#context;
    const sql = `SELECT min(max(due_at, claimed_until)) AS due FROM outbox
      WHERE state = 'waiting' AND ${NOT_THESE} AND ${IS_NEXT}`;
    return database.read(() => optionalNumber(database.get(sql, [JSON.stringify(except)]) ?? {}, 'due'));
  }

  targets(): Promise<TargetFigures[]> {
    const { database } = this.#context;
    return database.read(() =>
      database.all(TARGETS).map((row) => readTarget(row, database.get(LAST_TRIED, [text(row, 'target')]))),
    );
  }
}

export class SqliteSecrets implements SecretStore {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  ensure(name: string, value: string): Promise<string> {
    const { database } = this.#context;
    return database.write(() => {
      database.run('INSERT INTO secrets (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING', [name, value]);
      return text(database.get('SELECT value FROM secrets WHERE name = ?', [name]) ?? {}, 'value');
    });
  }
}
