/** Requests that are wrong, from the first byte of the head to the last field of the body. */
import { gzipSync } from 'node:zlib';
import type { JsonObject } from '../../src/core/conversation.js';
import { requestBytes } from '../support/raw-http.js';
import type { Bytes } from '../support/replies.js';
import { nodeAt, nodePaths, shown, withNode, withoutNode } from './json-nodes.js';
import type { Random } from './random.js';
import { VALID_BODIES } from './valid-bodies.js';
import type { Wire } from './wires.js';

export interface BrokenRequest {
  what: string;
  /** Each a write of its own. */
  pieces: readonly Bytes[];
  /** The client closes its side then. */
  ends?: boolean;
  /** `wrong`: a 4xx and nothing else. `doubtful`: a good answer is as right. */
  is: 'wrong' | 'doubtful';
  /** Whose errors it gets; `none` where the head does not say. */
  shape: 'dialect' | 'none';
}

export interface Target {
  url: string;
  wire: Wire;
  /** A path of the dialect. */
  path: string;
  model: string;
}

const JSON_HEADERS = { 'content-type': 'application/json' };

function post(
  { url, path }: Target,
  body: Bytes,
  headers: Readonly<Record<string, string>> = JSON_HEADERS,
): Buffer {
  return requestBytes(url, { method: 'POST', path, headers, body });
}

const bodyOf = ({ wire, model }: Target): JsonObject => ({ ...VALID_BODIES[wire.name], model });
const textOf = (target: Target): string => JSON.stringify(bodyOf(target));

const wrong = (what: string, ...pieces: readonly Bytes[]): BrokenRequest => ({
  what,
  pieces,
  is: 'wrong',
  shape: 'dialect',
});
const doubtful = (what: string, ...pieces: readonly Bytes[]): BrokenRequest => ({
  ...wrong(what, ...pieces),
  is: 'doubtful',
});
/** The head itself is broken. */
const malformed = (what: string, ...pieces: readonly Bytes[]): BrokenRequest => ({
  ...wrong(what, ...pieces),
  shape: 'none',
});

/** A head by hand; the host is right unless the lines say another. */
const head = ({ url }: Target, first: string, ...lines: readonly string[]): Buffer =>
  Buffer.from([first, `host: ${new URL(url).host}`, ...lines, '', ''].join('\r\n'), 'latin1');
const postHead = (target: Target, ...lines: readonly string[]): Buffer =>
  head(target, `POST ${target.path} HTTP/1.1`, 'content-type: application/json', ...lines);

type Maker = (target: Target, random: Random) => BrokenRequest;

const HUGE_NUMBERS = ['1e999', '-1e999', '1e308', '-0', '123456789012345678901234567890', '1e-999', '0.1e1'];
const BAD_LENGTHS = ['abc', '-1', '+5', '1e3', '0x10', '1.5', '99999999999999999999999', '5, 6', '5 6', ' '];
const TYPES = [
  'text/plain',
  'application/xml',
  'application/x-www-form-urlencoded',
  'multipart/form-data',
  '*/*',
  ';',
  'json',
];
const ENCODINGS = ['zstd', 'compress', 'gzip, gzip', 'x', 'gzip;q=1'];
const TARGETS = ['http://127.0.0.1/v1/messages', 'https://evil.example/', 'file:///etc/passwd', '*'];
const VERSIONS = ['HTTP/2.0', 'HTTP/3.1', 'HTTP/0.9', 'HTTP/1.', 'HTTP', 'http/1.1', ''];
const STRANGE_TEXT = ['"\\ud800"', '"\\udc00\\ud800"', '"\\u0000"', '"\\uffff"', '"\u2028"'];

function deep(random: Random): string {
  const depth = random.pick([201, 300, 5000, 100_000]);
  const [open, close] = random.pick([
    ['[', ']'],
    ['{"a":', '}'],
    ['[{"a":', '}]'],
  ]) ?? ['[', ']'];
  return `${open.repeat(depth)}1${random.chance(0.5) ? close.repeat(depth) : ''}`;
}

/** JSON text in place of one value of the body. */
function withRaw(target: Target, random: Random, raw: string): string {
  const body = bodyOf(target);
  const path = random.pick(nodePaths(body).filter((each) => each.length > 0));
  return JSON.stringify(withNode(body, path, '@@HERE@@')).replace('"@@HERE@@"', () => raw);
}

function withProto(target: Target, random: Random): string {
  const body = bodyOf(target);
  const objects = nodePaths(body).filter((path) => {
    const node = nodeAt(body, path);
    return typeof node === 'object' && node !== null && !Array.isArray(node);
  });
  const path = random.pick(objects);
  const own = JSON.stringify(nodeAt(body, path));
  const evil = random.pick([
    '"__proto__":{"polluted":true,"role":"user","stream":true}',
    '"constructor":{"prototype":{"polluted":true}}',
    '"__proto__":null',
    '"toString":1,"valueOf":2,"hasOwnProperty":3',
  ]);
  const changed = own === '{}' ? `{${evil}}` : `{${evil},${own.slice(1)}`;
  if (path.length === 0) return changed;
  return JSON.stringify(withNode(body, path, '@@HERE@@')).replace('"@@HERE@@"', () => changed);
}

const MAKERS: readonly Maker[] = [
  (_, random) =>
    malformed('random bytes', Buffer.concat([random.bytes(random.between(1, 400)), Buffer.from('\r\n\r\n')])),
  (target, random) => wrong('a body of random bytes', post(target, random.bytes(random.between(1, 2000)))),
  (target, random) => {
    const text = Buffer.from(textOf(target));
    return wrong('truncated JSON', post(target, text.subarray(0, random.below(text.length))));
  },
  (target, random) => {
    const text = textOf(target);
    const at = random.below(text.length);
    return doubtful(
      'JSON with a wrong character',
      post(
        target,
        text.slice(0, at) + random.pick(['"', '}', '\\', ',', '\n', 'x', '\u0001']) + text.slice(at + 1),
      ),
    );
  },
  (target, random) => {
    const text = Buffer.from(textOf(target));
    const cut = random.below(text.length);
    const sent = requestBytes(target.url, {
      method: 'POST',
      path: target.path,
      headers: { ...JSON_HEADERS, 'content-length': String(text.length) },
      body: text.subarray(0, cut),
    });
    return { ...wrong('a body that is shorter than its length', sent), ends: true };
  },
  (target, random) => {
    const full = post(target, textOf(target));
    return {
      ...malformed('a request that ends in its head', full.subarray(0, random.between(5, 60))),
      ends: true,
    };
  },
  (target, random) => wrong('deep nesting', post(target, deep(random))),
  (target, random) =>
    wrong(
      'deep nesting in a field',
      post(target, withRaw(target, random, '['.repeat(250) + ']'.repeat(250))),
    ),
  (target, random) =>
    doubtful('huge numbers', post(target, withRaw(target, random, random.pick(HUGE_NUMBERS)))),
  (target, random) =>
    doubtful('strange text', post(target, withRaw(target, random, random.pick(STRANGE_TEXT)))),
  (target, random) => doubtful('names of the language', post(target, withProto(target, random))),
  (target, random) =>
    doubtful(
      'a gigantic key',
      post(target, `{"${'k'.repeat(random.between(1000, 500_000))}":1,${textOf(target).slice(1)}`),
    ),
  (target) =>
    doubtful(
      'many keys',
      post(
        target,
        `{${Array.from({ length: 20_000 }, (_, key) => `"k${key}":1`).join(',')},${textOf(target).slice(1)}`,
      ),
    ),
  (target, random) =>
    doubtful(
      'a key twice',
      post(
        target,
        textOf(target).replace(
          '{',
          () =>
            `{"${random.pick(['model', 'messages', 'input', 'stream'])}":${random.pick(['1', 'null', '"x"', '[]'])},`,
        ),
      ),
    ),
  (target, random) => {
    const text = Buffer.from(textOf(target));
    const at = text.indexOf('Paris') + random.below(5);
    return wrong(
      'invalid UTF-8',
      post(
        target,
        Buffer.concat([
          text.subarray(0, at),
          random.pick([Buffer.of(0xff), Buffer.of(0xc3), Buffer.of(0xed, 0xa0, 0x80), Buffer.of(0xf8, 0x88)]),
          text.subarray(at),
        ]),
      ),
    );
  },
  (target, random) => wrong('an empty body', post(target, random.pick(['', ' ', '\r\n\t', '\ufeff']))),
  (target, random) =>
    wrong(
      'JSON that is no object',
      post(target, random.pick(['null', '[]', '7', '"text"', 'true', '[{}]', '{}'])),
    ),
  (target, random) =>
    wrong('a wrong content type', post(target, textOf(target), { 'content-type': random.pick(TYPES) })),
  (target) =>
    wrong(
      'another charset',
      post(target, textOf(target), { 'content-type': 'application/json; charset=utf-16' }),
    ),
  (target, random) =>
    wrong(
      'an unknown encoding',
      post(target, textOf(target), { ...JSON_HEADERS, 'content-encoding': random.pick(ENCODINGS) }),
    ),
  (target, random) =>
    wrong(
      'an encoding that is not true',
      post(target, textOf(target), {
        ...JSON_HEADERS,
        'content-encoding': random.pick(['gzip', 'deflate', 'br']),
      }),
    ),
  (target, random) => {
    const packed = gzipSync(textOf(target));
    return wrong(
      'a packed body that is cut',
      post(target, packed.subarray(0, random.between(1, packed.length - 1)), {
        ...JSON_HEADERS,
        'content-encoding': 'gzip',
      }),
    );
  },
  (target) =>
    wrong(
      'a packed body that unfolds too far',
      post(target, gzipSync(Buffer.alloc(8 * 1024 * 1024, 0x20)), {
        ...JSON_HEADERS,
        'content-encoding': 'gzip',
      }),
    ),
  (target) => wrong('a length over the limit', postHead(target, 'content-length: 104857600')),
  (target) => wrong('a body over the limit', post(target, Buffer.alloc(1_200_000, 0x20))),
  (target, random) =>
    malformed('a bad length', postHead(target, `content-length: ${random.pick(BAD_LENGTHS)}`), '{}'),
  (target) => malformed('two lengths', postHead(target, 'content-length: 2', 'content-length: 3'), '{}'),
  (target) =>
    malformed(
      'length and chunks',
      postHead(target, 'content-length: 2', 'transfer-encoding: chunked'),
      '2\r\n{}\r\n0\r\n\r\n',
    ),
  (target, random) =>
    malformed(
      'a strange transfer encoding',
      postHead(
        target,
        `transfer-encoding: ${random.pick(['gzip', 'xchunked', 'chunked, gzip', 'identity, chunked, x'])}`,
      ),
      '2\r\n{}\r\n0\r\n\r\n',
    ),
  (target, random) =>
    wrong(
      'a bad chunk',
      postHead(target, 'transfer-encoding: chunked'),
      random.pick([
        'x\r\n{}\r\n',
        '-2\r\n{}\r\n',
        'ffffffffffffffffff\r\n{}',
        '2\r\n{}}}\r\n0\r\n\r\n',
        '\r\n\r\n',
      ]),
    ),
  (target) => wrong('two hosts', postHead(target, 'host: other', 'content-length: 2'), '{}'),
  (target, random) =>
    doubtful(
      'headers twice',
      postHead(
        target,
        ...random
          .shuffled([
            'content-type: text/plain',
            'authorization: Bearer a',
            'authorization: Bearer b',
            'x-api-key: c',
            'accept: x',
            'accept: y',
          ])
          .slice(0, 4),
        `content-length: ${Buffer.byteLength(textOf(target))}`,
      ),
      textOf(target),
    ),
  (target) =>
    wrong(
      'a foreign host',
      requestBytes(target.url, {
        path: target.path,
        headers: { ...JSON_HEADERS, host: 'evil.example' },
        body: textOf(target),
      }),
    ),
  (target) =>
    wrong(
      'a foreign origin',
      post(target, textOf(target), { ...JSON_HEADERS, origin: 'https://evil.example' }),
    ),
  (target) => malformed('headers that are too large', postHead(target, `x-large: ${'x'.repeat(70_000)}`)),
  (target) =>
    malformed(
      'headers that are too many',
      postHead(
        target,
        ...Array.from({ length: 3000 }, (_, index) => `x-${index}: ${index}`),
        'content-length: 2',
      ),
      '{}',
    ),
  (target, random) =>
    malformed(
      'a header that is none',
      postHead(
        target,
        random.pick(['no colon', ': no name', 'sp ace: x', 'nul: \u0000', 'fold: a\r\n  b\u0001']),
      ),
    ),
  (target, random) =>
    malformed(
      'an address for a path',
      head(
        target,
        `POST ${random.pick(TARGETS)} HTTP/1.1`,
        'content-type: application/json',
        'content-length: 2',
      ),
      '{}',
    ),
  (target, random) =>
    malformed(
      'a version that is none',
      head(target, `POST ${target.path} ${random.pick(VERSIONS)}`, 'content-length: 2'),
      '{}',
    ),
  (target, random) =>
    malformed(
      'a method that is none',
      head(
        target,
        `${random.pick(['FOO', 'post', 'PRI', 'G@T', 'CONNECT'])} ${target.path} HTTP/1.1`,
        'content-length: 2',
      ),
      '{}',
    ),
  (target, random) =>
    wrong(
      'a method that the route does not take',
      head(target, `${random.pick(['GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])} ${target.path} HTTP/1.1`),
    ),
  (target, random) =>
    malformed(
      'a path that does not exist',
      head(
        target,
        `POST ${random.pick(['//v1/messages', '/v1/messages/../../etc/passwd', '/v1/%00', '/v1/models/%zz', `/${'a'.repeat(20_000)}`, '/v1/messages%2f', '/%2e%2e/v1/messages'])} HTTP/1.1`,
        'content-length: 2',
      ),
      '{}',
    ),
  (target, random) =>
    doubtful(
      'HTTP/1.0',
      Buffer.from(
        post(target, random.chance(0.5) ? textOf(target) : '{')
          .toString('latin1')
          .replace('HTTP/1.1', 'HTTP/1.0'),
        'latin1',
      ),
    ),
  (target) =>
    wrong(
      'an expectation that is not known',
      post(target, textOf(target), { ...JSON_HEADERS, expect: 'wonders' }),
    ),
  (target, random) => {
    const body = bodyOf(target);
    const path = random.pick(nodePaths(body));
    return doubtful(`without ${shown(path)}`, post(target, JSON.stringify(withoutNode(body, path) ?? null)));
  },
];

/** One of each kind in turn, with random parts. */
export const brokenRequest = (target: Target, random: Random, index: number): BrokenRequest => {
  const make = MAKERS[index % MAKERS.length];
  if (make === undefined) throw new Error('There are no makers');
  return make(target, random);
};

export const KINDS = MAKERS.length;

const WRONG_TYPES: readonly unknown[] = [null, 7, -1.5, 'text', '', [], {}, [null], [{}], true, false];

/** The valid body with each value in turn replaced by one of every other type. */
export function mistyped(target: Target): BrokenRequest[] {
  const body = bodyOf(target);
  return nodePaths(body).flatMap((path) =>
    WRONG_TYPES.map((value) =>
      doubtful(
        `${shown(path)} = ${JSON.stringify(value)}`,
        post(target, JSON.stringify(withNode(body, path, value))),
      ),
    ),
  );
}

export const valid = (target: Target): Buffer => post(target, textOf(target));
