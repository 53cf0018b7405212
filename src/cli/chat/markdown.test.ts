import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MarkdownStream } from './markdown.js';
import type { Paint } from './render.js';

const named: Paint = (style, text) => (text === '' ? '' : `<${style}>${text}</>`);

function shown(...pieces: string[]): string {
  const stream = new MarkdownStream(named);
  return pieces.map((piece) => stream.push(piece)).join('') + stream.end();
}

/** Pieces of one style that stand side by side are one. */
const joined = (text: string): string => text.replaceAll(/<\/><(bold|cyan|dim)>/g, '');

describe('Markdown in the terminal', () => {
  it.each([
    ['plain words', 'plain words'],
    ['## Plan\nthen', '<bold>## Plan</>\nthen'],
    ['a **strong** word', 'a <bold>strong</> word'],
    ['**At the start**: yes', '<bold>At the start</>: yes'],
    ['run `npm test` now', 'run <cyan>npm test</> now'],
    ['``a ` b``', '<cyan>a ` b</>'],
    [
      '```ts\nconst a = 1;\n# no heading\n```\nend',
      '<dim>```ts</>\n<cyan>const a = 1;</>\n<cyan># no heading</>\n<dim>```</>\nend',
    ],
    ['2**3 and a ** b', '2**3 and a ** b'],
    ['def f(**kwargs):\nnext', 'def f(**kwargs):\nnext'],
    ['an `open one\nnext', 'an `open one\nnext'],
    ['#!/bin/sh and #1', '#!/bin/sh and #1'],
    ['* item\n- item', '* item\n- item'],
    ['*one* star', '*one* star'],
    ['a\n\nb', 'a\n\nb'],
    ['~~~\n```\n~~~', '<dim>~~~</>\n<cyan>```</>\n<dim>~~~</>'],
  ])('%j', (text, expected) => {
    expect(joined(shown(text))).toBe(expected);
  });

  it('gives words as they come, not at the end of the line', () => {
    const stream = new MarkdownStream(named);
    expect(stream.push('Hello ')).toBe('Hello ');
    expect(stream.push('world')).toBe('world');
  });

  it('looks the same however the pieces are cut', () => {
    const piece = fc.constantFrom(
      '`',
      '*',
      '**',
      '#',
      ' ',
      '\n',
      '```',
      '~',
      'a',
      'word',
      '好',
      '👍',
      '_',
      '(',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        expect(joined(shown(...pieces))).toBe(joined(shown(pieces.join(''))));
      }),
    );
  });

  it('loses no character but the marks of what it has styled', () => {
    const piece = fc.constantFrom('`', '*', '#', ' ', '\n', '```', '~~~', 'a', '好');
    const bare = (text: string): string =>
      text.replaceAll(/<\/?(?:bold|cyan|dim)?>/g, '').replaceAll(/[`*]/g, '');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        expect(bare(shown(...pieces))).toBe(pieces.join('').replaceAll(/[`*]/g, ''));
      }),
    );
  });
});
