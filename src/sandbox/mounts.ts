/** Which paths a command sees in which way: the plan behind the arguments of bubblewrap. Looks at the disk, changes nothing. */
import { lstatSync, readdirSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { isInside, realTarget } from '../workspace/real-path.js';
import {
  HOME_RUNS_CODE_LATER,
  HOME_SECRETS,
  type ProtectedPath,
  RUNS_CODE_LATER,
  SYSTEM_SECRETS,
} from './protected-paths.js';
import type { SandboxSpec } from './sandbox.js';

export interface Mount {
  path: string;
  /**
   * `writable` is also a mount of its own: what is one can be neither renamed nor replaced.
   * `blocked` is missing and must not be made: an empty folder stands in for it.
   */
  kind: 'writable' | 'read-only' | 'blocked' | 'hidden-folder' | 'hidden-file';
}

export interface MountPlan {
  /** Outer paths first, so that the finer rule lies on top. */
  mounts: readonly Mount[];
  /** Missing, and to be removed if the command makes them. */
  remove: readonly string[];
}

/** Repositories in the workspace that are looked for: not deeper, and not in more folders. */
const NESTED = {
  depth: 3,
  folders: 400,
  skip: new Set(['node_modules', '.git', '.venv', 'target']),
} as const;

/** Of two kinds for one path, the later holds. */
const STRICTNESS: readonly Mount['kind'][] = [
  'writable',
  'read-only',
  'blocked',
  'hidden-folder',
  'hidden-file',
];

/** `standIns`: empty folders of commands that still run; they count as missing. */
export function planMounts(
  spec: Pick<SandboxSpec, 'writable' | 'hidden'>,
  home: string,
  standIns: ReadonlySet<string> = new Set(),
): MountPlan {
  const writable = [...new Set(spec.writable.map(realTarget))].filter((path) => kindOf(path) === 'folder');
  const mounts = new Map<string, Mount>();
  const remove: string[] = [];
  const plan: Planning = {
    missing: (path) => standIns.has(path) || kindOf(path) === undefined,
    remove: (path) => void remove.push(path),
    add(path, kind) {
      const before = mounts.get(path);
      if (before === undefined || STRICTNESS.indexOf(kind) > STRICTNESS.indexOf(before.kind)) {
        mounts.set(path, { path, kind });
      }
    },
  };
  for (const path of writable) plan.add(path, 'writable');
  for (const root of writable) {
    for (const repository of [root, ...nestedRepositories(root, plan)]) {
      for (const each of codeOf(repository, repository === root)) {
        protect({ ...each, path: join(repository, each.path) }, root, plan);
      }
    }
  }
  for (const each of HOME_RUNS_CODE_LATER) {
    const path = join(home, each.path);
    const root = writable.find((folder) => isInside(folder, path));
    if (root !== undefined) protect({ ...each, path }, root, plan);
  }
  const secrets = [...HOME_SECRETS.map((path) => join(home, path)), ...SYSTEM_SECRETS, ...spec.hidden];
  for (const path of secrets) hide(realTarget(path), writable, plan);
  const byDepth = (a: Mount, b: Mount): number => depth(a.path) - depth(b.path) || (a.path < b.path ? -1 : 1);
  return { mounts: [...mounts.values()].sort(byDepth), remove };
}

interface Planning {
  missing(path: string): boolean;
  add(path: string, kind: Mount['kind']): void;
  remove(path: string): void;
}

/** What of the table applies: of a repository further inside, only what belongs to it. */
function codeOf(folder: string, isRoot: boolean): ProtectedPath[] {
  const own = RUNS_CODE_LATER.filter(({ path }) => path.startsWith('.git/'));
  const others = RUNS_CODE_LATER.filter(({ path }) => isRoot && !path.startsWith('.git/'));
  // A worktree or a submodule has a file that names its repository.
  if (kindOf(join(folder, '.git')) === 'file') return [{ path: '.git', whenMissing: 'block' }, ...others];
  const inner = modules(folder).flatMap((module): ProtectedPath[] => [
    { path: join(module, 'hooks'), whenMissing: 'block' },
    { path: join(module, 'config'), whenMissing: 'block' },
  ]);
  return [...own, ...inner, ...others];
}

/** Repositories of submodules, which lie inside the outer one's. */
function modules(folder: string): string[] {
  return subfolders(join(folder, '.git', 'modules')).map((name) => join('.git', 'modules', name));
}

function protect({ path, whenMissing }: ProtectedPath, root: string, plan: Planning): void {
  const missing = firstMissing(path, root, plan);
  if (missing === undefined) {
    pinAncestors(path, root, plan);
    plan.add(realTarget(path), 'read-only');
    return;
  }
  if (whenMissing === 'block') {
    pinAncestors(missing, root, plan);
    plan.add(missing, 'blocked');
  } else if (whenMissing === 'remove' && missing === path) plan.remove(path);
}

function hide(path: string, writable: readonly string[], plan: Planning): void {
  const root = writable.find((folder) => isInside(folder, path));
  const kind = plan.missing(path) ? undefined : kindOf(path);
  const shown = kind === undefined && root !== undefined ? (firstMissing(path, root, plan) ?? path) : path;
  if (kind === undefined && root === undefined) return;
  if (root !== undefined && path !== root) pinAncestors(shown, root, plan);
  plan.add(shown, kind === undefined ? 'blocked' : kind === 'folder' ? 'hidden-folder' : 'hidden-file');
}

/** A folder that is no mount could be moved away, and another put in its place. */
function pinAncestors(path: string, root: string, plan: Planning): void {
  const names = relative(root, dirname(path))
    .split(sep)
    .filter((name) => name !== '' && name !== '..');
  let current = root;
  for (const name of names) {
    current = join(current, name);
    const real = realTarget(current);
    if (isInside(root, real) && kindOf(real) === 'folder') plan.add(real, 'writable');
  }
}

function firstMissing(path: string, root: string, plan: Planning): string | undefined {
  let current = root;
  for (const name of relative(root, path).split(sep)) {
    current = join(current, name);
    if (plan.missing(current)) return current;
  }
  return undefined;
}

function nestedRepositories(root: string, plan: Planning): string[] {
  const found: string[] = [];
  let level = [root];
  let looked = 0;
  for (let deep = 0; deep < NESTED.depth; deep += 1) {
    const next: string[] = [];
    for (const folder of level) {
      looked += 1;
      if (looked > NESTED.folders) return found;
      for (const name of subfolders(folder)) {
        if (NESTED.skip.has(name)) continue;
        const path = join(folder, name);
        if (!plan.missing(join(path, '.git'))) found.push(path);
        next.push(path);
      }
    }
    level = next;
  }
  return found;
}

function subfolders(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
  } catch {
    return [];
  }
}

/** Of the path itself, not of what a link leads to. */
export function kindOf(path: string): 'file' | 'folder' | undefined {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return undefined;
    return stats.isDirectory() ? 'folder' : 'file';
  } catch {
    return undefined;
  }
}

const depth = (path: string): number => (path === sep ? 0 : path.split(sep).length - 1);
