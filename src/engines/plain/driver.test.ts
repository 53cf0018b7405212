import { expect, it } from 'vitest';
import { PlainAnswer } from './driver.js';

it('a plain answer is bounded', () => {
  const answer = new PlainAnswer('m', 10);
  answer.push([{ type: 'text', text: 'just this.' }]);
  expect(answer.error).toBeUndefined();
  answer.push([{ type: 'text', text: '.' }]);
  expect(answer.error).toMatchObject({ code: 'upstream_failed' });
});
