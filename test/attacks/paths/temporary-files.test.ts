/** A file of the gateway has a name that somebody else can guess, make first, or read. */
import { lstat, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type AgentProbe, openAgent } from '../agent-probe.js';

const LONG = { command: 'seq 1 200000' };
const OTHERS = 0o077;

/** Where the whole of a long output is kept. */
function keptIn(text: string | undefined): string {
  const path = /(\/\S+\.(?:txt|log))/.exec(text ?? '')?.[1];
  if (path === undefined) throw new Error(`No file is named in: ${text?.slice(0, 500)}`);
  return path;
}

/** Everything below a folder that others can reach to look at it or to change it. */
async function openToOthers(folder: string): Promise<string[]> {
  if (((await lstat(folder)).mode & OTHERS) === 0) return [];
  const found: string[] = [];
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) found.push(...(await openToOthers(path)));
    else if (((await lstat(path)).mode & OTHERS) !== 0) found.push(path);
  }
  return found;
}

const longOutput = async (agent: AgentProbe): Promise<string> =>
  keptIn((await agent.run(['Bash', LONG]))[0]?.text);

describe('files that the gateway makes', () => {
  let before = 0;
  beforeEach(() => {
    // Nothing is left to the umask.
    before = process.umask(0);
  });
  afterEach(() => void process.umask(before));

  it.each<[store: string, rest: object]>([
    ['beside the store', {}],
    ['of a store in memory', { store: 'sqlite::memory:' }],
  ])('%s are for nobody else, and no two have the same place', async (_store, rest) => {
    const agent = await openAgent({ rest });
    const paths = [await longOutput(agent), await longOutput(agent), await longOutput(agent)];
    const folders = new Set(paths.map((path) => dirname(path)));
    expect(folders.size).toBe(3);
    for (const path of paths) {
      expect((await lstat(path)).mode & 0o777).toBe(0o600);
      expect((await lstat(dirname(path))).mode & 0o777).toBe(0o700);
      expect((await lstat(dirname(dirname(path)))).mode & 0o777).toBe(0o700);
      // At least 24 bits of chance in a folder that nobody else can list.
      expect(dirname(path)).toMatch(/\/s-[A-Za-z0-9]{6}$/);
    }
    // A file that is kept beside them for a principal is as private.
    await agent.run(['MemoryWrite', { file_path: 'notes.md', content: 'private' }]);
    expect(await openToOthers(dirname(dirname(dirname(dirname(paths[0] ?? '')))))).toEqual([]);
  });

  it('that hold the store and what was asked and answered are for nobody else', async () => {
    const agent = await openAgent({ rest: { traces: { bodies: true } } });
    await agent.run(['Bash', { command: 'true' }]);
    const state = join(agent.folder, '.toolgate');
    expect(await openToOthers(state)).toEqual([]);
  });
});

describe('names that can be guessed', () => {
  const GUESSES = [
    'a.txt.tmp',
    '.a.txt.tmp',
    'a.txt~',
    '.a.txt.swp',
    'a.txt.bak',
    'a.txt.new',
    '.toolgate.tmp',
  ];

  it('and were planted as links beside a file do not matter when it is written', async () => {
    const agent = await openAgent({ files: { 'a.txt': 'one\n' } });
    const secret = join(agent.outside, 'secret');
    await writeFile(secret, 'untouched');
    for (const name of GUESSES) await symlink(secret, join(agent.root, name));
    const path = join(agent.root, 'a.txt');
    const outcomes = await agent.run(
      ['Read', { file_path: path }],
      ['Edit', { file_path: path, old_string: 'one', new_string: 'two' }],
      ['Write', { file_path: path, content: 'three\n' }],
      ['Write', { file_path: join(agent.root, 'new.txt'), content: 'new\n' }],
    );
    expect(outcomes.filter(({ isError }) => isError)).toEqual([]);
    expect(await readFile(path, 'utf8')).toBe('three\n');
    expect(await readFile(secret, 'utf8')).toBe('untouched');
    expect((await readdir(agent.root)).toSorted()).toEqual(['a.txt', 'new.txt', ...GUESSES].toSorted());
  });

  it('of memories are not followed where one was planted as a link', async () => {
    const agent = await openAgent();
    await agent.run(['MemoryWrite', { file_path: 'first.md', content: 'x' }]);
    const memories = join(agent.folder, '.toolgate', 'toolgate.db-files', 'memory');
    const [own = ''] = await readdir(memories);
    const secret = join(agent.outside, 'secret');
    await writeFile(secret, 'the-secret');
    await symlink(secret, join(memories, own, 'planted.md'));
    await mkdir(join(agent.outside, 'deep'));
    await symlink(join(agent.outside, 'deep'), join(memories, own, 'folder'));
    const outcomes = await agent.run(
      ['MemoryRead', { file_path: 'planted.md' }],
      ['MemoryWrite', { file_path: 'planted.md', content: 'changed' }],
      ['MemoryWrite', { file_path: 'folder/new.md', content: 'changed' }],
    );
    for (const { text } of outcomes) expect(text).not.toContain('the-secret');
    expect(await readFile(secret, 'utf8')).toBe('the-secret');
    expect(await readdir(join(agent.outside, 'deep'))).toEqual([]);
  });
});
