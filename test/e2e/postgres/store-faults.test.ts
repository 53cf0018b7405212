/** What goes wrong between a node and PostgreSQL, and what then. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sessionLease } from '../../../src/store/leases.js';
import { openStore } from '../../../src/store/open/open-store.js';
import { Database } from '../../../src/store/postgres/database.js';
import { parsePostgresUrl } from '../../../src/store/postgres/location.js';
import { MIGRATIONS, type Migration, migrate } from '../../../src/store/postgres/migrations.js';
import { openPostgres } from '../../../src/store/postgres/postgres-store.js';
import { listSql } from '../../../src/store/postgres/traces.js';
import type { Store, StoreOptions } from '../../../src/store/store.js';
import { newSession, ownSession, START, TTL } from '../../contracts/store/place.js';
import { trace } from '../../contracts/store/traces.js';
import { makeCertificate } from '../../support/certificate.js';
import { closeAfterTest, tempFolder } from '../../support/cleanup.js';
import { PASSWORD, startPostgres, type TestPostgres } from '../../support/postgres.js';
import { until } from '../../support/until.js';

let server: TestPostgres;
let database = '';

beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server?.close());
beforeEach(async () => {
  database = await server.create();
});

async function open(url = server.url(database), options: Partial<StoreOptions> = {}): Promise<Store> {
  const store = await openStore(url, { baseDir: '/', limits: { startWaitMs: 0 }, ...options });
  closeAfterTest(() => store.close());
  return store;
}

/** Far enough that no test reaches it by the real clock. */
const FAR = { expiresAt: 8_000_000_000_000 };
const cut = () =>
  server.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'toolgate'`);
const said = (index: number) => ({ append: [{ entries: [{ uuid: `u${index}`, message: index }] }] });

describe('a database that cannot be used', () => {
  it.each([
    ['a wrong password', () => server.url(database, 'toolgate', 'wrong%20one'), /password is refused/],
    ['an unknown user', () => server.url(database, 'nobody'), /password is refused/],
    ['an unknown database', () => server.url('nowhere'), /nowhere at 127\.0\.0\.1:\d+ .*no such database/],
    [
      'a port where nothing listens',
      () => 'postgres://me:hunter22@127.0.0.1:1/db',
      /db at 127\.0\.0\.1:1 .*nothing listens/,
    ],
    [
      'an unknown host',
      () => 'postgres://me:hunter22@nowhere.invalid/db',
      /nowhere\.invalid:5432 .*host is not known/,
    ],
    ['a server without TLS', () => `${server.url(database)}?sslmode=require`, /speaks no TLS/],
  ])('is said with its host and what to do: %s', async (_, url, words) => {
    const refused = open(url());
    await expect(refused).rejects.toMatchObject({
      code: 'unavailable',
      param: 'store',
      detail: 'store_unavailable',
    });
    await expect(refused).rejects.toThrow(words);
    const shown = JSON.stringify(await refused.catch((error: Error) => [error.message, error.stack]));
    for (const secret of ['hunter22', 'wrong one', decodeURIComponent(PASSWORD)])
      expect(shown).not.toContain(secret);
  });

  it('is waited for at the start, and used when it comes', async () => {
    await server.stop('fast');
    const waits: string[] = [];
    const opening = open(server.url(database), {
      limits: { startWaitMs: 60_000 },
      onWait: ({ message }) => waits.push(message),
    });
    await until(() => waits.length > 0);
    await server.start();
    expect(await (await opening).info()).toMatchObject({
      kind: 'postgres',
      schemaVersion: MIGRATIONS.length,
    });
    expect(waits).toEqual([expect.stringMatching(/nothing listens there/)]);
  });

  it('is not one of another program, of another encoding or of a newer gateway', async () => {
    await server.query('CREATE TABLE bookmarks (url TEXT)', database);
    await expect(open()).rejects.toThrow(/tables of another program/);
    await server.query(`CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0`);
    await expect(open(server.url('latin'))).rejects.toThrow(/encoding LATIN1/);
    const newer = await server.create();
    await (await open(server.url(newer))).close();
    await server.query('UPDATE toolgate_schema SET version = 999', newer);
    await expect(open(server.url(newer))).rejects.toThrow(
      new RegExp(`${newer} at .* newer version.*schema 999`),
    );
  });
});

describe('TLS', () => {
  it('is as strict as `sslmode` says', async () => {
    const certificate = makeCertificate({ names: ['127.0.0.1'] });
    const other = makeCertificate({ names: ['127.0.0.1'] });
    const elsewhere = makeCertificate({ names: ['elsewhere.example'] });
    const { path } = await tempFolder();
    await writeFile(join(path, 'ca.pem'), certificate.cert);
    await writeFile(join(path, 'other.pem'), other.cert);
    await writeFile(join(path, 'elsewhere.pem'), elsewhere.cert);
    const secure = await startPostgres(certificate);
    closeAfterTest(() => secure.close());
    const named = await secure.create();
    const use = async (query: string, where = secure) => {
      const url = `${where.url(where === secure ? named : 'postgres')}?${query}`;
      const store = await openStore(url, { baseDir: path, limits: { startWaitMs: 0 } });
      const [row] = await where.query(
        `SELECT bool_and(ssl) AS ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'toolgate'`,
      );
      await store.close();
      return row?.['ssl'];
    };
    expect(await use('sslmode=disable')).toBe(false);
    for (const query of ['sslmode=require', 'sslrootcert=ca.pem', 'sslmode=verify-ca&sslrootcert=ca.pem']) {
      expect([query, await use(query)]).toEqual([query, true]);
    }
    for (const query of [
      'sslmode=verify-full',
      'sslrootcert=other.pem',
      'sslmode=require&sslrootcert=other.pem',
    ]) {
      await expect(use(query), query).rejects.toThrow(/certificate is not accepted/);
    }
    const wrongName = await startPostgres(elsewhere);
    closeAfterTest(() => wrongName.close());
    await expect(use('sslrootcert=elsewhere.pem', wrongName)).rejects.toThrow(/certificate is not accepted/);
    expect(await use('sslmode=verify-ca&sslrootcert=elsewhere.pem', wrongName)).toBe(true);
  });
});

describe('migrations', () => {
  const FIRST: Migration = { version: 1, sql: 'CREATE TABLE a (x BIGINT); INSERT INTO a VALUES (1);' };
  const SECOND: Migration = { version: 2, sql: 'ALTER TABLE a ADD COLUMN y BIGINT; UPDATE a SET y = x + 1;' };
  const BROKEN: Migration = { version: 3, sql: 'CREATE TABLE b (x BIGINT); INSERT INTO nowhere VALUES (1);' };

  async function connect(hurry: { statementMs?: number; lockMs?: number } = {}): Promise<Database> {
    const limits = {
      connections: 2,
      connectMs: 5000,
      statementMs: 10_000,
      lockMs: 10_000,
      idleInTransactionMs: 10_000,
      ...hurry,
    };
    const made = await Database.create(parsePostgresUrl(server.url(database), '/'), limits);
    closeAfterTest(() => made.close());
    return made;
  }

  it('are numbered from 1 without a gap', () => {
    expect(MIGRATIONS.map(({ version }) => version)).toEqual(MIGRATIONS.map((_, index) => index + 1));
  });

  it('bring an older database forward and keep its data, and leave it as it was when one fails', async () => {
    const connected = await connect();
    await migrate(connected, [FIRST]);
    await expect(migrate(connected, [FIRST, SECOND, BROKEN])).rejects.toThrow('nowhere');
    expect(await connected.all('SELECT * FROM a')).toEqual([{ x: 1 }]);
    expect(await migrate(connected, [FIRST, SECOND])).toBe(2);
    expect(await connected.all('SELECT * FROM a')).toEqual([{ x: 1, y: 2 }]);
    expect(await connected.all('SELECT version FROM toolgate_schema')).toEqual([{ version: 2 }]);
  });

  it('take as long as they need, and other nodes wait for them, whatever limits other statements have', async () => {
    const SLOW: Migration = { version: 2, sql: 'SELECT pg_sleep(1.5); CREATE TABLE c (x BIGINT);' };
    const nodes = await Promise.all([1, 2].map(() => connect({ statementMs: 1000, lockMs: 1000 })));
    expect(await Promise.all(nodes.map((node) => migrate(node, [FIRST, SLOW])))).toEqual([2, 2]);
    await expect(nodes[0]?.all('SELECT pg_sleep(10)')).rejects.toThrow();
  });

  it('run once when several nodes start on an empty database together', async () => {
    const nodes = await Promise.all([1, 2, 3, 4].map(() => connect()));
    expect(await Promise.all(nodes.map((node) => migrate(node, [FIRST, SECOND])))).toEqual([2, 2, 2, 2]);
    expect(await server.query('SELECT count(*)::int AS n FROM a', database)).toEqual([{ n: 1 }]);
  });
});

describe('connections that are cut', () => {
  it('lose no step that was told as written, and write none twice', async () => {
    const store = await open();
    const { step } = await ownSession(store, 's1', FAR);
    const told: number[] = [];
    let refused = 0;
    for (let n = 0; n < 60; n++) {
      const cutting = n % 6 === 0 ? cut() : undefined;
      try {
        expect(await step(said(n))).toEqual({ ok: true });
        told.push(n);
      } catch (error) {
        refused += 1;
        expect(error).toMatchObject({ code: 'unavailable', retryable: true });
      }
      await cutting;
    }
    const written = (await store.transcripts.read('s1')).map(({ message }) => message);
    expect(written.filter((message) => told.includes(Number(message)))).toEqual(told);
    expect(new Set(written).size).toBe(written.length);
    expect(refused).toBeLessThan(60);
  });

  it('are made again after a crash of the server, which keeps every step that was told as written', async () => {
    const store = await open();
    const { step } = await ownSession(store, 's1', FAR);
    for (let n = 0; n < 5; n++) expect(await step(said(n))).toEqual({ ok: true });
    await server.stop('immediate');
    await expect(store.info()).rejects.toMatchObject({ code: 'unavailable', retryAfter: 5 });
    await expect(step(said(5))).rejects.toThrow(/^The store of the gateway cannot be used/);
    await server.start();
    await until(() =>
      store.info().then(
        () => true,
        () => false,
      ),
    );
    expect((await store.transcripts.read('s1')).map(({ message }) => message)).toEqual([0, 1, 2, 3, 4]);
    expect(await step(said(5))).toEqual({ ok: true });
  });

  it('lose rows of traces, and say so, but not of usage, which budgets count', async () => {
    const errors: unknown[] = [];
    const store = await open(server.url(database), { onError: (error) => errors.push(error) });
    await server.stop('fast');
    store.traces.record(trace('r1'));
    await expect(store.traces.list({ limit: 1 })).rejects.toMatchObject({ code: 'unavailable' });
    expect(errors).toHaveLength(1);
    const counts = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 };
    const answer = { principal: 'a', model: 'm', upstream: 'u', status: 200, latencyMs: 1, ...counts };
    store.usage.record({ at: 1, ...answer });
    const used = () => store.usage.summarise({ from: 0, to: 9, by: [] });
    await expect(used()).rejects.toMatchObject({ code: 'unavailable' });
    await server.start();
    // A row that is recorded before the store has found its server again is lost as well.
    await until(() => store.traces.list({ limit: 1 }).catch(() => undefined));
    store.traces.record(trace('r2'));
    expect((await store.traces.list({ limit: 9 })).items.map(({ id }) => id)).toEqual(['r2']);
    expect(await used()).toMatchObject([{ requests: 1 }]);
  });
});

describe('the clock of leases', () => {
  const at = (now: () => number) =>
    openPostgres(parsePostgresUrl(server.url(database), '/'), { baseDir: '/', now });

  it('is the database: a node whose clock is an hour ahead takes nothing over', async () => {
    const [here, ahead] = [await at(() => START), await at(() => START + 3_600_000)];
    closeAfterTest(() => Promise.all([here.close(), ahead.close()]));
    const grant = await here.leases.acquire('x', 'here', TTL);
    expect(grant).toMatchObject({ granted: true, lease: { until: START + TTL } });
    const refused = await ahead.leases.acquire('x', 'ahead', TTL);
    // In the time of who asks: about a minute from now.
    expect(refused).toMatchObject({ granted: false, owner: 'here' });
    if (refused.granted) throw new Error('taken over');
    expect(refused.until - (START + 3_600_000)).toBeGreaterThan(0);
    expect(refused.until - (START + 3_600_000)).toBeLessThanOrEqual(TTL);
    expect(await ahead.leases.renew('ahead', TTL)).toEqual([]);
    expect((await here.leases.renew('here', TTL)).map(({ until: end }) => end)).toEqual([START + TTL]);
    expect(await ahead.leases.acquire('y', 'ahead', 0)).toMatchObject({ granted: true });
    expect(await here.leases.acquire('y', 'here', TTL)).toMatchObject({ granted: true });
  });

  it('fences a step that waited for its session while another node took it', async () => {
    const [a, b] = [await at(() => START), await at(() => START)];
    closeAfterTest(() => Promise.all([a.close(), b.close()]));
    for (let round = 0; round < 30; round++) {
      const id = `s${round}`;
      await newSession(a, id, FAR);
      // Lapsed at once: whoever asks may have it.
      const grant = await a.leases.acquire(sessionLease(id), 'a', 0);
      if (!grant.granted) throw new Error('held');
      const [step, taken] = await Promise.all([
        a.sessions.checkpoint(id, grant.lease, said(0)),
        b.sessions.claim(id, { owner: 'b', ttlMs: TTL, metadata: {} }, () => said(1)),
      ]);
      expect(taken).toMatchObject({ ok: true });
      const written = (await a.transcripts.read(id)).map(({ message }) => message);
      // Either it was before the other one, or it was refused: never behind it.
      expect(written).toEqual(step.ok ? [0, 1] : [1]);
      if (!step.ok) expect(step.reason).toBe('fenced');
    }
  });
});

it.each([
  ['alice', { principal: 'alice' }],
  ['an administrator', {}],
])('the requests of a session are found by an index when %s asks', async (_, who) => {
  const store = await open();
  for (let n = 0; n < 2000; n++)
    store.traces.record(trace(`r${n}`, { summary: { session: `ses_${n % 400}` } }));
  await store.traces.list({ limit: 1 });
  await server.query('ANALYZE traces', database);
  const { sql, params } = listSql({ session: 'ses_1', limit: 50, ...who });
  const text = params.reduce<string>(
    (given, value) => given.replace('?', typeof value === 'number' ? String(value) : `'${value}'`),
    sql,
  );
  const plan = JSON.stringify(await server.query(`EXPLAIN ${text}`, database));
  expect(plan).toContain('traces_by_session');
  expect(plan).not.toContain('Seq Scan');
});
