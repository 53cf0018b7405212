/** Commands that do everything to stay: none hangs the gateway, fills it up, or outlives its call. */
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createSandbox } from '../../src/sandbox/create-sandbox.js';
import type { Sandbox } from '../../src/sandbox/sandbox.js';
import { createBashTool } from '../../src/tools/bash/bash.js';
import { createTestContext, runTool, type TestContext, type ToolRun } from '../support/tool-context.js';
import { count, TIMEOUT_MS } from './counts.js';

const bashTool = createBashTool({});

const MEGABYTE = 1024 * 1024;
const PRINTED = count(70, 1024) * MEGABYTE;
/** Of memory that the gateway may take for an output of any length; most of it is not yet collected. */
const MAX_GROWTH = 150 * MEGABYTE;
const MAX_DISK = 65 * MEGABYTE;
const LONG_MS = 600_000;

const WAYS = [
  { name: 'without a sandbox', mode: 'off' },
  { name: 'in the sandbox', mode: 'required' },
] as const;

/** Told from all other processes by their arguments, whatever has become of their environment. */
const token = (): string => `7${randomBytes(4).readUInt32BE(0)}`;

function processesWith(text: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
        return command.includes(text) ? [command.replaceAll('\0', ' ')] : [];
      } catch {
        return [];
      }
    });
}

async function diskUse(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true });
  return names.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
}

describe.each(WAYS)('a command $name', ({ mode }) => {
  const open: { sandbox: Sandbox; context: TestContext }[] = [];
  afterEach(async () => {
    vi.useRealTimers();
    for (const { sandbox, context } of open.splice(0)) {
      await context.close();
      await sandbox.close();
    }
  });

  async function run(command: string): Promise<ToolRun & { context: TestContext }> {
    const sandbox = await createSandbox({ mode });
    const context = await createTestContext({ sandbox });
    open.push({ sandbox, context });
    return { ...(await runTool(bashTool, { command }, context)), context };
  }

  /** Its time is over once it has printed, `pieces` times. */
  async function runOutOfTime(command: string, pieces = 1): Promise<ToolRun & { context: TestContext }> {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true });
    const sandbox = await createSandbox({ mode });
    const context = await createTestContext({ sandbox });
    open.push({ sandbox, context });
    let seen = 0;
    const counted: typeof bashTool = {
      ...bashTool,
      async *call(input, own) {
        for await (const item of bashTool.call(input, own)) {
          seen += 1;
          if (seen === pieces) await vi.advanceTimersByTimeAsync(LONG_MS);
          yield item;
        }
      },
    };
    return { ...(await runTool(counted, { command, timeout: LONG_MS }, context)), context };
  }

  it.each([
    ['puts a child in the background', (id: string) => `sleep ${id} & echo done`],
    ['starts a session of its own', (id: string) => `setsid sleep ${id} & echo done`],
    ['forks twice', (id: string) => `( ( setsid sleep ${id} & ) & ); echo done`],
    ['ignores hangups', (id: string) => `nohup setsid sleep ${id} >/dev/null 2>&1 & echo done`],
    ['clears its environment', (id: string) => `env -i setsid sleep ${id} & echo done`],
    [
      'leaves a grandchild that holds the output',
      (id: string) => `bash -c 'sleep ${id} & sleep ${id} & disown -a'; echo done`,
    ],
    [
      'makes a child that ignores SIGTERM',
      (id: string) => `setsid bash -c 'trap "" TERM; sleep ${id}; sleep ${id}' & echo done`,
    ],
    ['stops a child', (id: string) => `sleep ${id} & kill -STOP $!; echo done`],
    ['leaves many children', (id: string) => `for i in {1..60}; do setsid sleep ${id} & done; echo done`],
  ])('that %s leaves nothing behind', async (_name, script) => {
    const id = token();
    const { text, result } = await run(script(id));
    expect(text).toMatch(/^done/);
    expect(result.isError).toBe(false);
    expect(processesWith(id)).toEqual([]);
  });

  // Nothing tells these from other processes but the namespace: without one they cannot be found.
  if (mode === 'required') {
    it('that leaves many without a mark leaves nothing behind', async () => {
      const id = token();
      const child = `env -i setsid sleep ${id} <&- >&- 2>&- 3>&- 4>&-`;
      const { text } = await run(`for i in {1..60}; do ${child} & done; echo done`);
      expect(text).toMatch(/^done/);
      expect(processesWith(id)).toEqual([]);
    });
  }

  it.each([
    ['ignores SIGTERM', (id: string) => `trap '' TERM; echo up; while :; do sleep ${id}; done`],
    [
      'forks by the hundred',
      (id: string) => `for i in {1..300}; do (sleep ${id} &); done; echo up; sleep ${id}`,
    ],
    [
      'starts a new one for each that ends',
      (id: string) => `echo up; while :; do setsid sleep ${id} & wait; done`,
    ],
    ['closes its outputs and goes on', (id: string) => `echo up; exec >&- 2>&-; sleep ${id}`],
    ['becomes another program', (id: string) => `echo up; exec sleep ${id}`],
  ])(
    'that %s is ended with its time',
    async (_name, script) => {
      const id = token();
      const { text, result } = await runOutOfTime(script(id));
      expect(text).toMatch(/^up/);
      expect(text).toContain(`took longer than ${LONG_MS} ms`);
      expect(result.isError).toBe(true);
      expect(processesWith(id)).toEqual([]);
    },
    30_000,
  );

  it('that reads from its input finds the end of it', async () => {
    const { text } = await run(
      'cat; python3 -c "input()" 2>&1 | tail -1; head -c 1 | wc -c; read -r x < /dev/tty; echo end',
    );
    expect(text).toMatch(/end$/);
  });

  it('that is given up is killed at once', async () => {
    const id = token();
    const controller = new AbortController();
    const sandbox = await createSandbox({ mode });
    const context = await createTestContext({ sandbox, signal: controller.signal });
    open.push({ sandbox, context });
    const call = bashTool.call({ command: `trap '' TERM; echo up; sleep ${id}; sleep ${id}` }, context);
    const first = await call.next();
    expect(first.value).toMatchObject({ type: 'progress', content: 'up\n' });
    controller.abort();
    const last = await call.next();
    expect(last.value).toMatchObject({ type: 'result', isError: true });
    expect(processesWith(id)).toEqual([]);
    await call.return();
  });

  it('whose call is not followed to its end is ended', async () => {
    const id = token();
    const sandbox = await createSandbox({ mode });
    const context = await createTestContext({ sandbox });
    open.push({ sandbox, context });
    const call = bashTool.call({ command: `echo up; sleep ${id}` }, context);
    await call.next();
    await call.return();
    expect(processesWith(id)).toEqual([]);
  });

  it('in the background ends with its session', async () => {
    const id = token();
    const sandbox = await createSandbox({ mode });
    const context = await createTestContext({ sandbox });
    open.push({ sandbox, context });
    await runTool(
      bashTool,
      { command: `setsid sleep ${id} & sleep ${id}`, run_in_background: true },
      context,
    );
    await context.session.jobs.close();
    expect(processesWith(id)).toEqual([]);
  });

  it(
    `that prints ${PRINTED / MEGABYTE} MB fills neither memory nor disk`,
    async () => {
      const before = process.memoryUsage().rss;
      let most = 0;
      const sandbox = await createSandbox({ mode });
      const context = await createTestContext({ sandbox });
      open.push({ sandbox, context });
      const call = bashTool.call(
        { command: `head -c ${PRINTED} /dev/zero | tr '\\0' a; echo; echo end`, timeout: 600_000 },
        context,
      );
      let text = '';
      for await (const item of call) {
        most = Math.max(most, process.memoryUsage().rss - before);
        if (item.type === 'result') text = String(item.resultForAssistant);
      }
      expect(text).toMatch(/^aaa/);
      expect(text).toMatch(/end$/);
      expect(text.length).toBeLessThan(30_000);
      expect(text).toContain('has the first part');
      expect(most).toBeLessThan(MAX_GROWTH);
      expect(await diskUse(await context.session.scratch())).toBeLessThan(MAX_DISK);
    },
    TIMEOUT_MS * 3,
  );

  it(
    'that prints without end is ended with its time',
    async () => {
      const { text, context } = await runOutOfTime('yes', 5);
      expect(text).toMatch(/^y\ny\n/);
      expect(text).toContain(`took longer than ${LONG_MS} ms`);
      expect(await diskUse(await context.session.scratch())).toBeLessThan(MAX_DISK);
    },
    TIMEOUT_MS,
  );
});
