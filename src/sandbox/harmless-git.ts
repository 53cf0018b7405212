/**
 * Whether what a command made of a repository runs nothing: git's own samples of hooks, and settings
 * that name no program. An allow-list, since git knows many settings that do.
 */
import { lstatSync, readdirSync, readFileSync, type Stats } from 'node:fs';
import { join } from 'node:path';

/** Of a repository: its folder, its hooks, its configuration. */
export type GitPart = 'repository' | 'hooks' | 'config';

const LIMITS = { hooks: 200, configBytes: 64 * 1024 } as const;

/** Settings that neither name a program nor lead to another file or folder; `*` is a part of any name. */
const HARMLESS: ReadonlySet<string> = new Set(
  [
    'core.repositoryformatversion core.filemode core.bare core.logallrefupdates core.ignorecase',
    'core.precomposeunicode core.symlinks core.autocrlf core.eol core.safecrlf core.abbrev',
    'extensions.objectformat extensions.refstorage init.defaultbranch user.name user.email',
    'branch.*.remote branch.*.merge branch.*.rebase branch.autosetuprebase branch.autosetupmerge',
    'remote.*.url remote.*.fetch remote.pushdefault push.default push.autosetupremote pull.rebase pull.ff',
    'submodule.*.url submodule.*.active branch.*.vscode-merge-base remote.*.gh-resolved gc.auto',
    'merge.ff rebase.autostash fetch.prune commit.gpgsign tag.gpgsign color.ui advice.defaultbranchname',
  ].flatMap((line) => line.split(' ')),
);
/**
 * Another machine: a scheme of the network, or `host:path`. Other forms name a program (`ext::`), could
 * be taken for a flag, or are a folder, whose hooks a push would run; one letter is a drive. Without
 * quotes, escapes and comments: git would read another address than this does.
 */
const REMOTE_URL = /^(?:(?:https?|ssh|git):\/\/[^\s"\\;#-]|(?:[\w.][\w.-]*@)?\w[\w.-]+:(?!:|\/\/))[^"\\;#]*$/;
const IS_ADDRESS: ReadonlySet<string> = new Set(['remote.*.url', 'submodule.*.url']);
const REMOTE_NAME = /^[\w./-]+$/;
/** Their value is a remote's name, and an address where no remote has that name. */
const NAMES_REMOTE: ReadonlySet<string> = new Set(['branch.*.remote', 'remote.pushdefault']);
/** The repository itself, as git notes it for a branch that follows a local one. */
const ITSELF = '.';

export function isHarmless(part: GitPart, path: string, stats: Stats): boolean {
  try {
    switch (part) {
      case 'repository':
        return stats.isDirectory();
      case 'hooks':
        return stats.isDirectory() && onlySamples(path);
      case 'config':
        return (
          isSingleFile(stats) && stats.size <= LIMITS.configBytes && isPlainConfig(readFileSync(path, 'utf8'))
        );
    }
  } catch {
    // It cannot be looked at.
    return false;
  }
}

/** What has a second name can be written by that name later, where this one is held. */
const isSingleFile = (stats: Stats): boolean => stats.isFile() && stats.nlink === 1;

function onlySamples(folder: string): boolean {
  const names = readdirSync(folder);
  return (
    names.length <= LIMITS.hooks &&
    names.every((name) => name.endsWith('.sample') && isSingleFile(lstatSync(join(folder, name))))
  );
}

const SECTION = /^[ \t]*\[([A-Za-z0-9.-]+)(?:[ \t]+"((?:[^"\\\r]|\\["\\])*)")?\][ \t]*$/;
const SETTING = /^[ \t]*([A-Za-z][A-Za-z0-9-]*)[ \t]*(?:=[ \t]*(.*?))?[ \t]*$/;

/** Only lines that can be read in one way: no setting beside a section, no value that goes on in the next line. */
export function isPlainConfig(text: string): boolean {
  let section: string | undefined;
  let remote: string | undefined;
  const remotes = new Set([ITSELF]);
  const named: string[] = [];
  for (const line of text.split('\n')) {
    if (/^[ \t]*(?:[#;].*)?$/.test(line)) continue;
    const [, name, subsection] = SECTION.exec(line) ?? [];
    if (name !== undefined) {
      section = subsection === undefined ? name.toLowerCase() : `${name.toLowerCase()}.*`;
      remote = subsection;
      continue;
    }
    const [, key, value = ''] = SETTING.exec(line) ?? [];
    if (key === undefined || section === undefined || value.endsWith('\\')) return false;
    const setting = `${section}.${key.toLowerCase()}`;
    if (!HARMLESS.has(setting)) return false;
    if (NAMES_REMOTE.has(setting)) named.push(value);
    if (!IS_ADDRESS.has(setting)) continue;
    if (!REMOTE_URL.test(value)) return false;
    if (remote !== undefined && setting === 'remote.*.url') remotes.add(remote);
  }
  return named.every((each) => REMOTE_NAME.test(each) && remotes.has(each));
}
