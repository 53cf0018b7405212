import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_NAME_CHARS, nameTools } from './list-tools.js';

const named = (...tools: string[]): Record<string, string> => Object.fromEntries(nameTools('s', tools));

describe('names of tools', () => {
  it('keep what models take, and replace the rest', () => {
    expect(named('get-sum', 'a.b/c d', 'größe')).toEqual({
      'get-sum': 'mcp__s__get-sum',
      'a.b/c d': 'mcp__s__a_b_c_d',
      größe: 'mcp__s__gr__e',
    });
  });

  it('leave a name to the tool that has it by itself', () => {
    const names = named('a.b', 'a_b', 'a/b');
    expect(names['a_b']).toBe('mcp__s__a_b');
    expect(new Set(Object.values(names)).size).toBe(3);
  });

  it('do not depend on the order', () => {
    expect(named('a.b', 'a/b', 'c')).toEqual(named('c', 'a/b', 'a.b'));
  });

  it('that are too long are cut, and stay apart', () => {
    const names = Object.values(named(`${'x'.repeat(200)}1`, `${'x'.repeat(200)}2`));
    expect(names.every((name) => name.length === MAX_NAME_CHARS)).toBe(true);
    expect(new Set(names).size).toBe(2);
  });

  it('are unique, valid and of their server, whatever the server says', () => {
    const server = 'n'.repeat(64);
    fc.assert(
      fc.property(fc.uniqueArray(fc.string({ minLength: 1, maxLength: 150 }), { maxLength: 30 }), (tools) => {
        const names = [...nameTools(server, tools).values()];
        expect(new Set(names).size).toBe(tools.length);
        for (const name of names) {
          expect(name).toMatch(/^[A-Za-z0-9_-]{1,128}$/);
          expect(name.startsWith(`mcp__${server}__`)).toBe(true);
        }
      }),
    );
  });
});
