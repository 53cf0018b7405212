/**
 * Programs that a repository's own configuration has git run, also when git is only to read: a folder
 * that was unpacked or shared brings its `.git/config` along.
 */
import { type Dirent, readdirSync, readFileSync, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';

/** Whatever section they stand in: the text of a value may look like a section, so sections are not believed. */
const KEYS: ReadonlySet<string> = new Set([
  // diff.external, diff.*.command, diff.*.textconv
  ...['external', 'command', 'textconv'],
  // filter.*
  ...['clean', 'smudge', 'process'],
  // core.fsmonitor, core.hooksPath, gpg.program
  ...['fsmonitor', 'hookspath', 'program'],
  // include.path: what stands there is not looked at.
  'path',
]);
/** Sections may stand before a key, on the same line. No part can match what another one does: hostile lines take no longer. */
const KEY = /^\s*(?:\[[^\]"]*(?:"(?:[^"\\]|\\.)*"\s*)?\]\s*)*([a-z][a-z0-9-]*)\s*(?:=\s*(.*))?/i;
const SWITCH = /^(?:true|false|yes|no|on|off|0|1)?$/i;

/** Run when the index is written, which `git status` does as well. */
const HOOK = 'post-index-change';

const CONFIG_BYTES = 256 * 1024;
/** Of a submodule, of which there may be many. */
const MODULE_BYTES = 16 * 1024;
/** As much as git reads of one. */
const POINTER_BYTES = 1024 * 1024;
const MAX_MODULES = 200;

/** What would run, in words that go on after "git runs what": undefined where nothing would. */
export function repositoryPrograms(folder: string): string | undefined {
  const found = findRepository(folder);
  if (found === undefined) return undefined;
  const elsewhere = join(found, 'commondir');
  const common = kindOf(elsewhere) === undefined ? found : pointer(elsewhere, found, '');
  if (common === undefined) return unclear(elsewhere);
  return (
    programsIn(found, common) ??
    (found === common ? undefined : programsIn(common, common)) ??
    programsInModules(join(common, 'modules'), { modules: MAX_MODULES })
  );
}

/** Looked for from where the folder really is, as git does. */
function findRepository(folder: string): string | undefined {
  let at = realPath(folder) ?? folder;
  for (;;) {
    const git = join(at, '.git');
    const kind = kindOf(git);
    if (kind === 'folder') return git;
    if (kind === 'file') return pointer(git, at, 'gitdir: ');
    if (dirname(at) === at) return undefined;
    at = dirname(at);
  }
}

/** Where the path that a file holds behind `prefix` leads. */
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

function programsIn(git: string, common: string, most = CONFIG_BYTES): string | undefined {
  for (const name of ['config', 'config.worktree']) {
    const file = join(git, name);
    const text = readText(file, most);
    if (text === undefined && kindOf(file) !== undefined) return unclear(file);
    const key = text === undefined ? undefined : programKey(text);
    if (key !== undefined) return `\`${key}\` in \`${file}\` says`;
  }
  const hook = join(common, 'hooks', HOOK);
  return kindOf(hook) === undefined ? undefined : `\`${hook}\` is`;
}

/** Submodules are looked into by git itself, with their own configurations. */
function programsInModules(folder: string, budget: { modules: number }): string | undefined {
  for (const entry of entriesOf(folder)) {
    if (!entry.isDirectory()) continue;
    budget.modules -= 1;
    if (budget.modules < 0) return 'its submodules say, which are too many to look through';
    const inside = join(folder, entry.name);
    const isRepository = kindOf(join(inside, 'HEAD')) !== undefined;
    const found = isRepository
      ? (programsIn(inside, inside, MODULE_BYTES) ?? programsInModules(join(inside, 'modules'), budget))
      : programsInModules(inside, budget);
    if (found !== undefined) return found;
  }
  return undefined;
}

function programKey(text: string): string | undefined {
  for (const line of text.split(/[\r\n]+/)) {
    const [, key = '', value = ''] = KEY.exec(line) ?? [];
    const name = key.toLowerCase();
    if (!KEYS.has(name)) continue;
    if (name === 'fsmonitor' && SWITCH.test(value.trim())) continue;
    return key;
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
