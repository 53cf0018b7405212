/** Spans that wait for their export hold no more than they show. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import type { EndedSpan } from './otlp-json.js';
import { openSpan } from './spans.js';

const MIB = 2 ** 20;

function usedAfterCollection(): number {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect !== 'function') throw new Error('no collection');
  collect();
  return process.memoryUsage().heapUsed;
}

it('a span with a piece of a large text does not keep the rest of it in memory', () => {
  const ended: EndedSpan[] = [];
  const rules = {
    content: true,
    propagate: false,
    sampler: { ratio: 1, byParent: false },
    onEnd: (span: EndedSpan) => void ended.push(span),
  };
  const large = (index: number) =>
    Array(2 ** 16)
      .fill(String(index).padStart(64))
      .join('');
  const before = usedAfterCollection();
  for (let index = 0; index < 24; index += 4) {
    const span = openSpan(rules, {
      name: large(index),
      kind: 'internal',
      attributes: { a: large(index + 1) },
    });
    span.event(large(index + 2));
    span.end({ type: 'failed', message: large(index + 3) });
  }
  expect(usedAfterCollection() - before).toBeLessThan(16 * MIB);
  expect(ended.map(({ attributes }) => String(attributes.get('a')).length)).toEqual(Array(6).fill(16 * 1024));
});
