/**
 * Files that no rule for a whole folder should give away: the gateway's own, which every tool is
 * denied, and those that run code once they are written, which are asked about.
 */
import { CODE_FILES } from '../workspace/code-files.js';
import { realTarget } from '../workspace/real-path.js';

export { CODE_FILES };

/** SQLite keeps these beside a database. */
const COMPANIONS = ['', '-wal', '-shm', '-journal'];

/** Environment and memory of processes: the gateway's credentials are in its own. */
const PROCESS_SECRETS = /^\/proc\/[^/]+\/(?:task\/[^/]+\/)?(?:environ|mem|fd|map_files|auxv|root)(?:\/|$)/;

export interface OwnFiles {
  /** What a path is of the gateway's own, or undefined. Both as named and as resolved. */
  of(path: string): string | undefined;
  /** Whether one of them lies below a folder. */
  below(folder: string): boolean;
  /** Whether the gateway runs it, or something below it: reading is free, changing is not. */
  runs(path: string): boolean;
  runsBelow(folder: string): boolean;
}

/** `executed`: files and folders that the gateway itself runs. */
export function ownFiles(paths: readonly string[], executed: readonly string[] = []): OwnFiles {
  const list = known(paths, COMPANIONS);
  const run = known(executed, ['']);
  return {
    runs: (path) => run.length > 0 && isAmong(run, folded(path)),
    runsBelow: (folder) => run.length > 0 && anyBelow(run, folded(folder)),
    of(path) {
      if (path.startsWith('/proc/') && PROCESS_SECRETS.test(path)) {
        return 'the environment or memory of a process';
      }
      return isAmong(list, folded(path))
        ? "the gateway's own configuration, store or credentials"
        : undefined;
    },
    below: (folder) => anyBelow(list, folded(folder)),
  };
}

function known(paths: readonly string[], suffixes: readonly string[]): readonly string[] {
  const all = new Set<string>();
  for (const path of paths) {
    for (const suffix of suffixes) {
      all.add(folded(path + suffix));
      all.add(folded(realTarget(path + suffix)));
    }
  }
  return [...all];
}

const SLASH = 47;

/** Every path of every call comes here: one character excludes most of them. */
function isAmong(list: readonly string[], wanted: string): boolean {
  for (const own of list) {
    if (wanted.length !== own.length && wanted.charCodeAt(own.length) !== SLASH) continue;
    if (wanted.startsWith(own)) return true;
  }
  return false;
}

function anyBelow(list: readonly string[], wanted: string): boolean {
  if (wanted === '/') return list.length > 0;
  for (const own of list) {
    if (own.charCodeAt(wanted.length) === SLASH && own.startsWith(wanted)) return true;
  }
  return false;
}

/** The file system may treat these as equal, so a denial does too. */
function folded(path: string): string {
  const lower = path.normalize('NFC').toLowerCase();
  return lower.length > 1 && lower.endsWith('/') ? lower.replace(/\/+$/, '') || '/' : lower;
}

const COMPILED_CODE_FILES = CODE_FILES.map(({ names, what }) => ({ what, regex: codeFileRegex(names) }));
const ANY_CODE_FILE = codeFileRegex(CODE_FILES.map(({ names }) => names).join(' '));

function codeFileRegex(names: string): RegExp {
  const parts = names.split(' ').map((name) => {
    const source = name.replace(/\/$/, '').replace(/^\//, '').replace(/[.]/g, '\\.');
    const end = name.endsWith('/') ? '(?:/|$)' : '$';
    return name.startsWith('/') ? `^/${source}${end}` : `(?:^|/)${source}${end}`;
  });
  return new RegExp(parts.join('|'), 'i');
}

/**
 * What a file that runs code is, or undefined. `path`: from the workspace where it lies in it, so
 * that the folders above do not count; else absolute. It need not exist.
 */
export function codeFile(path: string): string | undefined {
  const normal = path.normalize('NFC');
  if (!ANY_CODE_FILE.test(normal)) return undefined;
  return COMPILED_CODE_FILES.find(({ regex }) => regex.test(normal))?.what;
}
