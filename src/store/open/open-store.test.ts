import { chmod, copyFile, mkdir, mkdtemp, open, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openStore, parseStoreUrl } from './open-store.js';

const NOBODY = 65534;

// Loaded before anything steps down: the code itself may be readable for its owner alone.
beforeAll(async () => (await openStore('sqlite::memory:', { baseDir: '/' })).close());

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'store-'));
});
afterEach(() => rm(folder, { recursive: true }));

/** The superuser may write everything, so for this it steps down. */
async function withoutPrivileges(work: () => Promise<unknown>): Promise<void> {
  const superuser = process.geteuid?.() === 0;
  if (superuser) process.seteuid?.(NOBODY);
  try {
    await work();
  } finally {
    if (superuser) process.seteuid?.(0);
  }
}

describe('parseStoreUrl', () => {
  it.each([
    ['sqlite:./.toolgate/toolgate.db', '/base/.toolgate/toolgate.db'],
    ['sqlite:plain.db', '/base/plain.db'],
    ['sqlite:../up.db', '/up.db'],
    ['sqlite:/abs/x.db', '/abs/x.db'],
    ['sqlite:///abs/a%20b.db', '/abs/a b.db'],
    ['SQLite:with ?#%.db', '/base/with ?#%.db'],
  ])('%s is the file %s', (url, path) => {
    expect(parseStoreUrl(url, '/base')).toEqual({ kind: 'file', path });
  });

  it('knows memory', () => {
    expect(parseStoreUrl('sqlite::memory:', '/base')).toEqual({ kind: 'memory' });
  });

  it.each(['', 'sqlite:', 'sqlite:./folder/', 'sqlite://host/x.db', 'mysql://x', './file.db', 'sqlite:a\0b'])(
    'refuses %j as a wrong setting',
    (url) => {
      expect(() => parseStoreUrl(url, '/base')).toThrow(
        expect.objectContaining({ code: 'invalid_request', param: 'store', detail: 'store_url' }),
      );
    },
  );

  it('knows a PostgreSQL database, with TLS as the URL says', async () => {
    expect(parseStoreUrl('postgres://me:hunter2@host/db', '/base')).toMatchObject({
      ...{ kind: 'postgres', host: 'host', port: 5432, database: 'db', password: 'hunter2', tls: false },
    });
    await writeFile(join(folder, 'ca.pem'), 'certificate');
    const tls = (query: string) => {
      const location = parseStoreUrl(`postgres://host/db?${query}`, folder);
      return location.kind === 'postgres' && location.tls;
    };
    expect(tls('sslmode=require')).toMatchObject({ rejectUnauthorized: false });
    expect(tls('sslmode=verify-full')).toEqual({ rejectUnauthorized: true });
    expect(tls('sslrootcert=ca.pem')).toEqual({ rejectUnauthorized: true, ca: 'certificate' });
    expect(tls('sslmode=verify-ca&sslrootcert=ca.pem')).toMatchObject({
      rejectUnauthorized: true,
      checkServerIdentity: expect.any(Function),
    });
    expect(() => tls('sslrootcert=none.pem')).toThrow(/sslrootcert.*none\.pem.*ENOENT/);
  });

  it.each(['postgres://me:hunter2@host', 'postgres://me:hunter2@host/db?sslmode=maybe'])(
    'refuses %s as a wrong setting, without its password',
    (url) => {
      const parse = () => parseStoreUrl(url, '/base');
      expect(parse).toThrow(expect.objectContaining({ code: 'invalid_request', detail: 'store_url' }));
      expect(parse).not.toThrow('hunter2');
    },
  );
});

describe('openStore', () => {
  it('makes the file for its owner alone, in a folder of the same kind', async () => {
    const store = await openStore('sqlite:new/deep/x.db', { baseDir: folder });
    await store.rules.add({ scope: 'everywhere', rule: 'A', behaviour: 'allow', createdBy: 'x' });
    for (const name of ['new', 'new/deep', 'new/deep/x.db', 'new/deep/x.db-wal', 'new/deep/x.db-shm']) {
      const { mode } = await stat(join(folder, name));
      expect([name, (mode & 0o777).toString(8)]).toEqual([name, name.includes('x.db') ? '600' : '700']);
    }
    expect(await store.info()).toMatchObject({ kind: 'sqlite', location: join(folder, 'new/deep/x.db') });
    await store.close();
  });

  it('says what to do about a file that is not a database', async () => {
    await writeFile(
      join(folder, 'x.db'),
      'this is text, and long enough to be a header of something else. '.repeat(99),
    );
    const refused = openStore('sqlite:x.db', { baseDir: folder });
    await expect(refused).rejects.toMatchObject({ code: 'unavailable', param: 'store' });
    await expect(refused).rejects.toThrow(/x\.db cannot be used: it is not a SQLite database\. Move/);
  });

  it('says what to do about a damaged database', async () => {
    const store = await openStore('sqlite:x.db', { baseDir: folder });
    await store.close();
    const path = join(folder, 'x.db');
    const { size } = await stat(path);
    const file = await open(path, 'r+');
    await file.write(Buffer.alloc(size - 100, 0xff), 0, size - 100, 100);
    await file.close();
    const refused = openStore('sqlite:x.db', { baseDir: folder });
    await expect(refused).rejects.toThrow(/x\.db cannot be used: it is (damaged|not a SQLite database)/);
  });

  it('says what to do about a path that is a folder', async () => {
    const refused = openStore('sqlite:.', { baseDir: folder });
    await expect(refused).rejects.toThrow(/cannot be used: it cannot be opened/);
  });

  it('says what to do about a read-only file', async () => {
    const store = await openStore('sqlite:x.db', { baseDir: folder });
    await store.close();
    // The connection keeps its log beside the file until it is collected: a copy has none.
    await mkdir(join(folder, 'copy'));
    await copyFile(join(folder, 'x.db'), join(folder, 'copy', 'x.db'));
    await chmod(join(folder, 'copy', 'x.db'), 0o444);
    await chmod(join(folder, 'copy'), 0o555);
    await chmod(folder, 0o755);
    await withoutPrivileges(async () => {
      const refused = openStore('sqlite:copy/x.db', { baseDir: folder });
      await expect(refused).rejects.toThrow(/x\.db cannot be used: it is read-only/);
    });
    await chmod(join(folder, 'copy'), 0o755);
  });

  it('says what to do about a folder it may not write', async () => {
    await chmod(folder, 0o555);
    await withoutPrivileges(async () => {
      const refused = openStore('sqlite:new/x.db', { baseDir: folder });
      await expect(refused).rejects.toThrow(/new\/x\.db cannot be created \(EACCES\)/);
    });
    await chmod(folder, 0o755);
  });
});
