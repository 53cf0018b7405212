/** Nodes whose way to the database is a real PgBouncer in transaction mode. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Change } from '../../../src/store/bus.js';
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
