/** Whether this machine can hold a wall, found out by trying. */
import { execFile } from 'node:child_process';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { cleanPath, commandEnvironment, findProgram } from '../workspace/process/command-environment.js';
import { probeArguments } from './walls.js';

export type Availability =
  | { kind: 'bubblewrap'; program: string; detail: string; socat: string | undefined }
  | { kind: 'seatbelt'; detail: string }
  | { kind: 'none'; detail: string; advice: string };

const PROBE_MS = 10_000;

/** What bubblewrap prints when something is in its way, and what to do about it. */
const OBSTACLES: readonly { says: RegExp; advice: string }[] = [
  {
    says: /apparmor|setting up uid map: Permission denied/i,
    advice:
      'allow user namespaces: sysctl -w kernel.apparmor_restrict_unprivileged_userns=0 (Ubuntu 23.10 and later), or an AppArmor profile for bwrap',
  },
  {
    says: /creating new namespace|No permissions to create|unshare|clone/i,
    advice:
      'allow user namespaces: sysctl -w kernel.unprivileged_userns_clone=1 and user.max_user_namespaces=15000; in a container also its seccomp profile must (docker run --security-opt seccomp=unconfined)',
  },
  {
    says: /mount proc|mounting|pivot_root|remount/i,
    advice:
      'this container may not mount: start it with --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined, or with --privileged',
  },
];

const INSTALL =
  'install bubblewrap and socat: apt-get install bubblewrap socat (Debian, Ubuntu), dnf install bubblewrap socat (Fedora), pacman -S bubblewrap socat (Arch), apk add bubblewrap socat (Alpine)';

export async function findAvailability(
  platform: NodeJS.Platform,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Availability> {
  if (platform === 'linux') return await tryBubblewrap(env);
  if (platform === 'darwin') return await trySeatbelt(env);
  return {
    kind: 'none',
    detail: `no sandbox is known for ${platform}`,
    advice: 'run the gateway on Linux, in WSL 2 or on macOS to have one',
  };
}

async function tryBubblewrap(env: Readonly<Record<string, string | undefined>>): Promise<Availability> {
  const path = cleanPath(env['PATH']);
  const program = named(env, 'TOOLGATE_BWRAP') ?? findProgram('bwrap', path);
  if (program === undefined) {
    return { kind: 'none', detail: 'bubblewrap (bwrap) is not installed', advice: INSTALL };
  }
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'toolgate-probe-')));
  try {
    const { stdout, stderr } = await run(program, probeArguments(folder), env);
    if (stdout.trim() === 'walled') {
      const socat = named(env, 'TOOLGATE_SOCAT') ?? findProgram('socat', path);
      return { kind: 'bubblewrap', program, socat, detail: 'bubblewrap' };
    }
    const said = stderr.trim().split('\n')[0] ?? '';
    const obstacle = OBSTACLES.find(({ says }) => says.test(stderr));
    return {
      kind: 'none',
      detail: `bubblewrap is there, but does not work here${said === '' ? '' : ` (${said})`}`,
      advice:
        obstacle?.advice ??
        'run bwrap --ro-bind / / --unshare-pid --proc /proc true to see what is in its way',
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The operator's own, where it is not on the path. */
function named(env: Readonly<Record<string, string | undefined>>, variable: string): string | undefined {
  const given = env[variable] ?? '';
  return findProgram(basename(given), dirname(given));
}

async function trySeatbelt(env: Readonly<Record<string, string | undefined>>): Promise<Availability> {
  const profile = '(version 1)(allow default)(deny file-write* (subpath "/private/var"))';
  const { failed, stderr } = await run('/usr/bin/sandbox-exec', ['-p', profile, '/usr/bin/true'], env);
  if (!failed) return { kind: 'seatbelt', detail: 'seatbelt' };
  return {
    kind: 'none',
    detail: `sandbox-exec does not work here (${stderr.trim().split('\n')[0] ?? ''})`,
    advice: 'a sandbox cannot be started from inside another one: start the gateway outside of it',
  };
}

interface ProbeRun {
  failed: boolean;
  stdout: string;
  stderr: string;
}

function run(
  file: string,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<ProbeRun> {
  return new Promise((resolve) => {
    execFile(
      file,
      [...args],
      { timeout: PROBE_MS, killSignal: 'SIGKILL', env: commandEnvironment(env) },
      (error, stdout, stderr) =>
        resolve({ failed: error !== null, stdout, stderr: stderr || (error?.message ?? '') }),
    );
  });
}
