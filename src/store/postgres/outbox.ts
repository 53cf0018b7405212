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
import { insertRows } from './database.js';
import { LEASE_NOW } from './leases.js';

export class PostgresOutbox implements OutboxStore {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  put(deliveries: readonly NewDelivery[]): Promise<number> {
    const { database, now } = this.#context;
    const rows = deliveries.map((each) => deliveryValues(each, now()));
    return database.transaction(async (queries) => {
      const once = 'ON CONFLICT (id) DO NOTHING RETURNING number';
      return (await insertRows(queries, `outbox (${DELIVERY_COLUMNS})`, rows, once)).length;
    });
  }

  async get(id: string): Promise<Delivery | undefined> {
    const row = await this.#context.database.get('SELECT * FROM outbox WHERE id = ?', [id]);
    return row && readDelivery(row);
  }

  async about(subject: string): Promise<Delivery[]> {
    const sql = 'SELECT * FROM outbox WHERE subject = ? ORDER BY number';
    return (await this.#context.database.all(sql, [subject])).map(readDelivery);
  }

  /** By the clock of the database, as leases are. */
  async claim({ owner, leaseMs, limit, except }: DeliveryClaim): Promise<Delivery[]> {
    const { database, leaseNow } = this.#context;
    const sql = `UPDATE outbox SET claimed_by = ?, claimed_until = ${LEASE_NOW} + ?::bigint, attempts = attempts + 1
      WHERE number = ANY(ARRAY(
        SELECT number FROM outbox WHERE state = 'waiting' AND due_at <= ${LEASE_NOW} AND claimed_until <= ${LEASE_NOW}
          AND target <> ALL(?::text[]) AND ${IS_NEXT}
        ORDER BY due_at, number LIMIT ? FOR UPDATE SKIP LOCKED)) RETURNING *`;
    const at = leaseNow();
    const rows = await database.all(sql, [owner, at, whole(leaseMs), at, at, except, limit]);
    return rows.map(readDelivery);
  }

  async settle(id: string, owner: string, result: DeliveryResult): Promise<boolean> {
    const values = settleValues(id, owner, result, this.#context);
    return (await this.#context.database.run(SETTLE, values)) === 1;
  }

  withdraw(subject: string, targets: readonly string[]): Promise<number> {
    const { database, now, leaseNow } = this.#context;
    const sql = `UPDATE outbox SET state = 'dropped', ended_at = ? WHERE subject = ? AND state = 'waiting'
      AND claimed_until <= ${LEASE_NOW} AND target = ANY(?::text[])`;
    return database.run(sql, [whole(now()), subject, leaseNow(), targets]);
  }

  async unended(event: string, limit: number): Promise<string[]> {
    const rows = await this.#context.database.all(UNENDED, [event, event, limit]);
    return rows.map((row) => text(row, 'subject'));
  }

  async claimants(): Promise<string[]> {
    return (await this.#context.database.all(CLAIMANTS)).map((row) => text(row, 'claimed_by'));
  }

  release(owner: string): Promise<number> {
    return this.#context.database.run(RELEASE, [owner]);
  }

  async nextDue(except: readonly string[]): Promise<number | undefined> {
    const sql = `SELECT min(greatest(due_at, claimed_until)) AS due FROM outbox
      WHERE state = 'waiting' AND target <> ALL(?::text[]) AND ${IS_NEXT}`;
    return optionalNumber((await this.#context.database.get(sql, [except])) ?? {}, 'due');
  }

  async targets(): Promise<TargetFigures[]> {
    const { database } = this.#context;
    const figures: TargetFigures[] = [];
    for (const row of await database.all(TARGETS)) {
      figures.push(readTarget(row, await database.get(LAST_TRIED, [text(row, 'target')])));
    }
    return figures;
  }
}

export class PostgresSecrets implements SecretStore {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  async ensure(name: string, value: string): Promise<string> {
    const { database } = this.#context;
    const sql = 'INSERT INTO secrets (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING';
    await database.run(sql, [name, value]);
    return text((await database.get('SELECT value FROM secrets WHERE name = ?', [name])) ?? {}, 'value');
  }
}
