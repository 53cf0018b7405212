/**
 * Paths that a sandboxed command must not reach, as data, besides those of workspace/code-files.ts.
 * What is listed need not exist: a command must not be able to make it either.
 */

/** Below the home, where a writable folder holds it, besides the table of files that run code. */
export const HOME_PROGRAMS: readonly string[] = ['bin'];

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
