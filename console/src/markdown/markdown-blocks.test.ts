import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Block, BlockSplitter, PARSE_LIMITS } from './markdown-blocks.js';

const splitBlocks = (text: string): readonly Block[] => new BlockSplitter().split(text);

const shapes = (text: string): unknown[] =>
  splitBlocks(text).map((block) =>
    block.type === 'code'
      ? ['code', block.language, block.text]
      : [block.type, block.type === 'markdown' ? block.source : block.text.length],
  );

describe('blocks of a text', () => {
  it('begin behind blank lines and at headings', () => {
    expect(shapes('one\ntwo\n\nthree\n# four\nfive')).toEqual([
      ['markdown', 'one\ntwo'],
      ['markdown', 'three'],
      ['markdown', '# four'],
      ['markdown', 'five'],
    ]);
  });

  it('keep a list with what belongs to its items', () => {
    const list = '- one\n\n  more\n\n- two\n  ```js\n  code\n  ```\n- three';
    expect(shapes(`${list}\n\nafter`)).toEqual([
      ['markdown', list],
      ['markdown', 'after'],
    ]);
  });

  it('take code between fences as it is', () => {
    expect(shapes('a\n```ts title\n# no\n\n~~~\n`` `\n```\nb')).toEqual([
      ['markdown', 'a'],
      ['code', 'ts', '# no\n\n~~~\n`` `'],
      ['markdown', 'b'],
    ]);
    expect(shapes('````\n```\ninner\n```\n````')).toEqual([['code', '', '```\ninner\n```']]);
  });

  it('take code that is still coming', () => {
    expect(shapes('```py\nprint(1)\n')).toEqual([['code', 'py', 'print(1)']]);
    expect(shapes('```')).toEqual([['code', '', '']]);
  });

  it('know links that an earlier block defined', () => {
    expect(shapes('[a]: http://one.example\n\nsee [A] and [b]')[1]).toEqual([
      'markdown',
      'see [A] and [b]\n\n[a]: http://one.example',
    ]);
  });

  it('cut a long list between its items', () => {
    const blocks = splitBlocks('- an item of a list\n'.repeat(1_000));
    expect(blocks.length).toBeGreaterThan(1);
    expect(blocks.every(({ type, length }) => type === 'markdown' && length < PARSE_LIMITS.list + 100)).toBe(
      true,
    );
  });
});

describe('what takes a parser long', () => {
  const plain: Record<string, string> = {
    'deep quotes': `${'>'.repeat(1_000_000)} a`,
    'quotes with spaces': `${'> '.repeat(40)} a`,
    'lists in lists in one line': `${'- '.repeat(500)}a`,
    'numbers in one line': `${'1. '.repeat(500)}a`,
    'deep indentation': Array.from({ length: 100 }, (_, depth) => `${'  '.repeat(depth)}- a`).join('\n'),
    'stars without end': '*a_'.repeat(1_000),
    'a run of stars': `${'*'.repeat(2_000)}a`,
    'open brackets': '['.repeat(1_500),
    'one word': `${'a.'.repeat(5_000)}@`,
    'a long paragraph': 'word '.repeat(10_000),
  };
  for (const [name, text] of Object.entries(plain)) {
    it(`is plain text: ${name}`, () => {
      const blocks = splitBlocks(text);
      expect(new Set(blocks.map(({ type }) => type))).toEqual(new Set(['plain']));
      const shown = blocks.map((block) => (block.type === 'plain' ? block.text : ''));
      expect(shown.every(({ length }) => length <= PARSE_LIMITS.piece)).toBe(true);
      expect(shown.join('').replaceAll('\n', '')).toBe(text.trimEnd().replaceAll('\n', ''));
    });
  }

  it('is not a rule, a table or a paragraph with much emphasis', () => {
    const fine = ['*'.repeat(80), '|a|b|\n|-|-|\n'.concat('|*1*|**2**|\n'.repeat(800)), '**a** '.repeat(150)];
    for (const text of fine) expect(splitBlocks(text).map(({ type }) => type)).toEqual(['markdown']);
  });
});

describe('a text that grows', () => {
  const lines = fc.constantFrom(
    '',
    'words',
    '- item',
    '  more',
    '1. one',
    '# head',
    '```js',
    '```',
    '~~~',
    '    code',
    '[a]: b',
    '> q',
    '---',
    '| a |',
    '*a_'.repeat(450),
    `${'> '.repeat(30)}deep`,
    'word '.repeat(2_500),
  );

  it('ends with the blocks of the whole text, wherever it was cut', () => {
    fc.assert(
      fc.property(
        fc.array(lines, { maxLength: 14 }),
        fc.array(fc.nat(9_000), { maxLength: 5 }),
        (all, cuts) => {
          const text = all.join('\n');
          const splitter = new BlockSplitter();
          for (const cut of cuts.toSorted((a, b) => a - b)) splitter.split(text.slice(0, cut));
          expect(splitter.split(text)).toEqual(splitBlocks(text));
        },
      ),
    );
  });

  it('covers every character once', () => {
    fc.assert(
      fc.property(fc.array(lines, { maxLength: 14 }), (all) => {
        const text = all.join('\n');
        const blocks = splitBlocks(text);
        const covered = blocks.reduce((sum, { length }) => sum + length, 0);
        const blankOnly = text.trim() === '';
        expect(blankOnly ? 0 : text.length - (blocks[0]?.start ?? 0)).toBe(covered);
      }),
    );
  });

  it('takes a link as it is defined in the end', () => {
    const splitter = new BlockSplitter();
    splitter.split('[a]: http://on');
    const [, use] = splitter.split('[a]: http://one.example\n\n[a]');
    expect(use).toMatchObject({ source: '[a]\n\n[a]: http://one.example' });
  });

  it('keeps finished blocks as the objects that they were', () => {
    const splitter = new BlockSplitter();
    const before: Block[] = [...splitter.split('one\n\ntwo\n\nthr')];
    const after = splitter.split('one\n\ntwo\n\nthree\n\nfour');
    expect(after[0]).toBe(before[0]);
    expect(after[1]).toBe(before[1]);
    expect(after).toHaveLength(4);
  });
});
