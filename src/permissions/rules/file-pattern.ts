/**
 * Patterns for files, in the style of gitignore: relative to the workspace (`./`, or nothing), the
 * home (`~/`) or the root (`//`). A pattern that matches a folder covers everything in it.
 */
import { compileName, hasWildcard, matchNames, type NameMatch, withoutEscapes } from '../shell/glob-name.js';

export type PatternBase = 'workspace' | 'home' | 'root';

export interface FilePattern {
  base: PatternBase;
  /** The whole path from the base, where nothing in the pattern is a wildcard but a `/**` at the end. */
  literal?: string;
  /** Without that, and at one place: names a single file or folder. */
  exact: boolean;
  /** Matches at any depth (no `/` in the pattern). */
  anyDepth: boolean;
  /** Leading names without wildcards; in lower case where it is wide. */
  prefix: string;
  /** Whether it matches the names of a path from the base; none of them: the base itself. */
  matches: (names: readonly string[]) => boolean;
}

/** A path as patterns see it: from each base that it is below. */
export interface PathForms {
  path: string;
  workspace?: string;
  home?: string;
  root: string;
  /** Made when they are first needed. */
  lower?: Partial<Record<PatternBase, LookedAt>>;
  plain?: Partial<Record<PatternBase, LookedAt>>;
}

interface LookedAt {
  path: string;
  names: readonly string[];
}

/**
 * `wide`: for rules that deny or ask. Letters match in either case, since the file system may not
 * distinguish them, and `/x` means the root as well as the workspace.
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
    return {
      base,
      exact: false,
      anyDepth: false,
      prefix: '',
      matches: (given) => given[0] !== '..',
    };
  }
  const literals = names.map((name) => (hasWildcard(name) ? undefined : withoutEscapes(name)));
  const wild = literals.indexOf(undefined);
  const own = names.map((name) => (name === '**' ? '**' : compileName(name, wide)));
  // Whatever is below what it matches is matched as well.
  const compiled: (NameMatch | '**')[] = [...(anyDepth ? (['**'] as const) : []), ...own, '**'];
  return {
    base,
    exact: wild === -1 && !anyDepth && !text.endsWith('**'),
    anyDepth,
    prefix: folded(literals.slice(0, wild === -1 ? literals.length : wild).join('/'), wide),
    matches: (given) => matchNames(compiled, given),
    ...(wild === -1 ? { literal: literals.join('/') } : {}),
  };
}

const folded = (text: string, wide: boolean): string => (wide ? text.toLowerCase() : text);

/** A path from a base, in the case and the parts that patterns of one kind are matched with. */
export function lookAt(forms: PathForms, base: PatternBase, wide: boolean): LookedAt | undefined {
  const from = forms[base];
  if (from === undefined) return undefined;
  const cache = (wide ? forms.lower : forms.plain) ?? {};
  if (wide) forms.lower = cache;
  else forms.plain = cache;
  const known = cache[base];
  if (known !== undefined) return known;
  const path = folded(from, wide);
  const made = { path, names: path === '' ? [] : path.split('/') };
  cache[base] = made;
  return made;
}

export function patternMatches(pattern: FilePattern, { path, names }: LookedAt): boolean {
  if (!pattern.anyDepth && !path.startsWith(pattern.prefix)) return false;
  return pattern.matches(names);
}

export function pathForms(path: string, root: string, home: string): PathForms {
  const normal = path.normalize('NFC');
  const forms: PathForms = { path: normal, root: normal.startsWith('/') ? normal.slice(1) : normal };
  const workspace = below(root, normal);
  if (workspace !== undefined) forms.workspace = workspace;
  const fromHome = below(home, normal);
  if (fromHome !== undefined) forms.home = fromHome;
  return forms;
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
