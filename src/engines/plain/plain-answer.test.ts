import { expect, it } from 'vitest';
import { PlainAnswer } from './plain-answer.js';

it('is no more than can be held', () => {
  const answer = new PlainAnswer('m', 10);
  answer.push([{ type: 'text', text: 'just this.' }]);
  expect(answer.error).toBeUndefined();
  answer.push([{ type: 'text', text: '.' }]);
  expect(answer.error).toMatchObject({ code: 'upstream_failed' });
});
