import { brotliDecompressSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { RecordedRequest } from '../core/trace-payload.js';
import { decodeTraceBody, encodeTraceBody } from './trace-body.js';

const SECRET = 'hunter22';

function recording(body: Uint8Array | string, data: Uint8Array | string): RecordedRequest {
  return {
    cut: false,
    inbound: { path: '/v1/messages', headers: { 'x-app': 'cli' }, body },
    attempts: [],
    timeline: [{ ms: 1, from: 'upstream', attempt: 0, data }],
    size: 0,
  };
}

/** Counts what it is asked to redact; `hunter22` is all that it knows. */
function secrets() {
  const asked: string[] = [];
  return {
    asked,
    redact(text: string) {
      asked.push(text);
      return text.replaceAll(SECRET, '[redacted]');
    },
    isClean: (utf8: Uint8Array) => !Buffer.from(utf8).includes(SECRET),
  };
}

describe('encodeTraceBody', () => {
  it('decodes no body that is clean', async () => {
    const known = secrets();
    const stored = await encodeTraceBody(recording(Buffer.from('a body'), Buffer.from('a piece')), known);
    expect(known.asked.filter((text) => text.includes('body') || text.includes('piece'))).toEqual([]);
    expect(await decodeTraceBody(stored)).toMatchObject({
      inbound: { body: 'a body' },
      timeline: [{ data: 'a piece' }],
    });
  });

  it.each([
    ['a body', recording(Buffer.from(`a ${SECRET}`), 'a piece')],
    ['a body that is text', recording(`a ${SECRET}`, 'a piece')],
    ['a piece', recording('a body', Buffer.from(`a ${SECRET}`))],
    ['a piece behind half a character', recording('', Buffer.from(`修${SECRET}`).subarray(2))],
    ['a header', { ...recording('', ''), inbound: { path: SECRET, headers: { a: SECRET }, body: '' } }],
  ])('writes no secret of %s', async (_name, recorded) => {
    const stored = await encodeTraceBody(recorded, secrets());
    expect(brotliDecompressSync(stored.subarray(1)).includes(SECRET)).toBe(false);
    expect(JSON.stringify(await decodeTraceBody(stored))).toContain('[redacted]');
  });

  it('leaves the other parts of a recording with a secret as they are', async () => {
    const known = secrets();
    const half = Buffer.from('修').subarray(0, 2);
    const stored = await encodeTraceBody(recording(`a ${SECRET}`, half), known);
    expect(await decodeTraceBody(stored)).toMatchObject({
      inbound: { body: 'a [redacted]' },
      timeline: [{ data: `base64:${half.toString('base64')}` }],
    });
  });

  it('leaves room for others between the bodies of a large recording', async () => {
    const large = (name: string) => Buffer.from(`${name} ${SECRET} ${'text '.repeat(60_000)}`);
    const order: string[] = [];
    const known = secrets();
    const stored = encodeTraceBody(recording(large('first'), large('second')), {
      ...known,
      redact(text) {
        order.push(text.split(' ', 1)[0] ?? '');
        return known.redact(text);
      },
    });
    const others = setImmediate(() => order.push('others'));
    const { inbound, timeline } = await decodeTraceBody(await stored);
    clearImmediate(others);
    expect(order.filter((name) => ['first', 'second', 'others'].includes(name))).toEqual([
      'first',
      'others',
      'second',
    ]);
    expect([inbound?.body.slice(0, 16), timeline[0]?.data.slice(0, 17)]).toEqual([
      'first [redacted]',
      'second [redacted]',
    ]);
  });
});

describe('decodeTraceBody', () => {
  it('reads what was stored before this form', async () => {
    const payload = { version: 1, cut: false, inbound: null, attempts: [], timeline: [] };
    expect(await decodeTraceBody(gzipSync(JSON.stringify(payload), { level: 3 }))).toEqual(payload);
  });
});
