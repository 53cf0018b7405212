/** What nodes on one PostgreSQL hear of each other, by notification and without. */
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Change } from '../../../src/store/bus.js';
import { sessionLease } from '../../../src/store/leases.js';
import type { BusLimits } from '../../../src/store/postgres/bus.js';
import { parsePostgresUrl } from '../../../src/store/postgres/location.js';
import { openPostgres } from '../../../src/store/postgres/postgres-store.js';
import type { Store } from '../../../src/store/store.js';
import { closeAfterTest } from '../../support/cleanup.js';
import { cutListeners, muteNotifications, startPostgres, type TestPostgres } from '../../support/postgres.js';
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

const HOUR = 3_600_000;
/** Only a notification, or a connection that listens again, makes it look. */
const BY_NOTIFICATION = { pollMs: HOUR, unprovenPollMs: HOUR };
const FAR = 8_000_000_000_000;

async function open(bus: Partial<BusLimits> = {}, limits = {}): Promise<Store> {
  const location = parsePostgresUrl(server.url(database), '/');
  const store = await openPostgres(location, { baseDir: '/', bus, limits });
  closeAfterTest(() => store.close());
  return store;
}

async function hear({ bus }: Store, proven = true): Promise<Change[]> {
  const heard: Change[] = [];
  await bus.subscribe((changes) => void heard.push(...changes));
  if (proven) await until(() => bus.proven);
  return heard;
}

const question = (id: string, more: object = {}) => ({
  ...{ id, session: 's', principal: 'alice', toolUseId: `t-${id}`, tool: 'Bash', digest: 'd' },
  ...{ input: {}, describe: {}, suggestions: [], expiresAt: FAR },
  ...more,
});
const ask = ({ approvals }: Store, id: string) => approvals.create(question(id));
const approvalsIn = (heard: readonly Change[]) =>
  heard.flatMap((change) => (change.kind === 'approval' ? [change.id] : []));
const hears = (heard: readonly Change[], id: string) => until(() => approvalsIn(heard).includes(id));

/** As a program of the same user would. */
async function connect(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: server.url(database) });
  await client.connect();
  closeAfterTest(() => client.end());
  return client;
}

describe('the bus', () => {
  it('says what changed and to what, in the order in which it was written', async () => {
    const [a, b] = [await open(), await open(BY_NOTIFICATION)];
    const heard = await hear(b);
    await ask(a, 'q');
    const rule = await a.rules.add({ scope: 'everywhere', rule: 'Read', behaviour: 'allow', createdBy: 'r' });
    await a.approvals.extend('q', FAR + 1, 'alice');
    await a.approvals.decide('q', { state: 'denied', digest: 'd', by: 'alice', via: 'api' });
    await a.rules.revoke(rule.id, 'r');
    const key = { name: 'k', scopes: ['call'], models: ['*'], digest: 'x', start: 'sk' };
    await a.keys.revoke((await a.keys.add(key, 'root'))?.id ?? '', 'root');
    await a.signIns.add({ id: 'browser', name: 'k', binding: 'b', beganAt: 1, expiresAt: FAR });
    await a.signIns.remove(['browser']);
    const approval = { kind: 'approval', id: 'q' };
    const told = [
      ...[approval, { kind: 'rule', what: 'added', rule }, approval, approval],
      ...[{ kind: 'rule', what: 'revoked', rule }, { kind: 'key' }, { kind: 'key' }],
      { kind: 'sign-in', id: 'browser' },
    ];
    await until(() => heard.length >= told.length);
    expect(heard).toEqual(told);
  });

  it('says how a session comes, changes and goes, and not that it took a step', async () => {
    const [a, b] = [await open(), await open(BY_NOTIFICATION)];
    const heard = await hear(b);
    const session = { id: 's', principal: 'alice', model: 'm', engine: 'native', expiresAt: FAR } as const;
    await a.sessions.create({ ...session, state: 'live' });
    const grant = await a.leases.acquire(sessionLease('s'), 'me', HOUR);
    if (!grant.granted) throw new Error('The lease is free.');
    await a.sessions.checkpoint('s', grant.lease, { append: [{ entries: [{ uuid: 'u', message: 1 }] }] });
    await a.sessions.checkpoint('s', grant.lease, { state: 'parked' });
    await a.sessions.label('s', { title: 'Named' });
    await a.sessions.delete('s', 'alice');
    await until(() => heard.length >= 4);
    const its = { kind: 'session', id: 's', principal: 'alice' };
    expect(heard).toEqual([
      { ...its, what: 'created' },
      { ...its, what: 'changed' },
      { ...its, what: 'changed' },
      { ...its, what: 'deleted' },
    ]);
  });

  it('does not miss what was written first and committed last', async () => {
    const [a, b] = [await open(), await open(BY_NOTIFICATION)];
    const heard = await hear(b);
    const slow = await connect();
    const insert = (id: string) =>
      `INSERT INTO changes (kind, what, id) VALUES ('approval', 'insert', '${id}')`;
    await slow.query('BEGIN');
    await slow.query(insert('slow'));
    await ask(a, 'quick');
    await hears(heard, 'quick');
    expect(approvalsIn(heard)).toEqual(['quick']);
    await slow.query('COMMIT');
    await ask(a, 'next');
    await hears(heard, 'next');
    expect(approvalsIn(heard)).toEqual(['quick', 'slow', 'next']);
  });

  it('says nothing of what was rolled back', async () => {
    const [a, b] = [await open(), await open(BY_NOTIFICATION)];
    const heard = await hear(b);
    await ask(a, 'q');
    await a.approvals.decide('q', { state: 'denied', digest: 'other', by: 'alice', via: 'api' });
    await ask(a, 'r');
    await hears(heard, 'r');
    expect(approvalsIn(heard)).toEqual(['q', 'r']);
  });

  it('reads more than a page, once', async () => {
    const [a, b] = [await open(), await open(BY_NOTIFICATION)];
    const heard = await hear(b);
    const raw = await connect();
    await raw.query(
      `INSERT INTO changes (kind, what, id) SELECT 'approval', 'insert', n::text FROM generate_series(1, 1203) AS n`,
    );
    await ask(a, 'last');
    await hears(heard, 'last');
    const told = Array.from({ length: 1203 }, (_, index) => String(index + 1));
    expect(approvalsIn(heard)).toEqual([...told, 'last']);
  });

  it('goes on where its connection is ended, with what was written meanwhile', async () => {
    const [a, b] = [await open(), await open(BY_NOTIFICATION)];
    const heard = await hear(b);
    await cutListeners(server, database);
    await ask(a, 'while cut');
    await hears(heard, 'while cut');
    await until(() => b.bus.proven);
    await ask(a, 'after');
    await hears(heard, 'after');
    expect(approvalsIn(heard)).toEqual(['while cut', 'after']);
  });

  it('knows that notifications do not come, and looks by itself', async () => {
    await open();
    await muteNotifications(server, database);
    const [a, b] = [await open(), await open({ probeMs: 50, unprovenBeatMs: 50 })];
    const heard = await hear(b, false);
    await ask(a, 'q');
    await hears(heard, 'q');
    expect(b.bus.proven).toBe(false);
  });

  it('looks now and then although notifications come, for the one that is lost', async () => {
    const b = await open({ pollMs: 50, unprovenPollMs: HOUR });
    const heard = await hear(b);
    const raw = await connect();
    // Without a notification.
    await raw.query(`INSERT INTO changes (kind, what, id) VALUES ('approval', 'insert', 'q')`);
    await hears(heard, 'q');
  });

  it('goes on after a crash of the server', async () => {
    const own = await startPostgres();
    closeAfterTest(() => own.close());
    const location = parsePostgresUrl(own.url(await own.create()), '/');
    const stores = [
      await openPostgres(location, { baseDir: '/' }),
      await openPostgres(location, { baseDir: '/' }),
    ];
    for (const store of stores) closeAfterTest(() => store.close());
    const [a, b] = stores;
    if (a === undefined || b === undefined) throw new Error('There are two.');
    const heard = await hear(b);
    await ask(a, 'before');
    await hears(heard, 'before');
    await own.stop('immediate');
    await own.start();
    await until(() =>
      ask(a, 'after').then(
        () => true,
        () => false,
      ),
    );
    await hears(heard, 'after');
    await until(() => b.bus.proven);
  });

  it('ignores what a newer version says, and what anybody else notifies', async () => {
    const [a, b] = [await open(), await open(BY_NOTIFICATION)];
    const heard = await hear(b);
    const raw = await connect();
    await raw.query(`INSERT INTO changes (kind, what, id) VALUES ('comet', 'seen', '1')`);
    await raw.query(`SELECT pg_notify('toolgate_changes', repeat('x', 7000))`);
    await raw.query(`SELECT pg_notify('toolgate_changes', '')`);
    await ask(a, 'q');
    await hears(heard, 'q');
    expect(heard).toEqual([{ kind: 'approval', id: 'q' }]);
  });

  it('keeps no more of what was said than it may', async () => {
    const a = await open({}, { changes: { maxRows: 3 } });
    for (const id of ['1', '2', '3', '4', '5']) await ask(a, id);
    await a.prune();
    const rows = await server.query('SELECT id FROM changes ORDER BY seq', database);
    expect(rows).toEqual([{ id: '3' }, { id: '4' }, { id: '5' }]);
    await server.query('UPDATE changes SET at = 0', database);
    await a.prune();
    expect(await server.query('SELECT id FROM changes', database)).toEqual([]);
  });
});

describe('presence', () => {
  it('is for the named key or for everyone, on any node, until it is taken back or its time is over', async () => {
    const [a, b] = [(await open()).presence, (await open()).presence];
    if (a === undefined || b === undefined) throw new Error('The store has no presence.');
    expect(await b.isThere('alice')).toBe(false);
    await a.put('a', [{ principal: 'alice', forMs: HOUR }]);
    expect([await b.isThere('alice'), await b.isThere('bob')]).toEqual([true, false]);
    await a.put('a', [{ principal: null, forMs: HOUR }]);
    expect([await b.isThere('alice'), await b.isThere('bob')]).toEqual([true, true]);
    await b.put('b', [{ principal: 'alice', forMs: HOUR }]);
    await a.put('a', []);
    expect([await a.isThere('alice'), await a.isThere('bob')]).toEqual([true, false]);
    await b.put('b', [{ principal: 'alice', forMs: 0 }]);
    expect(await a.isThere('alice')).toBe(false);
  });
});
