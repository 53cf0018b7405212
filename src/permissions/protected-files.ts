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
}

export function ownFiles(paths: readonly string[]): OwnFiles {
  const all = new Set<string>();
  for (const path of paths) {
    for (const suffix of COMPANIONS) {
      all.add(folded(path + suffix));
      all.add(folded(realTarget(path + suffix)));
    }
  }
  const list = [...all].map((own) => ({ own, below: `${own}/` }));
  return {
    of(path) {
      if (path.startsWith('/proc/') && PROCESS_SECRETS.test(path)) {
        return 'the environment or memory of a process';
      }
      const wanted = folded(path);
      for (const { own, below } of list) {
        if (wanted.startsWith(own) && (wanted.length === own.length || wanted.startsWith(below))) {
          return "the gateway's own configuration, store or credentials";
        }
      }
      return undefined;
    },
    below(folder) {
      const wanted = folded(folder);
      const inside = wanted === '/' ? '/' : `${wanted}/`;
      return list.some(({ own }) => own.startsWith(inside));
    },
  };
}

/** The file system may not tell these apart, so neither does a denial. */
function folded(path: string): string {
  const lower = path.normalize('NFC').toLowerCase();
  return lower.length > 1 && lower.endsWith('/') ? lower.replace(/\/+$/, '') : lower;
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
