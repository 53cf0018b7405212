import { describe, expect, it } from 'vitest';
import { closeAfterTest, tempFolder } from '../../../test/support/cleanup.js';
import { readSnapshot } from './snapshot.js';
import { createToolStates } from './tool-states.js';

async function sessions() {
  const { path } = await tempFolder();
  const made = createToolStates(path);
  closeAfterTest(() => made.close());
  return (restore?: Record<string, unknown>) =>
    made.open({
      id: 's',
      principal: 'alice',
      workspace: { root: path, home: path },
      ...(restore === undefined ? {} : { restore }),
    });
}

const record = (readAt: number) => ({ size: 1, mtimeMs: 2, sha256: 'a', readAt });

describe('a snapshot of a tool session', () => {
  it('brings folder, list and read files back, also through JSON', async () => {
    const open = await sessions();
    const before = await open();
    before.cwd = '/elsewhere';
    before.todos.replace([{ content: 'a', status: 'in_progress', activeForm: 'doing a' }]);
    before.files.set('/x', { ...record(3), lines: { from: 1, to: 9 } });
    before.files.set('/y', record(4));
    const after = await open(JSON.parse(JSON.stringify(before.snapshot())));
    expect(after.cwd).toBe('/elsewhere');
    expect(after.todos.read()).toEqual(before.todos.read());
    expect([...after.files.entries()]).toEqual([...before.files.entries()]);
  });

  it('keeps the files that were read last where there are very many', async () => {
    const open = await sessions();
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
