import { describe, expect, it } from 'vitest';
import { answeredId, FrameReader } from './frames.js';

const read = (reader: FrameReader, ...chunks: string[]) =>
  chunks.flatMap((chunk) => [...reader.push(Buffer.from(chunk))]);

describe('lines', () => {
  it('come out whole however they were cut', () => {
    const text = '{"a":"ü€"}\n\n{"b":2}\nrest';
    const bytes = Buffer.from(text);
    for (const size of [1, 2, 3, 7, 100]) {
      const reader = new FrameReader(1000);
      const lines: string[] = [];
      for (let at = 0; at < bytes.length; at += size) {
        for (const frame of reader.push(bytes.subarray(at, at + size))) {
          if (frame.kind === 'line') lines.push(frame.text);
        }
      }
      expect(lines).toEqual(['{"a":"ü€"}', '', '{"b":2}']);
      expect(reader.pending).toBe(4);
    }
  });

  it('at the limit are kept, over it counted', () => {
    expect(read(new FrameReader(4), 'abcd\nabcde\nok\n')).toEqual([
      { kind: 'line', text: 'abcd', bytes: 4 },
      { kind: 'oversized', bytes: 5, head: 'abcde', tail: 'abcde' },
      { kind: 'line', text: 'ok', bytes: 2 },
    ]);
  });

  it('over the limit keep their two ends, however they were cut', () => {
    const line = `START${'x'.repeat(5000)}END`;
    for (const size of [1, 10, 300, 10_000]) {
      const reader = new FrameReader(1000);
      const chunks = Array.from({ length: Math.ceil(line.length / size) }, (_, index) =>
        line.slice(index * size, (index + 1) * size),
      );
      const [frame] = read(reader, ...chunks, '\n');
      expect(frame).toMatchObject({ kind: 'oversized', bytes: line.length });
      if (frame?.kind !== 'oversized') throw new Error('not oversized');
      expect(frame.head.startsWith('START')).toBe(true);
      expect(frame.tail.endsWith('xEND')).toBe(true);
    }
  });
});

describe('the answer that an oversized line is', () => {
  it.each([
    ['{"jsonrpc":"2.0","id":7,"result":{"x":"', '"}}', 7],
    ['{"id": 8, "jsonrpc": "2.0", "result": {"x":"', '"}}', 8],
    ['{"result":{"x":"', '"},"jsonrpc":"2.0","id":9}', 9],
    ['{"result":{"x":"', '"},"id":10,"jsonrpc":"2.0"}', 10],
    ['{"result":{"id":3,"x":"', '"}}', undefined],
    ['{"jsonrpc":"2.0","method":"x","params":{"id":4,', '"}}', undefined],
    ['garbage', 'garbage', undefined],
  ])('%s … %s', (head, tail, id) => {
    expect(answeredId({ head, tail })).toBe(id);
  });
});
