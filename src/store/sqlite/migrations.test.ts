import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openStore } from '../open/open-store.js';
import { number } from '../sql/rows.js';
import { Database } from './database.js';
import { MIGRATIONS, type Migration, migrate } from './migrations.js';
import { listSql } from './traces.js';

const FIRST: Migration = { version: 1, sql: 'CREATE TABLE a (x INTEGER); INSERT INTO a VALUES (1);' };
const SECOND: Migration = { version: 2, sql: 'ALTER TABLE a ADD COLUMN y TEXT; UPDATE a SET y = x + 1;' };
const BROKEN: Migration = { version: 3, sql: 'CREATE TABLE b (x INTEGER); INSERT INTO nowhere VALUES (1);' };

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'store-'));
});
afterEach(() => rm(folder, { recursive: true }));

const open = () => Database.open({ path: join(folder, 'm.db'), memory: false, lockWaitMs: 1000 });
const version = (database: Database) => number(database.get('PRAGMA user_version') ?? {}, 'user_version');

describe('migrations', () => {
  it('are numbered from 1 without a gap', () => {
    expect(MIGRATIONS.map((migration) => migration.version)).toEqual(MIGRATIONS.map((_, index) => index + 1));
  });

  it('bring an older database forward and keep its data', async () => {
    const old = await open();
    await migrate(old, [FIRST]);
    old.close();
    const database = await open();
    expect(await migrate(database, [FIRST, SECOND])).toBe(2);
    expect(database.get('SELECT x, y FROM a')).toMatchObject({ x: 1, y: '2' });
    expect(await migrate(database, [FIRST, SECOND])).toBe(2);
    expect(database.all('SELECT * FROM a')).toHaveLength(1);
    database.close();
  });

  it('leave the database as it was when one fails', async () => {
    const database = await open();
    await migrate(database, [FIRST]);
    await expect(migrate(database, [FIRST, SECOND, BROKEN])).rejects.toThrow('nowhere');
    expect(version(database)).toBe(1);
    expect(() => database.get('SELECT y FROM a')).toThrow('y');
    database.close();
  });

  it('run once when two open an empty file together', async () => {
    const [one, two] = await Promise.all([open(), open()]);
    expect(await Promise.all([migrate(one, [FIRST]), migrate(two, [FIRST])])).toEqual([1, 1]);
    expect(one.all('SELECT * FROM a')).toHaveLength(1);
    one.close();
    two.close();
  });

  it('refuse a database of a newer version, and say so', async () => {
    const database = await open();
    await migrate(database, MIGRATIONS);
    database.exec('PRAGMA user_version = 999');
    database.close();
    const refused = openStore('sqlite:m.db', { baseDir: folder });
    await expect(refused).rejects.toMatchObject({ code: 'unavailable', detail: 'store_unavailable' });
    await expect(refused).rejects.toThrow(/m\.db cannot be used.*newer version.*schema 999/);
  });

  it('refuse the database of another program', async () => {
    const database = await open();
    database.exec('CREATE TABLE bookmarks (url TEXT)');
    database.close();
    const refused = openStore('sqlite:m.db', { baseDir: folder });
    await expect(refused).rejects.toThrow(/m\.db cannot be used.*another program/);
  });
});

it.each([
  ['alice', { principal: 'alice' }],
  ['an administrator', {}],
])('the requests of a session are found by an index when %s asks', async (_, who) => {
  const database = await open();
  await migrate(database, MIGRATIONS);
  const { sql, params } = listSql({ session: 'ses_1', limit: 50, ...who });
  const plan = JSON.stringify(database.all(`EXPLAIN QUERY PLAN ${sql}`, params));
  expect(plan).toContain('traces_by_session');
  // The index has them in the order of the list.
  expect(plan).not.toContain('TEMP B-TREE');
  database.close();
});
