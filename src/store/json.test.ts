import { describe, expect, it } from 'vitest';
import { digestOf, redactJson } from './json.js';

describe('digestOf', () => {
  it('does not see the order of keys or fields that are undefined', () => {
    const a = { x: 1, y: [{ b: 1, a: undefined, c: 'ü' }] };
    const b = { y: [{ c: 'ü', b: 1 }], x: 1 };
    expect(digestOf(a)).toBe(digestOf(b));
  });

  it('sees everything else', () => {
    const values = [
      null,
      '',
      [],
      {},
      [1, 2],
      [2, 1],
      '1',
      1,
      { a: 1 },
      { a: '1' },
      { a: null },
      { __proto__: null, b: 1 },
    ];
    expect(new Set(values.map(digestOf)).size).toBe(values.length);
  });
});

describe('redactJson', () => {
  it('reaches every text and leaves the rest, also odd keys', () => {
    const value = JSON.parse('{"a":["key",1,null,{"key":true}],"__proto__":"key"}');
    const redacted = redactJson(value, (text) => text.replace('key', '*'));
    expect(JSON.stringify(redacted)).toBe('{"a":["*",1,null,{"*":true}],"__proto__":"*"}');
  });
});
