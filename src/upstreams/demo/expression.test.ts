import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { evaluate, findExpressions, formatNumber } from './expression.js';

describe('findExpressions', () => {
  it.each([
    ['请帮我计算 123 + 456', ['123 + 456', 579]],
    ['(2+3)*4=?', ['(2+3)*4', 20]],
    ['what is 15% of 80?', ['0.15 * 80', 12]],
    ['80的15%', ['80 * 0.15', 12]],
    ['200 * 5%', ['200 * 0.05', 10]],
    ['10 % 3', ['10 % 3', 1]],
    ['3加5乘以2', ['3 + 5 * 2', 13]],
    ['三加五', ['3 + 5', 8]],
    ['一百二十三减去四十五', ['123 - 45', 78]],
    ['twelve times four', ['12 * 4', 48]],
    ['two hundred and five minus twenty-one', ['205 - 21', 184]],
    ['10 divided by 4', ['10 / 4', 2.5]],
    ['3 × 4 ÷ 2', ['3 * 4 / 2', 6]],
    ['3 x 5', ['3 * 5', 15]],
    ['（1 + 2）× 3', ['(1 + 2) * 3', 9]],
    ['5 squared', ['5 ^ 2', 25]],
    ['9的平方', ['9 ^ 2', 81]],
    ['2 to the power of 10', ['2 ^ 10', 1024]],
    ['2**3', ['2**3', 8]],
    ['2^3^2', ['2^3^2', 512]],
    ['-2^2', ['-2^2', -4]],
    ['-3 + 4', ['-3 + 4', 1]],
    ['2 * -3', ['2 * -3', -6]],
    ['the square root of 16', ['sqrt(16)', 4]],
    ['sqrt(16) + max(1, 2)', ['sqrt(16) + max(1, 2)', 6]],
    ['the sum of 3 and 5', ['3 + 5', 8]],
    ['3和5的和', ['3 + 5', 8]],
    ['the difference between 9 and 4', ['9 - 4', 5]],
    ['1,234 + 5', ['1234 + 5', 1239]],
    ['calc 2+3, 4*5 and 6/2', ['2+3', 5], ['4*5', 20], ['6/2', 3]],
    ['1/0', ['1/0', Number.POSITIVE_INFINITY]],
    ['(1+2', ['1+2', 3]],
  ] as const)('%s', (text, ...found) => {
    expect(findExpressions(text).map((each) => [each.text, each.value])).toEqual(found);
  });

  it.each([
    'hello',
    '5',
    'meet at 5',
    'v2 + x3',
    'hello + world',
    '+',
    '()',
    '- -',
    'sqrt',
    '3D * model',
    '',
  ])('none in %j', (text) => {
    expect(findExpressions(text)).toEqual([]);
  });

  it('says where it stands and which operators it has', () => {
    expect(findExpressions('so 1 + 2 * 3 is')).toEqual([
      { text: '1 + 2 * 3', value: 7, start: 3, end: 12, operators: ['+', '*'] },
    ]);
  });
});

describe('evaluate', () => {
  it('agrees with arithmetic', () => {
    const number = fc.integer({ min: 0, max: 999 });
    const operator = fc.constantFrom('+', '-', '*');
    fc.assert(
      fc.property(number, operator, number, operator, number, (a, first, b, second, c) => {
        const apply = (x: number, sign: string, y: number): number =>
          sign === '+' ? x + y : sign === '-' ? x - y : x * y;
        expect(evaluate(`(${a} ${first} ${b}) ${second} ${c}`)).toBe(apply(apply(a, first, b), second, c));
        expect(evaluate(`${a}${first}(${b}${second}${c})`)).toBe(apply(a, first, apply(b, second, c)));
      }),
    );
  });

  it('never throws, and knows what is none', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'0123456789+-*/^%(),. xπ加和') }), (text) => {
        const value = evaluate(text);
        expect(value === undefined || typeof value === 'number').toBe(true);
      }),
    );
    for (const text of ['', '2 +', '2 3', '(2', '2 + a', '2+3=']) expect(evaluate(text)).toBeUndefined();
  });

  it('gives up on nesting that would exhaust the stack', () => {
    expect(evaluate(`${'('.repeat(100_000)}1${')'.repeat(100_000)}`)).toBeUndefined();
    expect(evaluate(`${'-'.repeat(100_000)}1`)).toBeUndefined();
  });
});

describe('formatNumber', () => {
  it.each([
    [0.1 + 0.2, '0.3'],
    [579, '579'],
    [1 / 3, '0.333333333333'],
    [1e21, '1e+21'],
    [-0.5, '-0.5'],
  ])('%d', (value, expected) => {
    expect(formatNumber(value)).toBe(expected);
  });
});
