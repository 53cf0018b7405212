import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bytes, number, text } from '../sql/rows.js';
import { Database } from './database.js';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'store-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function open(lockWaitMs = 5000): Promise<Database> {
  const database = await Database.open({ path: join(folder, 'd.db'), memory: false, lockWaitMs });
  database.exec('CREATE TABLE IF NOT EXISTS t (a INTEGER, b TEXT, c BLOB) STRICT');
  return database;
}

const count = (database: Database) => number(database.get('SELECT count(*) AS n FROM t') ?? {}, 'n');
const pragma = (database: Database, name: string) => Object.values(database.get(`PRAGMA ${name}`) ?? {})[0];

describe('Database', () => {
  it('is set up for durable writes that several processes share', async () => {
    const database = await open();
    const settings = ['journal_mode', 'synchronous', 'foreign_keys', 'auto_vacuum'];
    expect(settings.map((name) => pragma(database, name))).toEqual(['wal', 2, 1, 2]);
    await database.write(() => expect(pragma(database, 'synchronous')).toBe(2));
    await database.write(() => expect(pragma(database, 'synchronous')).toBe(1), 'relaxed');
    expect(pragma(database, 'synchronous')).toBe(2);
    database.close();
  });

  it('gives values back, blobs also from a list, and a NUL as a visible character', async () => {
    const database = await open();
    const blob = Uint8Array.of(0, 1, 255);
    database.run('INSERT INTO t VALUES (?, ?, ?)', [2 ** 52, 'a\0b', blob]);
    const one = database.get('SELECT * FROM t') ?? {};
    const [listed = {}] = database.all('SELECT * FROM t');
    for (const row of [one, listed]) {
      expect([number(row, 'a'), text(row, 'b'), [...bytes(row, 'c')]]).toEqual([
        2 ** 52,
        'a\ufffdb',
        [0, 1, 255],
      ]);
    }
    expect(database.get('SELECT 1 AS found FROM t WHERE b = ?', ['a\0b'])).toMatchObject({ found: 1 });
    database.run('INSERT INTO t (c) VALUES (?)', [blob]);
    database.close();
  });

  it('refuses another number of parameters than the statement has', async () => {
    const database = await open();
    const sql = 'INSERT INTO t (a, b) VALUES (?, ?)';
    database.run(sql, [1, 'x']);
    expect(() => database.run(sql, [2])).toThrow('2 parameters expected, 1 given');
    expect(() => database.run(sql, [2, 'y', 3])).toThrow('2 parameters expected, 3 given');
    expect(count(database)).toBe(1);
    database.close();
  });

  it('runs one statement in both ways, each with its own parameters', async () => {
    const database = await open();
    for (const a of [1, 2]) database.run('INSERT INTO t VALUES (?, ?, ?)', [a, '', null]);
    const sql = 'SELECT a FROM t WHERE a = ?';
    expect(database.all(sql, [1]).map((row) => number(row, 'a'))).toEqual([1]);
    expect(number(database.get(sql, [2]) ?? {}, 'a')).toBe(2);
    database.close();
  });

  it('logs 4 MB before it writes them into the file, also in one of an earlier version, which keeps its pages', async () => {
    const pagesOf = (database: Database) =>
      ['page_size', 'wal_autocheckpoint'].map((name) => pragma(database, name));
    const made = await open();
    expect(pagesOf(made)).toEqual([1024, 4096]);
    made.exec('PRAGMA journal_mode = DELETE; PRAGMA page_size = 4096; VACUUM');
    made.close();
    const earlier = await open();
    expect(pagesOf(earlier)).toEqual([4096, 1024]);
    earlier.close();
  });

  it('rolls back what throws, and goes on', async () => {
    const database = await open();
    const failed = database.write(() => {
      database.run('INSERT INTO t (a) VALUES (?)', [1]);
      throw new Error('no');
    }, 'relaxed');
    await expect(failed).rejects.toThrow('no');
    expect([count(database), pragma(database, 'synchronous')]).toEqual([0, 2]);
    await database.write(() => database.run('INSERT INTO t (a) VALUES (?)', [1]));
    expect(count(database)).toBe(1);
    database.close();
  });

  it('waits for the lock of another without holding up the event loop', async () => {
    const [one, two] = [await open(), await open()];
    one.exec('BEGIN IMMEDIATE');
    one.run('INSERT INTO t (a) VALUES (?)', [1]);
    const waiting = two.write(() => two.run('INSERT INTO t (a) VALUES (?)', [2]));
    // Only a free event loop gets here while the other still waits.
    await new Promise((resolve) => setImmediate(resolve));
    expect(count(two)).toBe(0);
    one.exec('COMMIT');
    await waiting;
    expect(count(one)).toBe(2);
    one.close();
    two.close();
  });

  it('gives up in the end, and says that trying again helps', async () => {
    const [one, two] = [await open(), await open(1)];
    one.exec('BEGIN IMMEDIATE');
    const refused = two.write(() => two.run('INSERT INTO t (a) VALUES (?)', [2]));
    await expect(refused).rejects.toMatchObject({ code: 'unavailable', retryable: true });
    one.exec('ROLLBACK');
    await two.write(() => two.run('INSERT INTO t (a) VALUES (?)', [2]));
    one.close();
    two.close();
  });

  it('says that it is closed', async () => {
    const database = await open();
    database.close();
    database.close();
    await expect(database.read(() => count(database))).rejects.toMatchObject({ code: 'unavailable' });
    await expect(database.write(() => count(database))).rejects.toThrow('closed');
  });
});
