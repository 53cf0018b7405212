import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ownSession, START, TTL } from '../contract/place.js';
import { openStore } from '../open.js';
import type { Store } from '../store.js';
import { Database } from './database.js';
import { MIGRATIONS, migrate } from './migrations.js';
import { number, text } from './rows.js';

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
const open = (): Promise<Store> => openStore('sqlite:m.db', { baseDir: folder, now: () => now });

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
    expect(await inside((database) => tablesWith(database, HIDDEN))).toEqual(['transcript', 'spoken']);
    if (how === 'deleted') await store.sessions.delete('s1', 'alice');
    else {
      now = START + 11 * TTL;
      const { step } = await ownSession(store, 's3', { expiresAt: now + TTL });
      await step({ append: [{ entries: [{ uuid: 'u', message: said('stays') }] }] });
      now = START + 10 * TTL + 3600_000;
      await store.prune();
    }
    expect(await inside((database) => tablesWith(database, HIDDEN))).toEqual([]);
    expect(await inside((database) => tablesWith(database, 'stays'))).toContain('spoken');
    await store.close();
  });
});

describe('a store that is older than the search', () => {
  /** As the version before it left one: with transcripts, and nothing beside them. */
  async function oldStore(): Promise<void> {
    const store = await open();
    await talk(
      store,
      's1',
      Array.from({ length: 45 }, (_, index) => `${HIDDEN} ${index}`),
    );
    await talk(store, 's2', ['nothing of the kind']);
    await store.close();
    await inside((database) => {
      database.exec(`DROP TRIGGER spoken_goes; DROP TABLE spoken; DROP INDEX sessions_with_turn;
        ALTER TABLE sessions DROP COLUMN spoken;
        PRAGMA user_version = 4;`);
    });
  }

  it('is opened without reading any of it', async () => {
    await oldStore();
    await inside(async (database) => migrate(database, MIGRATIONS));
    expect(await inside(spokenRows)).toBe(0);
  });

  it('is searched whole, also where a session went on since, and each session is read once', async () => {
    await oldStore();
    const store = await open();
    now += 2 * TTL;
    const grant = await store.leases.acquire('session:s1', 'node-b', TTL);
    if (!grant.granted) throw new Error('The lease is held.');
    const entries = [{ uuid: 'later', message: said('and a gate') }];
    await store.sessions.checkpoint('s1', grant.lease, { append: [{ entries }] });
    const found = async (search: string) =>
      (await store.sessions.list({ limit: 9, search })).items.map(({ id, match }) => [id, match?.text]);
    expect(await found(`${HIDDEN} gate`)).toEqual([['s1', `${HIDDEN} 44`]]);
    expect(await found('gate')).toEqual([['s1', 'and a gate']]);
    expect(await inside(spokenRows)).toBe(47);
    await store.sessions.delete('s1', 'alice');
    expect(await inside((database) => tablesWith(database, HIDDEN))).toEqual([]);
    await store.close();
  });
});
