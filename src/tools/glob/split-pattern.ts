/** A pattern that names where it looks is a folder and the rest. */
import { join, resolve } from 'node:path';

export interface SplitPattern {
  folder: string;
  /** For ripgrep, from `folder`. */
  glob: string;
}

const SPECIAL = /[*?[\]{}!\\]/;

export function splitPattern(pattern: string, folder: string, home: string): SplitPattern {
  const given = pattern.startsWith('~/') ? join(home, pattern.slice(2)) : pattern.replace(/^(?:\.\/)+/, '');
  if (!given.startsWith('/') && !given.startsWith('../')) {
    return { folder, glob: given.startsWith('!') ? `\\${given}` : given };
  }
  const names = given.split('/');
  const first = names.findIndex((name) => SPECIAL.test(name));
  const cut = first < 0 ? names.length - 1 : first;
  // A slash in front binds it to the folder: without one a single name would match at any depth.
  return {
    folder: resolve(folder, names.slice(0, cut).join('/') || '/'),
    glob: `/${names.slice(cut).join('/')}`,
  };
}
