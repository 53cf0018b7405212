/** Puts the wall together: what the machine can do, what the operator wants, what a command needs. */
import { mkdtemp, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { GatewayError } from '../core/errors.js';
import { cleanPath, commandEnvironment, findProgram } from '../workspace/process/command-environment.js';
import { isInside, realTarget } from '../workspace/real-path.js';
import { type ApprovedFile, approvedFile, currentFile } from './approved-files.js';
import { type Availability, findAvailability } from './availability.js';
import { type MountPlan, planMounts, watchNewRepositories } from './mounts.js';
import { createPendingLooks, type PendingLooks, removeIfEmpty } from './pending-looks.js';
import { SANDBOX_VARIABLES } from './protected-paths.js';
import { type HostProxy, openHostProxy, proxyVariables, throughProxy } from './proxied-command.js';
import type { Sandbox, SandboxSpec, SandboxStatus, SetAside, WrappedCommand } from './sandbox.js';
import { bubblewrapArguments, seatbeltCommand } from './walls.js';
import { settleWatched } from './watched-paths.js';

export interface SandboxOptions {
  mode: 'auto' | 'required' | 'off';
  /** Hidden from every command, besides what a command's own spec hides and the table of secrets. */
  hidden?: readonly string[];
  /** Not to be written by any command: what the gateway itself runs. */
  held?: () => readonly string[];
  /** Every command may reach these. */
  hosts?: () => readonly string[];
  home?: string;
  /** A folder of the gateway's own, for what the next one must look at if this one is killed. */
  pending?: string;
  /** Called with what a gateway that was killed had left. */
  onRecovered?(files: readonly SetAside[]): void;
  /** Of the gateway: where programs are found, and what of it commands see. */
  env?: Readonly<Record<string, string | undefined>>;
  /** Whether the machine is tried now or with the first command; by default with the first. */
  probe?: 'now' | 'first-use';
  platform?: NodeJS.Platform;
}

const NOT_TRIED: SandboxStatus = {
  active: false,
  reason: 'unavailable',
  detail: 'not tried yet: it is with the first command',
  advice: 'run toolgate doctor',
};

export async function createSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { mode, hidden = [], home = homedir(), env = process.env, platform = process.platform } = options;
  const bash = findProgram('bash', cleanPath(env['PATH'])) ?? '/bin/bash';
  const pending = createPendingLooks(options.pending);
  const recovered = await pending.recover();
  if (recovered.length > 0) options.onRecovered?.(recovered);
  const standIns = createStandIns(pending);
  const proxies = createProxies();
  let status: SandboxStatus =
    mode === 'off'
      ? {
          active: false,
          reason: 'off',
          detail: 'switched off by `sandbox: off`',
          advice: 'set `sandbox: auto` to have commands walled in',
        }
      : NOT_TRIED;

  let tried: Promise<Availability> | undefined;
  const available = (): Promise<Availability> => {
    tried ??= findAvailability(platform, env).then((found) => {
      status = statusOf(found);
      return found;
    });
    return tried;
  };
  if (mode !== 'off' && options.probe === 'now') await available();

  const open = (command: string): WrappedCommand => ({
    file: bash,
    args: ['-c', command, 'bash'],
    env: {},
    look: async () => [],
    release: async () => [],
  });

  const wrap = async (command: string, spec: SandboxSpec): Promise<WrappedCommand> => {
    if (mode === 'off') return open(command);
    const found = await available();
    if (found.kind === 'none') {
      if (mode === 'auto') return open(command);
      throw new GatewayError(
        'unavailable',
        `Commands may only run in a sandbox here (\`sandbox: required\`), and there is none: ${found.detail}. To get one, ${found.advice}.`,
      );
    }
    const hosts = [...new Set([...(options.hosts?.() ?? []), ...spec.hosts])].sort();
    const plan = planMounts(
      { writable: spec.writable, hidden: [...hidden, ...spec.hidden], held: options.held?.() ?? [] },
      realTarget(home),
      standIns.paths(),
    );
    const cwd = realTarget(spec.cwd);
    const { look, release } = standIns.take(plan, found.kind === 'bubblewrap');
    try {
      if (found.kind === 'seatbelt') {
        const proxy = hosts.length > 0 ? await proxies.onLoopback(hosts) : undefined;
        const script = await seatbeltCommand(command, { plan, tmp: spec.tmp, proxyPort: proxy?.port, bash });
        const tmp = spec.tmp === undefined ? {} : { TMPDIR: spec.tmp };
        const variables = proxy?.port === undefined ? {} : proxyVariables(proxy.port);
        return { file: bash, args: ['-c', script, 'bash'], env: { ...tmp, ...variables }, look, release };
      }
      // Without the relay the proxy cannot be reached, and the network stays closed.
      const socat = hosts.length > 0 ? found.socat : undefined;
      const inner = socat === undefined ? { command, env: {} } : throughProxy(command, socat);
      const proxySocket = socat === undefined ? undefined : await proxies.onSocket(hosts);
      const args = bubblewrapArguments({ mounts: plan.mounts, cwd, tmp: spec.tmp, proxySocket });
      return {
        file: found.program,
        args: [...args, '--', bash, '-c', inner.command, 'bash'],
        env: { ...SANDBOX_VARIABLES, ...inner.env },
        isolated: true,
        look,
        release,
      };
    } catch (error) {
      await release();
      throw error;
    }
  };

  return {
    get status() {
      return status;
    },
    environment: commandEnvironment(env),
    wrap,
    writeApproved: (file, write) => standIns.writeApproved(file, write),
    close: () => proxies.close(),
  };
}

function statusOf(found: Availability): SandboxStatus {
  if (found.kind === 'none') {
    return { active: false, reason: 'unavailable', detail: found.detail, advice: found.advice };
  }
  const noHosts = found.kind === 'bubblewrap' && found.socat === undefined;
  const network = noHosts ? 'no network at all: socat is not installed' : 'no network but for allowed hosts';
  return {
    active: true,
    kind: found.kind,
    detail: `${found.detail}: only the workspace can be written, secrets are hidden, ${network}`,
  };
}

/** Empty folders that stand in for what must not be made: counted, because commands share them. */
function createStandIns(pending: PendingLooks): {
  paths(): Set<string>;
  /** `isMounted`: by bubblewrap, whose mount of a file is detached when a new file is renamed over it. */
  take(plan: MountPlan, isMounted: boolean): Pick<WrappedCommand, 'look' | 'release'>;
  writeApproved: Sandbox['writeApproved'];
} {
  const counts = new Map<string, number>();
  const standIns = (): Set<string> => new Set(counts.keys());
  /** Each notes that the file is about to be written, and returns what to call once it is. */
  const approvers = new Set<(file: ApprovedFile) => () => void>();
  // One after the other: two looks would move the same file, and one a file that is being written.
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const next = last.then(work);
    last = next.catch(() => undefined);
    return next;
  };
  return {
    paths: standIns,
    writeApproved({ path, bytes }, write) {
      if (approvers.size === 0) return write();
      return inTurn(async () => {
        // Before it is there: a gateway that is killed in between must have noted it.
        const file = approvedFile(path, bytes);
        const onWritten = [...approvers].map((approve) => approve(file));
        const result = await write();
        for (const written of onWritten) written();
        return result;
      });
    },
    take(plan, isMounted) {
      const { mounts, searched } = plan;
      const watched = [...plan.watched];
      const paths = mounts.filter(({ kind }) => kind === 'blocked').map(({ path }) => path);
      for (const path of paths) counts.set(path, (counts.get(path) ?? 0) + 1);
      const record = pending.add({ watched, standIns: paths, searched });
      let approved: ApprovedFile[] = [];
      const approve = (file: ApprovedFile): (() => void) => {
        const isWatched = watched.some(({ path }) => isInside(path, file.path));
        const root = searched.roots.find((folder) => isInside(folder, file.path));
        const isHeld = mounts.some(({ path, kind }) => kind === 'read-only' && path === file.path);
        // The write detaches the mount, and from then on the command may change the file.
        const isNew = watched.every(({ path }) => path !== file.path);
        const isDetached = isMounted && isHeld && isNew && root !== undefined;
        if (!isWatched && !isDetached && !file.path.split(sep).includes('.git')) return () => {};
        // If the write fails, the file stays what it was, and the look must leave it in place.
        const before = isDetached ? currentFile(file.path) : undefined;
        if (isDetached) watched.push({ root, path: file.path });
        approved.push(file, ...(before === undefined ? [] : [before]));
        record.update({ watched, approved });
        return () => {
          if (before === undefined) return;
          approved = approved.filter((each) => each !== before);
          record.update({ watched, approved });
        };
      };
      approvers.add(approve);
      const left = new Set<string>();
      const look = (): Promise<readonly SetAside[]> =>
        inTurn(async () => {
          const all = [...watched, ...watchNewRepositories(searched)];
          const found = await settleWatched(all, standIns(), { approved });
          // What cannot be moved is found by every look and reported once.
          const fresh = found.filter(({ path, outcome }) => outcome !== 'left' || !left.has(path));
          for (const { path, outcome } of fresh) if (outcome === 'left') left.add(path);
          return fresh;
        });
      let released: Promise<readonly SetAside[]> | undefined;
      const release = async (): Promise<readonly SetAside[]> => {
        for (const path of paths) {
          const left = (counts.get(path) ?? 1) - 1;
          if (left > 0) counts.set(path, left);
          else {
            counts.delete(path);
            removeIfEmpty(path);
          }
        }
        const done = await look();
        approvers.delete(approve);
        record.remove();
        return done;
      };
      return { look, release: () => (released ??= release()) };
    },
  };
}

interface Proxies {
  /** The path of its socket. */
  onSocket(hosts: readonly string[]): Promise<string>;
  onLoopback(hosts: readonly string[]): Promise<HostProxy>;
  close(): Promise<void>;
}

/** One for each set of hosts, kept until the sandbox is closed. */
function createProxies(): Proxies {
  const open = new Map<string, Promise<{ proxy: HostProxy; path: string }>>();
  let folder: Promise<string> | undefined;
  let made = 0;
  const get = (hosts: readonly string[], onTcp: boolean): Promise<{ proxy: HostProxy; path: string }> => {
    const key = hosts.join('\n');
    const found = open.get(key);
    if (found !== undefined) return found;
    made += 1;
    const name = `${made}.sock`;
    const opening = (async () => {
      folder ??= mkdtemp(join(tmpdir(), 'toolgate-proxy-'));
      const path = join(await folder, name);
      const proxy = await openHostProxy(hosts, onTcp ? { host: '127.0.0.1', port: 0 } : { path });
      return { proxy, path };
    })();
    open.set(key, opening);
    opening.catch(() => open.delete(key));
    return opening;
  };
  return {
    onSocket: async (hosts) => (await get(hosts, false)).path,
    onLoopback: async (hosts) => (await get(hosts, true)).proxy,
    async close() {
      await Promise.allSettled([...open.values()].map(async (each) => (await each).proxy.close()));
      open.clear();
      if (folder !== undefined) await rm(await folder, { recursive: true, force: true });
    },
  };
}
