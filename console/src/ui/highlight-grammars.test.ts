import { describe, expect, it } from 'vitest';
import { scopesOf } from './highlight-grammars.js';

describe('colours of code', () => {
  it('are where its words are, one beside the other', () => {
    const code = 'const a = "text"; // why\n';
    const found = scopesOf(code, 'ts').map(({ scope, from, to }) => [scope, code.slice(from, to)]);
    expect(found).toEqual([
      ['keyword', 'const'],
      ['string', '"text"'],
      ['comment', '// why'],
    ]);
  });

  it('are none for a language that nobody knows, or for none', () => {
    expect(scopesOf('a', 'no such language')).toEqual([]);
    expect(scopesOf('a', '')).toEqual([]);
  });

  it('are known by the ends of files', () => {
    for (const end of ['ts', 'tsx', 'js', 'json', 'py', 'go', 'rs', 'sh', 'yml', 'html', 'css', 'toml', 'h'])
      expect(scopesOf('"a" 1 # b // c', end), end).toBeInstanceOf(Array);
  });
});
