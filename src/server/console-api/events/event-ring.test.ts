import { describe, expect, it } from 'vitest';
import { EventRing } from './event-ring.js';

const entry = (seq: number, tail = 'x') => ({ seq, audience: null, tail });
const seqs = (ring: EventRing, since: number) => ring.since(since)?.map(({ seq }) => seq);

describe('EventRing', () => {
  it('returns the events after an id, also after one between two that it holds', () => {
    const ring = new EventRing({ events: 10, bytes: 1000 });
    for (const seq of [1, 2, 5, 6]) ring.push(entry(seq));
    expect(seqs(ring, 0)).toEqual([1, 2, 5, 6]);
    expect(seqs(ring, 2)).toEqual([5, 6]);
    expect(seqs(ring, 4)).toEqual([5, 6]);
    expect(seqs(ring, 6)).toEqual([]);
  });

  it('is bounded by count, and reports a gap', () => {
    const ring = new EventRing({ events: 3, bytes: 1000 });
    for (let seq = 1; seq <= 5; seq += 1) ring.push(entry(seq));
    expect(ring.size).toBe(3);
    expect(seqs(ring, 1)).toBeUndefined();
    expect(seqs(ring, 2)).toEqual([3, 4, 5]);
  });

  it('is bounded by bytes', () => {
    const ring = new EventRing({ events: 100, bytes: 10 });
    for (let seq = 1; seq <= 4; seq += 1) ring.push(entry(seq, 'four'));
    expect(ring.bytes).toBe(8);
    expect(seqs(ring, 2)).toEqual([3, 4]);
    ring.push(entry(5, 'more than all of it'));
    expect(ring.size).toBe(0);
    expect(seqs(ring, 4)).toBeUndefined();
    expect(seqs(ring, 5)).toEqual([]);
  });

  it('reports a gap for an id that it dropped', () => {
    const ring = new EventRing({ events: 10, bytes: 1000 });
    ring.push(entry(1));
    ring.lose(4);
    ring.push(entry(5));
    expect(seqs(ring, 3)).toBeUndefined();
    expect(seqs(ring, 4)).toEqual([5]);
  });

  it('stays right over many times its size', () => {
    const ring = new EventRing({ events: 700, bytes: 1_000_000 });
    for (let seq = 1; seq <= 10_000; seq += 1) ring.push(entry(seq));
    expect(ring.size).toBe(700);
    expect(ring.bytes).toBe(700);
    expect(seqs(ring, 9998)).toEqual([9999, 10_000]);
    expect(seqs(ring, 9300)).toHaveLength(700);
    expect(seqs(ring, 9299)).toBeUndefined();
  });
});
