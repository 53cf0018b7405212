import { execFileSync } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { closeAfterTest } from '../../../test/support/cleanup.js';
import {
  createTestContext,
  runTool,
  type TestContext,
  type TestContextOptions,
} from '../../../test/support/tool-context.js';
import { type Tool, ToolError } from '../runtime/tool.js';
import { editTool, multiEditTool } from './edit.js';
import { readTool } from './read.js';
import { writeTool } from './write.js';

async function context(options: TestContextOptions = {}): Promise<TestContext> {
  const made = await createTestContext(options);
  closeAfterTest(() => made.close());
  return made;
}

/** A new call of the same session. */
function nextCall(given: TestContext): TestContext {
  return { ...given };
}

async function refused<Input>(tool: Tool<Input>, input: Input, given: TestContext): Promise<string> {
  try {
    for await (const item of tool.call(input, given)) if (item.type === 'result') return 'done';
    return 'nothing';
  } catch (error) {
    if (error instanceof ToolError) return error.message;
    throw error;
  }
}

async function withFile(content: string): Promise<{ given: TestContext; path: string }> {
  const given = await context();
  const path = join(given.root, 'a.txt');
  await writeFile(path, content);
  await runTool(readTool, { file_path: path }, nextCall(given));
  return { given, path };
}

describe('a change', () => {
  it('is shown as a diff before it is made, and is that diff', async () => {
    const { given, path } = await withFile('one\ntwo\n');
    const input = { file_path: path, old_string: 'two', new_string: '2' };
    const call = nextCall(given);
    const { diff } = await editTool.describe(input, call);
    expect(diff).toBe('--- a.txt\n+++ a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2');
    const { result } = await runTool(editTool, input, call);
    expect(result.data).toMatchObject({ diff, added: 1, removed: 1, kind: 'changed' });
  });

  it('is refused when the file changed between approval and write', async () => {
    const { given, path } = await withFile('one\ntwo\n');
    const input = { file_path: path, old_string: 'two', new_string: '2' };
    const call = nextCall(given);
    expect(await editTool.validateInput?.(input, call)).toEqual({ ok: true });
    await editTool.describe(input, call);
    writeFileSync(path, 'ONE\ntwo\n');
    expect(await refused(editTool, input, call)).toContain('Read it again');
    expect(readFileSync(path, 'utf8')).toBe('ONE\ntwo\n');
  });

  it('is refused even when another call read the changed file meanwhile', async () => {
    const { given, path } = await withFile('one\ntwo\n');
    const input = { file_path: path, old_string: 'two', new_string: '2' };
    const call = nextCall(given);
    await editTool.describe(input, call);
    writeFileSync(path, 'ONE\ntwo\n');
    await runTool(readTool, { file_path: path }, nextCall(given));
    expect(await refused(editTool, input, call)).toContain('between the approval of this call and its run');
  });

  it('of a new file is refused when the file came to be there after the approval', async () => {
    const given = await context();
    const input = { file_path: join(given.root, 'new.txt'), content: 'mine' };
    await writeTool.describe(input, given);
    writeFileSync(input.file_path, 'theirs');
    expect(await refused(writeTool, input, given)).toContain('has not been read');
    expect(readFileSync(input.file_path, 'utf8')).toBe('theirs');
  });

  it('goes where it was judged to go, and not where a link leads by now', async () => {
    const given = await context();
    for (const name of ['good', 'evil']) await mkdir(join(given.root, name));
    await symlink('good', join(given.root, 'link'));
    const input = { file_path: 'link/new.txt', content: 'x' };
    expect(await writeTool.effects?.(input, given)).toContainEqual({
      kind: 'edit',
      path: join(given.root, 'good', 'new.txt'),
    });
    execFileSync('ln', ['-sfn', 'evil', join(given.root, 'link')]);
    await runTool(writeTool, input, given);
    expect(readFileSync(join(given.root, 'good', 'new.txt'), 'utf8')).toBe('x');
  });

  it('stands on what its own session read, and no other', async () => {
    const { path } = await withFile('one\n');
    const stranger = await context();
    expect(
      await refused(editTool, { file_path: path, old_string: 'one', new_string: '1' }, stranger),
    ).toContain('has not been read in this session');
  });

  it('counts as read afterwards', async () => {
    const { given, path } = await withFile('one\n');
    await runTool(editTool, { file_path: path, old_string: 'one', new_string: 'two' }, nextCall(given));
    await runTool(editTool, { file_path: path, old_string: 'two', new_string: 'three' }, nextCall(given));
    expect(readFileSync(path, 'utf8')).toBe('three\n');
  });

  it('is not made when the call was stopped', async () => {
    const { given, path } = await withFile('one\n');
    const call = { ...given, signal: AbortSignal.abort() };
    await expect(
      runTool(editTool, { file_path: path, old_string: 'one', new_string: 'two' }, call),
    ).rejects.toThrow('aborted');
    expect(readFileSync(path, 'utf8')).toBe('one\n');
  });

  it('leaves a file of many megabytes alone but for the edit', async () => {
    const { given, path } = await withFile(`${'a line of text\n'.repeat(700_000)}needle\n`);
    const size = statSync(path).size;
    await runTool(editTool, { file_path: path, old_string: 'needle', new_string: 'thread' }, nextCall(given));
    expect(statSync(path).size).toBe(size);
    expect(readFileSync(path, 'utf8').endsWith('text\nthread\n')).toBe(true);
  });

  it('shows every place of several edits with the numbers they have in the end', async () => {
    const { given, path } = await withFile('a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\nm\nn\n');
    const edits = [
      { old_string: 'n\n', new_string: 'N\n' },
      { old_string: 'a\n', new_string: '1\n2\n3\n' },
    ];
    const { text } = await runTool(multiEditTool, { file_path: path, edits }, nextCall(given));
    expect(text).toContain('     1\t1\n     2\t2\n     3\t3\n     4\tb');
    expect(text).toContain('    15\tm\n    16\tN');
  });

  it('that fails in one edit makes none, and says which', async () => {
    const { given, path } = await withFile('a\nb\n');
    const edits = [
      { old_string: 'a', new_string: 'A' },
      { old_string: 'zzz', new_string: 'Z' },
    ];
    expect(await refused(multiEditTool, { file_path: path, edits }, nextCall(given))).toContain(
      'Edit 2 of 2',
    );
    expect(readFileSync(path, 'utf8')).toBe('a\nb\n');
  });

  it('that cannot be planned is described with the reason', async () => {
    const { given, path } = await withFile('a\n');
    const described = await editTool.describe(
      { file_path: path, old_string: 'zzz', new_string: 'Z' },
      nextCall(given),
    );
    expect(described).toMatchObject({ title: 'Edit a.txt', kind: 'edit', paths: [path] });
    expect(described.detail).toContain('not found');
    expect(described.diff).toBeUndefined();
  });
});
