/** Model names with `*` in them: `claude-*`, `*-mini`, `*`. Nothing else is special. */

export function isGlob(pattern: string): boolean {
  return pattern.includes('*');
}

/** A pattern, taken apart once. */
export class ModelGlob {
  readonly #first: string;
  readonly #between: readonly string[];
  readonly #last: string;

  /** `pattern` has a star. */
  constructor(pattern: string) {
    const parts = pattern.split('*');
    this.#first = parts[0] ?? '';
    this.#between = parts.slice(1, -1);
    this.#last = parts.at(-1) ?? '';
  }

  matches(name: string): boolean {
    const first = this.#first;
    const last = this.#last;
    if (!name.startsWith(first) || !name.endsWith(last)) return false;
    if (name.length < first.length + last.length) return false;
    let from = first.length;
    const end = name.length - last.length;
    for (const part of this.#between) {
      const at = name.indexOf(part, from);
      if (at < 0 || at + part.length > end) return false;
      from = at + part.length;
    }
    return true;
  }
}

interface Taken {
  exact: ReadonlySet<string>;
  globs: readonly ModelGlob[];
}

/** Lists are those of the keys: as many as the configuration has. */
const TAKEN = new WeakMap<readonly string[], Taken>();

/** Whether one of the patterns, which never change, is this name or a glob that it matches. */
export function matchesAny(patterns: readonly string[], name: string): boolean {
  let taken = TAKEN.get(patterns);
  if (taken === undefined) {
    taken = {
      exact: new Set(patterns.filter((pattern) => !isGlob(pattern))),
      globs: patterns.filter(isGlob).map((pattern) => new ModelGlob(pattern)),
    };
    TAKEN.set(patterns, taken);
  }
  return taken.exact.has(name) || taken.globs.some((glob) => glob.matches(name));
}

/** More literal characters are more specific; between equals, fewer stars. */
export function compareSpecificity(a: string, b: string): number {
  const literal = (pattern: string) => pattern.replaceAll('*', '').length;
  return literal(b) - literal(a) || a.length - b.length;
}
