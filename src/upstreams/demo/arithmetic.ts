/**
 * Arithmetic: finding expressions in a sentence and working them out. Words count as operators
 * (plus, 乘以); what is found is written with signs.
 */
export interface Span {
  text: string;
  start: number;
  end: number;
}

/** The text is as a calculator takes it; the value is not finite for `1 / 0`. */
export interface Expression extends Span {
  value: number;
}

/** A date and `v2` hold no numbers. */
const NUMBER =
  '(?<![A-Za-z_\\d.]|\\d{4}-|\\d{4}-\\d\\d-)(?!\\d{4}-\\d\\d-)(?:\\d{1,3}(?:,\\d{3})+|\\d+)(?:\\.\\d+)?(?![A-Za-z_\\d])(?:\\s*[%％](?!\\s*[\\d(]))?';
const SIGNS: readonly (readonly [sign: string, source: string])[] = [
  ['^', '\\*\\*|\\^|\\bto\\s+the\\s+power\\s+of\\b|的(?=\\d+次方)'],
  ['+', '[+＋]|\\bplus\\b|加上?'],
  ['-', '[-−–－]|\\bminus\\b|减去?'],
  [
    '*',
    '[*×·＊]|\\b(?:times|multiplied\\s+by|x)\\b|(?<=[%％]\\s*)\\bof\\b|乘以?|的(?=\\s*\\d+(?:\\.\\d+)?\\s*[%％])|(?<=[%％])的',
  ],
  ['/', '[/÷／]|\\bdivided\\s+by\\b|除以?'],
  ['%', '%|\\bmod(?:ulo)?\\b'],
  ['(', '[(（]'],
  [')', '[)）]'],
];
const TOKEN = new RegExp(
  [NUMBER, ...SIGNS.map(([, source]) => source)].map((each) => `(${each})`).join('|'),
  'gi',
);
const MAX_TOKENS = 200;
const MAX_DEPTH = 50;

/** Its text is the digits, or one of `+ - * / % ^ ( )`. */
function tokenOf(match: RegExpExecArray): Span {
  const [written] = match;
  const [sign] = SIGNS[match.slice(2).findIndex((group) => group !== undefined)] ?? [];
  const digits = written.replace(/[,%％\s]/g, '');
  const text = sign ?? (/[%％]/.test(written) ? formatNumber(Number(digits) / 100) : digits);
  return { text, start: match.index, end: match.index + written.length };
}

/** The expressions with an operator that stand in the text, from the left. */
export function findExpressions(text: string): Expression[] {
  const runs: Span[][] = [];
  for (const match of text.matchAll(TOKEN)) {
    const last = runs.at(-1)?.at(-1);
    const isNext = last !== undefined && text.slice(last.end, match.index).trim() === '';
    if (isNext) runs.at(-1)?.push(tokenOf(match));
    else runs.push([tokenOf(match)]);
  }
  return runs.flatMap((run) => expressionsIn(run.slice(0, MAX_TOKENS)));
}

function expressionsIn(run: readonly Span[]): Expression[] {
  const found: Expression[] = [];
  for (let from = 0; from < run.length; ) {
    const { value, length } = computePrefix(run.slice(from));
    const part = run.slice(from, from + Math.max(1, length));
    from += part.length;
    const [first, last] = [part[0], part.at(-1)];
    const isOperation = part.some((token, index) => index > 0 && /^[-+*/%^]$/.test(token.text));
    if (value === undefined || first === undefined || last === undefined || !isOperation) continue;
    found.push({ text: written(part), value, start: first.start, end: last.end });
  }
  return found;
}

const APPLY: Readonly<Record<string, (left: number, right: number) => number>> = {
  '+': (left, right) => left + right,
  '-': (left, right) => left - right,
  '*': (left, right) => left * right,
  '/': (left, right) => left / right,
  '%': (left, right) => left % right,
};

/** The longest expression that the tokens begin with, by recursive descent. */
function computePrefix(tokens: readonly Span[]): { value: number | undefined; length: number } {
  let at = 0;
  const take = (signs: string): string | undefined => {
    const sign = tokens[at]?.text;
    if (sign === undefined || !signs.includes(sign)) return undefined;
    at += 1;
    return sign;
  };
  /** Where no value follows an operator, the operator is not part of the expression. */
  const chain = (signs: string, read: () => number | undefined): number | undefined => {
    let value = read();
    for (;;) {
      const before = at;
      const sign = value === undefined ? undefined : take(signs);
      const right = sign === undefined ? undefined : read();
      if (value === undefined || sign === undefined || right === undefined) {
        at = before;
        return value;
      }
      value = APPLY[sign]?.(value, right);
    }
  };
  const sum = (depth: number): number | undefined => chain('+-', () => chain('*/%', () => power(depth)));
  const power = (depth: number): number | undefined => {
    if (depth > MAX_DEPTH) return undefined;
    if (take('-') !== undefined) {
      const value = power(depth + 1);
      return value === undefined ? undefined : -value;
    }
    const base = operand(depth);
    const before = at;
    const exponent = base !== undefined && take('^') !== undefined ? power(depth + 1) : undefined;
    if (exponent === undefined) at = before;
    return base === undefined || exponent === undefined ? base : base ** exponent;
  };
  const operand = (depth: number): number | undefined => {
    if (take('(') !== undefined) {
      const value = sum(depth + 1);
      return take(')') === undefined ? undefined : value;
    }
    const digits = tokens[at]?.text ?? '';
    if (!/^\d/.test(digits)) return undefined;
    at += 1;
    return Number(digits);
  };
  const value = sum(0);
  return { value, length: value === undefined ? 0 : at };
}

/** With one blank around each operator. */
function written(tokens: readonly Span[]): string {
  const isBinary = (sign: string, before = ''): boolean => /^[-+*/%^]$/.test(sign) && /^[\d)]/.test(before);
  return tokens
    .map(({ text }, index) => (isBinary(text, tokens[index - 1]?.text) ? ` ${text} ` : text))
    .join('');
}

/** Without the noise of binary fractions: 0.1 + 0.2 is 0.3. */
export const formatNumber = (value: number): string => String(Number(value.toPrecision(12)));
