/**
 * Patterns for files, in the style of gitignore: relative to the workspace (`./`, or nothing), the
 * home (`~/`) or the root (`//`). A pattern that matches a folder covers everything in it.
 */

export type PatternBase = 'workspace' | 'home' | 'root';

export interface FilePattern {
  base: PatternBase;
  /** The whole path from the base, where nothing in the pattern is a wildcard but a `/**` at the end. */
  literal?: string;
  /** Without that, and at one place: names a single file or folder. */
  exact: boolean;
  /** Matches at any depth (no `/` in the pattern). */
  anyDepth: boolean;
  /** Leading names without wildcards. */
  prefix: string;
  /** Against a path from the base, without a slash in front; '' is the base itself. */
  regex: RegExp;
}

/** A path as patterns see it: from each base that it is below. */
export interface PathForms {
  path: string;
  workspace?: string;
  home?: string;
  root: string;
}

/**
 * `wide`: for rules that deny or ask. Letters match in either case, since the file system may not
 * tell them apart, and `/x` means the root as well as the workspace.
 */
export function compileFilePattern(specifier: string, wide: boolean): FilePattern[] {
  const text = specifier.normalize('NFC').trim();
  if (text === '~') return [compile('home', '**', wide)];
  if (text.startsWith('~/')) return [compile('home', `/${text.slice(2)}`, wide)];
  if (text.startsWith('//')) return [compile('root', `/${text.slice(2)}`, wide)];
  if (text === '.' || text === './') return [compile('workspace', '**', wide)];
  if (text.startsWith('./')) return [compile('workspace', `/${text.slice(2)}`, wide)];
  const own = compile('workspace', text, wide);
  return wide && text.startsWith('/') ? [own, compile('root', text, wide)] : [own];
}

function compile(base: PatternBase, text: string, wide: boolean): FilePattern {
  const trimmed = text.replace(/\/+$/, '').replace(/(?:\/\*\*)+$/, '');
  // `x/**` is `x` and all below; `**` alone, or nothing left, is everything.
  const names = trimmed.split('/').filter((name) => name !== '' && name !== '.');
  const anchored =
    trimmed.replace(/^\*\*$/, '').includes('/') || text.startsWith('/') || text.includes('/**');
  const anyDepth = !anchored && names.length === 1 && names[0] !== '**';
  if (names.length === 0 || (names.length === 1 && names[0] === '**')) {
    return { base, exact: false, anyDepth: false, prefix: '', regex: /^(?!\.\.(?:\/|$))/ };
  }
  const literals = names.map(literalName);
  const wild = literals.indexOf(undefined);
  const body = names.map((name, index) => segment(name, index === names.length - 1)).join('');
  return {
    base,
    exact: wild === -1 && !anyDepth && !text.endsWith('**'),
    anyDepth,
    prefix: literals.slice(0, wild === -1 ? literals.length : wild).join('/'),
    regex: new RegExp(`^${anyDepth ? '(?:.*/)?' : ''}${body}(?:/.*)?$`, wide ? 'si' : 's'),
    ...(wild === -1 ? { literal: literals.join('/') } : {}),
  };
}

/** The name without its escapes, or undefined where it has a wildcard. */
function literalName(name: string): string | undefined {
  if (/(?:^|[^\\])(?:\\\\)*[*?[]/.test(name)) return undefined;
  return name.replace(/\\(.)/gs, '$1');
}

function segment(name: string, last: boolean): string {
  if (name === '**') return last ? '.*' : '(?:[^/]+/)*';
  let source = '';
  for (let at = 0; at < name.length; at += 1) {
    const char = name.charAt(at);
    if (char === '*') {
      while (name.charAt(at + 1) === '*') at += 1;
      source += '[^/]*';
    } else if (char === '?') source += '[^/]';
    else if (char === '[') {
      const set = bracket(name, at);
      source += set.source;
      at = set.end;
    } else if (char === '\\' && at + 1 < name.length) {
      at += 1;
      source += quoted(name.charAt(at));
    } else source += quoted(char);
  }
  return last ? source : `${source}/`;
}

function bracket(name: string, open: number): { source: string; end: number } {
  const close = name.indexOf(']', open + 2);
  if (close === -1) return { source: '\\[', end: open };
  const inner = name.slice(open + 1, close);
  const negated = inner.startsWith('!') || inner.startsWith('^');
  const set = (negated ? inner.slice(1) : inner).replace(/[\\\]^[]/g, '\\$&');
  try {
    const source = `(?!/)[${negated ? '^' : ''}${set}]`;
    new RegExp(source);
    return { source, end: close };
  } catch {
    // A range that runs backwards is no set: the bracket is only itself.
    return { source: '\\[', end: open };
  }
}

const quoted = (char: string): string => char.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');

export function pathForms(path: string, root: string, home: string): PathForms {
  const normal = path.normalize('NFC');
  const workspace = below(root, normal);
  const fromHome = below(home, normal);
  return {
    path: normal,
    root: normal.replace(/^\/+/, ''),
    ...(workspace === undefined ? {} : { workspace }),
    ...(fromHome === undefined ? {} : { home: fromHome }),
  };
}

function below(folder: string, path: string): string | undefined {
  if (path.startsWith(folder)) {
    if (path.length === folder.length) return '';
    if (folder.endsWith('/')) return path.slice(folder.length);
    if (path.charAt(folder.length) === '/') return path.slice(folder.length + 1);
  }
  return undefined;
}

/** Whether something below the folder `from` (from the pattern's base) may match. */
export function mayMatchBelow(pattern: FilePattern, from: string | undefined): boolean {
  if (from === undefined) return false;
  if (pattern.anyDepth || pattern.prefix === '' || from === '') return true;
  const folder = from.toLowerCase();
  const prefix = pattern.prefix.toLowerCase();
  const inside = prefix.startsWith(`${folder}/`);
  return pattern.literal === undefined ? inside || `${folder}/`.startsWith(`${prefix}/`) : inside;
}

/** Characters of a path that a pattern would take for its own. */
export function escapePattern(path: string): string {
  return path.replace(/[\\*?[\]]/g, '\\$&');
}
