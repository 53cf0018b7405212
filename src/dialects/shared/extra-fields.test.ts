import { expect, it } from 'vitest';
import type { TextBlock } from '../../core/conversation.js';
import { extendWith, extraFields, fields } from './extra-fields.js';

const KNOWN = fields<{ a: number; b: number }>('a', 'b');

it('what is known or not given is no extra', () => {
  expect(extraFields({ a: 1, b: 2, c: null, d: undefined }, KNOWN)).toBeUndefined();
  expect(extraFields({ a: 1, c: 0, d: false }, KNOWN)).toEqual({ c: 0, d: false });
});

it('no field of a body reaches a prototype', () => {
  expect(extraFields(JSON.parse('{"__proto__":{"x":1}}'), KNOWN)).toBeUndefined();
});

it('extensions of a dialect come together and leave those of others alone', () => {
  const block: TextBlock = { type: 'text', text: '', extensions: { 'openai-chat': { a: 1 } } };
  extendWith('openai-responses', block, { b: 2 });
  extendWith('openai-responses', block, { c: 3 });
  expect(block.extensions).toEqual({ 'openai-chat': { a: 1 }, 'openai-responses': { b: 2, c: 3 } });
  expect(extendWith<TextBlock>('openai-chat', { type: 'text', text: '' }, undefined)).toEqual({
    type: 'text',
    text: '',
  });
});

it('a known name in other case is no field of its own', () => {
  expect(extraFields({ A: 1, bB: 2 }, KNOWN)).toEqual({ bB: 2 });
});
