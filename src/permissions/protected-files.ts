/**
 * Files that no rule for a whole folder should give away: the gateway's own, which every tool is
 * denied, and those that run code once they are written, which are asked about.
 */
import { realTarget } from '../workspace/real-path.js';

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
  const list = [...all];
  return {
    of(path) {
      if (path.startsWith('/proc/') && PROCESS_SECRETS.test(path))
        return 'the environment or memory of a process';
      const wanted = folded(path);
      const hit = list.some((own) => wanted === own || wanted.startsWith(`${own}/`));
      return hit ? "the gateway's own configuration, store or credentials" : undefined;
    },
    below(folder) {
      const wanted = folded(folder);
      const inside = wanted === '/' ? '/' : `${wanted}/`;
      return list.some((own) => own.startsWith(inside));
    },
  };
}

/** The file system may not tell these apart, so neither does a denial. */
const folded = (path: string): string =>
  path === '/' ? path : path.normalize('NFC').toLowerCase().replace(/\/+$/, '');

interface CodeFile {
  /** Names apart from each other by spaces; `x/` is everything in such a folder, `/x/` only at the root. */
  names: string;
  what: string;
}

export const CODE_FILES: readonly CodeFile[] = [
  {
    names:
      '.git/ .gitmodules .gitconfig .githooks/ .husky/ lefthook.yml .lefthook.yml .pre-commit-config.yaml .config/git/',
    what: 'settings of git, which can name programs that it runs',
  },
  {
    names:
      '.bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout .kshrc .mkshrc .cshrc .tcshrc .login .logout .inputrc .envrc .config/fish/ .xinitrc .xsession .xsessionrc .xprofile .pam_environment',
    what: 'a profile that shells run',
  },
  {
    names:
      '.mcp.json .claude/ .claude.json .cursor/ .codex/ .gemini/ .qwen/ .opencode/ opencode.json .continue/ .clinerules/ .toolgate/ .toolgate-permissions.yaml toolgate.yaml .config/toolgate/',
    what: 'settings of an agent or of its permissions',
  },
  {
    names:
      '.vscode/ .idea/ .fleet/ .zed/ .devcontainer/ .devcontainer.json .sublime-project .vimrc .gvimrc .exrc .nvimrc .config/nvim/ .vim/ .emacs .emacs.d/ .dir-locals.el',
    what: 'settings of an editor, which can name programs that it runs',
  },
  {
    names:
      '.npmrc .yarnrc .yarnrc.yml .yarn/ .pnpmfile.cjs .pnpmfile.mjs .pnp.cjs .pnp.loader.mjs bunfig.toml pip.conf .pip/ .config/pip/ .pypirc .cargo/ .gemrc .bundle/ .mvn/ .m2/ .gradle/ .condarc .config/pnpm/ .config/yarn/ .terraformrc .npm-global/ sitecustomize.py usercustomize.py',
    what: 'settings of a package manager or an interpreter, which can name programs that it runs',
  },
  {
    names:
      '.curlrc .wgetrc .netrc .ssh/ .gnupg/ .aws/ .kube/ .docker/ .config/gh/ .config/gcloud/ .azure/ .git-credentials',
    what: 'credentials, or settings that decide where they go',
  },
  {
    names:
      '.tmux.conf .screenrc .gdbinit .lldbinit .rprofile .irbrc .pryrc .pythonrc .pythonstartup .sqliterc .psqlrc .perldb .mysqlrc .my.cnf',
    what: 'a profile that a program runs',
  },
  {
    names:
      '.config/autostart/ .config/systemd/ .local/bin/ .local/share/applications/ launchagents/ launchdaemons/ .config/environment.d/',
    what: 'something that starts with the session',
  },
  {
    names: '/etc/ /usr/ /bin/ /sbin/ /lib/ /lib64/ /boot/ /var/spool/cron/ /opt/ /system/ /library/',
    what: 'part of the operating system',
  },
];

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
