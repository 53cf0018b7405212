import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../../test/support/cleanup.js';
import type { ToolResultContent } from '../../core/conversation.js';
import { boundResult, cutMiddle, RESULT_LIMITS } from './bound-result.js';
import { SILENT } from './runtime.js';

async function bound(content: string | readonly ToolResultContent[], limit?: number) {
  const { path } = await tempFolder();
  const blocks = await boundResult(content, {
    scratch: async () => path,
    tool: 'mcp__a/b__../c',
    log: SILENT,
    ...(limit === undefined ? {} : { limit }),
  });
  const texts = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : []));
  return { blocks, text: texts.join('|'), folder: path, files: await readdir(path) };
}

const image = (size: number): ToolResultContent => ({
  type: 'image',
  source: { type: 'base64', mediaType: 'image/png', data: 'A'.repeat(size) },
});

describe('a text', () => {
  it('of up to 30,000 characters stays whole, and no file is made', async () => {
    const text = 'x'.repeat(30_000);
    const { blocks, files } = await bound(text);
    expect(blocks).toEqual([{ type: 'text', text }]);
    expect(files).toEqual([]);
  });

  it('that is longer keeps head and tail, and says where the whole is', async () => {
    const lines = Array.from({ length: 5_000 }, (_, index) => `line ${index + 1} of many`);
    const whole = lines.join('\n');
    const { text, folder, files } = await bound(whole);
    expect(text.length).toBeLessThanOrEqual(30_000);
    expect(text.length).toBeGreaterThan(28_000);
    expect(text.startsWith('line 1 of many\n')).toBe(true);
    expect(text.endsWith('\nline 5000 of many')).toBe(true);
    const path = join(folder, files[0] ?? '');
    expect(text).toContain(`The whole text is in ${path}: Read it`);
    const omitted = Number(/\[(\d+) of (\d+) characters left out/.exec(text)?.[1]);
    const shown = text.replace(/\n\[\d+ of[^\]]*\]\n\n/, '');
    expect(shown.length + omitted).toBe(whole.length);
    expect(await readFile(path, 'utf8')).toBe(whole);
  });

  it('is kept in a file that nobody else can read, below the private folder', async () => {
    const { folder, files } = await bound('x'.repeat(40_000));
    expect(files).toHaveLength(1);
    expect((await stat(join(folder, files[0] ?? ''))).mode & 0o777).toBe(0o600);
    expect(files[0]).toMatch(/^mcp__a_b_____c-[0-9a-f]{12}\.txt$/);
  });

  it('has a limit of its own where the tool has', async () => {
    expect((await bound('x'.repeat(3_000), 2_000)).text.length).toBeLessThanOrEqual(2_000);
    expect((await bound('x'.repeat(40_000), 50_000)).text).toBe('x'.repeat(40_000));
  });

  it('is never cut inside of a character', () => {
    const unit = fc.constantFrom('a', '😀', 'é', '👩‍👩‍👧');
    fc.assert(
      fc.property(
        fc.array(unit, { minLength: 800, maxLength: 1_200 }),
        fc.integer({ min: 600, max: 900 }),
        (units, limit) => {
          const text = units.join('');
          fc.pre(text.length > limit);
          const cut = cutMiddle(text, limit, '/tmp/whole.txt');
          expect(cut.length).toBeLessThanOrEqual(limit);
          expect(cut).not.toMatch(/\p{Surrogate}/u);
        },
      ),
    );
  });

  it('says when the whole could not be kept', async () => {
    const blocks = await boundResult('x'.repeat(40_000), {
      scratch: () => Promise.reject(new Error('disk full')),
      tool: 'T',
      log: SILENT,
    });
    expect(JSON.stringify(blocks)).toContain('could not be kept');
  });

  it('in several blocks counts as one, and images keep their place', async () => {
    const part = (letter: string): ToolResultContent => ({ type: 'text', text: letter.repeat(20_000) });
    const { blocks, folder, files } = await bound([part('a'), image(10), part('b')]);
    expect(blocks.map(({ type }) => type)).toEqual(['text', 'image']);
    expect(await readFile(join(folder, files[0] ?? ''), 'utf8')).toBe(
      `${'a'.repeat(20_000)}\n${'b'.repeat(20_000)}`,
    );
  });

  it.each([[''], [[]], [[{ type: 'text', text: '' } as const]]])(
    'that is empty is said to be: %j',
    async (content) => {
      expect((await bound(content)).text).toBe('(no output)');
    },
  );
});

describe('characters that are not text', () => {
  it.each([
    ['NUL and other control characters', 'a\0b\x08c\x7f', 'a\ufffdb\ufffdc\ufffd'],
    ['colours and titles of a terminal', '\x1b[1;31mred\x1b[0m \x1b]0;title\x07end\x1b(B', 'red end'],
    ['half of a pair', 'a\ud800b', 'a\ufffdb'],
    ['tabs and ends of lines, which stay', 'a\tb\r\nc', 'a\tb\r\nc'],
  ])('%s', async (_what, given, shown) => {
    expect((await bound(given)).text).toBe(shown);
  });
});

describe('images and documents', () => {
  it('are at most so many', async () => {
    const { blocks, text } = await bound(Array.from({ length: RESULT_LIMITS.images + 2 }, () => image(4)));
    expect(blocks.filter(({ type }) => type === 'image')).toHaveLength(RESULT_LIMITS.images);
    expect(text).toContain('at most 20');
  });

  it('are at most so large', async () => {
    const { blocks, text } = await bound([image(RESULT_LIMITS.mediaChars + 1), image(4)]);
    expect(blocks.map(({ type }) => type)).toEqual(['text', 'image']);
    expect(text).toContain('the limit is 8 MB');
  });

  it('are at most so large together', async () => {
    const { blocks } = await bound(Array.from({ length: 4 }, () => image(RESULT_LIMITS.mediaChars)));
    expect(blocks.map(({ type }) => type)).toEqual(['image', 'image', 'image', 'text']);
  });
});
