import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import {
  appendFile,
  chmod,
  link,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GatewayError } from '../core/errors.js';
import { cleanPath, findProgram } from '../workspace/process/command-environment.js';
import { createSandbox, type SandboxOptions } from './create-sandbox.js';
import type { Sandbox, SandboxSpec, SetAside, WrappedCommand } from './sandbox.js';

let base: string;
let root: string;
let home: string;
const open: Sandbox[] = [];
beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'toolgate-sandbox-')));
  root = join(base, 'work');
  home = join(base, 'home');
  await mkdir(root);
  await mkdir(home);
});
afterEach(async () => {
  for (const sandbox of open.splice(0)) await sandbox.close();
  await rm(base, { recursive: true, force: true });
});

async function make(options: Partial<SandboxOptions> = {}): Promise<Sandbox> {
  const sandbox = await createSandbox({ mode: 'required', home, ...options });
  open.push(sandbox);
  return sandbox;
}

interface Ran {
  code: number;
  output: string;
}

/** Under the walls of bubblewrap; on macOS the profile has tests of its own. */
async function run(command: string, sandbox: Sandbox, spec: Partial<SandboxSpec> = {}): Promise<Ran> {
  const wrapped = await sandbox.wrap(command, {
    writable: [root],
    hidden: [],
    hosts: [],
    cwd: root,
    ...spec,
  });
  try {
    return await new Promise<Ran>((resolve) => {
      execFile(
        wrapped.file,
        [...wrapped.args],
        { cwd: root, env: { PATH: process.env['PATH'] ?? '', HOME: home, ...wrapped.env } },
        (error, stdout, stderr) =>
          resolve({
            code: typeof error?.code === 'number' ? error.code : error === null ? 0 : 1,
            output: stdout + stderr,
          }),
      );
    });
  } finally {
    await wrapped.release();
  }
}

/** As the tools for files do. */
function writeApproved(sandbox: Sandbox, name: string): Promise<void> {
  const [path, bytes] = [join(root, name), Buffer.from('approved')];
  return sandbox.writeApproved({ path, bytes }, () => writeFile(path, bytes));
}

/** A path without the programs of a sandbox. */
async function emptyPath(program?: string): Promise<string> {
  const folder = join(base, 'bin');
  await mkdir(folder, { recursive: true });
  if (program !== undefined) {
    await writeFile(join(folder, 'bwrap'), program);
    await chmod(join(folder, 'bwrap'), 0o755);
  }
  return folder;
}

describe('modes', () => {
  it('off: runs as it is', async () => {
    const sandbox = await make({ mode: 'off' });
    expect(sandbox.status).toMatchObject({ active: false, reason: 'off' });
    expect((await run(`echo x > '${home}/file' && echo done`, sandbox)).output).toBe('done\n');
  });

  it('auto: is active where a try works, and says so after the first command', async () => {
    const sandbox = await make({ mode: 'auto' });
    expect(sandbox.status).toMatchObject({ active: false });
    await run('true', sandbox);
    expect(sandbox.status).toMatchObject({ active: true, kind: 'bubblewrap' });
  });

  it('auto: runs without where there is none, and says how to get one', async () => {
    const sandbox = await make({ mode: 'auto', env: { PATH: await emptyPath() }, probe: 'now' });
    expect(sandbox.status).toMatchObject({
      active: false,
      reason: 'unavailable',
      advice: expect.stringContaining('apt-get install bubblewrap socat'),
    });
    const wrapped = await sandbox.wrap('true', { writable: [], hidden: [], hosts: [], cwd: root });
    expect(wrapped.isolated).toBeUndefined();
  });

  it('takes programs that are named and not on the path', async () => {
    const bwrap = findProgram('bwrap', cleanPath(process.env['PATH'])) ?? '';
    const env = { PATH: await emptyPath(), TOOLGATE_BWRAP: bwrap };
    const sandbox = await make({ mode: 'auto', env, probe: 'now' });
    expect(sandbox.status).toMatchObject({
      active: true,
      detail: expect.stringContaining('socat is not installed'),
    });
  });

  it('required: refuses where there is none', async () => {
    const sandbox = await make({ env: { PATH: await emptyPath() } });
    const refused = sandbox.wrap('true', { writable: [root], hidden: [], hosts: [], cwd: root });
    await expect(refused).rejects.toBeInstanceOf(GatewayError);
    await expect(refused).rejects.toMatchObject({ code: 'unavailable' });
  });

  it.each([
    [
      'echo "bwrap: setting up uid map: Permission denied" >&2; exit 1',
      'apparmor_restrict_unprivileged_userns',
    ],
    ['echo "bwrap: No permissions to create new namespace" >&2; exit 1', 'unprivileged_userns_clone'],
    [
      'echo "bwrap: Can\'t mount proc on /newroot/proc: Operation not permitted" >&2; exit 1',
      'systempaths=unconfined',
    ],
  ])('knows what to do about %s', async (script, advice) => {
    const path = await emptyPath(`#!/bin/sh\n${script}\n`);
    const sandbox = await make({ mode: 'auto', env: { PATH: path }, probe: 'now' });
    expect(sandbox.status).toMatchObject({ active: false, advice: expect.stringContaining(advice) });
  });

  it('does not believe a program that puts up no walls', async () => {
    const path = await emptyPath('#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done; shift; exec "$@"\n');
    const sandbox = await make({ mode: 'auto', env: { PATH: path }, probe: 'now' });
    expect(sandbox.status.active).toBe(process.getuid?.() !== 0 ? expect.any(Boolean) : false);
    await rm('/usr/toolgate-probe', { force: true });
  });
});

describe('walls', () => {
  it('let the workspace be written, and nothing else', async () => {
    const sandbox = await make();
    const result = await run(
      `echo a > file; echo b > '${home}/file'; echo c > /usr/toolgate-test; echo d > /etc/toolgate-test; cat file`,
      sandbox,
    );
    expect(result.output).toMatch(/^a\n/);
    expect(result.output.match(/Read-only file system|No such file/g)).toHaveLength(3);
    expect(existsSync(join(root, 'file'))).toBe(true);
    expect(await readdir(home)).toEqual([]);
  });

  it('give a private temporary folder, which stays with the session', async () => {
    const sandbox = await make();
    const tmp = join(base, 'tmp');
    await mkdir(tmp);
    await run('echo kept > /tmp/note', sandbox, { tmp });
    expect((await run('cat /tmp/note; ls /tmp', sandbox, { tmp })).output).toContain('kept\n');
    expect((await run('cat /tmp/note', sandbox)).code).toBe(1);
    expect(existsSync('/tmp/note')).toBe(false);
  });

  it('hide what is hidden: neither read, nor listed, nor written, nor replaced', async () => {
    const sandbox = await make({ hidden: [join(root, 'conf', 'toolgate.yaml')] });
    await mkdir(join(root, 'conf'));
    await writeFile(join(root, 'conf', 'toolgate.yaml'), 'key: secret-1');
    await mkdir(join(home, '.ssh'));
    await writeFile(join(home, '.ssh', 'id_ed25519'), 'secret-2');
    await mkdir(join(base, 'store'));
    await writeFile(join(base, 'store', 'db'), 'secret-3');
    const script = `cat conf/toolgate.yaml '${home}/.ssh/id_ed25519' '${base}/store/db'; ls '${home}/.ssh';
      mv conf other && echo moved; rm -f conf/toolgate.yaml; echo x > conf/toolgate.yaml; grep -r secret- . '${home}'`;
    const result = await run(script, sandbox, { hidden: [join(base, 'store')], writable: [root, home] });
    expect(result.output).not.toMatch(/secret-\d|moved/);
  });

  it.each([
    ['hooks that are there', 'mkdir -p .git/hooks; echo old > .git/hooks/pre-commit; touch .git/config'],
    ['a folder of hooks without it', 'mkdir -p .git/hooks; touch .git/config'],
    ['no folder of hooks', 'mkdir -p .git; touch .git/config'],
    ['no configuration', 'mkdir -p .git/hooks'],
    ['no repository', 'true'],
  ])('keep hooks and configuration of Git from being written: with %s', async (_name, setup) => {
    const sandbox = await make();
    await new Promise<void>((resolve) => execFile('bash', ['-c', setup], { cwd: root }, () => resolve()));
    const before = existsSync(join(root, '.git', 'hooks', 'pre-commit'));
    const script = `mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit; echo evil >> .git/config; rm -rf .git/hooks;
      mv .git .git-old && mkdir -p .git/hooks && echo evil > .git/hooks/pre-commit; echo ../evil > .git/commondir; mkdir .vscode && echo evil > .vscode/tasks.json; true`;
    await run(script, sandbox);
    const left = await new Promise<string>((resolve) =>
      execFile('grep', ['-rl', '--exclude=*.set-aside', 'evil', root], (_error, stdout) => resolve(stdout)),
    );
    // Under no other name is it a hook, a configuration or a task of anything.
    expect(left.split('\n').filter((path) => path !== '' && !/\.set-aside|\.git-old/.test(path))).toEqual([]);
    expect(existsSync(join(root, '.git', 'hooks', 'pre-commit'))).toBe(before);
    expect(existsSync(join(root, '.vscode'))).toBe(false);
    expect(existsSync(join(root, '.git', 'commondir'))).toBe(false);
  });

  it('leave Git usable', async () => {
    const sandbox = await make();
    const git = 'git -c user.name=a -c user.email=a@example.com';
    await new Promise<void>((resolve) => execFile('git', ['init', '-q', root], () => resolve()));
    const result = await run(
      `echo a > a && git add a && ${git} commit -qm one && git status --short && git log --oneline`,
      sandbox,
    );
    expect(result.output).toMatch(/^[0-9a-f]+ one\n$/);
  });

  it('take their stand-ins away when the last command that shares them has ended', async () => {
    const sandbox = await make();
    const spec: SandboxSpec = { writable: [home], hidden: [], hosts: [], cwd: home };
    const first = await sandbox.wrap('true', spec);
    await mkdir(join(home, '.profile'));
    await sandbox.wrap('true', spec).then((second) => second.release());
    expect(await readdir(home)).toEqual(['.profile']);
    await first.release();
    expect(await readdir(home)).toEqual([]);
  });

  it.each([
    ['stays while it is what was written', () => {}, ['.npmrc']],
    [
      'is set aside once a command changed it',
      () => appendFile(join(root, '.npmrc'), 'evil'),
      ['.npmrc.set-aside'],
    ],
    [
      'is set aside where a command gave it a second name',
      () => link(join(root, '.npmrc'), join(root, 'second')),
      ['.npmrc.set-aside', 'second'],
    ],
  ])('leave an approved file, which %s', async (_name, change, left) => {
    const sandbox = await make();
    const wrapped = await sandbox.wrap('true', { writable: [root], hidden: [], hosts: [], cwd: root });
    await writeApproved(sandbox, '.npmrc');
    await change();
    await wrapped.look();
    expect((await readdir(root)).sort()).toEqual(left);
    await wrapped.release();
  });

  it('leave an approved file in a new folder, and set aside what else a command put there', async () => {
    const sandbox = await make();
    const wrapped = await sandbox.wrap('true', { writable: [root], hidden: [], hosts: [], cwd: root });
    await mkdir(join(root, '.vscode'));
    await writeFile(join(root, '.vscode', 'tasks.json'), 'evil');
    await writeApproved(sandbox, '.vscode/settings.json');
    expect(await wrapped.look()).toMatchObject([{ path: join(root, '.vscode', 'tasks.json') }]);
    expect(await wrapped.look()).toEqual([]);
    expect((await readdir(join(root, '.vscode'))).sort()).toEqual(['settings.json', 'tasks.json.set-aside']);
    await wrapped.release();
  });

  describe.each(['.npmrc', '.git/config'])('with a background job, and %s replaced with approval', (name) => {
    let job: ChildProcessByStdio<Writable, Readable, null>;
    let wrapped: WrappedCommand;
    const startJob = async (): Promise<Sandbox> => {
      await mkdir(join(root, '.git'));
      await writeFile(join(root, name), 'before');
      const sandbox = await make({ pending: join(base, 'commands') });
      const script = `echo ready; read -r _; echo evil > ${name}; true`;
      wrapped = await sandbox.wrap(script, { writable: [root], hidden: [], hosts: [], cwd: root });
      const env = { PATH: process.env['PATH'] ?? '', HOME: home, ...wrapped.env };
      job = spawn(wrapped.file, [...wrapped.args], { cwd: root, env, stdio: ['pipe', 'pipe', 'ignore'] });
      await once(job.stdout, 'data');
      return sandbox;
    };
    /** As the tools for files do: a new file is renamed over the old one. */
    const replace = (sandbox: Sandbox): Promise<void> => {
      const [path, bytes] = [join(root, name), Buffer.from('approved')];
      return sandbox.writeApproved({ path, bytes }, async () => {
        await writeFile(`${path}.new`, bytes);
        await rename(`${path}.new`, path);
      });
    };
    const goOn = async (): Promise<void> => {
      job.stdin.end('\n');
      await once(job, 'close');
    };
    const read = (path: string): Promise<string> => readFile(join(root, path), 'utf8');

    it('set aside what the job makes of it', async () => {
      await replace(await startJob());
      await goOn();
      const path = join(root, name);
      expect(await wrapped.release()).toEqual([{ path, outcome: 'set-aside', keptAs: `${path}.set-aside` }]);
      expect(existsSync(path)).toBe(false);
      expect(await read(`${name}.set-aside`)).toBe('evil\n');
    });

    it('set it aside with the next gateway where this one was killed', async () => {
      await replace(await startJob());
      await goOn();
      const [record = ''] = await readdir(join(base, 'commands'));
      // No process has such a number.
      await rename(join(base, 'commands', record), join(base, 'commands', '999999999.1.ab.json'));
      const recovered: SetAside[] = [];
      await make({ pending: join(base, 'commands'), onRecovered: (files) => recovered.push(...files) });
      expect(recovered).toMatchObject([{ path: join(root, name), outcome: 'set-aside' }]);
      expect(await wrapped.release()).toEqual([]);
    });

    it('leave what was approved, until the job changes it back', async () => {
      await replace(await startJob());
      expect(await wrapped.look()).toEqual([]);
      expect(await read(name)).toBe('approved');
      await writeFile(join(root, name), 'before');
      expect(await wrapped.look()).toMatchObject([{ path: join(root, name), outcome: 'set-aside' }]);
      await goOn();
      await wrapped.release();
    });

    it('leave what was there where the write fails', async () => {
      const sandbox = await startJob();
      const failed = sandbox.writeApproved({ path: join(root, name), bytes: Buffer.from('approved') }, () =>
        Promise.reject(new Error('disk full')),
      );
      await expect(failed).rejects.toThrow('disk full');
      await goOn();
      expect(await wrapped.release()).toEqual([]);
      expect(await read(name)).toBe('before');
    });
  });

  it('tell once of what cannot be moved, however often they look', async () => {
    // With the suffix its name is longer than a file system takes.
    const path = join(root, 'x'.repeat(250));
    const sandbox = await make({ held: () => [path] });
    const wrapped = await sandbox.wrap('true', { writable: [root], hidden: [], hosts: [], cwd: root });
    await writeFile(path, 'evil');
    expect(await wrapped.look()).toEqual([{ path, outcome: 'left' }]);
    expect(await wrapped.look()).toEqual([]);
    expect(await wrapped.release()).toEqual([]);
  });

  it('show no processes of others, and let none be ended', async () => {
    const sandbox = await make();
    const other = spawn('sleep', ['60'], { stdio: 'ignore' });
    const result = await run(`kill -9 ${other.pid} && echo killed; ls /proc | grep -c '^[0-9]'`, sandbox);
    expect(result.output).not.toContain('killed\n');
    expect(Number(/^\d+$/m.exec(result.output)?.[0])).toBeLessThan(10);
    other.kill('SIGTERM');
    expect(await once(other, 'exit')).toEqual([null, 'SIGTERM']);
  });

  it('give no capabilities, and no way to take the walls down', async () => {
    const sandbox = await make();
    const result = await run(
      'grep CapEff /proc/self/status; mount -o remount,rw / && echo remounted; test -w /proc/sys/kernel/core_pattern && echo writable; test -w /proc/sysrq-trigger && echo writable',
      sandbox,
    );
    expect(result.output).toMatch(/CapEff:\s+0{16}\n/);
    expect(result.output).not.toMatch(/remounted|writable/);
  });

  it('hide the sockets of services', async () => {
    const sandbox = await make();
    expect(
      (
        await run(
          'ls -A /run | grep -vE "^(current-system|wrappers|opengl-driver|systemd|resolvconf)$" | wc -l',
          sandbox,
        )
      ).output.trim(),
    ).toBe('0');
  });
});

describe('network', () => {
  it('is closed, also to this machine, unless hosts are allowed', async () => {
    const server = createServer((_request, response) => response.end('reached'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const get = `curl -sS --max-time 5 http://127.0.0.1:${port}/`;
    const sandbox = await make();
    const closed = await run(get, sandbox);
    expect(closed.code).not.toBe(0);
    expect(closed.output).not.toContain('reached');
    const allowed = await run(`env -u no_proxy -u NO_PROXY ${get}; wait; echo waited`, sandbox, {
      hosts: [`127.0.0.1:${port}`],
    });
    expect(allowed.output).toBe('reachedwaited\n');
    const other = await run(`env -u no_proxy -u NO_PROXY ${get}`, sandbox, { hosts: ['example.com'] });
    expect(other.output).not.toContain('reached');
    await new Promise((resolve) => server.close(resolve));
  });
});
