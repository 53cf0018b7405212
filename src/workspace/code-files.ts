/**
 * Files that run code once they are written, or that widen what may be done: programs read them
 * later, outside of any sandbox and without asking. One table for the rules, which ask before one
 * is changed by name, and for the sandbox, which keeps commands from changing them at all.
 */

/**
 * How the sandbox keeps a command from making what is missing; what exists is read-only. `undo`:
 * what was made is set aside when the command ends. `look`: the same, unless what was made runs
 * nothing. `leave`: programs make it in ordinary work, and what it says runs only together with
 * files that commands may write anyway.
 */
type WhenMissing = 'undo' | 'look' | 'leave';

interface CodeFile {
  /** Names apart from each other by spaces; `x/` is everything in such a folder, `/x/` only at the root. */
  names: string;
  what: string;
  /** By default `undo`. */
  whenMissing?: WhenMissing;
  /**
   * Of a folder that programs fill in ordinary work: all that the sandbox holds of it. The rules
   * ask about the whole folder.
   */
  parts?: readonly { names: string; whenMissing?: WhenMissing }[];
}

const WHAT = {
  git: 'settings of git, which can name programs that it runs',
  agent: 'settings of an agent or of its permissions',
  editor: 'settings of an editor, which can name programs that it runs',
  packages: 'settings of a package manager or an interpreter, which can name programs that it runs',
} as const;

export const CODE_FILES: readonly CodeFile[] = [
  {
    names: '.git/',
    what: WHAT.git,
    parts: [
      // config: core.fsmonitor, core.sshCommand, aliases, filters
      { names: 'hooks/ config', whenMissing: 'look' },
      // names another folder to take configuration and hooks from; its mere presence breaks git
      { names: 'commondir', whenMissing: 'undo' },
      // read only where config has extensions.worktreeConfig, and made by git itself
      { names: 'config.worktree', whenMissing: 'leave' },
    ],
  },
  {
    names:
      '.gitmodules .gitconfig .githooks/ .husky/ lefthook.yml .lefthook.yml .pre-commit-config.yaml .config/git/',
    what: WHAT.git,
  },
  {
    names:
      '.bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout .kshrc .mkshrc .cshrc .tcshrc .login .logout .inputrc .envrc .config/fish/ .xinitrc .xsession .xsessionrc .xprofile .pam_environment',
    what: 'a profile that shells run',
  },
  {
    names:
      'toolgate.yaml .toolgate/ .claude/ .toolgate-permissions.yaml .config/toolgate/ .mcp.json .claude.json .cursor/ .codex/ .gemini/ .qwen/ .opencode/ opencode.json .continue/ .clinerules/',
    what: WHAT.agent,
  },
  {
    names:
      '.vscode/ .idea/ .fleet/ .zed/ .devcontainer/ .devcontainer.json .sublime-project .vimrc .gvimrc .exrc .nvimrc .config/nvim/ .vim/ .emacs .emacs.d/ .dir-locals.el',
    what: WHAT.editor,
  },
  {
    names:
      '.npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs .pnpmfile.mjs bunfig.toml pip.conf .pip/ .config/pip/ .pypirc .gemrc .mvn/ .condarc .config/pnpm/ .config/yarn/ .terraformrc .npm-global/ sitecustomize.py usercustomize.py',
    what: WHAT.packages,
  },
  // Made by `yarn install`, as node_modules is by others; run by what package.json starts.
  { names: '.pnp.cjs .pnp.loader.mjs', what: WHAT.packages, whenMissing: 'leave' },
  { names: '.yarn/', what: WHAT.packages, parts: [{ names: 'plugins/ releases/ sdks/' }] },
  {
    names: '.cargo/',
    what: WHAT.packages,
    parts: [{ names: 'config config.toml credentials credentials.toml bin/' }],
  },
  { names: '.bundle/', what: WHAT.packages, parts: [{ names: 'config plugin/' }] },
  {
    names: '.m2/',
    what: WHAT.packages,
    parts: [{ names: 'settings.xml settings-security.xml extensions.xml toolchains.xml' }],
  },
  {
    names: '.gradle/',
    what: WHAT.packages,
    parts: [{ names: 'config.properties gradle.properties init.gradle init.gradle.kts init.d/' }],
  },
  {
    names:
      '.curlrc .wgetrc .netrc .ssh/ .gnupg/ .aws/ .kube/ .docker/ .config/gh/ .config/gcloud/ .azure/ .git-credentials',
    what: 'credentials, or settings that decide where they go',
  },
  {
    names:
      '.tmux.conf .screenrc .gdbinit .lldbinit .Rprofile .irbrc .pryrc .pythonrc .pythonstartup .sqliterc .psqlrc .perldb .mysqlrc .my.cnf',
    what: 'a profile that a program runs',
  },
  {
    names:
      '.config/autostart/ .config/systemd/ .config/environment.d/ .local/bin/ .local/share/applications/ Library/LaunchAgents/ Library/LaunchDaemons/',
    what: 'something that starts with the session',
  },
  {
    names: '/etc/ /usr/ /bin/ /sbin/ /lib/ /lib64/ /boot/ /var/spool/cron/ /opt/ /system/ /library/',
    what: 'part of the operating system',
  },
];

export interface HeldPath {
  /** From the folder that it is held in. */
  path: string;
  whenMissing: WhenMissing;
  /** Part of a folder that is otherwise open. */
  inOpenFolder: boolean;
}

/** The table as paths below a project or a home; parts of the operating system are in neither. */
export const HELD_PATHS: readonly HeldPath[] = CODE_FILES.flatMap(({ names, whenMissing, parts }) =>
  pathsOf(names).flatMap((path): HeldPath[] =>
    parts === undefined
      ? [{ path, whenMissing: whenMissing ?? 'undo', inOpenFolder: false }]
      : parts.flatMap((part) =>
          pathsOf(part.names).map((inner) => ({
            path: `${path}/${inner}`,
            whenMissing: part.whenMissing ?? 'undo',
            inOpenFolder: true,
          })),
        ),
  ),
);

function pathsOf(names: string): string[] {
  return names
    .split(' ')
    .filter((name) => !name.startsWith('/'))
    .map((name) => name.replace(/\/$/, ''));
}
