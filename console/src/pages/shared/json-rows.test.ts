import { describe, expect, it } from 'vitest';
import { ancestors, childPath, jsonRows, textPieces } from './json-rows.js';

const NONE = new Map<string, boolean>();
const names = (rows: ReturnType<typeof jsonRows>) => rows.map((row) => `${row.kind}:${row.path}`);

describe('lines of a JSON value', () => {
  it('has everything of a small one open, in order, with its end', () => {
    expect(names(jsonRows({ a: [1, 'x'], b: null }, NONE))).toEqual([
      'node:',
      'node:/a',
      'leaf:/a/0',
      'leaf:/a/1',
      'end:/a',
      'leaf:/b',
      'end:',
    ]);
  });

  it('folds and unfolds what the person says', () => {
    expect(names(jsonRows({ a: { b: 1 } }, new Map([['/a', false]])))).toEqual(['node:', 'node:/a', 'end:']);
  });

  it('opens a larger one from the outside, as far as a screen or two', () => {
    const body = {
      messages: Array.from({ length: 5 }, () => ({ content: [{ text: 'x' }] })),
      tools: Array.from({ length: 60 }, () => ({ schema: { properties: { a: {}, b: {}, c: {}, d: {} } } })),
    };
    const paths = new Set(jsonRows(body, NONE).map(({ path }) => path));
    expect(paths.has('/messages/4/content/0/text')).toBe(true);
    expect(paths.has('/tools/59/schema')).toBe(true);
    expect(paths.has('/tools/59/schema/properties/a')).toBe(false);
  });

  it('folds the depth of a large one, but for what is marked', () => {
    const large = { list: Array.from({ length: 300 }, (_, index) => ({ deep: { index } })) };
    expect(jsonRows(large, NONE).some(({ path }) => path === '/list/7/deep/index')).toBe(false);
    const marked = jsonRows(large, NONE, ['/list/7/deep/index']);
    expect(marked.some(({ path }) => path === '/list/7/deep/index')).toBe(true);
    expect(marked.some(({ path }) => path === '/list/8/deep/index')).toBe(false);
  });

  it('opens a long text as lines, each of a bounded length, with nothing lost', () => {
    const text = `${'x'.repeat(1000)}\n${'😀'.repeat(500)}\nend`;
    const [, folded] = jsonRows({ text }, NONE);
    expect(folded).toMatchObject({ kind: 'leaf', length: text.length, open: false });
    const rows = jsonRows({ text }, new Map([['/text', true]]));
    const pieces = rows.flatMap((row) => (row.kind === 'piece' ? [row.text] : []));
    expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThanOrEqual(400);
    expect(pieces.join('')).toBe(text.replaceAll('\n', ''));
    // Half of a surrogate pair cannot be encoded.
    expect(pieces.map((piece) => decodeURIComponent(encodeURIComponent(piece)))).toEqual(pieces);
  });

  it('keeps keys with slashes apart', () => {
    expect(childPath('/a', 'b/c~d')).toBe('/a/b~1c~0d');
    expect(ancestors('/a/b~1c/d')).toEqual(['', '/a', '/a/b~1c']);
    expect(textPieces('')).toEqual(['']);
  });
});
