/** The walls: arguments for bubblewrap on Linux; on macOS the library writes the profile of seatbelt from the same plan. */
import { join } from 'node:path';
import { isInside } from '../workspace/real-path.js';
import type { Mount, MountPlan } from './mounts.js';
import { KEPT_OF_RUN } from './protected-paths.js';

interface BubblewrapOptions {
  mounts: readonly Mount[];
  cwd: string;
  /** Shown as /tmp. */
  tmp: string | undefined;
  /** The socket of the proxy; without one there is no network at all. */
  proxySocket: string | undefined;
}

/** Where the socket of the proxy is found inside. */
export const INNER_PROXY_SOCKET = '/run/toolgate/proxy.sock';

/** Replaced as a whole: what the plan hides in them is gone already. */
const REPLACED = ['/run', '/tmp', '/var/tmp', '/dev', '/proc'];

export function bubblewrapArguments(options: BubblewrapOptions): string[] {
  const writable = options.mounts.filter(({ kind }) => kind === 'writable');
  const covered = ({ path, kind }: Mount): boolean =>
    kind.startsWith('hidden') &&
    REPLACED.some((folder) => isInside(folder, path)) &&
    !writable.some((mount) => isInside(mount.path, path));
  const mounts = options.mounts.filter((mount) => !covered(mount));
  return [
    // Its own view of processes, which ends with it; of the network, of shared memory and of names.
    ...['--unshare-pid', '--unshare-net', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
    ...['--die-with-parent', '--new-session'],
    // Of root as well: with any of these the walls could be taken down from inside.
    ...['--cap-drop', 'ALL'],
    ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'],
    ...['--tmpfs', '/run', ...KEPT_OF_RUN.flatMap((path) => ['--ro-bind-try', path, path])],
    ...['--tmpfs', '/var/tmp'],
    ...(options.tmp === undefined ? ['--tmpfs', '/tmp'] : ['--bind', options.tmp, '/tmp']),
    ...mounts.flatMap(mountArguments),
    ...(options.proxySocket === undefined ? [] : ['--bind', options.proxySocket, INNER_PROXY_SOCKET]),
    // Root without capabilities may still write /proc/sys, which is the whole machine's.
    ...['--remount-ro', '/proc', '--remount-ro', '/run'],
    ...mounts.flatMap(({ path, kind }) =>
      kind === 'hidden-folder' || kind === 'blocked' ? ['--remount-ro', path] : [],
    ),
    ...['--chdir', options.cwd],
  ];
}

function mountArguments({ path, kind }: Mount): string[] {
  switch (kind) {
    case 'writable':
      return ['--bind', path, path];
    case 'read-only':
      return ['--ro-bind-try', path, path];
    case 'blocked':
      return ['--perms', '0555', '--tmpfs', path];
    case 'hidden-folder':
      return ['--perms', '0000', '--tmpfs', path];
    // Devices cannot be opened on a mount that is none of /dev: neither reading nor writing works.
    case 'hidden-file':
      return ['--ro-bind', '/dev/null', path];
  }
}

/** Tried for real before the sandbox is relied on. */
export function probeArguments(folder: string): string[] {
  const mounts: Mount[] = [{ path: folder, kind: 'writable' }];
  const script = `: > '${join(folder, 'inside')}' && ! (: > /usr/toolgate-probe) 2>/dev/null && test -r /proc/self/stat && echo walled`;
  return [
    ...bubblewrapArguments({ mounts, cwd: folder, tmp: undefined, proxySocket: undefined }),
    ...['--', '/bin/sh', '-c', script],
  ];
}

interface SeatbeltOptions {
  plan: MountPlan;
  tmp: string | undefined;
  proxyPort: number | undefined;
  bash: string;
}

/** A bash script that runs `command` under the profile. */
export async function seatbeltCommand(command: string, options: SeatbeltOptions): Promise<string> {
  const { wrapCommandWithSandboxMacOS } = await import(
    '@anthropic-ai/sandbox-runtime/dist/sandbox/macos-sandbox-utils.js'
  );
  const { mounts, watched } = options.plan;
  // What may be made, as long as it runs nothing, is looked at afterwards.
  const unmade = (paths: MountPlan['watched']): string[] =>
    paths.filter(({ look }) => look === undefined).map(({ path }) => path);
  const paths = (...kinds: Mount['kind'][]): string[] =>
    mounts.filter(({ kind }) => kinds.includes(kind)).map(({ path }) => path);
  const hidden = paths('hidden-file', 'hidden-folder');
  const tmp = options.tmp === undefined ? [] : [options.tmp];
  return wrapCommandWithSandboxMacOS({
    command,
    needsNetworkRestriction: true,
    ...(options.proxyPort === undefined ? {} : { httpProxyPort: options.proxyPort }),
    readConfig: { denyOnly: hidden, allowWithinDeny: [...paths('writable'), ...tmp] },
    writeConfig: {
      allowOnly: [...paths('writable'), ...tmp, '/dev/null', '/dev/tty', '/dev/stdout', '/dev/stderr'],
      denyWithinAllow: [...paths('read-only', 'blocked'), ...hidden, ...unmade(watched)],
    },
    binShell: options.bash,
  });
}
