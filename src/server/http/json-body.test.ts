import { describe, expect, it } from 'vitest';
import { parseJsonBody } from './json-body.js';

const parse = (text: string | Buffer, depth = 200) => parseJsonBody(Buffer.from(text), depth);

describe('parseJsonBody', () => {
  it('reads ASCII, other scripts and a byte order mark', () => {
    expect(parse('{"a":[1,"x"]}')).toEqual({ a: [1, 'x'] });
    expect(parse('{"a":"é中😀"}')).toEqual({ a: 'é中😀' });
    expect(parse('\ufeff{"a":"é"}')).toEqual({ a: 'é' });
    expect(parse('\ufeff{"a":1}')).toEqual({ a: 1 });
  });

  it('says where the JSON is wrong and repeats nothing of the body', () => {
    expect(() => parse('{\n"secret": "sk-1" "x"}')).toThrow(
      'The body is not valid JSON at line 2, column 18 (offset 19): expected "," or "}".',
    );
  });

  it.each(['', ' \n\t'])('calls %j empty', (text) => {
    expect(() => parse(text)).toThrow('The body is empty. Send a JSON object.');
  });

  it('refuses what is not UTF-8', () => {
    expect(() => parse(Buffer.from([0x22, 0xff, 0xfe, 0x22]))).toThrow('The body is not valid UTF-8.');
  });

  it('takes exactly the allowed depth and no more', () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
    expect(parse(nested(200))).toBeInstanceOf(Array);
    expect(() => parse(nested(201))).toThrow('The body nests deeper than 200 levels. Flatten it.');
    const objects = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
    expect(parse(objects(200))).toBeInstanceOf(Object);
    expect(() => parse(objects(201))).toThrow('The body nests deeper than 200 levels.');
  });

  it('refuses a deep body before it is parsed', () => {
    // Never closed: the parser itself would call it cut off.
    expect(() => parse('['.repeat(1_000_000))).toThrow('nests deeper than 200 levels');
    expect(() => parse(`[${'"\\\\",'.repeat(100_000)}${'{"a":['.repeat(200)}`)).toThrow('nests deeper');
  });

  it('does not take brackets in strings for nesting', () => {
    const text = JSON.stringify([`${'[{'.repeat(200_000)}\\"[`, '\\', '[[']);
    expect(parse(text)).toHaveLength(3);
  });

  it('does not walk a large body for the place of its mistake', () => {
    expect(() => parse(`[${'1,'.repeat(600_000)}`)).toThrow('The body is not valid JSON.');
  });
});
