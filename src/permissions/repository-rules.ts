/**
 * A repository's own say: `.toolgate-permissions.yaml` in the root of the workspace. Everyone who can
 * write the repository can write it, so it only ever narrows: `deny` and `ask` are taken, what
 * would widen is passed over with a warning. A file that cannot be understood may have meant to
 * narrow anything, so everything is asked about until it can.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { ruleProblem } from '../config/rule-syntax.js';

const load = createRequire(import.meta.url);

const REPOSITORY_FILE = '.toolgate-permissions.yaml';

const MAX_BYTES = 65_536;
/** A change is seen at the latest after this long; looking at the file for each call would cost more than judging it. */
const RECHECK_MS = 250;
const MAX_ROOTS = 1_000;

export interface RepositoryRules {
  deny: readonly string[];
  ask: readonly string[];
  /** Why everything is asked about. */
  problem?: string;
}

const NONE: RepositoryRules = { deny: [], ask: [] };

interface Known {
  checkedAt: number;
  /** What the file looked like. */
  state: string;
  rules: RepositoryRules;
}

export class RepositoryFiles {
  readonly #known = new Map<string, Known>();
  readonly #warn: (message: string) => void;
  readonly #recheckMs: number;

  constructor(warn: (message: string) => void, recheckMs = RECHECK_MS) {
    this.#warn = warn;
    this.#recheckMs = recheckMs;
  }

  /** The same object for as long as the file is the same. */
  of(root: string): RepositoryRules {
    const now = performance.now();
    const known = this.#known.get(root);
    if (known !== undefined && now - known.checkedAt < this.#recheckMs) return known.rules;
    const path = join(root, REPOSITORY_FILE);
    const state = stateOf(path);
    if (known !== undefined && known.state === state) {
      known.checkedAt = now;
      return known.rules;
    }
    const rules = state === 'none' ? NONE : this.#read(path);
    if (this.#known.size >= MAX_ROOTS) this.#known.clear();
    this.#known.set(root, { checkedAt: now, state, rules });
    return rules;
  }

  #read(path: string): RepositoryRules {
    const read = readRules(path);
    for (const ignored of read.ignored) {
      this.#warn(`${path}: \`${ignored}\` is passed over: a repository's own file can only narrow.`);
    }
    if (read.rules.problem !== undefined) {
      this.#warn(`${path}: ${read.rules.problem}. Every call is asked about until it is right.`);
    }
    return read.rules;
  }
}

function stateOf(path: string): string {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    return stats === undefined
      ? 'none'
      : `${stats.mode}:${stats.ino}:${stats.size}:${stats.mtimeMs}:${stats.ctimeMs}`;
  } catch (error) {
    return `error: ${error instanceof Error ? error.message : 'unknown'}`;
  }
}

interface Read {
  rules: RepositoryRules;
  ignored: readonly string[];
}

function readRules(path: string): Read {
  const text = readText(path);
  if (typeof text !== 'string') return broken(text.problem);
  // Loaded with the first such file: the parser is a good part of the start-up time.
  const { parse }: typeof import('yaml') = load('yaml');
  let content: unknown;
  try {
    content = parse(text, { maxAliasCount: 10 });
  } catch {
    return broken('is not YAML');
  }
  if (content === null || content === undefined) return { rules: NONE, ignored: [] };
  if (typeof content !== 'object' || Array.isArray(content)) return broken('expected `deny` and `ask` lists');
  const lists: { deny: string[]; ask: string[] } = { deny: [], ask: [] };
  const ignored: string[] = [];
  for (const [key, value] of Object.entries(content)) {
    if (key === 'allow' || key === 'mode') ignored.push(key);
    else if (key !== 'deny' && key !== 'ask') return broken(`has a key \`${key}\` that is not known`);
    else {
      const problem = takeList(value, lists[key]);
      if (problem !== undefined) return broken(`\`${key}\`: ${problem}`);
    }
  }
  return { rules: lists, ignored };
}

function takeList(value: unknown, into: string[]): string | undefined {
  if (value === null) return undefined;
  if (!Array.isArray(value)) return 'expected a list of rules';
  for (const rule of value) {
    if (typeof rule !== 'string') return 'expected rules as text';
    const problem = ruleProblem(rule);
    if (problem !== undefined) return `${rule}: ${problem}`;
    into.push(rule);
  }
  return undefined;
}

const broken = (problem: string): Read => ({ rules: { deny: [], ask: [], problem }, ignored: [] });

/** Not through a link, and no device: what is read is in the repository. */
function readText(path: string): string | { problem: string } {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return { problem: 'cannot be opened as a file of the repository' };
  }
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) return { problem: 'is not a file' };
    if (stats.size > MAX_BYTES) return { problem: `is larger than ${MAX_BYTES} bytes` };
    const buffer = Buffer.alloc(MAX_BYTES + 1);
    const length = readSync(file, buffer, 0, buffer.length, 0);
    if (length > MAX_BYTES) return { problem: `is larger than ${MAX_BYTES} bytes` };
    return buffer.toString('utf8', 0, length);
  } catch {
    return { problem: 'cannot be read' };
  } finally {
    closeSync(file);
  }
}
