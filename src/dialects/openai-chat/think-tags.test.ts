import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ModelEvent } from '../../core/events.js';
import { ThinkTags } from './think-tags.js';

function run(pieces: readonly string[]): { thinking: string; text: string } {
  const tags = new ThinkTags();
  const out: ModelEvent[] = [];
  let text = '';
  for (const piece of pieces) text += tags.push(piece, out);
  text += tags.flush(out);
  const thinking = out.map((event) => (event.type === 'thinking' ? event.text : '?')).join('');
  return { thinking, text };
}

const cases: [string, string, string][] = [
  ['<think>hm</think>Hi', 'hm', 'Hi'],
  ['\n<think>\nhm\n</think>\n\nHi', 'hm\n', 'Hi'],
  ['<think></think>Hi', '', 'Hi'],
  ['<think>hm', 'hm', ''],
  ['<think> \n', '', ''],
  ['Hi <think>no</think>', '', 'Hi <think>no</think>'],
  ['<thinking>no', '', '<thinking>no'],
  ['<thin', '', '<thin'],
  ['  ', '', '  '],
  ['<think>a</think><think>b</think>', 'a', '<think>b</think>'],
  ['<think>a </thin b</think> c', 'a </thin b', 'c'],
];

describe('ThinkTags', () => {
  it.each(cases)('%j', (source, thinking, text) => {
    expect(run([source])).toEqual({ thinking, text });
  });

  it('reads the same in any pieces', () => {
    const cut = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1 });
    fc.assert(
      fc.property(fc.constantFrom(...cases), cut, ([source, thinking, text], lengths) => {
        const pieces: string[] = [];
        for (let at = 0, turn = 0; at < source.length; turn += 1) {
          const length = lengths[turn % lengths.length] ?? 1;
          pieces.push(source.slice(at, at + length));
          at += length;
        }
        expect(run(pieces)).toEqual({ thinking, text });
      }),
    );
  });

  it('is settled once it can be nothing but text', () => {
    const tags = new ThinkTags();
    tags.push('H', []);
    expect(tags.settled).toBe(true);
  });

  it('is text throughout when the reasoning came in a field of its own', () => {
    const tags = new ThinkTags();
    tags.settle();
    expect(tags.push('<think>a</think>', [])).toBe('<think>a</think>');
  });
});

describe('ThinkTags and an answer of white space', () => {
  it('does not wait for a tag for ever', () => {
    const tags = new ThinkTags();
    let text = '';
    for (let i = 0; i < 1_000; i++) text += tags.push('          ', []);
    expect(tags.settled).toBe(true);
    expect(text).toHaveLength(10_000);
  });
});
