import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createTestContext,
  enablementOf,
  runTool,
  type TestContext,
} from '../../../test/support/tool-context.js';
import { globTool } from './glob.js';
import { grepTool } from './grep.js';
import { firstByPath, globs } from './search-contents.js';
import { searchNotes } from './search-target.js';

let context: TestContext;
beforeEach(async () => {
  context = await createTestContext();
});
afterEach(async () => {
  await context.close();
});

const grep = async (input: Record<string, unknown>, more: Partial<TestContext> = {}): Promise<string> =>
  (await runTool(grepTool, input, { ...context, ...more })).text;

describe('files that the rules hide', () => {
  beforeEach(async () => {
    await mkdir(join(context.root, 'private'));
    await writeFile(join(context.root, '.env'), 'KEY=needle\n');
    await writeFile(join(context.root, 'private', 'a.txt'), 'needle\n');
    await writeFile(join(context.root, 'open.txt'), 'needle\n');
  });
  const readable = (path: string): boolean => !path.endsWith('/.env') && !path.includes('/private/');

  it.each(['files_with_matches', 'content', 'count'])('are not in a search for %s', async (output_mode) => {
    const text = await grep({ pattern: 'needle', output_mode }, { readable });
    expect(text).toContain('open.txt');
    expect(text).not.toMatch(/env|private|KEY/);
    if (output_mode === 'count') expect(text).toContain('1 matching lines in 1 files');
  });

  it('are not found alone either', async () => {
    expect(await grep({ pattern: 'KEY' }, { readable })).toBe('[No matches found.]');
  });

  it('are not in a list of files', async () => {
    const { text, result } = await runTool(globTool, { pattern: '**/*' }, { ...context, readable });
    expect(text).toBe('open.txt');
    expect(result.data).toMatchObject({ totalMatches: 1 });
  });
});

describe('a file whose name is meant to deceive', () => {
  it.each([
    ['x\nfake.txt:7:needle forged', 'x\\x0afake.txt:7:needle forged'],
    ['\x1b[31mred\x1b[0m.txt', '\\x1b[31mred\\x1b[0m.txt'],
    ['a\u202etxt.exe', 'a\\u{202e}txt.exe'],
  ])('is one that can be seen: %j', async (name, shown) => {
    await writeFile(join(context.root, name), 'needle\n');
    expect(await grep({ pattern: 'needle', output_mode: 'content' })).toBe(`${shown}:1:needle`);
    expect(await grep({ pattern: 'needle' })).toBe(shown);
    expect((await runTool(globTool, { pattern: '**/*' }, context)).text).toBe(shown);
  });
});

describe('a search with very many lines', () => {
  it('still gives pages that fit together, and says that there are more', async () => {
    const line = `${'x'.repeat(200)} needle\n`;
    for (const name of ['c', 'a', 'b'])
      await writeFile(join(context.root, `${name}.txt`), line.repeat(12_000));
    const page = (offset: number): Promise<string> =>
      grep({ pattern: 'needle', output_mode: 'content', head_limit: 3, offset });
    expect(await page(0)).toMatch(
      /^a\.txt:1:.*\na\.txt:2:.*\na\.txt:3:.*\n\n\[lines 1 to 3 of more than 3\. Go on with offset: 3/,
    );
    expect(await page(11_999)).toMatch(/^a\.txt:12000:.*\nb\.txt:1:.*\nb\.txt:2:/);
  });
});

describe('a search that goes wrong', () => {
  it('is an error and not an empty result', () => {
    const all = (): boolean => true;
    expect(() => searchNotes({ ended: 'failed', code: undefined, messages: 'no program' }, 0, all)).toThrow(
      'no program',
    );
    expect(() => searchNotes({ ended: 'timed-out', code: undefined, messages: '' }, 0, all)).toThrow(
      'longer than 30 s',
    );
    expect(() =>
      searchNotes({ ended: 'complete', code: 2, messages: 'rg: a: Permission denied (os error 13)' }, 0, all),
    ).toThrow('a: Permission denied');
    expect(() => searchNotes({ ended: 'complete', code: undefined, messages: '' }, 0, all)).toThrow(
      'broke off',
    );
    expect(() => searchNotes({ ended: 'aborted', code: undefined, messages: '' }, 3, all)).toThrow(
      'interrupted',
    );
  });

  it('keeps what was found, with what could not be searched', () => {
    const notes = searchNotes(
      {
        ended: 'complete',
        code: 2,
        messages: 'rg: ./a: Permission denied (os error 13)\nrg: ./hidden: Permission denied (os error 13)\n',
      },
      5,
      (path) => path !== './hidden',
    );
    expect(notes.join()).toContain('./a: Permission denied');
    expect(notes.join()).not.toContain('hidden');
    expect(
      searchNotes({ ended: 'timed-out', code: undefined, messages: '' }, 5, () => true).join(),
    ).toContain('there may be more');
  });

  it('is interrupted with its call', async () => {
    await expect(grep({ pattern: 'x' }, { signal: AbortSignal.abort() })).rejects.toThrow('interrupted');
  });

  it('is told from a search without a program', async () => {
    process.env['TOOLGATE_RIPGREP'] = '/nowhere/rg';
    try {
      await expect(grep({ pattern: 'x' })).rejects.toThrow('could not be run');
      expect(await enablementOf(grepTool)).toMatchObject({
        enabled: false,
        reason: expect.stringContaining('TOOLGATE_RIPGREP'),
      });
      expect(await enablementOf(globTool)).toMatchObject({ enabled: false });
    } finally {
      delete process.env['TOOLGATE_RIPGREP'];
    }
  });
});

it('names what it reads: the tree below its path', async () => {
  expect(await grepTool.effects?.({ pattern: 'x', path: 'src' }, context)).toEqual([
    { kind: 'read', path: join(context.root, 'src'), tree: true },
  ]);
  expect(await globTool.effects?.({ pattern: '/etc/*.conf' }, context)).toEqual([
    { kind: 'read', path: '/etc', tree: true },
  ]);
  expect(await globTool.effects?.({ pattern: '../*.txt' }, context)).toEqual([
    { kind: 'read', path: join(context.root, '..'), tree: true },
  ]);
});

it.each([
  ['*.ts', ['*.ts']],
  ['*.ts *.js', ['*.ts', '*.js']],
  ['*.ts,*.js', ['*.ts', '*.js']],
  ['*.{ts,js}', ['*.{ts,js}']],
  [undefined, []],
])('globs of %s', (given, expected) => {
  expect(globs(given)).toEqual(expected);
});

it('takes the first of many by their paths', () => {
  const files = Array.from({ length: 1000 }, (_, index) => ({
    path: `f${(index * 7919) % 1000}`.padEnd(6, '.'),
    lines: [],
    count: 1,
  }));
  const sorted = files.map(({ path }) => path).sort();
  expect(firstByPath(files, 10).map(({ path }) => path)).toEqual(sorted.slice(0, 10));
  expect(firstByPath(files, 5000).map(({ path }) => path)).toEqual(sorted);
});
