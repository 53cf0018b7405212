import { describe, expect, it } from 'vitest';
import { parseToolArguments } from './tool-call-arguments.js';

describe('arguments of a tool call', () => {
  it.each([
    ['{"a":1}', { a: 1 }],
    ['  {"a":1}\n', { a: 1 }],
    ['', {}],
    ['null', {}],
    ['"{\\"a\\":1}"', { a: 1 }],
    ['[1]', { value: [1] }],
    ['{"a":1} and more', { a: 1 }],
    ['{"a":{"b":[1]', { a: { b: [1] } }],
  ])('%j are accepted', (text, input) => {
    expect(parseToolArguments(text, false)).toEqual({ ok: true, input });
  });

  it.each([
    ['inside a text', '{"content":"half of a fi'],
    ['inside a key', '{"content":"x","fi'],
    ['inside a number or word', '{"a":tr'],
  ])('that break off %s are not completed', (_where, text) => {
    expect(parseToolArguments(text, false)).toEqual({ ok: false, cut: true });
  });

  it('that are not JSON are refused', () => {
    expect(parseToolArguments('{"a": nope}', false)).toEqual({ ok: false, cut: false });
    expect(parseToolArguments('rm -rf', false)).toEqual({ ok: false, cut: false });
    expect(parseToolArguments('{"a":1} {"a":2}', false)).toEqual({ ok: false, cut: false });
    expect(parseToolArguments(`${'{"a":'.repeat(2_000)}1${'}'.repeat(2_000)}`, false)).toMatchObject({
      ok: false,
    });
  });

  it('of an answer cut by its limit are refused unless they are whole', () => {
    expect(parseToolArguments('{"a":[1', true)).toEqual({ ok: false, cut: true });
    expect(parseToolArguments('', true)).toEqual({ ok: false, cut: true });
    expect(parseToolArguments('{"a":1}', true)).toEqual({ ok: true, input: { a: 1 } });
  });
});
