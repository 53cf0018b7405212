/** Which number of a sentence a parameter means, by the words that stand next to it. */
import type { Ask } from './ask.js';
import { setOf, stem } from './words.js';

/** Names of the value of an expression. */
export const RESULT_WORDS = new Set(
  ['result', 'answer', 'total', 'sum', 'valu', 'output', 'solution'].map(stem),
);
/** Names of how many are wanted. */
export const AMOUNT_WORDS = new Set(['limit', 'count', 'max', 'size', 'top', 'maximum'].map(stem));

const stems = (words: string): ReadonlySet<string> => new Set([...setOf(words)].map(stem));

/** Words that stand next to a number and mean a parameter of another name. */
const NUMBER_HINTS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries({
    limit: stems('top first max maximum results items lines 条 个'),
    count: stems('times items results 个 次'),
    max: stems('top first most results 个 条'),
    days: stems('day days 天'),
    minutes: stems('minute minutes min 分钟'),
    seconds: stems('second seconds sec 秒'),
    hours: stems('hour hours 小时'),
    duration: stems('minute minutes hour hours second seconds 分钟 小时 秒'),
    page: stems('page 页'),
    per: stems('first top results'),
    quantity: stems('pieces units 个 件'),
    sides: stems('sided side 面'),
    offset: stems('line from 行'),
    age: stems('years old 岁'),
    temperature: stems('degrees 度'),
  }).map(([name, words]) => [stem(name), words]),
);

/** "limit 5", "top 5 results", "3 days": a word of the parameter stands next to the number. */
export function isLabelled(words: ReadonlySet<string>, ask: Ask, start: number, end: number): boolean {
  const before =
    ask.text
      .slice(0, start - ask.start)
      .match(/[\p{L}]+/gu)
      ?.slice(-2) ?? [];
  const after =
    ask.text
      .slice(end - ask.start)
      .match(/^[\s-]*([\p{L}]+)(?:\s+([\p{L}]+))?/u)
      ?.slice(1) ?? [];
  const near = [...before, ...after].filter((word) => word !== undefined).map(stem);
  return near.some(
    (word) => words.has(word) || [...words].some((own) => NUMBER_HINTS.get(own)?.has(word) === true),
  );
}
