import { describe, expect, it } from 'vitest';
import { editableField, editableText, editedInput } from './edited-input.js';

describe('editableField', () => {
  it("is the tool's main field, where the input has it", () => {
    expect(editableField('Bash', { command: 'ls' })).toBe('command');
    expect(editableField('Bash', { command: 1 })).toBeUndefined();
    expect(editableField('mcp__a__b', { command: 'ls' })).toBeUndefined();
    expect(editableField('constructor', {})).toBeUndefined();
  });
});

describe('editedInput', () => {
  const input = { command: 'ls', timeout: 5 };

  it('keeps the other fields', () => {
    expect(editedInput(input, 'command', 'ls -l')).toEqual({
      kind: 'changed',
      input: { command: 'ls -l', timeout: 5 },
    });
    expect(editedInput(input, 'command', 'ls')).toEqual({ kind: 'same' });
  });

  it('takes JSON that is an object, and says what is wrong with other texts', () => {
    expect(editedInput(input, undefined, editableText(input, undefined))).toEqual({ kind: 'same' });
    expect(editedInput(input, undefined, '{"a":1}')).toEqual({ kind: 'changed', input: { a: 1 } });
    expect(editedInput(input, undefined, '{"a":')).toMatchObject({ kind: 'not-json' });
    expect(editedInput(input, undefined, '[1]')).toEqual({ kind: 'not-object' });
  });
});
