/** Heads that are no HTTP, and messages whose head and body do not belong together. */
import { requestBytes } from '../support/raw-http.js';
import { JSON_HEADERS, type Makers, post, type Sent, type Target, textOf } from './request-parts.js';

const LENGTHS = ['abc', '-1', '+5', '1e3', '0x10', '1.5', '99999999999999999999999', '5, 6', '5 6', ' '];
const TRANSFERS = ['gzip', 'xchunked', 'chunked, gzip', 'identity, chunked, x'];
const CHUNKS = [
  'x\r\n{}\r\n',
  '-2\r\n{}\r\n',
  'ffffffffffffffffff\r\n{}',
  '2\r\n{}}}\r\n0\r\n\r\n',
  '\r\n\r\n',
];
const HEADERS = ['no colon', ': no name', 'sp ace: x', 'nul: \u0000', 'fold: a\r\n  b\u0001'];
const ADDRESSES = ['http://127.0.0.1/v1/messages', 'https://evil.example/', 'file:///etc/passwd', '*'];
const VERSIONS = ['HTTP/2.0', 'HTTP/3.1', 'HTTP/0.9', 'HTTP/1.', 'HTTP', 'http/1.1', ''];
const METHODS = ['FOO', 'post', 'PRI', 'G@T', 'CONNECT'];
const PATHS = [
  '//v1/messages',
  '/v1/messages/../../etc/passwd',
  '/v1/%00',
  '/v1/models/%zz',
  `/${'a'.repeat(20_000)}`,
  '/v1/messages%2f',
  '/%2e%2e/v1/messages',
];
const REPEATED = [
  'content-type: text/plain',
  'authorization: Bearer a',
  'authorization: Bearer b',
  'x-api-key: c',
  'accept: x',
  'accept: y',
];

/** A head by hand. */
function head({ url }: Target, first: string, ...lines: readonly string[]): Buffer {
  return Buffer.from([first, `host: ${new URL(url).host}`, ...lines, '', ''].join('\r\n'), 'latin1');
}

const postHead = (target: Target, ...lines: readonly string[]): Buffer =>
  head(target, `POST ${target.path} HTTP/1.1`, 'content-type: application/json', ...lines);

const sent = (...pieces: Sent['pieces']): Sent => ({ pieces });
/** A body of two bytes behind whatever head. */
const short = (bytes: Buffer): Sent => sent(bytes, '{}');

/** The head itself is wrong. */
export const BAD_HEADS: Makers<Sent> = {
  'random bytes': (_, random) =>
    sent(Buffer.concat([random.bytes(random.between(1, 400)), Buffer.from('\r\n\r\n')])),
  'a request that ends in its head': (target, random) => {
    const whole = post(target, { body: textOf(target) });
    return { pieces: [whole.subarray(0, random.between(5, 60))], ends: true };
  },
  'a bad length': (target, random) => short(postHead(target, `content-length: ${random.pick(LENGTHS)}`)),
  'two lengths': (target) => short(postHead(target, 'content-length: 2', 'content-length: 3')),
  'length and chunks': (target) =>
    sent(postHead(target, 'content-length: 2', 'transfer-encoding: chunked'), '2\r\n{}\r\n0\r\n\r\n'),
  'a strange transfer encoding': (target, random) =>
    sent(postHead(target, `transfer-encoding: ${random.pick(TRANSFERS)}`), '2\r\n{}\r\n0\r\n\r\n'),
  'headers that are too large': (target) => sent(postHead(target, `x-large: ${'x'.repeat(70_000)}`)),
  'headers that are too many': (target) => {
    const lines = Array.from({ length: 3000 }, (_, index) => `x-${index}: ${index}`);
    return short(postHead(target, ...lines, 'content-length: 2'));
  },
  'a header that is none': (target, random) => sent(postHead(target, random.pick(HEADERS))),
  'an address for a path': (target, random) =>
    short(head(target, `POST ${random.pick(ADDRESSES)} HTTP/1.1`, 'content-length: 2')),
  'a version that is none': (target, random) =>
    short(head(target, `POST ${target.path} ${random.pick(VERSIONS)}`, 'content-length: 2')),
  'a method that is none': (target, random) =>
    short(head(target, `${random.pick(METHODS)} ${target.path} HTTP/1.1`, 'content-length: 2')),
  'a path that does not exist': (target, random) =>
    short(head(target, `POST ${random.pick(PATHS)} HTTP/1.1`, 'content-length: 2')),
};

/** The head can be read, and what it says is refused. */
export const BAD_MESSAGES: Makers<Sent> = {
  'a body that is shorter than its length': (target, random) => {
    const text = Buffer.from(textOf(target));
    const body = text.subarray(0, random.below(text.length));
    const headers = { ...JSON_HEADERS, 'content-length': String(text.length) };
    return { pieces: [post(target, { body, headers })], ends: true };
  },
  'a length over the limit': (target) => sent(postHead(target, 'content-length: 104857600')),
  'a bad chunk': (target, random) =>
    sent(postHead(target, 'transfer-encoding: chunked'), random.pick(CHUNKS)),
  'two hosts': (target) => short(postHead(target, 'host: other', 'content-length: 2')),
  'headers twice': (target, random) =>
    short(postHead(target, ...random.shuffled(REPEATED).slice(0, 4), 'content-length: 2')),
  'a foreign host': (target) => {
    const headers = { ...JSON_HEADERS, host: 'evil.example' };
    return sent(requestBytes(target.url, { path: target.path, headers, body: textOf(target) }));
  },
  'a foreign origin': (target) =>
    sent(
      post(target, { body: textOf(target), headers: { ...JSON_HEADERS, origin: 'https://evil.example' } }),
    ),
  'a method that the route does not take': (target, random) => {
    const method = random.pick(['GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']);
    return sent(head(target, `${method} ${target.path} HTTP/1.1`));
  },
  'HTTP/1.0 and no request': (target) => {
    const bytes = post(target, { body: '{' }).toString('latin1');
    return sent(Buffer.from(bytes.replace('HTTP/1.1', 'HTTP/1.0'), 'latin1'));
  },
  'an expectation that is not known': (target) =>
    sent(post(target, { body: textOf(target), headers: { ...JSON_HEADERS, expect: 'wonders' } })),
};
