/** The wall on macOS: the library writes the profile from the same plan. */
import type { Mount, MountPlan } from './mounts.js';

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
