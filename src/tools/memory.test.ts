import { lstat, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import {
  createTestContext,
  enablementOf,
  promptOf,
  runTool,
  type TestContext,
} from '../../test/support/tool-context.js';
import { MEMORY_LIMITS, memoryReadTool, memoryWriteTool } from './memory.js';

const contexts: TestContext[] = [];
afterEach(async () => {
  await Promise.all(contexts.splice(0).map((context) => context.close()));
});

async function open(): Promise<TestContext> {
  const context = await createTestContext();
  contexts.push(context);
  return context;
}

const reading = memoryReadTool({ enabled: true });
const writing = memoryWriteTool({ enabled: true });
const write = (context: TestContext, path: string, content: string) =>
  runTool(writing, { file_path: path, content }, context);
const read = (context: TestContext, path?: string) =>
  runTool(reading, path === undefined ? {} : { file_path: path }, context);

describe('memories', () => {
  it('are kept, listed, replaced and removed', async () => {
    const context = await open();
    expect((await read(context)).text).toBe('There are no memories yet.');
    expect((await write(context, 'project/notes.md', 'one')).text).toBe('Kept as project/notes.md.');
    expect((await read(context, 'project/notes.md')).text).toBe('one');
    expect((await write(context, 'project/notes.md', 'two')).text).toContain('in place of what was there');
    expect((await read(context, 'project/notes.md')).text).toBe('two');
    await write(context, 'a.md', 'x');
    expect((await read(context)).text).toMatch(
      /^- a\.md \(1 bytes, .*\)\n- project\/notes\.md \(3 bytes, .*\)$/,
    );
    expect((await write(context, 'project/notes.md', '')).text).toBe('Removed project/notes.md.');
    expect((await write(context, 'project/notes.md', '')).text).toContain('There was no memory');
    await expect(read(context, 'project/notes.md')).rejects.toThrow(/no memory "project\/notes\.md"/);
    expect(await readdir(context.session.memoryDir)).toEqual(['a.md']);
  });

  it('are for nobody else to read', async () => {
    const context = await open();
    await write(context, 'sub/a.md', 'x');
    for (const folder of ['', 'sub']) {
      expect((await stat(join(context.session.memoryDir, folder))).mode & 0o077).toBe(0);
    }
  });

  it.each([
    '../memory-evil/x',
    '../x',
    'a/../../x',
    '/etc/passwd',
    '~/x',
    'C:/x',
    'a\\b',
    'a\0.md',
    'a\nb',
    '.',
    '..',
    './a',
    'a//b',
    'a/',
    '.hidden',
    'a/.git/config',
    ' a',
    'a ',
    'x'.repeat(201),
    'é'.repeat(110),
    'a/b/c/d/e/f/g',
  ])('refuse the path %j', async (path) => {
    const context = await open();
    await expect(write(context, path, 'x')).rejects.toThrow();
    await expect(read(context, path)).rejects.toThrow();
    // Not only where the input is judged.
    await expect(writing.call({ file_path: path, content: 'x' }, context).next()).rejects.toThrow();
    await expect(reading.call({ file_path: path }, context).next()).rejects.toThrow();
    expect(await readdir(dirname(context.session.memoryDir))).not.toContain('memory-evil');
  });

  it('do not lead through links', async () => {
    const context = await open();
    const { memoryDir } = context.session;
    const outside = join(dirname(memoryDir), 'outside');
    await mkdir(outside);
    await writeFile(join(outside, 'secret'), 'secret');
    await mkdir(memoryDir, { recursive: true });
    await symlink(outside, join(memoryDir, 'folder'));
    await symlink(join(outside, 'secret'), join(memoryDir, 'file'));
    await symlink(join(outside, 'new'), join(memoryDir, 'dangling'));
    for (const path of ['folder/secret', 'folder/new', 'file', 'dangling']) {
      await expect(write(context, path, 'x')).rejects.toThrow(/through a link/);
      await expect(read(context, path)).rejects.toThrow(/through a link/);
    }
    expect((await read(context)).text).toBe('There are no memories yet.');
    expect(await readdir(outside)).toEqual(['secret']);
    expect(await readFile(join(outside, 'secret'), 'utf8')).toBe('secret');
    expect((await lstat(join(memoryDir, 'file'))).isSymbolicLink()).toBe(true);
  });

  it('are bounded in size and number', async () => {
    const context = await open();
    const { memoryDir } = context.session;
    await expect(write(context, 'a', 'x'.repeat(MEMORY_LIMITS.fileBytes + 1))).rejects.toThrow(/at most/);
    await write(context, 'a', 'x'.repeat(MEMORY_LIMITS.fileBytes));
    await Promise.all(
      Array.from({ length: MEMORY_LIMITS.files - 1 }, (_, index) =>
        writeFile(join(memoryDir, `m${index}`), 'x'),
      ),
    );
    await expect(write(context, 'b', 'x')).rejects.toThrow(/memories already/);
    expect((await write(context, 'a', 'y')).text).toContain('in place of');
    await writeFile(join(memoryDir, 'm0'), Buffer.alloc(MEMORY_LIMITS.totalBytes));
    await expect(write(context, 'a', 'yy')).rejects.toThrow(/Shorten or remove/);
  });

  it('say so when a folder is meant for a file, or a file for a folder', async () => {
    const context = await open();
    await write(context, 'a/b', 'x');
    await expect(write(context, 'a', 'x')).rejects.toThrow(/is a folder/);
    await expect(read(context, 'a')).rejects.toThrow(/not a file/);
    await expect(write(context, 'a/b/c', 'x')).rejects.toThrow(/is a memory, not a folder/);
  });

  it('leave nothing half written beside them', async () => {
    const context = await open();
    await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) => write(context, 'a', `${index}`.repeat(1000))),
    );
    expect(await readdir(context.session.memoryDir)).toEqual(['a']);
    expect(await readFile(join(context.session.memoryDir, 'a'), 'utf8')).toMatch(/^(\d+?)\1{999}$/);
  });

  it('are off with a reason, asked about when written, and listed in the prompt', async () => {
    const context = await open();
    const off = { enabled: false, reason: expect.stringContaining('tools.memory') };
    expect(await enablementOf(memoryReadTool({ enabled: false }))).toEqual(off);
    expect(await enablementOf(memoryWriteTool({ enabled: false }))).toEqual(off);
    expect(writing.needsPermissions({ file_path: 'a', content: 'x' })).toBe(true);
    expect(reading.needsPermissions({})).toBe(false);
    await write(context, 'kept.md', 'x');
    const { memoryDir } = context.session;
    expect(await promptOf(reading, { tools: [], cwd: '/', memoryDir })).toContain('- kept.md (1 bytes');
    expect(await promptOf(reading, { tools: [], cwd: '/' })).not.toContain('Memories there are');
  });
});
