/** What every search of files leaves out, and what it does not. */

/** Folders of version control hold copies of everything, and are hidden. */
const NOT_SEARCHED = ['.git', '.svn', '.hg', '.bzr', '.jj', '.sl'];

/**
 * Hidden files are searched. Ignore files count also where there is no repository; those of the
 * operator's home do not: a search gives the same everywhere. Links are not followed.
 */
export const SEARCH_FLAGS: readonly string[] = [
  '--hidden',
  '--no-require-git',
  '--no-ignore-global',
  '--no-follow',
];

/** Behind the caller's own globs: of two that match, the later holds. */
export const EXCLUDED_GLOBS: readonly string[] = NOT_SEARCHED.flatMap((name) => ['--glob', `!${name}`]);

export const SEARCH_LIMITS = {
  timeoutMs: 30_000,
  /** Of names of files that are collected to be put in order. */
  namesBytes: 32 * 1024 * 1024,
  /** Of matching lines. */
  linesBytes: 4 * 1024 * 1024,
} as const;
