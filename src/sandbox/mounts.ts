/** Which paths a command sees in which way: the plan for the arguments of bubblewrap. Looks at the disk, changes nothing. */
import { lstatSync, readdirSync, readlinkSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import { HELD_PATHS, type HeldPath } from '../workspace/code-files.js';
import { HOME_SECRETS } from '../workspace/home-secrets.js';
import { isInside, realTarget } from '../workspace/real-path.js';
import type { GitPart } from './harmless-git.js';
import { HOME_PROGRAMS, SYSTEM_SECRETS } from './protected-paths.js';
import type { SandboxSpec } from './sandbox.js';
import type { WatchedPath } from './watched-paths.js';

export interface Mount {
  path: string;
  /**
   * `writable` is also a mount of its own: what is one can be neither renamed nor replaced.
   * `blocked` is missing and must not be made: an empty folder stands in for it.
   */
  kind: 'writable' | 'read-only' | 'blocked' | 'hidden-folder' | 'hidden-file';
}

export interface SearchedFolders {
  roots: readonly string[];
  repositories: readonly string[];
}

export interface MountPlan {
  /** Outer paths first, so that the finer rule lies on top. */
  mounts: readonly Mount[];
  /** No mount can hold them, so they are looked at again when the command has ended. */
  watched: readonly WatchedPath[];
  /** Where repositories are looked for, and the folders that were some. */
  searched: SearchedFolders;
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

interface Wanted {
  path: string;
  /** `stand-in`: an empty folder is in its place while the command runs. */
  whenMissing: HeldPath['whenMissing'] | 'stand-in';
}

/** `standIns`: empty folders of commands that still run; they count as missing. */
export function planMounts(
  spec: Pick<SandboxSpec, 'writable' | 'hidden'> & { held?: readonly string[] },
  home: string,
  standIns: ReadonlySet<string> = new Set(),
): MountPlan {
  const writable = [...new Set(spec.writable.map(realTarget))].filter((path) => kindOf(path) === 'folder');
  const mounts = new Map<string, Mount>();
  const watched = new Map<string, WatchedPath>();
  const plan: Planning = {
    rootOf: (path) => writable.find((folder) => isInside(folder, path)),
    missing: (path) => standIns.has(path) || kindOf(path) === undefined,
    watch: (path) => void watched.set(path.path, path),
    add(path, kind) {
      const before = mounts.get(path);
      if (before === undefined || STRICTNESS.indexOf(kind) > STRICTNESS.indexOf(before.kind)) {
        mounts.set(path, { path, kind });
      }
    },
  };
  for (const path of writable) plan.add(path, 'writable');
  const repositories: string[] = [];
  for (const root of writable) {
    const nested = nestedRepositories(root, plan.missing);
    repositories.push(...nested);
    for (const repository of [root, ...nested]) {
      for (const each of codeOf(repository, repository === root)) hold(repository, each, plan);
    }
  }
  for (const path of (spec.held ?? []).map(realTarget)) {
    const root = plan.rootOf(path);
    if (root !== undefined && root !== path) {
      hold(root, { path: relative(root, path), whenMissing: 'undo' }, plan);
    }
  }
  if (plan.rootOf(home) !== undefined) for (const each of codeOfHome()) hold(home, each, plan);
  const secrets = [...HOME_SECRETS.map((path) => join(home, path)), ...SYSTEM_SECRETS, ...spec.hidden];
  for (const path of secrets) hide(realTarget(path), plan);
  const needed = withoutNeedless([...mounts.values()], new Set(writable));
  const blocked = new Set(needed.filter(({ kind }) => kind === 'blocked').map(({ path }) => path));
  return {
    mounts: needed,
    watched: [...watched.values()].filter(({ path }) => !blocked.has(path)),
    searched: { roots: writable, repositories },
  };
}

/** Repositories that a command made below its folders: what they may not hold. */
export function watchNewRepositories({ roots, repositories }: SearchedFolders): WatchedPath[] {
  const known = new Set(repositories);
  return roots.flatMap((root) =>
    nestedRepositories(root, (path) => kindOf(path) === undefined)
      .filter((folder) => !known.has(folder))
      .flatMap((folder) => watchedParts(root, folder)),
  );
}

/** `.git` itself first: a file in its place names a repository anywhere. */
function watchedParts(root: string, folder: string): WatchedPath[] {
  return [REPOSITORY, ...IN_REPOSITORY]
    .filter(({ whenMissing }) => whenMissing !== 'leave')
    .map(({ path, whenMissing }) => ({
      root,
      path: join(folder, path),
      ...(whenMissing === 'look' ? { look: partOf(path) } : {}),
    }));
}

function partOf(path: string): GitPart {
  const name = basename(path);
  return name === 'hooks' || name === 'config' ? name : 'repository';
}

interface Planning {
  /** The writable folder that it lies in. */
  rootOf(path: string): string | undefined;
  missing(path: string): boolean;
  add(path: string, kind: Mount['kind']): void;
  watch(path: WatchedPath): void;
}

/**
 * Outer paths first. Below what cannot be written nothing more need be held, and a folder that was
 * only pinned must not become writable there.
 */
function withoutNeedless(mounts: Mount[], writable: ReadonlySet<string>): Mount[] {
  const byDepth = (a: Mount, b: Mount): number => depth(a.path) - depth(b.path) || (a.path < b.path ? -1 : 1);
  const kept = new Map<string, Mount>();
  for (const mount of mounts.sort(byDepth)) {
    const { kind: outer } = nearest(mount.path, kept) ?? {};
    const open = outer === undefined || outer === 'writable';
    const hides = outer === 'read-only' && mount.kind.startsWith('hidden');
    if (open || hides || writable.has(mount.path)) kept.set(mount.path, mount);
  }
  return [...kept.values()];
}

function nearest(path: string, mounts: ReadonlyMap<string, Mount>): Mount | undefined {
  for (let folder = dirname(path), last = path; folder !== last; last = folder, folder = dirname(folder)) {
    const mount = mounts.get(folder);
    if (mount !== undefined) return mount;
  }
  return undefined;
}

const REPOSITORY: Wanted = { path: '.git', whenMissing: 'look' };
const IN_REPOSITORY: readonly Wanted[] = HELD_PATHS.filter(({ path }) => path.startsWith('.git/'));
const IN_PROJECT = HELD_PATHS.filter(({ path }) => !path.startsWith('.git/'));

/**
 * What of the table applies. In a repository further inside what exists is held; what is missing of
 * a project there may be made, so that projects can be unpacked and set up below the workspace.
 */
function codeOf(folder: string, isRoot: boolean): Wanted[] {
  const others = isRoot
    ? IN_PROJECT
    : IN_PROJECT.map(({ path }) => ({ path, whenMissing: 'leave' as const }));
  // A worktree or a submodule has a file that names its repository.
  if (kindOf(join(folder, '.git')) === 'file') return [{ path: '.git', whenMissing: 'undo' }, ...others];
  const inner = foldersOf(folder, 'modules').flatMap((module): Wanted[] => [
    { path: join(module, 'hooks'), whenMissing: 'look' },
    { path: join(module, 'config'), whenMissing: 'look' },
    { path: join(module, 'commondir'), whenMissing: 'undo' },
  ]);
  for (const worktree of foldersOf(folder, 'worktrees')) {
    inner.push({ path: join(worktree, 'commondir'), whenMissing: 'undo' });
  }
  return [REPOSITORY, ...IN_REPOSITORY, ...inner, ...others];
}

/** Shells and sessions of the user start at any time: what they run must not even be there for a while. */
function codeOfHome(): Wanted[] {
  return [
    ...HELD_PATHS.map(({ path, whenMissing, inOpenFolder }) => ({
      path,
      whenMissing: inOpenFolder ? whenMissing : ('stand-in' as const),
    })),
    ...HOME_PROGRAMS.map((path) => ({ path, whenMissing: 'stand-in' as const })),
  ];
}

/** Of submodules and worktrees, which lie inside the outer repository. */
function foldersOf(folder: string, kind: 'modules' | 'worktrees'): string[] {
  return subfolders(join(folder, '.git', kind)).map((name) => join('.git', kind, name));
}

/** Name by name, so that a link on the way is known: it is no mount, and could be put elsewhere. */
function hold(folder: string, { path, whenMissing }: Wanted, plan: Planning): void {
  const names = path.split(sep);
  let root = plan.rootOf(folder);
  let current = folder;
  let missing: string | undefined;
  while (root !== undefined && missing === undefined) {
    const name = names.shift();
    if (name === undefined) break;
    current = join(current, name);
    const link = linkTarget(current);
    if (link !== undefined) {
      plan.watch({ root, path: current, link });
      pinAncestors(current, root, plan);
      current = realTarget(current);
      root = plan.rootOf(current);
    }
    if (plan.missing(current)) missing = current;
  }
  // It leads to where nothing can be written.
  if (root === undefined) return;
  if (missing === undefined) {
    pinAncestors(current, root, plan);
    // Of a repository, what is inside of it is held, and that it stays a folder is looked at.
    if (whenMissing !== 'look' || partOf(path) !== 'repository') plan.add(current, 'read-only');
    else plan.watch({ root, path: current, look: 'repository' });
  } else if (whenMissing === 'stand-in') {
    pinAncestors(missing, root, plan);
    plan.add(missing, 'blocked');
  } else if (whenMissing !== 'leave') {
    const look = whenMissing === 'look' ? { look: partOf(path) } : {};
    plan.watch({ root, path: join(missing, ...names), ...look });
  }
}

function hide(path: string, plan: Planning): void {
  const root = plan.rootOf(path);
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

function nestedRepositories(root: string, missing: (path: string) => boolean): string[] {
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
        if (!missing(join(path, '.git'))) found.push(path);
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
function kindOf(path: string): 'file' | 'folder' | undefined {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return undefined;
    return stats.isDirectory() ? 'folder' : 'file';
  } catch {
    return undefined;
  }
}

function linkTarget(path: string): string | undefined {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : undefined;
  } catch {
    return undefined;
  }
}

const depth = (path: string): number => (path === sep ? 0 : path.split(sep).length - 1);
