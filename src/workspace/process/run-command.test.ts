import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { COMMAND_ID_VARIABLE } from './end-processes.js';
import { decodeOutput } from './output-buffer.js';
import { findProcesses } from './process-list.js';
import { type CommandOptions, type RunningCommand, runCommand } from './run-command.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolgate-command-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

const start = (script: string, more: Partial<CommandOptions> = {}): Promise<RunningCommand> =>
  runCommand({
    file: 'bash',
    args: ['-c', script],
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '' },
    folder,
    ...more,
  });

const printed = ({ output }: RunningCommand): string => decodeOutput(output.since(0)).before;
const left = ({ id }: RunningCommand): Promise<unknown[]> =>
  findProcesses({ variable: `${COMMAND_ID_VARIABLE}=${id}` });

/** Resolves once the command has printed `text`. */
const hasPrinted = (command: RunningCommand, text: string): Promise<void> =>
  new Promise((resolve) => {
    const look = (): void => {
      if (printed(command).includes(text)) resolve();
    };
    command.onChange(look);
    look();
  });

describe('runCommand', () => {
  it('gives both outputs in the order they were written, and the status', async () => {
    const command = await start('echo one; echo two >&2; echo three; exit 7');
    expect(await command.ended).toMatchObject({ kind: 'exited', code: 7, leftovers: false });
    expect(printed(command)).toBe('one\ntwo\nthree\n');
    expect(command.log).toBeUndefined();
  });

  it('lets a command open its own output by name', async () => {
    const command = await start('echo a > /dev/stdout; echo b > /dev/stderr');
    await command.ended;
    expect(printed(command)).toBe('a\nb\n');
  });

  it('has nothing to read and no terminal', async () => {
    const command = await start('cat; read -r line; echo "$?"; tty; echo x > /dev/tty || echo none');
    await command.ended;
    expect(printed(command)).toContain('1\nnot a tty\n');
    expect(printed(command)).toContain('none');
  });

  it('has the given environment and its mark, and nothing else', async () => {
    const command = await start('env');
    await command.ended;
    const names = printed(command)
      .trim()
      .split('\n')
      .map((line) => line.split('=')[0])
      .sort();
    expect(names).toEqual(['PATH', 'PWD', 'SHLVL', COMMAND_ID_VARIABLE, '_'].sort());
  });

  it('gives what was written to the extra descriptor, and leaves no file of it', async () => {
    const command = await start('printf told >&3');
    expect((await command.ended).captured).toBe('told');
  });

  it('says why a program could not be started', async () => {
    const command = await start('', { file: join(folder, 'none') });
    expect(await command.ended).toMatchObject({ kind: 'failed', message: expect.stringContaining('ENOENT') });
  });

  it('keeps a long output in a private file', async () => {
    const command = await start('seq 1 20000');
    await command.ended;
    const path = command.log?.path ?? '';
    const lines = (await readFile(path, 'utf8')).trim().split('\n');
    expect([lines.length, lines[0], lines.at(-1)]).toEqual([20000, '1', '20000']);
    expect(command.log?.complete).toBe(true);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it('stops the file at its limit, not the command', async () => {
    const command = await start('seq 1 20000; echo end', { limits: { logBytes: 1000, logAfterBytes: 10 } });
    expect(await command.ended).toMatchObject({ kind: 'exited', code: 0 });
    expect((await stat(command.log?.path ?? '')).size).toBe(1000);
    expect(command.log?.complete).toBe(false);
    expect(printed(command)).toContain('end');
  });

  it('asks politely first', async () => {
    const command = await start('trap "echo bye; exit 5" TERM; echo up; sleep 60 & wait');
    await hasPrinted(command, 'up');
    await command.stop();
    expect(await command.ended).toMatchObject({ kind: 'exited', code: 5 });
    expect(printed(command)).toContain('bye');
    expect(await left(command)).toEqual([]);
  });

  it('kills what does not listen', async () => {
    const command = await start('trap "" TERM; echo up; while :; do sleep 60; done', {
      limits: { graceMs: 50 },
    });
    await hasPrinted(command, 'up');
    await command.stop();
    expect(await command.ended).toMatchObject({ kind: 'killed', signal: 'SIGKILL' });
    expect(await left(command)).toEqual([]);
  });

  it('kills at once when told so', async () => {
    const command = await start('trap "echo bye" TERM; echo up; while :; do sleep 60; done');
    await hasPrinted(command, 'up');
    await command.kill();
    expect(await command.ended).toMatchObject({ kind: 'killed', signal: 'SIGKILL' });
    expect(printed(command)).not.toContain('bye');
  });

  it('ends even where it was stopped', async () => {
    const command = await start('echo up; kill -STOP $$');
    await hasPrinted(command, 'up');
    await command.stop();
    expect(await left(command)).toEqual([]);
  });

  it.each([
    ['in the background', 'sleep 60 & echo up'],
    ['in a session of its own', 'setsid sleep 60 & echo up'],
    ['after forking twice', '( ( setsid sleep 60 & ) & ); echo up'],
    ['deaf to hangups and without outputs', 'nohup setsid sleep 60 >/dev/null 2>&1 & echo up'],
    ['with an empty environment', 'env -i setsid sleep 60 & echo up'],
  ])('ends a child that is left %s', async (_name, script) => {
    const command = await start(script);
    expect(await command.ended).toMatchObject({ kind: 'exited', code: 0, leftovers: true });
    expect(printed(command)).toContain('up');
    expect(await left(command)).toEqual([]);
  });

  it('has ended only when the first process of its namespace has, which outlives the wrapper', async () => {
    const first = 'env -i setsid bash -c "exec >&- 2>&- 3>&- 5>&-; sleep 0.5; : > gone"';
    const status = `{ \\"child-pid\\": $! }`;
    const file = join(folder, 'wrapper');
    await writeFile(file, `#!/bin/bash\n${first} &\necho "${status}" >&$2\n`, { mode: 0o700 });
    const command = await start('', { file, isolated: true });
    expect(await command.ended).toMatchObject({ kind: 'exited', code: 0 });
    expect(await readdir(folder)).toContain('gone');
  });

  it('does not wait for a process that is not its own and holds the output', async () => {
    // Unmarked and not in the group: all that it has is the descriptor, which is then found.
    const command = await start('env -i setsid bash -c "sleep 60" & disown; echo up');
    await command.ended;
    expect(printed(command)).toBe('up\n');
  });

  it('goes on after its output was closed', async () => {
    const command = await start(`exec >&- 2>&-; echo done > '${folder}/file'; exit 3`);
    expect(await command.ended).toMatchObject({ kind: 'exited', code: 3 });
    expect(await readFile(join(folder, 'file'), 'utf8')).toBe('done\n');
  });
});
