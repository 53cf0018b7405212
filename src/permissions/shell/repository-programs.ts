/**
 * Programs that a repository's own configuration has git run, also when git is only to read: a folder
 * that was unpacked or shared brings its `.git/config` along.
 */
import { type Dirent, readdirSync, readFileSync, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { submodulesOf } from './repository-index.js';
import { type GitUse, readConfig } from './repository-keys.js';

/** Run when the index is written, which `git status` does as well. */
const HOOK = 'post-index-change';

const CONFIG_BYTES = 256 * 1024;
/** Of a submodule, of which there may be many. */
const MODULE_BYTES = 16 * 1024;
/** As much as git reads of one. */
const POINTER_BYTES = 1024 * 1024;
const MAX_MODULES = 200;
const TOO_MANY = 'its submodules say, which are too many to look through';

/** A repository that git looks into. */
interface Repository {
  git: string;
  /** The folder whose `.git` it is. */
  folder: string;
}

/** One look, which goes on into submodules as git does. */
interface Look {
  use: GitUse;
  /** Those that were looked into. */
  seen: Set<string>;
}

/** What would run, in words that go on after "git runs what": undefined where nothing would. */
export function repositoryPrograms(folder: string, use: GitUse): string | undefined {
  const found = findRepository(folder);
  return found === undefined ? undefined : programsOf(found, { use, seen: new Set() }, CONFIG_BYTES);
}

function programsOf(found: Repository, look: Look, most: number): string | undefined {
  const { git } = found;
  const elsewhere = join(git, 'commondir');
  const common = kindOf(elsewhere) === undefined ? git : pointer(elsewhere, git, '');
  if (common === undefined) return unclear(elsewhere);
  return (
    programsIn(git, common, look, most, found.folder) ??
    (git === common ? undefined : programsIn(common, common, look, most)) ??
    programsInSubmodules(found, look) ??
    programsInModules(join(common, 'modules'), look)
  );
}

/** Looked for from where the folder really is, as git does. */
function findRepository(folder: string): Repository | undefined {
  let at = realPath(folder) ?? folder;
  for (;;) {
    const found = repositoryAt(at);
    if (found !== undefined) return found;
    if (dirname(at) === at) return undefined;
    at = dirname(at);
  }
}

function repositoryAt(folder: string): Repository | undefined {
  const path = join(folder, '.git');
  const kind = kindOf(path);
  const git = kind === 'file' ? pointer(path, folder, 'gitdir: ') : kind === 'folder' ? path : undefined;
  return git === undefined ? undefined : { git, folder };
}

/** Where the path after `prefix` in a file leads. */
function pointer(file: string, from: string, prefix: string): string | undefined {
  const text = readText(file, POINTER_BYTES);
  if (text === undefined || !text.startsWith(prefix)) return undefined;
  const path = text.slice(prefix.length).replace(/[\r\n]+$/, '');
  return realPath(isAbsolute(path) ? path : `${from}/${path}`);
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

const unclear = (file: string): string => `\`${file}\` says, which cannot be looked through`;

/** `folder`: where git is to work, if the configuration may say another place. */
function programsIn(
  git: string,
  common: string,
  { use }: Look,
  most: number,
  folder?: string,
): string | undefined {
  for (const name of ['config', 'config.worktree']) {
    const file = join(git, name);
    const text = readText(file, most);
    if (text === undefined && kindOf(file) !== undefined) return unclear(file);
    const { program, worktree } = text === undefined ? {} : readConfig(text, use);
    if (program !== undefined) return `\`${program}\` in \`${file}\` says`;
    if (worktree !== undefined && folder !== undefined && !isFolder(worktree, git, folder))
      return `\`worktree\` in \`${file}\` leads to`;
  }
  const hook = join(common, 'hooks', HOOK);
  return kindOf(hook) === undefined ? undefined : `\`${hook}\` is`;
}

function isFolder(worktree: string, git: string, folder: string): boolean {
  return realPath(isAbsolute(worktree) ? worktree : `${git}/${worktree}`) === realPath(folder);
}

/** Git goes into the submodules that the index names, wherever their repositories are. */
function programsInSubmodules({ git, folder }: Repository, look: Look): string | undefined {
  const paths = submodulesOf(git);
  if (paths === undefined) return unclear(join(git, 'index'));
  for (const path of paths) {
    const module = repositoryAt(join(folder, path));
    if (module === undefined || look.seen.has(module.git)) continue;
    look.seen.add(module.git);
    if (look.seen.size > MAX_MODULES) return TOO_MANY;
    const found = programsOf(module, look, MODULE_BYTES);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Those that are not checked out are fetched all the same. */
function programsInModules(folder: string, look: Look): string | undefined {
  for (const entry of entriesOf(folder)) {
    const inside = join(folder, entry.name);
    if (!entry.isDirectory() || look.seen.has(inside)) continue;
    look.seen.add(inside);
    if (look.seen.size > MAX_MODULES) return TOO_MANY;
    const isRepository = kindOf(join(inside, 'HEAD')) !== undefined;
    const found = isRepository
      ? (programsIn(inside, inside, look, MODULE_BYTES) ?? programsInModules(join(inside, 'modules'), look))
      : programsInModules(inside, look);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Most of what is looked for is not there: an error for each would cost more than the look. */
function statusOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function kindOf(path: string): 'file' | 'folder' | undefined {
  const status = statusOf(path);
  if (status === undefined) return undefined;
  return status.isDirectory() ? 'folder' : 'file';
}

/** Undefined where there is none, or more than is looked at. */
function readText(file: string, most: number): string | undefined {
  const status = statusOf(file);
  if (status === undefined || !status.isFile() || status.size > most) return undefined;
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
