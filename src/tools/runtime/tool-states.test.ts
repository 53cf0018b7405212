import { spawnSync } from 'node:child_process';
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { closeAfterTest, tempFolder } from '../../../test/support/cleanup.js';
import type { Job } from './context.js';
import type { ToolStateOptions } from './runtime.js';
import { sweep } from './scratch-folders.js';
import { readSnapshot } from './tool-state-snapshot.js';
import { createToolStates, memoryFolder } from './tool-states.js';

async function sessions() {
  const { path } = await tempFolder();
  const made = createToolStates(path);
  closeAfterTest(() => made.close());
  const closed: string[] = [];
  const open = (options: Partial<ToolStateOptions> = {}) =>
    made.open(
      { id: 's', principal: 'alice', workspace: { root: path, home: path }, ...options },
      async (id) => void closed.push(id),
    );
  return { ...made, open, path, closed };
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

function fakeJob(onStop: () => void): Job {
  return {
    id: 'bash_1',
    command: 'sleep 1',
    startedAt: 0,
    state: () => ({ status: 'running' }),
    readNew: async () => ({ text: '', omitted: 0 }),
    logPath: '/dev/null',
    stop: async () => onStop(),
    ended: new Promise(() => {}),
  };
}

describe('a session', () => {
  it('starts in the workspace with nothing in it', async () => {
    const { open, path } = await sessions();
    const session = await open();
    expect(session.cwd).toBe(path);
    expect(session.todos.read()).toEqual([]);
    expect([...session.files.entries()]).toEqual([]);
    expect(session.ownPaths?.()).toEqual([]);
  });

  it('shares nothing with another', async () => {
    const { open } = await sessions();
    const [a, b] = [await open(), await open()];
    a.cwd = '/elsewhere';
    a.files.set('/x', { size: 1, mtimeMs: 1, sha256: '', readAt: 1 });
    a.todos.replace([{ content: 'x', status: 'pending', activeForm: 'x' }]);
    expect(b.cwd).not.toBe('/elsewhere');
    expect(b.files.get('/x')).toBeUndefined();
    expect(b.todos.read()).toEqual([]);
    expect(await a.scratch()).not.toBe(await b.scratch());
  });

  it('has one private folder, made when it is first wanted and gone when it is closed', async () => {
    const { open, path } = await sessions();
    const session = await open();
    expect(await exists(join(path, 'scratch'))).toBe(false);
    const folder = await session.scratch();
    expect(await session.scratch()).toBe(folder);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect((await stat(join(path, 'scratch'))).mode & 0o777).toBe(0o700);
    expect(session.ownPaths?.()).toEqual([folder]);
    await session.close();
    await session.close();
    expect(await exists(folder)).toBe(false);
    await expect(session.scratch()).rejects.toThrow(/closed/);
  });

  it('ends its background jobs when it is closed', async () => {
    const { open } = await sessions();
    const session = await open();
    let stopped = 0;
    session.jobs.add(fakeJob(() => (stopped += 1)));
    await session.close();
    expect(stopped).toBe(1);
  });

  it('tells once that it has ended, and nothing of its sub-agents', async () => {
    const { open, closed } = await sessions();
    const parent = await open();
    await (await open({ parent })).close();
    expect(closed).toEqual([]);
    await parent.close();
    await parent.close();
    expect(closed).toEqual(['s']);
  });

  it('is closed with the runtime', async () => {
    const { open, close, path } = await sessions();
    await (await open()).scratch();
    await close();
    expect(await readdir(join(path, 'scratch'))).toEqual([]);
  });
});

describe('the session of a sub-agent', () => {
  it('has the jobs, the private folder and the memory of its parent, and nothing else', async () => {
    const { open } = await sessions();
    const parent = await open();
    parent.cwd = '/moved';
    parent.files.set('/x', { size: 1, mtimeMs: 1, sha256: '', readAt: 1 });
    const child = await open({ parent, agent: { id: 'a1', label: 'search' } });
    expect(child.jobs).toBe(parent.jobs);
    expect(await child.scratch()).toBe(await parent.scratch());
    expect(child.ownPaths?.()).toEqual(parent.ownPaths?.());
    expect(child.memoryDir).toBe(parent.memoryDir);
    expect(child.cwd).toBe('/moved');
    expect(child.files.get('/x')).toBeUndefined();
    child.cwd = '/other';
    expect(parent.cwd).toBe('/moved');
  });

  it('leaves both to its parent when it is closed', async () => {
    const { open } = await sessions();
    const parent = await open();
    let stopped = 0;
    parent.jobs.add(fakeJob(() => (stopped += 1)));
    const child = await open({ parent });
    const folder = await child.scratch();
    await child.close();
    expect(stopped).toBe(0);
    expect(await exists(folder)).toBe(true);
  });
});

describe('the folder of memories', () => {
  it.each([
    ['..'],
    ['../../etc'],
    ['/etc'],
    ['a/b'],
    ['a\0b'],
    [''],
    ['.'],
    ['x'.repeat(500)],
    ['CON'],
    ['名前'],
  ])('of %j is one folder below the others', (principal) => {
    const folder = memoryFolder('/state', principal);
    expect(dirname(folder)).toBe('/state/memory');
    expect(relative('/state/memory', folder)).toMatch(/^[a-z0-9-]{16,64}$/);
  });

  it('is never that of another, whatever is the same about their names', () => {
    const names = ['alice', 'Alice', 'ALICE', 'alice ', 'al/ice', 'al-ice', 'al ice', ''];
    const folders = names.map((name) => memoryFolder('/state', name).toLowerCase());
    expect(new Set(folders).size).toBe(names.length);
  });

  it('is not that of another end user of the key, and that of nobody stays where it was', () => {
    const of = (principal: string, user?: string) => memoryFolder('/state', principal, user);
    const folders = [
      of('alice'),
      of('alice', 'u1'),
      of('alice', 'u2'),
      of('bob', 'u1'),
      of('["alice","u1"]'),
    ];
    expect(new Set(folders).size).toBe(folders.length);
    expect(folders.map((folder) => dirname(folder))).toEqual(folders.map(() => '/state/memory'));
    expect(of('alice')).toBe('/state/memory/alice-2bd806c97f0e00af');
  });
});

describe('what processes leave behind', () => {
  it('is looked at when the runtime starts', async () => {
    const { path } = await tempFolder();
    const { pid } = spawnSync(process.execPath, ['-e', '']);
    await mkdir(join(path, 'scratch', `${pid}-5-Abc123`), { recursive: true });
    const made = createToolStates(path);
    await made.close();
    expect(await readdir(join(path, 'scratch'))).toEqual([]);
  });

  it('goes when the process is gone, and stays while it runs', async () => {
    const { path } = await tempFolder();
    const { pid } = spawnSync(process.execPath, ['-e', '']);
    const mine = await sessions();
    const own = await (await mine.open()).scratch();
    const ownName = relative(join(mine.path, 'scratch'), dirname(own));
    const reused = ownName.replace(/^(\d+)-[^-]+-/, '$1-1-');
    for (const name of [`${pid}-5-Abc123`, ownName, reused, 'notes', `${pid}`]) {
      await mkdir(join(path, name));
      await writeFile(join(path, name, 'file'), 'x');
    }
    await sweep(path);
    expect((await readdir(path)).toSorted()).toEqual([`${pid}`, ownName, 'notes'].toSorted());
  });
});

const record = (readAt: number) => ({ size: 1, mtimeMs: 2, sha256: 'a', readAt });

describe('a snapshot of a tool session', () => {
  it('brings folder, list and read files back, also through JSON', async () => {
    const { open } = await sessions();
    const before = await open();
    before.cwd = '/elsewhere';
    before.todos.replace([{ content: 'a', status: 'in_progress', activeForm: 'doing a' }]);
    before.files.set('/x', { ...record(3), lines: { from: 1, to: 9 } });
    before.files.set('/y', record(4));
    const after = await open({ restore: JSON.parse(JSON.stringify(before.snapshot())) });
    expect(after.cwd).toBe('/elsewhere');
    expect(after.todos.read()).toEqual(before.todos.read());
    expect([...after.files.entries()]).toEqual([...before.files.entries()]);
  });

  it('keeps the files that were read last where there are very many', async () => {
    const { open } = await sessions();
    const session = await open();
    for (let at = 0; at < 1000; at += 1) session.files.set(`/${at}`, record(at));
    const { files } = readSnapshot(session.snapshot());
    expect(files.length).toBeLessThan(1000);
    expect(files.map(([path]) => path)).toContain('/999');
    expect(files.map(([path]) => path)).not.toContain('/0');
  });

  it('that is damaged restores what can be read of it, and no file that cannot', () => {
    const read = readSnapshot({
      variables: [['A', '1'], ['B', null], ['C', 3], 'D'],
      cwd: 7,
      todos: [{ content: 'a', status: 'odd', activeForm: 'a' }, null],
      files: [
        ['/x', { ...record(1), sha256: 5 }],
        ['/y', { ...record(1), lines: 'all' }],
        ['/z', record(1)],
        7,
      ],
    });
    expect(read).toEqual({
      cwd: undefined,
      variables: [
        ['A', '1'],
        ['B', null],
      ],
      todos: [],
      files: [['/z', record(1)]],
    });
  });
});
