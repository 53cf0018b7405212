/**
 * Regular expressions from a client's schema. They are never run as they are: a pattern made to
 * backtrack for hours would stop the gateway. Only plain ones are (at most two open-ended
 * quantifiers, no groups inside quantifiers), on short strings.
 */

const MAX_PATTERN = 200;
const MAX_TEXT = 256;
const MAX_OPEN_ENDED = 2;

/** Undefined where the pattern may not be run. */
export function matchesPattern(pattern: string, text: string): boolean | undefined {
  if (pattern.length > MAX_PATTERN || text.length > MAX_TEXT || !isPlain(pattern)) return undefined;
  try {
    return new RegExp(pattern, 'u').test(text);
  } catch {
    return undefined;
  }
}

function isPlain(pattern: string): boolean {
  const bare = pattern.replace(/\\./gu, 'a').replace(/\[\^?\]?[^\]]*\]/gu, 'a');
  const openEnded = bare.match(/[*+]|\{\d+,\}/g)?.length ?? 0;
  return openEnded <= MAX_OPEN_ENDED && !/\)[*+{?]|\\[1-9k]/.test(bare) && !/\(\?[<=!]/.test(bare);
}

/** One character that each class stands for. */
const CLASS_SAMPLES: Readonly<Record<string, string>> = { d: '0', w: 'a', s: ' ', D: 'a', W: '-', S: 'a' };

/** The shortest text that a plain pattern takes; undefined for what this does not understand. */
export function sampleOf(pattern: string): string | undefined {
  if (pattern.length > MAX_PATTERN) return undefined;
  const alternative = splitAlternatives(pattern.replace(/^\^/, '').replace(/\$$/, ''))[0] ?? '';
  const atom = /\\(.)|(\[(?:\\.|[^\]\\])+\])|\((?:\?:)?([^()]*)\)|([^\\[\](){}*+?|])/suy;
  const quantifier = /\{(\d+)(?:,\d*)?\}|[*+?]/y;
  let out = '';
  let at = 0;
  while (at < alternative.length) {
    atom.lastIndex = at;
    const match = atom.exec(alternative);
    if (match === null) return undefined;
    const unit = atomSample(match);
    if (unit === undefined) return undefined;
    at = atom.lastIndex;
    quantifier.lastIndex = at;
    const times = quantifier.exec(alternative);
    if (times !== null) at = quantifier.lastIndex;
    out += unit.repeat(Math.min(MAX_TEXT, timesOf(times)));
    if (out.length > MAX_TEXT) return undefined;
  }
  return matchesPattern(pattern, out) === true ? out : undefined;
}

function splitAlternatives(pattern: string): string[] {
  let depth = 0;
  const parts = [''];
  for (const char of pattern) {
    if (char === '(' || char === '[') depth += 1;
    if (char === ')' || char === ']') depth -= 1;
    if (char === '|' && depth === 0) parts.push('');
    else parts[parts.length - 1] += char;
  }
  return parts;
}

function atomSample(match: RegExpExecArray): string | undefined {
  const [, escaped, set, group, plain] = match;
  if (escaped !== undefined) return CLASS_SAMPLES[escaped] ?? escaped;
  if (set !== undefined) return setSample(set.slice(1, -1));
  if (group !== undefined) return sampleOf(`^${group}$`) ?? undefined;
  return plain === '.' ? 'a' : plain;
}

function setSample(set: string): string | undefined {
  if (set.startsWith('^')) return [...'a0-_ '].find((char) => matchesPattern(`[${set}]`, char) === true);
  const first = set.startsWith('\\') ? set.slice(0, 2) : [...set][0];
  if (first === undefined) return undefined;
  return first.startsWith('\\') ? (CLASS_SAMPLES[first.charAt(1)] ?? first.charAt(1)) : first;
}

function timesOf(quantifier: RegExpExecArray | null): number {
  if (quantifier === null || quantifier[0] === '+') return 1;
  return quantifier[1] === undefined ? 0 : Number(quantifier[1]);
}
