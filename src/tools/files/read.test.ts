import { execFileSync } from 'node:child_process';
import { closeSync, openSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
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
import { ToolError } from '../runtime/tool.js';
import { readTool } from './read.js';

async function context(options: TestContextOptions = {}): Promise<TestContext> {
  const made = await createTestContext(options);
  closeAfterTest(() => made.close());
  return made;
}

async function failure(input: object, given: TestContext): Promise<string> {
  try {
    return (await runTool(readTool, input, given)).text;
  } catch (error) {
    if (error instanceof ToolError || (error instanceof Error && error.constructor === Error))
      return error.message;
    throw error;
  }
}

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

describe('Read', () => {
  it('numbers lines from the offset and says how to go on', async () => {
    const given = await context();
    await writeFile(join(given.root, 'a.txt'), 'a\r\nb\r\nc\r\nd\r\n');
    const { text, result } = await runTool(readTool, { file_path: 'a.txt', offset: 2, limit: 2 }, given);
    expect(text).toBe('     2\tb\n     3\tc\n\n[Lines 2-3 of 4. Go on with offset=4.]');
    expect(result.data).toMatchObject({ kind: 'text', lineEnding: 'crlf', from: 2, to: 3, totalLines: 4 });
    expect(given.files.get(join(given.root, 'a.txt'))).toMatchObject({ lines: { from: 2, to: 3 } });
  });

  it('names both the link and where it leads among its effects', async () => {
    const given = await context();
    await writeFile(join(given.root, 'a.txt'), 'x');
    await symlink('a.txt', join(given.root, 'link'));
    expect(await readTool.effects?.({ file_path: 'link' }, given)).toEqual([
      { kind: 'read', path: join(given.root, 'link') },
      { kind: 'read', path: join(given.root, 'a.txt') },
    ]);
  });

  it('reads the file that was judged, though the link leads elsewhere now', async () => {
    const given = await context();
    await mkdir(join(given.root, 'good'));
    await mkdir(join(given.root, 'evil'));
    await writeFile(join(given.root, 'good', 'a'), 'good');
    await writeFile(join(given.root, 'evil', 'a'), 'evil');
    await symlink('good', join(given.root, 'link'));
    await readTool.effects?.({ file_path: 'link/a' }, given);
    execFileSync('ln', ['-sfn', 'evil', join(given.root, 'link')]);
    expect((await runTool(readTool, { file_path: 'link/a' }, given)).text).toBe('     1\tgood');
  });

  it('refuses when a folder that was judged became a link', async () => {
    const given = await context();
    await mkdir(join(given.root, 'dir'));
    await mkdir(join(given.root, 'evil'));
    await writeFile(join(given.root, 'dir', 'a'), 'good');
    await writeFile(join(given.root, 'evil', 'a'), 'evil');
    await readTool.effects?.({ file_path: 'dir/a' }, given);
    execFileSync('bash', ['-c', 'mv dir gone && ln -s evil dir'], { cwd: given.root });
    expect(await failure({ file_path: 'dir/a' }, given)).toContain('replaced by a link');
  });

  it('shows the first page of a large file without reading the rest', async () => {
    const given = await context();
    const path = join(given.root, 'large.txt');
    writeFileSync(path, 'line\n'.repeat(3000));
    truncateSync(path, 40 * 1024 * 1024 * 1024);
    const { text } = await runTool(readTool, { file_path: path }, given);
    expect(text.endsWith('  2000\tline\n\n[Lines 1-2000. Go on with offset=2001.]')).toBe(true);
    expect(given.files.get(path)?.sha256).toMatch(/^edges:/);
  });

  it('finds an offset far into a large file, and its end', async () => {
    const given = await context();
    const path = join(given.root, 'large.txt');
    const file = openSync(path, 'w');
    for (let index = 0; index < 10; index++) writeSync(file, `${'x'.repeat(99)}\n`.repeat(10_000));
    writeSync(file, 'last');
    closeSync(file);
    const { text } = await runTool(readTool, { file_path: path, offset: 100_000 }, given);
    expect(text).toBe(
      `100000\t${'x'.repeat(99)}\n100001\tlast\n\n[Lines 100000-100001 of 100001: the end of the file.]`,
    );
    expect(await failure({ file_path: path, offset: 200_000 }, given)).toContain('has 100001 lines');
  });

  it('gives up on a line of a large file that does not end, and says so', async () => {
    const given = await context();
    const path = join(given.root, 'line.txt');
    writeFileSync(path, 'x'.repeat(40 * 1024 * 1024));
    const { text } = await runTool(readTool, { file_path: path }, given);
    expect(text).toContain('The end of line 1 is out of reach');
  });

  it('stops when the call is aborted', async () => {
    const stop = new AbortController();
    const given = await context({ signal: stop.signal });
    const path = join(given.root, 'large.txt');
    writeFileSync(path, 'x\n'.repeat(5 * 1024 * 1024));
    stop.abort();
    await expect(runTool(readTool, { file_path: path, offset: 1_000_000 }, given)).rejects.toThrow('aborted');
  });

  it('shows an image with its size', async () => {
    const given = await context();
    await writeFile(join(given.root, 'dot'), Buffer.from(PNG, 'base64'));
    const { result } = await runTool(readTool, { file_path: 'dot' }, given);
    expect(result.data).toMatchObject({ kind: 'image', mediaType: 'image/png', width: 1, height: 1 });
    expect(result.resultForAssistant).toContainEqual({
      type: 'image',
      source: { type: 'base64', mediaType: 'image/png', data: PNG },
    });
  });

  it('refuses an image that is too large, with a way out', async () => {
    const given = await context();
    const bytes = Buffer.concat([Buffer.from(PNG, 'base64'), Buffer.alloc(4_000_000)]);
    await writeFile(join(given.root, 'big.png'), bytes);
    expect(await failure({ file_path: 'big.png' }, given)).toContain('-resize');
  });

  it('suggests only files that may be read', async () => {
    const given = await context({ readable: (path) => !path.endsWith('confg.yaml') });
    await writeFile(join(given.root, 'confg.yaml'), '');
    await writeFile(join(given.root, 'Config.YAML'), '');
    const message = await failure({ file_path: 'config.yaml' }, given);
    expect(message).toContain('Config.YAML');
    expect(message).not.toContain('confg.yaml');
  });

  it.each(['0', '5-2', 'x', '1-21', '1-2-3', ''])('does not take pages %j', async (pages) => {
    const given = await context();
    await writeFile(join(given.root, 'a.pdf'), '%PDF-');
    expect(await failure({ file_path: 'a.pdf', pages }, given)).toMatch(/pages|Pages/);
  });
});
