import { expect, it } from 'vitest';
import { fitId, isOwnProof, stopReasonFrom } from './wire.js';

it.each(['toolu_01A09q90qw90lq917835lq9', 'call_abc-1', 'x'.repeat(500)])('leaves the id %s alone', (id) => {
  expect(fitId(id)).toBe(id);
});

it.each(['functions.Bash:0', '', 'a b', '工具', `a.${'x'.repeat(500)}`])(
  'fits the id %j once and for all',
  (id) => {
    const fitted = fitId(id);
    expect(fitted).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(fitId(fitted)).toBe(fitted);
    expect(fitId(id)).toBe(fitted);
  },
);

it('keeps ids apart that differ only in what does not fit', () => {
  expect(fitId('a.b')).not.toBe(fitId('a:b'));
});

it.each<[string | undefined, boolean]>([
  ['EqQBCkYIBxgCKkA7Q2x+/8Q==', true],
  ['abc-_', true],
  ['', false],
  [undefined, false],
  ['tg1.openai-responses.abc', false],
  ['openai:abc', false],
])('knows its own proof: %s', (proof, own) => {
  expect(isOwnProof(proof)).toBe(own);
});

it('does not take a name from the prototype for a stop reason', () => {
  expect(stopReasonFrom('constructor')).toBe('end_turn');
});
