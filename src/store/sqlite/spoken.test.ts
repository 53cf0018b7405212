import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ownSession, START, TTL } from '../../../test/contracts/store/place.js';
import type { LimitOverrides } from '../limits.js';
import { openStore } from '../open/open-store.js';
import { number, text } from '../sql/rows.js';
import type { Store } from '../store.js';
import { Database } from './database.js';
import { MIGRATIONS, migrate } from './migrations.js';

const HIDDEN = 'zebrafinch';
const said = (words: string) => ({
  kind: 'message',
  message: { role: 'user', content: [{ type: 'text', text: words }] },
});

let folder = '';
let now = START;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'store-'));
  now = START;
});
afterEach(() => rm(folder, { recursive: true }));

const path = () => join(folder, 'm.db');
const open = (limits: LimitOverrides = {}): Promise<Store> =>
  openStore('sqlite:m.db', { baseDir: folder, now: () => now, limits });

async function inside<T>(look: (database: Database) => T): Promise<T> {
  const database = await Database.open({ path: path(), memory: false, lockWaitMs: 1000 });
  try {
    return look(database);
  } finally {
    database.close();
  }
}

/** Tables that hold the word, in any column. */
function tablesWith(database: Database, word: string): string[] {
  const names = database.all(`SELECT name FROM sqlite_schema WHERE type = 'table'`);
  return names
    .map((row) => text(row, 'name'))
    .filter((name) => JSON.stringify(database.all(`SELECT * FROM ${name}`)).includes(word));
}

const spokenRows = (database: Database): number =>
  number(database.get('SELECT count(*) AS n FROM spoken') ?? {}, 'n');

async function talk(store: Store, id: string, words: readonly string[]): Promise<void> {
  const { step } = await ownSession(store, id);
  const entries = words.map((each, index) => ({ uuid: `u${index}`, message: said(each) }));
  await step({ append: [{ entries }, { channel: 'agent', entries }] });
}

describe('what was said, in the file', () => {
  it.each(['deleted', 'expired'])('is in no table once its session is %s', async (how) => {
    const store = await open();
    // More than prune deletes at once.
    await talk(
      store,
      's1',
      Array.from({ length: 600 }, () => HIDDEN),
    );
    await talk(store, 's2', ['stays']);
    await store.sessions.list({ limit: 9, search: 'nobody said this' });
    expect(await inside((database) => tablesWith(database, HIDDEN))).toEqual(['transcript', 'spoken']);
    if (how === 'deleted') await store.sessions.delete('s1', 'alice');
    else {
      now = START + 11 * TTL;
      const { step } = await ownSession(store, 's3', { expiresAt: now + TTL });
      await step({ append: [{ entries: [{ uuid: 'u', message: said('stays') }] }] });
      await store.sessions.list({ limit: 9, search: 'nobody said this' });
      now = START + 10 * TTL + 3600_000;
      await store.prune();
    }
    expect(await inside((database) => tablesWith(database, HIDDEN))).toEqual([]);
    expect(await inside((database) => tablesWith(database, 'stays'))).toContain('spoken');
    await store.close();
  });
});

describe('the size of a session', () => {
  const sizeOf = (id: string) =>
    inside((database) => number(database.get('SELECT size FROM sessions WHERE id = ?', [id]) ?? {}, 'size'));

  it('has what was said in it as it was written, and once more when it was searched', async () => {
    const store = await open();
    await talk(store, 's1', []);
    await talk(store, 's2', ['x'.repeat(1000)]);
    const difference = async () => (await sizeOf('s2')) - (await sizeOf('s1'));
    const written = 2 * (JSON.stringify(said('')).length + 1000);
    expect(await difference()).toBe(written);
    // Two channels, one of them searched.
    for (const _ of ['first', 'again']) {
      await store.sessions.list({ limit: 1, search: HIDDEN });
      expect(await difference()).toBe(written + 1000);
    }
    await store.close();
  });
});

/** As the version before the search left a store: with transcripts, and nothing beside them. */
const forget = () =>
  inside((database) => {
    database.exec(`CREATE INDEX leases_by_owner ON leases (owner);
      CREATE INDEX sessions_by_expiry ON sessions (expires_at);
      CREATE INDEX answers_by_expiry ON answers (expires_at);
      DROP TABLE tool_pins; DROP TABLE mcp_servers; DROP TABLE outbox; DROP TABLE secrets; DROP TABLE push_subscriptions;
      DROP TABLE upstreams; DROP TABLE keys; DELETE FROM counters WHERE name = 'keys';
      DROP INDEX traces_by_session; DROP INDEX sessions_pinned;
      ALTER TABLE sessions DROP COLUMN given_title; ALTER TABLE sessions DROP COLUMN pinned_at;
      ALTER TABLE sessions DROP COLUMN archived_at;
      ALTER TABLE sessions DROP COLUMN mode; ALTER TABLE sessions DROP COLUMN mode_before_plan;
      ALTER TABLE usage DROP COLUMN team;
      DROP TRIGGER spoken_goes; DROP TABLE spoken; DROP TABLE spoken_up_to;
      PRAGMA user_version = 4;`);
  });

describe('a store that is older than the search', () => {
  /** More than one step reads, of rows and of bytes. */
  const LONG = Array.from({ length: 230 }, (_, n) => `${HIDDEN} ${n} ${'x'.repeat(n % 100 ? 10 : 300_000)}`);

  async function oldStore(): Promise<void> {
    const store = await open();
    await talk(store, 's1', LONG);
    await talk(store, 's2', ['nothing of the kind']);
    await store.close();
    await forget();
  }

  const found = async (store: Store, search: string) =>
    (await store.sessions.list({ limit: 9, search })).items.map(({ id, match }) => [id, match?.text]);

  it('is opened without reading any of it', async () => {
    await oldStore();
    await inside(async (database) => migrate(database, MIGRATIONS));
    expect(await inside(spokenRows)).toBe(0);
  });

  it('is searched whole, also where a session went on since', async () => {
    await oldStore();
    const store = await open();
    now += 2 * TTL;
    const grant = await store.leases.acquire('session:s1', 'node-b', TTL);
    if (!grant.granted) throw new Error('The lease is held.');
    const entries = [{ uuid: 'later', message: said('and a gate') }];
    await store.sessions.checkpoint('s1', grant.lease, { append: [{ entries }] });
    expect(await found(store, `${HIDDEN} gate`)).toEqual([['s1', `${HIDDEN} 229 xxxxxxxxxx`]]);
    expect(await found(store, 'gate')).toEqual([['s1', 'and a gate']]);
    expect(await inside(spokenRows)).toBe(LONG.length + 2);
    await store.sessions.delete('s1', 'alice');
    expect(await inside((database) => tablesWith(database, HIDDEN))).toEqual([]);
    await store.close();
  });

  it('is read once', async () => {
    await oldStore();
    const store = await open();
    expect(await found(store, HIDDEN)).toHaveLength(1);
    // What was noted is not looked up in the transcript again.
    await inside((database) => database.exec(`UPDATE transcript SET message = replace(message, 'x', 'w')`));
    expect(await found(store, 'wwww')).toEqual([]);
    expect(await inside(spokenRows)).toBe(LONG.length + 1);
    await store.close();
  });

  it('is searched by two at once, and noted once', async () => {
    await oldStore();
    const stores = [await open(), await open()];
    const all = await Promise.all(stores.map((store) => found(store, `${HIDDEN} 229`)));
    expect(all).toEqual([[['s1', `${HIDDEN} 229 xxxxxxxxxx`]], [['s1', `${HIDDEN} 229 xxxxxxxxxx`]]]);
    expect(await inside(spokenRows)).toBe(LONG.length + 1);
    for (const store of stores) await store.close();
  });

  it('is searched as far as it is there where the beginning of a transcript is gone', async () => {
    await oldStore();
    await inside((database) => database.exec('DELETE FROM transcript WHERE seq <= 120'));
    const store = await open();
    expect(await found(store, `${HIDDEN} 229`)).toHaveLength(1);
    expect(await found(store, `${HIDDEN} 119`)).toHaveLength(0);
    expect(await inside(spokenRows)).toBe(LONG.length - 120);
    await store.close();
  });

  it('is searched while it cannot be written, as far as it was noted', async () => {
    await oldStore();
    const store = await open({ lockWaitMs: 30 });
    await talk(store, 's3', ['a gate']);
    expect(await found(store, 'gate')).toHaveLength(1);
    await talk(store, 's4', ['a fence']);
    const other = await Database.open({ path: path(), memory: false, lockWaitMs: 1000 });
    other.exec('BEGIN IMMEDIATE');
    expect(await found(store, 'gate')).toEqual([['s3', 'a gate']]);
    expect(await found(store, 'coder')).toHaveLength(4);
    expect(await found(store, 'fence')).toEqual([]);
    other.exec('ROLLBACK');
    other.close();
    expect(await found(store, 'fence')).toEqual([['s4', 'a fence']]);
    await store.close();
  });
});
