import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type SseFrame, SseParser } from './sse.js';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('the parser of event streams', () => {
  it('reads the same frames from whatever pieces they come in', () => {
    const text =
      'retry: 5\n\n: ping\n\nid: e.1\ndata: {"a":"é中😀"}\n\nid: e.2\r\ndata: x\r\ndata:y\r\n\r\ndata: z\r\rdata: cut';
    const whole = new SseParser().push(bytes(text));
    expect(whole).toEqual([
      { id: 'e.1', data: '{"a":"é中😀"}' },
      { id: 'e.2', data: 'x\ny' },
      { id: undefined, data: 'z' },
    ]);
    fc.assert(
      fc.property(fc.array(fc.nat({ max: bytes(text).length })), (places) => {
        const parser = new SseParser();
        const cuts = [0, ...places.toSorted((a, b) => a - b), bytes(text).length];
        const frames: SseFrame[] = [];
        for (const [at, from] of cuts.entries())
          frames.push(...parser.push(bytes(text).slice(from, cuts[at + 1] ?? from)));
        expect(frames).toEqual(whole);
      }),
    );
  });
});
