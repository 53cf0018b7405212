/** Bodies that are no JSON, no valid request, or valid ones that nobody expects. */
import { gzipSync } from 'node:zlib';
import { nodeAt, nodePaths, withNode, withoutNode } from './json-nodes.js';
import type { Random } from './random.js';
import { bodyOf, JSON_HEADERS, type Makers, type SentBody, type Target, textOf } from './request-parts.js';

const MIB = 1024 * 1024;

const TYPES = ['text/plain', 'application/xml', 'application/x-www-form-urlencoded', '*/*', ';', 'json'];
const ENCODINGS = ['zstd', 'compress', 'gzip, gzip', 'x', 'gzip;q=1'];
const NOT_UTF8 = [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xf8, 0x88]].map((bytes) => Buffer.from(bytes));
const NUMBERS = ['1e999', '-1e999', '1e308', '-0', '123456789012345678901234567890', '1e-999', '0.1e1'];
/** Lone surrogates, a null character, a line separator. */
const TEXTS = ['"\\ud800"', '"\\udc00\\ud800"', '"\\u0000"', '"\\uffff"', '"\u2028"'];
const LANGUAGE = [
  '"__proto__":{"polluted":true,"role":"user","stream":true}',
  '"constructor":{"prototype":{"polluted":true}}',
  '"__proto__":null',
  '"toString":1,"valueOf":2,"hasOwnProperty":3',
];

const plain = (body: string | Buffer): SentBody => ({ body });
const encoded = (body: string | Buffer, encoding: string): SentBody => ({
  body,
  headers: { ...JSON_HEADERS, 'content-encoding': encoding },
});

const isObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const HERE = '@@HERE@@';
const inPlace = (value: unknown, raw: string): string =>
  JSON.stringify(value).replace(JSON.stringify(HERE), () => raw);

/** JSON text in place of one value of the body. */
function withRaw(target: Target, random: Random, raw: string): string {
  const body = bodyOf(target);
  const paths = nodePaths(body).filter((path) => path.length > 0);
  return inPlace(withNode(body, random.pick(paths), HERE), raw);
}

/** Fields before the others of one object of the body. */
function withFields(target: Target, random: Random, fields: string): string {
  const body = bodyOf(target);
  const path = random.pick(nodePaths(body).filter((each) => isObject(nodeAt(body, each))));
  const own = JSON.stringify(nodeAt(body, path));
  return inPlace(withNode(body, path, HERE), own === '{}' ? `{${fields}}` : `{${fields},${own.slice(1)}`);
}

function nested(random: Random): string {
  const depth = random.pick([201, 300, 5000, 100_000]);
  const open = random.pick(['[', '{"a":', '[{"a":']);
  const close = [...open].reverse().join('').replace(/[^[{]/g, '').replaceAll('[', ']').replaceAll('{', '}');
  return `${open.repeat(depth)}1${random.chance(0.5) ? close.repeat(depth) : ''}`;
}

export const BAD_BODIES: Makers<SentBody> = {
  'random bytes': (_, random) => plain(random.bytes(random.between(1, 2000))),
  'truncated JSON': (target, random) => {
    const text = Buffer.from(textOf(target));
    return plain(text.subarray(0, random.below(text.length)));
  },
  'deep nesting': (_, random) => plain(nested(random)),
  'deep nesting in a field': (target, random) =>
    plain(withRaw(target, random, '['.repeat(250) + ']'.repeat(250))),
  'invalid UTF-8': (target, random) => {
    const text = Buffer.from(textOf(target));
    const at = text.indexOf('Paris') + random.below(5);
    return plain(Buffer.concat([text.subarray(0, at), random.pick(NOT_UTF8), text.subarray(at)]));
  },
  'an empty body': (_, random) => plain(random.pick(['', ' ', '\r\n\t', '\ufeff'])),
  'JSON that is no request': (_, random) =>
    plain(random.pick(['null', '[]', '7', '"text"', 'true', '[{}]', '{}'])),
  'a wrong content type': (target, random) => ({
    body: textOf(target),
    headers: { 'content-type': random.pick(TYPES) },
  }),
  'another charset': (target) => ({
    body: textOf(target),
    headers: { 'content-type': 'application/json; charset=utf-16' },
  }),
  'an unknown encoding': (target, random) => encoded(textOf(target), random.pick(ENCODINGS)),
  'an encoding that is not true': (target, random) =>
    encoded(textOf(target), random.pick(['gzip', 'deflate', 'br'])),
  'a packed body that is cut': (target, random) => {
    const packed = gzipSync(textOf(target));
    return encoded(packed.subarray(0, random.between(1, packed.length - 1)), 'gzip');
  },
  'a packed body that unfolds too far': () => encoded(gzipSync(Buffer.alloc(8 * MIB, 0x20)), 'gzip'),
  'a body over the limit': () => plain(Buffer.alloc(1.2 * MIB, 0x20)),
};

export const ODD_BODIES: Makers<SentBody> = {
  'a wrong character': (target, random) => {
    const text = textOf(target);
    const at = random.below(text.length);
    const other = random.pick(['"', '}', '\\', ',', '\n', 'x', '\u0001']);
    return plain(text.slice(0, at) + other + text.slice(at + 1));
  },
  'a field that is missing': (target, random) => {
    const body = bodyOf(target);
    return plain(JSON.stringify(withoutNode(body, random.pick(nodePaths(body))) ?? null));
  },
  'a field twice': (target, random) => {
    const name = random.pick(['model', 'messages', 'input', 'stream', 'tools']);
    return plain(`{"${name}":${random.pick(['1', 'null', '"x"', '[]'])},${textOf(target).slice(1)}`);
  },
  'huge numbers': (target, random) => plain(withRaw(target, random, random.pick(NUMBERS))),
  'strange text': (target, random) => plain(withRaw(target, random, random.pick(TEXTS))),
  'names of the language': (target, random) => plain(withFields(target, random, random.pick(LANGUAGE))),
  'a gigantic key': (target, random) =>
    plain(`{"${'k'.repeat(random.between(1000, 500_000))}":1,${textOf(target).slice(1)}`),
  'many keys': (target) => {
    const keys = Array.from({ length: 20_000 }, (_, index) => `"k${index}":1`);
    return plain(`{${keys.join(',')},${textOf(target).slice(1)}`);
  },
};
