import { describe, expect, it } from 'vitest';
import { findExpressions, formatNumber } from './arithmetic.js';

describe('findExpressions', () => {
  it.each([
    ['请帮我计算 123 + 456', ['123 + 456', 579]],
    ['(2+3)*4=?', ['(2 + 3) * 4', 20]],
    ['what is 15% of 80?', ['0.15 * 80', 12]],
    ['80的15%', ['80 * 0.15', 12]],
    ['200 * 5%', ['200 * 0.05', 10]],
    ['10 % 3', ['10 % 3', 1]],
    ['3加5乘以2', ['3 + 5 * 2', 13]],
    ['10 divided by 4', ['10 / 4', 2.5]],
    ['3 × 4 ÷ 2', ['3 * 4 / 2', 6]],
    ['（1 + 2）x 3', ['(1 + 2) * 3', 9]],
    ['2 to the power of 10', ['2 ^ 10', 1024]],
    ['2^3^2', ['2 ^ 3 ^ 2', 512]],
    ['-2**2', ['-2 ^ 2', -4]],
    ['2 * -3', ['2 * -3', -6]],
    ['1,234 + 5', ['1234 + 5', 1239]],
    ['calc 2+3, 4*5 and 6/2', ['2 + 3', 5], ['4 * 5', 20], ['6 / 2', 3]],
    ['1/0', ['1 / 0', Number.POSITIVE_INFINITY]],
    ['(1+2', ['1 + 2', 3]],
  ] as const)('%s', (text, ...found) => {
    expect(findExpressions(text).map((each) => [each.text, each.value])).toEqual(found);
  });

  it.each(['hello', '5', 'v2 + x3', '+', '()', '- -', '3D * model', '2025-03-05', ''])(
    'none in %j',
    (text) => {
      expect(findExpressions(text)).toEqual([]);
    },
  );

  it('says where it stands', () => {
    expect(findExpressions('so 1 + 2 * 3 is')).toEqual([{ text: '1 + 2 * 3', value: 7, start: 3, end: 12 }]);
  });

  it('gives up on nesting that would exhaust the stack', () => {
    expect(findExpressions(`${'('.repeat(5_000)}1 + 1${')'.repeat(5_000)}`)).toEqual([]);
    expect(findExpressions(`${'-'.repeat(5_000)}1`)).toEqual([]);
  });
});

it.each([
  [0.1 + 0.2, '0.3'],
  [1 / 3, '0.333333333333'],
  [1e21, '1e+21'],
])('formatNumber writes %d', (value, expected) => {
  expect(formatNumber(value)).toBe(expected);
});
