import { describe, expect, it } from 'vitest';
import { oneLine, titleFromInput } from './card-title.js';

describe('titleFromInput', () => {
  it('takes the argument that says most', () => {
    expect(titleFromInput('Bash', { description: 'List', command: 'ls\n -la' })).toBe('ls -la');
    expect(titleFromInput('mcp__docs__search', { query: 'tabs' })).toBe('tabs');
  });

  it.each(['constructor', '__proto__', 'toString', 'hasOwnProperty', ''])('bears a tool named %j', (name) => {
    expect(titleFromInput(name, { path: '/x' })).toBe('/x');
    expect(titleFromInput(name, undefined)).toBe('');
  });
});

describe('oneLine', () => {
  it('cuts what is long', () => {
    expect(oneLine('x'.repeat(1000))).toHaveLength(201);
  });
});
