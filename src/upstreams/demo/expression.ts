/**
 * Arithmetic: finding expressions in a sentence and working them out, with a parser of its own.
 * Words count as operators (plus, 乘以); what is found is rewritten with signs unless the user
 * wrote signs already.
 */
import { CONSTANTS, compute, computePrefix, FUNCTIONS, type Token } from './arithmetic.js';
import { CHINESE_NUMBER, ENGLISH_NUMBER, parseChineseNumber, parseEnglishNumber } from './number-words.js';

export interface FoundExpression {
  /** As a calculator takes it. */
  text: string;
  value: number;
  start: number;
  end: number;
  /** The operators in it, each once, as `+ - * / % ^`. */
  operators: readonly string[];
}

const OPERATOR_WORDS: readonly (readonly [RegExp, string])[] = [
  [/(?:加上|加)/y, '+'],
  [/(?:减去|减)/y, '-'],
  [/(?:乘以|乘)/y, '*'],
  [/(?:除以|除)/y, '/'],
  [/的(?=\s*\d+(?:\.\d+)?\s*[%％])/y, '*'],
  [/的(?:平方)/y, '^ 2'],
  [/的(?:立方)/y, '^ 3'],
  [/的(?=[\d零一二三四五六七八九十]+次方)/y, '^'],
  [/\bplus\b/iy, '+'],
  [/\bminus\b/iy, '-'],
  [/\b(?:times|multiplied\s+by)\b/iy, '*'],
  [/\b(?:divided\s+by|over)\b/iy, '/'],
  [/\b(?:modulo|mod)\b/iy, '%'],
  [/\b(?:raised\s+)?to\s+the\s+power\s+(?:of\s+)?/iy, '^'],
  [/\bsquared\b/iy, '^ 2'],
  [/\bcubed\b/iy, '^ 3'],
];

const SIGNS: Readonly<Record<string, string>> = {
  '+': '+',
  '＋': '+',
  '-': '-',
  '−': '-',
  '–': '-',
  '－': '-',
  '*': '*',
  '×': '*',
  '∗': '*',
  '·': '*',
  '＊': '*',
  '/': '/',
  '÷': '/',
  '／': '/',
  '^': '^',
};

const NUMBER = /(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:e[+-]?\d+\b)?|\.\d+/iy;
const WORD_NUMBER = new RegExp(`\\b${ENGLISH_NUMBER}`, 'iy');
const HAN_NUMBER = new RegExp(CHINESE_NUMBER, 'y');
const NAME = /[a-zπ]+/iy;
const ROOT_WORD = /\b(?:the\s+)?square\s+root\s+of\s+(?=[\d(])/iy;

/** "the sum of 3 and 5", 3和5的和. */
const COMBINED: readonly { pattern: RegExp; operator: string }[] = [
  { pattern: /\b(?:sum|total)\s+of\s+(NUM)\s*(?:,|and)\s*(NUM)/gi, operator: '+' },
  { pattern: /\bproduct\s+of\s+(NUM)\s*(?:,|and)\s*(NUM)/gi, operator: '*' },
  { pattern: /\bdifference\s+(?:of|between)\s+(NUM)\s*(?:,|and)\s*(NUM)/gi, operator: '-' },
  { pattern: /\bquotient\s+of\s+(NUM)\s*(?:,|and)\s*(NUM)/gi, operator: '/' },
  { pattern: /\badd\s+(NUM)\s*(?:,|and|to)\s*(NUM)/gi, operator: '+' },
  { pattern: /\bmultiply\s+(NUM)\s*(?:,|and|by|with)\s*(NUM)/gi, operator: '*' },
  { pattern: /\bdivide\s+(NUM)\s*by\s*(NUM)/gi, operator: '/' },
  { pattern: /(NUM)\s*[和与]\s*(NUM)\s*(?:的和|之和|相加)/g, operator: '+' },
  { pattern: /(NUM)\s*[和与]\s*(NUM)\s*(?:的积|的乘积|相乘)/g, operator: '*' },
  { pattern: /(NUM)\s*[和与]\s*(NUM)\s*(?:的差|相减)/g, operator: '-' },
  { pattern: /(NUM)\s*[和与]\s*(NUM)\s*(?:的商|相除)/g, operator: '/' },
].map(({ pattern, operator }) => ({
  pattern: new RegExp(pattern.source.replaceAll('NUM', '-?\\d+(?:\\.\\d+)?'), pattern.flags),
  operator,
}));

/** Every expression with at least one operator, in order. */
export function findExpressions(text: string): FoundExpression[] {
  const found: FoundExpression[] = [];
  for (const { pattern, operator } of COMBINED) {
    for (const match of text.matchAll(pattern)) {
      const written = `${match[1]} ${operator} ${match[2]}`;
      const value = evaluate(written);
      if (value === undefined) continue;
      const start = match.index;
      found.push({ text: written, value, start, end: start + match[0].length, operators: [operator] });
    }
  }
  for (const run of runsOf(text, tokenize(text))) {
    for (const expression of expressionsIn(text, run.slice(0, MAX_TOKENS))) {
      if (!found.some((each) => each.start < expression.end && expression.start < each.end))
        found.push(expression);
    }
  }
  return found.sort((a, b) => a.start - b.start);
}

/** The value of an expression written with signs; undefined where it is none. Not finite for `1 / 0`. */
export function evaluate(text: string): number | undefined {
  const tokens = tokenize(text);
  const covered = tokens.reduce((sum, token) => sum + token.end - token.start, 0);
  if (tokens.length === 0 || covered !== text.replace(/\s/g, '').length) return undefined;
  return compute(tokens);
}

/** Without the noise of binary fractions: 0.1 + 0.2 is 0.3. */
export function formatNumber(value: number): string {
  return String(Number(value.toPrecision(12)));
}

function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    const token = tokenAt(text, at, tokens.at(-1));
    if (token === undefined) {
      at += 1;
      continue;
    }
    tokens.push(token);
    at = token.end;
  }
  return tokens;
}

function tokenAt(text: string, at: number, before: Token | undefined): Token | undefined {
  const char = text.charAt(at);
  const sign = SIGNS[char];
  if (sign !== undefined) {
    const double = sign === '*' && SIGNS[text.charAt(at + 1)] === '*';
    return {
      kind: 'operator',
      text: double ? '^' : sign,
      start: at,
      end: at + (double ? 2 : 1),
      verbatim: char === sign,
    };
  }
  if (char === '(' || char === '（')
    return { kind: 'open', text: '(', start: at, end: at + 1, verbatim: char === '(' };
  if (char === ')' || char === '）')
    return { kind: 'close', text: ')', start: at, end: at + 1, verbatim: char === ')' };
  if (char === ',') return { kind: 'comma', text: ',', start: at, end: at + 1, verbatim: true };
  if (char === '%' || char === '％') return percentAt(text, at, before);
  return numberAt(text, at) ?? wordAt(text, at, before);
}

/** `10 % 3` is a remainder; `15% of 80`, `200 + 10%` are hundredths. */
function percentAt(text: string, at: number, before: Token | undefined): Token | undefined {
  if (before?.kind !== 'number' || text.slice(before.end, at).trim() !== '') return undefined;
  if (/^\s*[\d(]/.test(text.slice(at + 1)))
    return { kind: 'operator', text: '%', start: at, end: at + 1, verbatim: true };
  const of = /^\s+of\b|^的/.exec(text.slice(at + 1));
  before.text = shiftedByHundred(before.text);
  before.verbatim = false;
  before.end = at + 1;
  if (of === null) return undefined;
  return { kind: 'operator', text: '*', start: at + 1, end: at + 1 + of[0].length, verbatim: false };
}

function shiftedByHundred(digits: string): string {
  return formatNumber(Number(digits) / 100);
}

function numberAt(text: string, at: number): Token | undefined {
  NUMBER.lastIndex = at;
  const digits = NUMBER.exec(text)?.[0];
  if (digits !== undefined) {
    // "3D", "v2" and "x86" are words.
    if (
      /[\p{Script=Latin}_]/u.test(text.charAt(at - 1)) ||
      /^[a-wyz_]/i.test(text.slice(at + digits.length))
    ) {
      return undefined;
    }
    const plain = digits.replaceAll(',', '');
    return { kind: 'number', text: plain, start: at, end: at + digits.length, verbatim: plain === digits };
  }
  WORD_NUMBER.lastIndex = at;
  const word = WORD_NUMBER.exec(text)?.[0];
  const value = word === undefined ? undefined : parseEnglishNumber(word);
  if (word !== undefined && value !== undefined) {
    return { kind: 'number', text: String(value), start: at, end: at + word.length, verbatim: false };
  }
  HAN_NUMBER.lastIndex = at;
  const han = HAN_NUMBER.exec(text)?.[0];
  const number = han === undefined ? undefined : parseChineseNumber(han);
  if (han === undefined || number === undefined) return undefined;
  return { kind: 'number', text: String(number), start: at, end: at + han.length, verbatim: false };
}

function wordAt(text: string, at: number, before: Token | undefined): Token | undefined {
  for (const [pattern, sign] of OPERATOR_WORDS) {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match !== null)
      return { kind: 'operator', text: sign, start: at, end: at + match[0].length, verbatim: false };
  }
  ROOT_WORD.lastIndex = at;
  const root = ROOT_WORD.exec(text);
  if (root !== null)
    return { kind: 'function', text: 'sqrt', start: at, end: at + root[0].length, verbatim: false };
  if (/[\p{Script=Latin}_\d]/u.test(text.charAt(at - 1)) && before?.kind !== 'number') return undefined;
  NAME.lastIndex = at;
  const name = NAME.exec(text)?.[0];
  if (name === undefined) return undefined;
  const lower = name.toLowerCase();
  const end = at + name.length;
  if (lower === 'x' && before?.kind === 'number')
    return { kind: 'operator', text: '*', start: at, end, verbatim: false };
  if (Object.hasOwn(FUNCTIONS, lower) && /^\s*\(/.test(text.slice(end))) {
    return { kind: 'function', text: lower, start: at, end, verbatim: lower === name };
  }
  if (Object.hasOwn(CONSTANTS, lower))
    return { kind: 'constant', text: lower, start: at, end, verbatim: lower === name };
  return undefined;
}

/** Tokens with nothing but blanks between them. */
function* runsOf(text: string, tokens: readonly Token[]): Generator<Token[]> {
  let run: Token[] = [];
  for (const token of tokens) {
    const last = run.at(-1);
    if (last !== undefined && text.slice(last.end, token.start).trim() !== '') {
      yield run;
      run = [];
    }
    run.push(token);
  }
  if (run.length > 0) yield run;
}

const MAX_TOKENS = 200;

/** The longest parts of the run, from the left, that are expressions with an operator. */
function* expressionsIn(text: string, tokens: readonly Token[]): Generator<FoundExpression> {
  let from = 0;
  while (from < tokens.length) {
    const first = tokens[from];
    const found = first !== undefined && canBegin(first) ? computePrefix(tokens.slice(from)) : undefined;
    const part = tokens.slice(from, from + Math.max(1, found?.length ?? 1));
    from += part.length;
    const last = part.at(-1);
    const does = operatorsOf(part).length > 0 || part.some(({ kind }) => kind === 'function');
    if (found === undefined || first === undefined || last === undefined || !does) continue;
    yield {
      text: written(text, part),
      value: found.value,
      start: first.start,
      end: last.end,
      operators: operatorsOf(part),
    };
  }
}

function canBegin({ kind, text }: Token): boolean {
  return kind === 'operator' ? text === '-' : kind !== 'close' && kind !== 'comma';
}

function operatorsOf(tokens: readonly Token[]): string[] {
  const signs = tokens.filter((token, index) => token.kind === 'operator' && index > 0);
  return [...new Set(signs.map((token) => token.text.charAt(0)))];
}

/** The user's own writing where it is all signs, else one blank around each operator. */
function written(text: string, tokens: readonly Token[]): string {
  const first = tokens[0];
  const last = tokens.at(-1);
  if (first === undefined || last === undefined) return '';
  if (tokens.every((token) => token.verbatim)) return text.slice(first.start, last.end);
  let out = '';
  let before: Token | undefined;
  for (const token of tokens) {
    if (token.kind === 'operator')
      out += before === undefined || before.kind === 'open' ? token.text : ` ${token.text} `;
    else if (token.kind === 'comma') out += ', ';
    else if (before?.kind === 'function' && token.kind === 'number') out += `(${token.text})`;
    else out += token.text;
    before = token;
  }
  return out.trim();
}
