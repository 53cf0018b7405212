/** Nodes whose way to the database is a real PgBouncer in transaction mode. */
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Change } from '../../../src/store/bus.js';
import { Database } from '../../../src/store/postgres/database.js';
import { parsePostgresUrl } from '../../../src/store/postgres/location.js';
import { openPostgres } from '../../../src/store/postgres/postgres-store.js';
import type { Store } from '../../../src/store/store.js';
import { type Place, sharedStoreContract } from '../../contracts/store.js';
import { closeAfterTest } from '../../support/cleanup.js';
import { startPgBouncer } from '../../support/pgbouncer.js';
import { startPostgres, type TestPostgres } from '../../support/postgres.js';
import { until } from '../../support/until.js';

let server: TestPostgres;
let database = '';
let url = '';

beforeAll(async () => {
  server = await startPostgres();
  database = await server.create();
});
afterAll(() => server?.close());
beforeEach(async () => {
  url = await startPgBouncer(server, database);
});

const open: Place['open'] = (options) =>
  openPostgres(parsePostgresUrl(url, '/'), { baseDir: '/', leaseClock: 'now', ...options });

sharedStoreContract('PgBouncer', async () => ({ open, dispose: () => server.clear(database) }));

describe('behind PgBouncer', () => {
  it('the limits of time hold in every transaction and statement, and stay on no connection of others', async () => {
    const connections = 3;
    const times = { statementMs: 12_345, lockMs: 1234, idleInTransactionMs: 23_456 };
    const limited = await Database.create(parsePostgresUrl(url, '/'), {
      ...{ connections, connectMs: 10_000 },
      ...times,
    });
    closeAfterTest(() => limited.close());
    const shown = `SELECT pg_backend_pid() AS pid, current_setting('statement_timeout') AS statement,
      current_setting('lock_timeout') AS lock, current_setting('idle_in_transaction_session_timeout') AS idle`;
    const own = { statement: '12345ms', lock: '1234ms', idle: '23456ms' };
    expect(await limited.get(shown)).toMatchObject(own);
    // All at once, so that each has a connection of the server.
    const together = <T>(begin: (reached: () => Promise<void>) => Promise<T>): Promise<T[]> => {
      let missing = connections;
      let go = () => {};
      const all = new Promise<void>((resolve) => {
        go = resolve;
      });
      const reached = () => {
        missing -= 1;
        if (missing === 0) go();
        return all;
      };
      return Promise.all(Array.from({ length: connections }, () => begin(reached)));
    };
    const inside = await together((reached) =>
      limited.transaction(async (queries) => {
        const row = await queries.get(shown);
        await reached();
        return row;
      }),
    );
    expect(inside).toMatchObject([own, own, own]);
    expect(new Set(inside.map((row) => row?.['pid'])).size).toBe(connections);
    expect(await limited.transaction((queries) => queries.get(shown), 'unhurried')).toMatchObject({
      ...{ statement: '0', lock: '0' },
    });
    const others = await together(async (reached) => {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      await client.query('BEGIN');
      const { rows } = await client.query(shown);
      await reached();
      await client.end();
      return rows[0];
    });
    const none = { statement: '0', lock: '0', idle: '0' };
    expect(others).toMatchObject([none, none, none]);
  });

  it('a statement is a transaction, and without PgBouncer it is not', async () => {
    const alone = async (address: string) => {
      const limits = { statementMs: 10_000, lockMs: 10_000, idleInTransactionMs: 10_000 };
      const node = await Database.create(parsePostgresUrl(address, '/'), {
        ...{ connections: 1, connectMs: 10_000 },
        ...limits,
      });
      closeAfterTest(() => node.close());
      // Of a transaction the time is that of its BEGIN, which came before.
      return node.get('SELECT now() = statement_timestamp() AS alone');
    };
    expect(await alone(url)).toEqual({ alone: false });
    expect(await alone(server.url(database))).toEqual({ alone: true });
  });

  it('what one node changes the other hears of, each of it once', async () => {
    const node = async (): Promise<Store> => {
      const store = await openPostgres(parsePostgresUrl(url, '/'), { baseDir: '/' });
      closeAfterTest(() => store.close());
      return store;
    };
    const [a, b] = [await node(), await node()];
    const heard: Change[] = [];
    await b.bus.subscribe((changes) => void heard.push(...changes));
    const ids = Array.from({ length: 50 }, (_, index) => `q${index}`);
    const asked = (id: string) => ({
      ...{ id, session: 's', principal: 'alice', toolUseId: `t-${id}`, tool: 'Bash', digest: 'd' },
      ...{ input: {}, describe: {}, suggestions: [], expiresAt: 8_000_000_000_000 },
    });
    for (const id of ids) await a.approvals.create(asked(id));
    const told = () => heard.flatMap((change) => (change.kind === 'approval' ? [change.id] : []));
    await until(() => told().length >= ids.length);
    expect(told()).toEqual(ids);
  });
});
