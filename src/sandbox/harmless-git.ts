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
    'merge.ff rebase.autostash fetch.prune commit.gpgsign tag.gpgsign color.ui advice.defaultbranchname',
  ].flatMap((line) => line.split(' ')),
);
/** Other forms name a program (`ext::`), or could be taken for a flag. */
const REMOTE_URL = /^(?:https?|ssh|git):\/\/[^\s-]|^[\w.][\w.-]*@[\w.-]+:[^:]|^\.{0,2}\//;

export function isHarmless(part: GitPart, path: string, stats: Stats): boolean {
  try {
    switch (part) {
      case 'repository':
        return stats.isDirectory();
      case 'hooks':
        return stats.isDirectory() && onlySamples(path);
      case 'config':
        return (
          stats.isFile() && stats.size <= LIMITS.configBytes && isPlainConfig(readFileSync(path, 'utf8'))
        );
    }
  } catch {
    // It cannot be looked at.
    return false;
  }
}

function onlySamples(folder: string): boolean {
  const names = readdirSync(folder);
  return (
    names.length <= LIMITS.hooks &&
    names.every((name) => name.endsWith('.sample') && lstatSync(join(folder, name)).isFile())
  );
}

const SECTION = /^[ \t]*\[([A-Za-z0-9.-]+)(?:[ \t]+"((?:[^"\\\r]|\\["\\])*)")?\][ \t]*$/;
const SETTING = /^[ \t]*([A-Za-z][A-Za-z0-9-]*)[ \t]*(?:=[ \t]*(.*?))?[ \t]*$/;

/** Only lines that can be read in one way: no setting beside a section, no value that goes on in the next line. */
export function isPlainConfig(text: string): boolean {
  let section: string | undefined;
  for (const line of text.split('\n')) {
    if (/^[ \t]*(?:[#;].*)?$/.test(line)) continue;
    const [, name, subsection] = SECTION.exec(line) ?? [];
    if (name !== undefined) {
      section = subsection === undefined ? name.toLowerCase() : `${name.toLowerCase()}.*`;
      continue;
    }
    const [, key, value = ''] = SETTING.exec(line) ?? [];
    if (key === undefined || section === undefined || value.endsWith('\\')) return false;
    const setting = `${section}.${key.toLowerCase()}`;
    if (!HARMLESS.has(setting)) return false;
    if (setting === 'remote.*.url' && !REMOTE_URL.test(value)) return false;
  }
  return true;
}
