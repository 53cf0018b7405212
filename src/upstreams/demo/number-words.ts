/** Numbers written as words, in English and Chinese. */

const ENGLISH: Readonly<Record<string, number>> = {
  zero: 0,
  one: 1,
  two: 2,
  three: 3,
  four: 4,
  five: 5,
  six: 6,
  seven: 7,
  eight: 8,
  nine: 9,
  ten: 10,
  eleven: 11,
  twelve: 12,
  thirteen: 13,
  fourteen: 14,
  fifteen: 15,
  sixteen: 16,
  seventeen: 17,
  eighteen: 18,
  nineteen: 19,
  twenty: 20,
  thirty: 30,
  forty: 40,
  fifty: 50,
  sixty: 60,
  seventy: 70,
  eighty: 80,
  ninety: 90,
  hundred: 100,
  thousand: 1000,
  million: 1_000_000,
};

const DIGITS = '零一二三四五六七八九';
const UNITS: Readonly<Record<string, number>> = { 十: 10, 百: 100, 千: 1000 };
const BIG_UNITS: Readonly<Record<string, number>> = { 万: 10_000, 亿: 100_000_000 };

const ENGLISH_NAMES = Object.keys(ENGLISH).join('|');

/** One or more number words; `and` and `-` may stand between them. */
export const ENGLISH_NUMBER = `(?:${ENGLISH_NAMES})(?:(?:[ -]|\\s+and\\s+(?=(?:${ENGLISH_NAMES})\\b))(?:${ENGLISH_NAMES}))*\\b`;

export const CHINESE_NUMBER = '[零一二三四五六七八九十百千万亿两]+';

/** "two hundred and five" → 205; "seven eight" is no number. */
export function parseEnglishNumber(text: string): number | undefined {
  let total = 0;
  let group = 0;
  let last = Number.POSITIVE_INFINITY;
  for (const word of text.toLowerCase().split(/[\s-]+/)) {
    if (word === 'and' || word === '') continue;
    const value = ENGLISH[word];
    if (value === undefined) return undefined;
    if (value === 100) {
      group = (group === 0 ? 1 : group) * 100;
      last = 100;
    } else if (value >= 1000) {
      total += (group === 0 ? 1 : group) * value;
      group = 0;
      last = Number.POSITIVE_INFINITY;
    } else {
      // Only "twenty" … "ninety" may be followed by a unit.
      const fits = last === Number.POSITIVE_INFINITY || last === 100 || (last >= 20 && value < 10);
      if (!fits) return undefined;
      group += value;
      last = value;
    }
  }
  return total + group;
}

/** 一百二十三 → 123, 两万 → 20000, 二零二四 → 2024. */
export function parseChineseNumber(text: string): number | undefined {
  const plain = text.replaceAll('两', '二');
  if ([...plain].every((char) => DIGITS.includes(char))) {
    return Number([...plain].map((char) => DIGITS.indexOf(char)).join(''));
  }
  let total = 0;
  let section = 0;
  let digit = -1;
  for (const char of plain) {
    const unit = UNITS[char];
    const big = BIG_UNITS[char];
    if (unit !== undefined) {
      section += (digit < 0 ? 1 : digit) * unit;
      digit = -1;
    } else if (big !== undefined) {
      total = (total + section + Math.max(digit, 0)) * big;
      section = 0;
      digit = -1;
    } else {
      const value = DIGITS.indexOf(char);
      if (value < 0) return undefined;
      digit = value;
    }
  }
  return total + section + Math.max(digit, 0);
}
