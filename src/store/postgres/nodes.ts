import type { GatewayError } from '../../core/errors.js';
import type { ClusterNode, JoinOutcome, NewNode, NodeStore } from '../nodes.js';
import { json, number, type Row, text, toJson } from '../sql/rows.js';
import type { Context } from './context.js';

const NOW = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';
/** Two that join at once are looked at one after the other. */
const LOCK = 0x5447_4e44;

const LIVING = `SELECT *, ${NOW} - beat_at AS silent_ms FROM nodes WHERE beat_at > ${NOW} - ?::bigint ORDER BY name`;

export class PostgresNodes implements NodeStore {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  join(
    node: NewNode,
    { lostMs, gone = [] }: { lostMs: number; gone?: readonly string[] },
  ): Promise<JoinOutcome> {
    const { name, instance, address, secretCheck, version, workspaces } = node;
    const take = `INSERT INTO nodes (name, instance, address, secret_check, version, workspaces, beat_at)
      VALUES (?, ?, ?, ?, ?, ?, ${NOW})
      ON CONFLICT (name) DO UPDATE SET instance = excluded.instance, address = excluded.address,
        secret_check = excluded.secret_check, version = excluded.version, workspaces = excluded.workspaces,
        beat_at = excluded.beat_at
      RETURNING beat_at`;
    return this.#context.database.always(async (queries): Promise<JoinOutcome> => {
      await queries.run('SELECT pg_advisory_xact_lock(?)', [LOCK]);
      const living = (await queries.all(LIVING, [lostMs])).map(readNode);
      const others = living.filter((each) => each.instance !== instance && !gone.includes(each.instance));
      const same = others.find((each) => each.name === name);
      if (same !== undefined) return { joined: false, reason: 'name', node: same };
      const foreign = others.find((each) => each.secretCheck !== secretCheck);
      if (foreign !== undefined) return { joined: false, reason: 'secret', node: foreign };
      const values = [name, instance, address, secretCheck, version, toJson(workspaces)];
      return { joined: true, clockMs: number((await queries.get(take, values)) ?? {}, 'beat_at') };
    });
  }

  async beat(name: string, instance: string): Promise<number | undefined> {
    const sql = `UPDATE nodes SET beat_at = ${NOW} WHERE name = ? AND instance = ? RETURNING beat_at`;
    const row = await this.#context.database.always(
      (queries) => queries.get(sql, [name, instance]),
      'relaxed',
    );
    return row && number(row, 'beat_at');
  }

  async leave(name: string, instance: string): Promise<void> {
    const sql = 'DELETE FROM nodes WHERE name = ? AND instance = ?';
    await this.#context.database.always((queries) => queries.run(sql, [name, instance]));
  }

  async list(lostMs: number): Promise<ClusterNode[]> {
    return (await this.#context.database.all(LIVING, [lostMs])).map(readNode);
  }

  suspend(reason: GatewayError | undefined): void {
    this.#context.database.refuse(reason);
  }
}

function readNode(row: Row): ClusterNode {
  return {
    name: text(row, 'name'),
    instance: text(row, 'instance'),
    address: text(row, 'address'),
    secretCheck: text(row, 'secret_check'),
    version: text(row, 'version'),
    workspaces: json<string[]>(row, 'workspaces'),
    silentMs: number(row, 'silent_ms'),
  };
}
