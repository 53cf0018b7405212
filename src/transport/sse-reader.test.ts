import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ServerSentEvent } from '../core/server-sent-event.js';
import { SseReader } from './sse-reader.js';

function read(chunks: readonly Buffer[], reader = new SseReader()): ServerSentEvent[] {
  const out: ServerSentEvent[] = [];
  for (const chunk of chunks) reader.push(chunk, out);
  reader.end(out);
  return out;
}

const cases: [name: string, wire: string, events: ServerSentEvent[]][] = [
  ['data only', 'data: a\n\n', [{ event: '', data: 'a' }]],
  ['named', 'event: ping\ndata: {}\n\n', [{ event: 'ping', data: '{}' }]],
  [
    'CRLF',
    'event: x\r\ndata: a\r\n\r\ndata: b\r\n\r\n',
    [
      { event: 'x', data: 'a' },
      { event: '', data: 'b' },
    ],
  ],
  [
    'lone CR',
    'data: a\r\rdata: b\r\r',
    [
      { event: '', data: 'a' },
      { event: '', data: 'b' },
    ],
  ],
  [
    'mixed ends',
    'data: a\r\n\ndata: b\n\r\n',
    [
      { event: '', data: 'a' },
      { event: '', data: 'b' },
    ],
  ],
  ['no space', 'data:a\n\n', [{ event: '', data: 'a' }]],
  ['one space only is removed', 'data:  a\n\n', [{ event: '', data: ' a' }]],
  ['several data lines', 'data: a\ndata: b\ndata\n\n', [{ event: '', data: 'a\nb\n' }]],
  ['comments', ': OPENROUTER PROCESSING\n\n:\ndata: a\n: x\n\n', [{ event: '', data: 'a' }]],
  ['id and retry', 'id: 7\nretry: 10\ndata: a\n\n', [{ event: '', data: 'a' }]],
  ['no data, no event', 'event: x\n\ndata: a\n\n', [{ event: '', data: 'a' }]],
  ['byte order mark', '\ufeffdata: a\n\n', [{ event: '', data: 'a' }]],
  [
    'end without a blank line',
    'data: a\n\ndata: [DONE]',
    [
      { event: '', data: 'a' },
      { event: '', data: '[DONE]' },
    ],
  ],
  ['multi-byte text', 'data: 北京 🌍 é\n\n', [{ event: '', data: '北京 🌍 é' }]],
  ['blank lines between', '\n\n\ndata: a\n\n\n\n', [{ event: '', data: 'a' }]],
];

describe('SseReader', () => {
  it.each(cases)('%s', (_name, wire, events) => {
    expect(read([Buffer.from(wire)])).toEqual(events);
  });

  it.each(cases)('%s, one byte at a time', (_name, wire, events) => {
    expect(read([...Buffer.from(wire)].map((byte) => Buffer.of(byte)))).toEqual(events);
  });

  it('gives the same events for any chunking', () => {
    const wire = Buffer.from(cases.map(([, text]) => text.replace('\ufeff', '')).join('\n\n'));
    const whole = read([wire]);
    fc.assert(
      fc.property(fc.array(fc.nat(wire.length), { maxLength: 40 }), (cuts) => {
        const points = [0, ...cuts.sort((a, b) => a - b), wire.length];
        const chunks = points.slice(1).map((to, i) => wire.subarray(points[i], to));
        expect(read(chunks)).toEqual(whole);
      }),
      { numRuns: 300 },
    );
  });

  it('holds a line of any length up to the bound of one event', () => {
    const long = 'x'.repeat(300_000);
    expect(read([Buffer.from(`data: ${long}\n\n`)])).toEqual([{ event: '', data: long }]);
    const reader = new SseReader(1000);
    const out: ServerSentEvent[] = [];
    expect(() => {
      for (let i = 0; i < 100; i++) reader.push(Buffer.alloc(50, 'x'), out);
    }).toThrow('too large');
    const lines = new SseReader(1000);
    expect(() => {
      for (let i = 0; i < 100; i++) lines.push(Buffer.from(`data: ${'y'.repeat(50)}\n`), out);
    }).toThrow('too large');
  });

  it('does not confuse many small events with one large one', () => {
    const reader = new SseReader(1000);
    const out: ServerSentEvent[] = [];
    for (let i = 0; i < 100; i++) reader.push(Buffer.from(`data: ${'z'.repeat(100)}\n\n`), out);
    expect(out).toHaveLength(100);
  });
});
