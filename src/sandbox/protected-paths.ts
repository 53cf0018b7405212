/**
 * Paths that a sandboxed command must not reach, as data. What is listed need not exist: a command
 * must not be able to make it either.
 */

/**
 * How a path that does not exist yet is kept from being made. `block`: an empty folder stands in
 * for it while the command runs (Git does not see empty folders, and no file can take its place).
 * `remove`: a stand-in would break the programs that look for it, so what was made is removed
 * when the command ends. `leave`: programs ask their user before they run what a new one says, or
 * do not read it until another protected file tells them to.
 */
export type WhenMissing = 'block' | 'remove' | 'leave';

export interface ProtectedPath {
  path: string;
  whenMissing: WhenMissing;
}

/** Below each writable folder: read by programs that then run what it says, outside of the sandbox. */
export const RUNS_CODE_LATER: readonly ProtectedPath[] = [
  { path: '.git/hooks', whenMissing: 'block' },
  // core.fsmonitor, core.sshCommand, aliases, filters
  { path: '.git/config', whenMissing: 'block' },
  // read only where .git/config has extensions.worktreeConfig
  { path: '.git/config.worktree', whenMissing: 'leave' },
  // names another folder to take configuration and hooks from
  { path: '.git/commondir', whenMissing: 'remove' },
  { path: '.vscode', whenMissing: 'block' },
  { path: '.idea', whenMissing: 'leave' },
  { path: '.claude', whenMissing: 'block' },
  { path: '.codex', whenMissing: 'leave' },
  { path: '.cursor', whenMissing: 'leave' },
  { path: '.mcp.json', whenMissing: 'leave' },
  { path: '.envrc', whenMissing: 'leave' },
];

/** Below the home, where a writable folder holds it. */
export const HOME_RUNS_CODE_LATER: readonly ProtectedPath[] = [
  '.bashrc',
  '.bash_profile',
  '.bash_login',
  '.bash_logout',
  '.profile',
  '.zshrc',
  '.zshenv',
  '.zprofile',
  '.zlogin',
  '.gitconfig',
  '.npmrc',
  '.xprofile',
  '.config/git',
  '.config/fish',
  '.config/systemd',
  '.config/autostart',
  '.local/bin',
  '.local/share/applications',
  'bin',
  'Library/LaunchAgents',
].map((path) => ({ path, whenMissing: 'block' }));

/** Below the home: what opens other doors. Neither read nor written. */
export const HOME_SECRETS: readonly string[] = [
  '.ssh',
  '.gnupg',
  '.aws',
  '.azure',
  '.kube',
  '.docker',
  '.config/gcloud',
  '.config/gh',
  '.config/hub',
  '.config/op',
  '.config/toolgate',
  '.netrc',
  '.pgpass',
  '.my.cnf',
  '.git-credentials',
  '.config/git/credentials',
  '.pypirc',
  '.cargo/credentials',
  '.cargo/credentials.toml',
  '.gem/credentials',
  '.terraform.d/credentials.tfrc.json',
  '.vault-token',
  '.claude',
  '.claude.json',
  '.codex',
  '.password-store',
  '.local/share/keyrings',
  '.mozilla',
  '.config/google-chrome',
  '.config/chromium',
  'Library/Keychains',
  'Library/Cookies',
];

/** Below the root: hashes of passwords, private keys, and sockets by which services take orders. */
export const SYSTEM_SECRETS: readonly string[] = [
  '/etc/shadow',
  '/etc/gshadow',
  '/etc/sudoers',
  '/etc/sudoers.d',
  '/etc/ssl/private',
  '/etc/kubernetes',
  '/var/run/docker.sock',
  '/var/run/secrets',
];

/** /run holds the sockets of services; these parts of it are programs and names of name servers. */
export const KEPT_OF_RUN: readonly string[] = [
  '/run/current-system',
  '/run/wrappers',
  '/run/opengl-driver',
  '/run/systemd/resolve',
  '/run/resolvconf',
];

/** Where programs would else write into the home, which cannot be written. */
export const SANDBOX_VARIABLES: Readonly<Record<string, string>> = {
  TMPDIR: '/tmp',
  XDG_CACHE_HOME: '/tmp/.cache',
  npm_config_cache: '/tmp/.npm',
};
