/**
 * Below the home: what opens other doors. A command in the sandbox neither reads nor writes it, and
 * an agent whose workspace holds the home asks before it reads it.
 */
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

/** `path` is relative to the home. */
export const isHomeSecret = (path: string): boolean =>
  HOME_SECRETS.some((secret) => path === secret || path.startsWith(`${secret}/`));
