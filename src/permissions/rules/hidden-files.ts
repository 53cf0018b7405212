/**
 * Files that rules keep from being read, for the sandbox to hide: a script reads without naming
 * what it reads, so that no rule can judge it by its text.
 */
import { lstat, readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { realTarget } from '../../workspace/real-path.js';
import {
  compileFilePattern,
  type FilePattern,
  lookAt,
  type PatternBase,
  pathForms,
  patternMatches,
} from './file-pattern.js';
import { readRule } from './rule.js';

/**
 * How far the workspace is searched for what a pattern with wildcards, or for any folder, matches.
 * Folders of installed packages and of repositories are left out.
 */
const SEARCH = {
  folders: 1_000,
  depth: 8,
  found: 200,
  skip: new Set(['node_modules', '.git', '.venv', 'target']),
} as const;

interface HiddenIn {
  /** Of the workspace. */
  root: string;
  home: string;
}

/** `deny`: rules that deny, of which those about reading files count. Only what exists; never the whole workspace. */
export async function hiddenFiles(deny: readonly string[], where: HiddenIn): Promise<string[]> {
  const patterns = deny.flatMap(readPatterns);
  if (patterns.length === 0) return [];
  const named = patterns.filter(isOnePath).map((pattern) => pathOf(pattern, where));
  const searched = patterns.filter((pattern) => !isOnePath(pattern));
  const found = searched.length === 0 ? [] : await search(searched, where);
  const root = realTarget(where.root);
  const all = new Set([...(await existing(named)), ...found]);
  return [...all].filter((path) => realTarget(path) !== root);
}

/** Those of the paths that lead to something, each once. */
export async function existing(paths: readonly string[]): Promise<string[]> {
  const found = await Promise.all(
    [...new Set(paths)].map(async (path) => ((await isThere(path)) ? [path] : [])),
  );
  return found.flat();
}

function readPatterns(rule: string): FilePattern[] {
  const target = readRule(rule, true);
  if (target.kind !== 'file' || target.tool !== 'Read') return [];
  return compileFilePattern(target.pattern, true).filter((pattern) => !pattern.matches([]));
}

type OnePath = FilePattern & { literal: string };

const isOnePath = (pattern: FilePattern): pattern is OnePath =>
  pattern.literal !== undefined && !pattern.anyDepth;

function pathOf({ base, literal }: OnePath, { root, home }: HiddenIn): string {
  const bases: Record<PatternBase, string> = { workspace: root, home, root: '/' };
  return resolve(bases[base], literal);
}

/** Breadth first: what lies near the root is found, however large the rest is. */
async function search(patterns: readonly FilePattern[], { root, home }: HiddenIn): Promise<string[]> {
  const found: string[] = [];
  const matches = (path: string): boolean => {
    const forms = pathForms(path, root, home);
    return patterns.some((pattern) => {
      const looked = lookAt(forms, pattern.base, true);
      return looked !== undefined && patternMatches(pattern, looked);
    });
  };
  let level = [root];
  let looked = 0;
  for (let deep = 0; deep < SEARCH.depth && level.length > 0; deep += 1) {
    const next: string[] = [];
    for (const folder of level) {
      looked += 1;
      if (looked > SEARCH.folders) return found;
      for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
        const path = join(folder, entry.name);
        if (matches(path)) found.push(path);
        else if (entry.isDirectory() && !SEARCH.skip.has(entry.name)) next.push(path);
        if (found.length >= SEARCH.found) return found;
      }
    }
    level = next;
  }
  return found;
}

function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
