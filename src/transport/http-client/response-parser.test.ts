import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ProtocolError } from './response-head.js';
import { ResponseParser } from './response-parser.js';

interface Parsed {
  status: number | undefined;
  headers: Record<string, string>;
  body: string;
  done: boolean;
  excess: boolean;
  keepAlive: boolean | undefined;
}

/** Feeds the bytes in pieces, in memory that is overwritten after each, as a socket's is. */
function parse(bytes: Buffer, cuts: readonly number[] = [], bodiless = false): Parsed {
  const parser = new ResponseParser(bodiless);
  const edges = [0, ...[...cuts].sort((a, b) => a - b), bytes.length];
  const parts: Buffer[] = [];
  for (let i = 1; i < edges.length; i++) {
    const piece = Buffer.from(bytes.subarray(edges[i - 1], edges[i]));
    const part = parser.push(piece);
    piece.fill(0x2a);
    if (part !== undefined) parts.push(part);
  }
  parser.end();
  return {
    status: parser.head?.status,
    headers: { ...parser.head?.headers },
    body: Buffer.concat(parts).toString(),
    done: parser.done,
    excess: parser.excess,
    keepAlive: parser.head?.keepAlive,
  };
}

const text = (...lines: string[]) => Buffer.from(lines.join('\r\n'));
const head = (...lines: string[]) => text(...lines, '', '');

const SAMPLES: Record<string, { bytes: Buffer; body: string; keepAlive: boolean }> = {
  'content-length': {
    bytes: text('HTTP/1.1 200 OK', 'Content-Length: 11', '', 'hello world'),
    body: 'hello world',
    keepAlive: true,
  },
  'chunked, with extensions and trailers': {
    bytes: text(
      'HTTP/1.1 200 OK',
      'Transfer-Encoding: chunked',
      'X-Two: a',
      'x-two:\t b ',
      '',
      '21;name=value;quoted="x y"',
      'data: {"text":"first 世界 piece',
      '000A ',
      '0123456789',
      '1',
      'z',
      '0;last',
      'x-checksum: 12',
      'x-more: 3',
      '',
      '',
    ),
    body: `data: {"text":"first 世界 piece0123456789z`,
    keepAlive: true,
  },
  'until the connection closes': {
    bytes: text('HTTP/1.1 200 OK', 'content-type: text/plain', '', 'all that\r\n\r\ncomes\r\n'),
    body: 'all that\r\n\r\ncomes\r\n',
    keepAlive: false,
  },
  'after interim answers': {
    bytes: Buffer.concat([
      head('HTTP/1.1 100 Continue'),
      head('HTTP/1.1 103 Early Hints', 'link: </a>; rel=preload'),
      text('HTTP/1.1 404 Not Found', 'content-length: 2', '', 'no'),
    ]),
    body: 'no',
    keepAlive: true,
  },
};

describe('framing', () => {
  for (const [name, { bytes, body, keepAlive }] of Object.entries(SAMPLES)) {
    it(`reads a body framed by: ${name}`, () => {
      expect(parse(bytes)).toMatchObject({ body, keepAlive, done: true, excess: false });
    });

    it(`gives the same for any chunking: ${name}`, () => {
      const whole = parse(bytes);
      fc.assert(
        fc.property(fc.array(fc.nat(bytes.length), { maxLength: 40 }), (cuts) => {
          expect(parse(bytes, cuts)).toEqual(whole);
        }),
      );
      const everyByte = Array.from({ length: bytes.length - 1 }, (_, i) => i + 1);
      expect(parse(bytes, everyByte)).toEqual(whole);
    });
  }

  it('gives one buffer for a read that holds many chunks', () => {
    const parser = new ResponseParser(false);
    parser.push(head('HTTP/1.1 200 OK', 'transfer-encoding: chunked'));
    const events = Array.from({ length: 285 }, (_, i) => `data: ${i}\n\n`);
    const chunks = events.map((event) => `${event.length.toString(16)}\r\n${event}\r\n`).join('');
    expect(parser.push(Buffer.from(chunks))?.toString()).toBe(events.join(''));
    expect(parser.done).toBe(false);
  });

  it.each([204, 304])('knows that %i has no body', (status) => {
    const parsed = parse(head(`HTTP/1.1 ${status} X`, 'content-length: 5'));
    expect(parsed).toMatchObject({ status, body: '', done: true, keepAlive: true });
  });

  it('knows that the answer to HEAD has no body', () => {
    const parsed = parse(head('HTTP/1.1 200 OK', 'content-length: 5000'), [], true);
    expect(parsed).toMatchObject({ body: '', done: true, keepAlive: true });
  });

  it('takes a content-length of 0', () => {
    expect(parse(head('HTTP/1.1 500', 'content-length: 0'))).toMatchObject({ status: 500, done: true });
  });

  it('marks bytes beyond the end', () => {
    expect(parse(text('HTTP/1.1 200 OK', 'content-length: 1', '', 'ab'))).toMatchObject({
      body: 'a',
      excess: true,
    });
    const chunked = text(
      'HTTP/1.1 200 OK',
      'transfer-encoding: chunked',
      '',
      '1',
      'a',
      '0',
      '',
      'HTTP/1.1 200',
    );
    expect(parse(chunked)).toMatchObject({ body: 'a', done: true, excess: true });
    expect(parse(text('HTTP/1.1 204 OK', '', 'x'))).toMatchObject({ body: '', excess: true });
  });

  it('is not done when the connection closes early', () => {
    expect(parse(text('HTTP/1.1 200 OK', 'content-length: 9', '', 'short')).done).toBe(false);
    expect(parse(text('HTTP/1.1 200 OK', 'transfer-encoding: chunked', '', '5', 'hello', '')).done).toBe(
      false,
    );
    expect(parse(text('HTTP/1.1 200 OK', 'transfer-encoding: chunked', '', '0', '')).done).toBe(false);
    expect(parse(text('HTTP/1.1 200 OK', 'content-le')).done).toBe(false);
  });
});

describe('keep-alive', () => {
  const cases: [string, string[], boolean][] = [
    ['1.1', ['content-length: 0'], true],
    ['1.1', ['content-length: 0', 'connection: Close'], false],
    ['1.1', ['content-length: 0', 'connection: x, close'], false],
    ['1.0', ['content-length: 0'], false],
    ['1.0', ['content-length: 0', 'connection: keep-alive'], true],
    ['1.0', ['transfer-encoding: chunked', 'connection: keep-alive'], false],
  ];
  it.each(cases)('HTTP/%s with %j: %s', (version, lines, keepAlive) => {
    expect(parse(head(`HTTP/${version} 200 OK`, ...lines)).keepAlive).toBe(keepAlive);
  });
});

describe('what is refused', () => {
  const ok = 'HTTP/1.1 200 OK';
  const cases: [string, Buffer][] = [
    ['no HTTP at all', head('SSH-2.0-OpenSSH_9.2')],
    ['HTTP/2', head('HTTP/2 200 OK')],
    ['a status out of range', head('HTTP/1.1 999 X')],
    ['a status glued to more', head('HTTP/1.1 2000 OK')],
    ['a folded header', head(ok, 'x-a: 1', ' folded')],
    ['a space before the colon', head(ok, 'content-length : 5')],
    ['a line without colon', head(ok, 'nonsense')],
    ['an empty name', head(ok, ': value')],
    ['a lone CR in a header', head(ok, 'x-a: 1\rx-b: 2')],
    ['a lone LF in a header', head(ok, 'x-a: 1\nx-b: 2')],
    ['a NUL in a header', head(ok, 'x-a: 1\0')],
    ['two lengths', head(ok, 'content-length: 5', 'Content-Length: 5')],
    ['a list of lengths', head(ok, 'content-length: 5, 5')],
    ['a signed length', head(ok, 'content-length: +5')],
    ['a negative length', head(ok, 'content-length: -1')],
    ['a hexadecimal length', head(ok, 'content-length: 0x5')],
    ['an empty length', head(ok, 'content-length:')],
    ['a length beyond exact numbers', head(ok, 'content-length: 9999999999999999')],
    ['length and chunks', head(ok, 'content-length: 5', 'transfer-encoding: chunked')],
    ['another coding', head(ok, 'transfer-encoding: gzip, chunked')],
    ['chunked twice', head(ok, 'transfer-encoding: chunked', 'transfer-encoding: chunked')],
    ['an unasked switch of protocols', head('HTTP/1.1 101 Switching Protocols', 'upgrade: h2c')],
    ['a head without end', text(ok, `x-a: ${'a'.repeat(70_000)}`)],
    ['a head over the limit', head(ok, `x-a: ${'a'.repeat(70_000)}`)],
  ];
  it.each(cases)('%s', (_name, bytes) => {
    expect(() => parse(bytes)).toThrow(ProtocolError);
  });

  const chunkCases: [string, string][] = [
    ['no size', '\r\n'],
    ['a size that is not hexadecimal', '5g\r\nhello\r\n'],
    ['a signed size', '-5\r\nhello\r\n'],
    ['a prefixed size', '0x5\r\nhello\r\n'],
    ['a size too long', `${'0'.repeat(20)}5\r\nhello\r\n`],
    ['a size ended by a lone LF', '5\nhello\r\n'],
    ['an extension ended by a lone LF', '5;a\nhello\r\n'],
    ['an extension without end', `5;${'a'.repeat(5000)}`],
    ['data longer than the size', '3\r\nhello\r\n'],
    ['data followed by a lone LF', '5\r\nhello\n'],
    ['a trailer ended by a lone LF', '0\r\nx: 1\n\r\n'],
    ['trailers without end', `0\r\n${`x: ${'a'.repeat(1000)}\r\n`.repeat(70)}`],
  ];
  it.each(chunkCases)('a chunk with %s', (_name, chunk) => {
    const bytes = Buffer.concat([head(ok, 'transfer-encoding: chunked'), Buffer.from(chunk)]);
    expect(() => parse(bytes)).toThrow(ProtocolError);
  });

  it('never throws anything else, whatever the bytes', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...Object.values(SAMPLES)),
        fc.nat(),
        fc.nat(255),
        ({ bytes }, at, byte) => {
          const broken = Buffer.from(bytes);
          broken[at % broken.length] = byte;
          try {
            parse(broken);
          } catch (error) {
            expect(error).toBeInstanceOf(ProtocolError);
          }
        },
      ),
      { numRuns: 2000 },
    );
  });
});

describe('headers', () => {
  it('are lower case, trimmed, joined, and hold no inherited name', () => {
    const { headers } = parse(
      head('HTTP/1.1 200 OK', 'X-A: 1', 'x-a:2 ', 'content-length: 0', '__proto__: x', 'constructor: \xe9'),
    );
    expect(headers['x-a']).toBe('1, 2');
    expect(Object.keys(headers)).toContain('__proto__');
    const parser = new ResponseParser(false);
    parser.push(head('HTTP/1.1 200 OK', 'content-length: 0'));
    expect(parser.head?.headers['constructor']).toBeUndefined();
  });
});
