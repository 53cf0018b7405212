import { describe, expect, it } from 'vitest';
import { linksOf, mcpName, numberedLines, searchResult, todosOf } from './tool-output.js';

describe('numberedLines', () => {
  it('reads the numbers of Read, and keeps notes', () => {
    expect(numberedLines('     1\thello\n     2\t\n\n[cut]')).toEqual([
      { number: 1, text: 'hello' },
      { number: 2, text: '' },
      { number: undefined, text: '' },
      { number: undefined, text: '[cut]' },
    ]);
    expect(numberedLines('  9→x')).toEqual([{ number: 9, text: 'x' }]);
  });

  it('leaves other texts alone', () => {
    expect(numberedLines('The file is empty.')).toBeUndefined();
    expect(numberedLines('')).toBeUndefined();
  });
});

describe('searchResult', () => {
  it('groups matches by file, with lines around them', () => {
    const text = 'a-1.txt-1-one\na-1.txt:2:hit\n--\nsrc/b.ts:7:x: 3:4\n\n[2 lines.]';
    expect(searchResult(text, 'content')).toEqual({
      files: [
        {
          path: 'a-1.txt',
          count: undefined,
          lines: [
            { number: 1, text: 'one', context: true },
            { number: 2, text: 'hit', context: false },
          ],
        },
        { path: 'src/b.ts', count: undefined, lines: [{ number: 7, text: 'x: 3:4', context: false }] },
      ],
      notes: ['2 lines.'],
    });
  });

  it('reads matches of a single file and such without numbers', () => {
    expect(searchResult('3:hit', 'content').files).toEqual([
      { path: undefined, count: undefined, lines: [{ number: 3, text: 'hit', context: false }] },
    ]);
    expect(searchResult('a.txt:five', 'content').files).toEqual([
      { path: 'a.txt', count: undefined, lines: [{ number: undefined, text: 'five' }] },
    ]);
  });

  it('reads names and counts', () => {
    expect(searchResult('a\nb', 'files_with_matches').files.map(({ path }) => path)).toEqual(['a', 'b']);
    expect(searchResult('a:1\nb:c:2\n\n[3 in 2 files.]', 'count')).toEqual({
      files: [
        { path: 'a', count: 1, lines: [] },
        { path: 'b:c', count: 2, lines: [] },
      ],
      notes: ['3 in 2 files.'],
    });
    expect(searchResult('[No files found.]', '').files).toEqual([]);
  });
});

describe('linksOf', () => {
  it('finds addresses once each, with their titles', () => {
    const text = '1. First page\n   https://a.test/x\nSecond: https://b.test/y.\nagain https://a.test/x';
    expect(linksOf(text)).toEqual([
      { url: 'https://a.test/x', title: 'First page' },
      { url: 'https://b.test/y', title: 'Second' },
    ]);
  });

  it('takes no other scheme for a link', () => {
    expect(linksOf('javascript:alert(1) file:///etc/passwd data:text/html,x')).toEqual([]);
  });
});

describe('todosOf', () => {
  it('takes what is there of a list that still comes', () => {
    expect(todosOf({ todos: [{ content: 'a', status: 'completed' }, { content: 'b' }, {}, 'x'] })).toEqual([
      { text: 'a', status: 'completed' },
      { text: 'b', status: 'pending' },
    ]);
    expect(todosOf(undefined)).toEqual([]);
  });
});

describe('mcpName', () => {
  it('takes server and tool apart', () => {
    expect(mcpName('mcp__docs__search__all')).toEqual({ server: 'docs', tool: 'search__all' });
    expect(mcpName('Bash')).toBeUndefined();
  });
});
