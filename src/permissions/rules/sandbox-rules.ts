/**
 * What rules mean for the sandbox: files that they keep from being read, which it hides, and hosts that
 * commands may reach. A script reads without naming what it reads, so that no rule can judge it by
 * its text.
 */
import { lstat, readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Config } from '../../config/schema.js';
import { realTarget } from '../../workspace/real-path.js';
import {
  compileFilePattern,
  type FilePattern,
  lookAt,
  type PatternBase,
  pathForms,
  patternMatches,
} from './file-pattern.js';
import { type RuleTarget, readRule } from './rule.js';

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

interface Domain {
  host: string;
  /** Its sub-domains alone. */
  below: boolean;
  /** Empty, or `:3000`, where the rule names one. */
  port: string;
}

const NUMERIC = /^[\d.]+$|^\[/;

/**
 * Hosts that commands may reach from inside the sandbox: those that the operator allows WebFetch, with
 * the same meaning. What people allow later is for WebFetch alone, and an open `WebFetch` opens
 * nothing here: a command can send what it likes. As the
 * proxy takes them: `example.com` is that name alone, `*.example.com` what is below it.
 */
export function allowedHosts({
  allow,
  ask,
  deny,
}: Pick<Config['permissions'], 'allow' | 'ask' | 'deny'>): string[] {
  const closing = [...ask, ...deny];
  const closed = closing.flatMap((rule) => domainOf(rule, true) ?? []);
  if (closing.some((rule) => closesAll(readRule(rule, true)))) return [];
  return allow.flatMap((rule) => {
    const domain = domainOf(rule, false);
    if (domain === undefined) return [];
    const { host, below, port } = domain;
    const itself = below || closed.some((other) => covers(other, host)) ? [] : [`${host}${port}`];
    const open = !NUMERIC.test(host) && !closed.some((other) => overlaps(other, host));
    return open ? [...itself, `*.${host}${port}`] : itself;
  });
}

function domainOf(rule: string, wide: boolean): Domain | undefined {
  const target = readRule(rule, wide);
  if (target.kind !== 'host' || target.host === undefined) return undefined;
  return { host: target.host, below: target.below, port: /[^:](:\d{1,5})\)$/.exec(rule)?.[1] ?? '' };
}

/** A rule about a host that cannot be read is about all of them. */
function closesAll(target: RuleTarget): boolean {
  switch (target.kind) {
    case 'host':
      return target.host === undefined;
    case 'tool':
      return target.name === 'WebFetch';
    case 'tools':
      return 'WebFetch'.startsWith(target.prefix);
    default:
      return false;
  }
}

const covers = (rule: Domain, host: string): boolean =>
  host.endsWith(`.${rule.host}`) || (host === rule.host && !rule.below);

/** Whether a rule is about anything below `host`. */
const overlaps = (rule: Domain, host: string): boolean =>
  host === rule.host || host.endsWith(`.${rule.host}`) || rule.host.endsWith(`.${host}`);
