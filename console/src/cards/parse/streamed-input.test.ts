import { describe, expect, it } from 'vitest';
import { streamedInput } from './streamed-input.js';

const of = (inputText: string, input?: unknown) => streamedInput({ inputText, input });

describe('streamedInput', () => {
  it('reads what has come so far, strings included', () => {
    expect(of('{"file_path":"/a","content":"one\\ntw')).toEqual({
      value: { file_path: '/a', content: 'one\ntw' },
      partial: true,
      text: undefined,
    });
  });

  it('gives whole arguments as they are', () => {
    expect(of('', { a: 1 })).toEqual({ value: { a: 1 }, partial: false, text: undefined });
    expect(of('{"a":', { a: 1 }).value).toEqual({ a: 1 });
  });

  it('shows text that is no JSON', () => {
    expect(of('not json')).toEqual({ value: undefined, partial: true, text: 'not json' });
  });

  it('shows the end of what is too long to read again and again', () => {
    const { value, text } = of(`{"content":"${'x'.repeat(400_000)}end`);
    expect(value).toBeUndefined();
    expect(text?.endsWith('xend')).toBe(true);
  });
});
