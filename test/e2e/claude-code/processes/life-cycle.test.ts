import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../../src/core/errors.js';
import type { ClaudeProcess } from '../../../../src/engines/claude-code/processes/claude-processes.js';
import { ADD_COMMAND } from '../../../../src/engines/claude-code/processes/load-sdk.js';
import { reapFolders, rootFolder } from '../../../../src/engines/claude-code/processes/process-folder.js';
import { incomingMessage } from '../../../../src/engines/claude-code/processes/transcript-entries.js';
import { findProcesses, isAlive, readProcess } from '../../../../src/workspace/process/process-list.js';
import { bundleForChild } from '../../../support/child-bundle.js';
import { type Bench, createBench, readTo, say, user } from '../../../support/claude-processes-bench.js';
import { closeAfterTest, tempFolder } from '../../../support/cleanup.js';
import { allGone, allProcesses, descendants, isClaudeCode } from '../../../support/processes.js';
import { inDialect } from '../../../support/scripted-answers.js';
import { startUpstream } from '../../../support/scripted-upstream.js';
import { until } from '../../../support/until.js';

/** Holds on to nothing of its parent: no terminal, no group, no output. */
const STUBBORN =
  'setsid sh -c "trap : TERM HUP INT; while :; do sleep 60; done" >/dev/null 2>&1 & echo $! > PID; wait';

const callsBash = inDialect({
  parts: [{ type: 'call', id: 'toolu_1', name: 'Bash', arguments: JSON.stringify({ command: STUBBORN }) }],
});

/** Resolves when the process that the command leaves behind is there. */
async function whenStubborn(of: number) {
  return until(() => {
    const all = descendants(of);
    return all.some(({ command }) => command.startsWith('sleep 60')) && all;
  });
}

const rejection = (opened: Promise<ClaudeProcess>): Promise<unknown> =>
  opened.then(
    () => undefined,
    (error: unknown) => error,
  );

async function expectNothingLeft(bench: Bench): Promise<void> {
  expect(await bench.folders()).toEqual([]);
  expect(descendants(process.pid).filter(isClaudeCode)).toEqual([]);
}

describe('close', () => {
  it('ends a process in the middle of a command, with all that the command started', async () => {
    const bench = await createBench({ script: callsBash });
    const opened = await bench.open();
    opened.send(incomingMessage([user('go')]).message);
    void readTo(opened, 'result').catch(() => undefined);
    const started = await whenStubborn(opened.pid);
    await opened.close();
    expect(started.filter(isAlive)).toEqual([]);
    await expectNothingLeft(bench);
  });

  it('of one that does not come up in time is seen to, and why is said', async () => {
    const bench = await createBench({ startMs: 1 });
    const error = await rejection(bench.open());
    expect(error).toBeInstanceOf(GatewayError);
    expect(error).toMatchObject({ code: 'unavailable', retryable: true });
    expect(String(error)).toContain('did not come up within 0.001 seconds');
    await expectNothingLeft(bench);
  });

  it('of all ends conversations and spares, and refuses new ones', async () => {
    const bench = await createBench({ spares: 1 });
    bench.processes.prepare(bench.profile);
    const history = [user('a'), { ...user('b'), role: 'assistant' as const }];
    await bench.open({ history });
    expect(await bench.folders()).toHaveLength(2);
    await bench.processes.close();
    await expectNothingLeft(bench);
    expect(await rejection(bench.open())).toMatchObject({ code: 'unavailable' });
  });
});

describe('a spare that nobody takes', () => {
  it('is let go after a while', async () => {
    const bench = await createBench({ spares: 1, spareIdleMs: 1 });
    bench.processes.prepare(bench.profile);
    await until(async () => (await bench.folders()).length > 0);
    await until(async () => (await bench.folders()).length === 0);
    await expectNothingLeft(bench);
  });

  it('makes room for the spares of models that were used later', async () => {
    const bench = await createBench({ spares: 1 });
    for (const model of ['one', 'two', 'three']) bench.processes.prepare({ ...bench.profile, model });
    const opened = await Promise.all(
      ['one', 'three'].map((model) => bench.open({ profile: { ...bench.profile, model } })),
    );
    expect(opened.map(({ fromSpare: warm }) => warm)).toEqual([false, true]);
  });
});

describe('a process that is killed', () => {
  it('leaves no socket behind where its folder has a long path', async () => {
    const { path } = await tempFolder();
    const bench = await createBench({ stateDir: join(path, 'long'.repeat(30)) });
    const opened = await bench.open();
    const sockets = () =>
      ['/tmp/cc-socks', `/tmp/cc-socks-${process.getuid?.()}`]
        .map((folder) => join(folder, `${opened.pid}.sock`))
        .filter((file) => existsSync(file));
    await until(() => sockets().length === 1);
    process.kill(opened.pid, 'SIGKILL');
    await opened.exited;
    expect(sockets()).toEqual([]);
  });

  it('ends its messages and says how it ended', async () => {
    const bench = await createBench();
    const opened = await bench.open();
    await say(opened, user('hello'));
    process.kill(opened.pid, 'SIGKILL');
    while ((await opened.messages.next()).done !== true);
    expect(await opened.exited).toMatchObject({ code: null, signal: 'SIGKILL' });
    await expectNothingLeft(bench);
  });
});

describe('open', () => {
  it('says that the folder is missing, and leaves nothing', async () => {
    const bench = await createBench();
    const profile = { ...bench.profile, cwd: join(bench.profile.cwd, 'absent') };
    const error = await rejection(bench.open({ profile }));
    expect(error).toBeInstanceOf(GatewayError);
    expect(error).toMatchObject({ code: 'unavailable', message: expect.stringContaining(profile.cwd) });
    await expectNothingLeft(bench);
  });

  it('shows what Claude Code says when it does not come up', async () => {
    const bench = await createBench({
      loadSdk: async () => {
        const sdk = await import('@anthropic-ai/claude-agent-sdk');
        const extraArgs = { 'no-such-option': null };
        return {
          query: ({ prompt, options }) => sdk.query({ prompt, options: { ...options, extraArgs } }),
        };
      },
    });
    expect(await rejection(bench.open())).toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('--no-such-option'),
    });
    await expectNothingLeft(bench);
  });

  it('says how to get the SDK where it is absent, and tries again the next time', async () => {
    let tries = 0;
    const bench = await createBench({
      loadSdk: async () => {
        tries += 1;
        throw new GatewayError('unavailable', `Run: ${ADD_COMMAND}`);
      },
    });
    await rejection(bench.open());
    expect(await rejection(bench.open())).toMatchObject({ message: `Run: ${ADD_COMMAND}` });
    expect(tries).toBe(2);
    await expectNothingLeft(bench);
  });

  it('that is aborted leaves nothing', async () => {
    const bench = await createBench();
    const reason = new Error('gone');
    const early = new AbortController();
    early.abort(reason);
    expect(await rejection(bench.open({ signal: early.signal }))).toBe(reason);
    const late = new AbortController();
    const opened = rejection(bench.open({ signal: late.signal }));
    while (descendants(process.pid).filter(isClaudeCode).length === 0) await new Promise(setImmediate);
    late.abort(reason);
    expect(await opened).toBe(reason);
    await expectNothingLeft(bench);
  });
});

describe('a gateway that was killed', () => {
  it('leaves nothing that the next one does not clear up, commands included', async () => {
    const upstream = await startUpstream(callsBash);
    const { path } = await tempFolder();
    const stateDir = join(path, 'state');
    const cwd = join(path, 'work');
    await mkdir(cwd);
    const gateway = await startGateway(path, { stateDir, cwd, baseUrl: upstream.url });
    const started = await whenStubborn(gateway.claude);
    const claude = allProcesses().filter(({ pid }) => pid === gateway.claude);
    gateway.child.kill('SIGKILL');
    await once(gateway.child, 'exit');
    await Promise.all([reapFolders(stateDir), allGone(claude)]);
    expect([...started, ...claude].filter(isAlive)).toEqual([]);
    const bench = await createBench({ stateDir });
    expect(await bench.folders()).toEqual([]);
  });
});

interface KilledGateway {
  child: ChildProcess;
  claude: number;
}

/** A process of its own that has a conversation with Claude Code, in the middle of a command. */
async function startGateway(
  folder: string,
  place: { stateDir: string; cwd: string; baseUrl: string },
): Promise<KilledGateway> {
  const entry = join(folder, 'gateway.ts');
  const source = fileURLToPath(
    new URL('../../../../src/engines/claude-code/processes/create-claude-processes.ts', import.meta.url),
  );
  await writeFile(entry, gatewaySource(source, place));
  await bundleForChild(entry, join(folder, 'gateway.mjs'));
  const child = spawn(process.execPath, [join(folder, 'gateway.mjs')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  closeAfterTest(() => child.kill('SIGKILL'));
  const [pid]: unknown[] = await once(createInterface(child.stdout), 'line');
  return { child, claude: Number(pid) };
}

const gatewaySource = (source: string, place: { stateDir: string; cwd: string; baseUrl: string }): string => `
  import { createClaudeProcesses } from ${JSON.stringify(source)};
  const { stateDir, cwd, baseUrl } = ${JSON.stringify(place)};
  const silent = () => undefined;
  const log = { debug: silent, info: silent, warn: silent, error: silent };
  const sdk = ${JSON.stringify(import.meta.resolve('@anthropic-ai/claude-agent-sdk'))};
  const processes = createClaudeProcesses({ stateDir, log, spares: 0, loadSdk: () => import(sdk) });
  const nothing = async () => ({});
  const opened = await processes.open({
    profile: { cwd, baseUrl, model: 'claude-sonnet-5', tools: ['Bash'] },
    system: { mode: 'append', text: '' },
    servers: {},
    canUseTool: async (name, input) => ({ behavior: 'allow', updatedInput: input }),
    hooks: { preToolUse: nothing, postToolUse: nothing, postToolUseFailure: nothing },
    history: [],
    signal: new AbortController().signal,
  });
  console.log(opened.pid);
  opened.send({ type: 'user', message: { role: 'user', content: 'go' }, parent_tool_use_id: null });
  for (;;) if ((await opened.messages.next()).done) break;
`;

describe('clearing up', () => {
  const note = async (stateDir: string, name: string, value: object): Promise<void> => {
    await mkdir(join(rootFolder(stateDir), name), { recursive: true });
    await writeFile(join(rootFolder(stateDir), name, 'process.json'), JSON.stringify(value));
  };
  const self = { pid: process.pid, startTime: readProcess(process.pid)?.startTime };
  const dead = { pid: process.pid, startTime: '1' };

  it('leaves alone what belongs to a gateway that runs, here or on another machine', async () => {
    const { path } = await tempFolder();
    await note(path, 'mine', { host: hostname(), gateway: self });
    await note(path, 'elsewhere', { host: 'another', gateway: dead });
    expect(await reapFolders(path)).toBe(0);
  });

  it('never touches a process that has got the number of one that is gone', async () => {
    const { path } = await tempFolder();
    const bystander = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' });
    closeAfterTest(() => bystander.kill('SIGKILL'));
    await note(path, 'old', {
      host: hostname(),
      gateway: dead,
      process: { pid: bystander.pid, startTime: '1' },
    });
    expect(await reapFolders(path)).toBe(1);
    expect(bystander.exitCode).toBeNull();
    expect(await findProcesses({ variable: 'TOOLGATE_CLAUDE_ID=old' })).toEqual([]);
    expect(readProcess(bystander.pid ?? 0)?.state).not.toBe('Z');
  });
});
