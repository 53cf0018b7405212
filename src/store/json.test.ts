import { describe, expect, it } from 'vitest';
import { digestOf, redactJson, textSize } from './json.js';

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

describe('textSize', () => {
  it('is about the length of the JSON', () => {
    const value = { text: 'x'.repeat(1000), list: [1, 2, { deep: 'y'.repeat(500) }], none: null };
    const length = JSON.stringify(value).length;
    expect(Math.abs(textSize(value, 1e6) - length)).toBeLessThan(length * 0.05);
  });

  it('does not mind how deep it goes', () => {
    let value: unknown = 'end';
    for (let depth = 0; depth < 100_000; depth++) value = [value];
    expect(textSize(value, 1e6)).toBeGreaterThan(100_000);
  });

  it('comes to an end, whatever it is given', () => {
    const loop: { self?: unknown } = {};
    loop.self = loop;
    expect(textSize(loop, 500)).toBeGreaterThan(500);
  });
});
