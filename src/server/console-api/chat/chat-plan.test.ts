import { describe, expect, it } from 'vitest';
import { saidIn } from './chat-plan.js';

const BLANK = ['', ' \n', [], [{ type: 'text', text: '' }], [{ type: 'text', text: ' ' }]];

describe('the input of a chat request', () => {
  it('must not be empty', () => {
    for (const content of BLANK) {
      expect(() => saidIn({ model: 'm', content })).toThrow('say something');
    }
    expect(saidIn({ model: 'm', content: 'hi' })?.content).toEqual([{ type: 'text', text: 'hi' }]);
  });

  it('is taken from the earlier turn where turns are kept', () => {
    for (const content of BLANK) expect(saidIn({ model: 'm', keep: 0, content })).toBeUndefined();
  });
});
