/**
 * Wildcards in one name of a path: `*`, `?`, `[a-z]`. Matched without backtracking over more than
 * the last `*`, so that no pattern takes long, hostile ones included.
 */

export type NameMatch = (name: string) => boolean;

type Token = { kind: 'star' } | { kind: 'one'; test: (char: string) => boolean };

export function hasWildcard(name: string): boolean {
  for (let at = 0; at < name.length; at += 1) {
    const char = name.charAt(at);
    if (char === '\\') at += 1;
    else if (char === '*' || char === '?' || char === '[') return true;
  }
  return false;
}

export const withoutEscapes = (name: string): string => name.replace(/\\(.)/gs, '$1');

/** `lower`: the pattern is taken in lower case, and so must be what it is matched with. */
export function compileName(name: string, lower: boolean): NameMatch {
  const pattern = lower ? name.toLowerCase() : name;
  if (!hasWildcard(pattern)) {
    const wanted = withoutEscapes(pattern);
    return (text) => text === wanted;
  }
  const tokens = tokensOf(pattern);
  const end = /[^*?[\]\\]*$/.exec(pattern)?.[0] ?? '';
  // Most names differ at their end: no need to look at the rest of them.
  return (text) => text.endsWith(end) && matchTokens(tokens, [...text]);
}

function tokensOf(name: string): Token[] {
  const tokens: Token[] = [];
  const chars = [...name];
  for (let at = 0; at < chars.length; at += 1) {
    const char = chars[at] ?? '';
    if (char === '*') {
      if (tokens.at(-1)?.kind !== 'star') tokens.push({ kind: 'star' });
    } else if (char === '?') tokens.push({ kind: 'one', test: () => true });
    else if (char === '[') {
      const close = chars.indexOf(']', at + 2);
      if (close === -1) tokens.push(literal('['));
      else {
        tokens.push({ kind: 'one', test: setOf(chars.slice(at + 1, close)) });
        at = close;
      }
    } else if (char === '\\' && at + 1 < chars.length) {
      at += 1;
      tokens.push(literal(chars[at] ?? ''));
    } else tokens.push(literal(char));
  }
  return tokens;
}

const literal = (wanted: string): Token => ({ kind: 'one', test: (char) => char === wanted });

function setOf(inner: readonly string[]): (char: string) => boolean {
  const negated = inner[0] === '!' || inner[0] === '^';
  const chars = negated ? inner.slice(1) : inner;
  const has = (char: string): boolean =>
    chars.some((each, at) =>
      chars[at + 1] === '-' && chars[at + 2] !== undefined
        ? char >= each && char <= (chars[at + 2] ?? '')
        : char === each,
    );
  return (char) => has(char) !== negated;
}

function matchTokens(tokens: readonly Token[], chars: readonly string[]): boolean {
  let token = 0;
  let at = 0;
  let star = -1;
  let from = 0;
  while (at < chars.length) {
    const next = tokens[token];
    if (next?.kind === 'star') {
      star = token;
      from = at;
      token += 1;
    } else if (next?.test(chars[at] ?? '')) {
      token += 1;
      at += 1;
    } else if (star !== -1) {
      from += 1;
      at = from;
      token = star + 1;
    } else return false;
  }
  return tokens.slice(token).every(({ kind }) => kind === 'star');
}

/** Names of a path against names of a pattern, where `**` is any number of them. Linear in the same way. */
export function matchNames(pattern: readonly (NameMatch | '**')[], names: readonly string[]): boolean {
  let wanted = 0;
  let at = 0;
  let star = -1;
  let from = 0;
  while (at < names.length) {
    const next = pattern[wanted];
    if (next === '**') {
      star = wanted;
      from = at;
      wanted += 1;
    } else if (next?.(names[at] ?? '')) {
      wanted += 1;
      at += 1;
    } else if (star !== -1) {
      from += 1;
      at = from;
      wanted = star + 1;
    } else return false;
  }
  return pattern.slice(wanted).every((each) => each === '**');
}
