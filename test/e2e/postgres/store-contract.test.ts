/** The store contract on a real PostgreSQL server, unchanged. */
import { afterAll, beforeAll } from 'vitest';
import { parsePostgresUrl } from '../../../src/store/postgres/location.js';
import { openPostgres } from '../../../src/store/postgres/postgres-store.js';
import { type Place, sharedStoreContract, storeContract } from '../../contracts/store.js';
import { startPostgres, type TestPostgres } from '../../support/postgres.js';

let server: TestPostgres;
let database = '';

const open: Place['open'] = (options) =>
  // Tests move the time, so leases go by theirs.
  openPostgres(parsePostgresUrl(server.url(database), '/'), { baseDir: '/', leaseClock: 'now', ...options });

beforeAll(async () => {
  server = await startPostgres();
  database = await server.create();
});
afterAll(() => server?.close());

const makePlace = async (): Promise<Place> => ({ open, dispose: () => server.clear(database) });

storeContract('PostgreSQL', makePlace);
sharedStoreContract('PostgreSQL', makePlace);
