import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import {
  createTestContext,
  enablementOf,
  runTool,
  type TestContext,
  type TestContextOptions,
} from '../../../test/support/tool-context.js';
import { createSandbox } from '../../sandbox/create-sandbox.js';
import type { Sandbox } from '../../sandbox/sandbox.js';
import { writeTool } from '../files/write.js';
import { ToolError } from '../runtime/tool.js';
import { bashOutputTool } from './background.js';
import { createBashTool } from './bash.js';
import { BASH_LIMITS } from './limits.js';

const bash = createBashTool({});

const contexts: TestContext[] = [];
const sandboxes: Sandbox[] = [];
afterEach(async () => {
  for (const context of contexts.splice(0)) await context.close();
  for (const sandbox of sandboxes.splice(0)) await sandbox.close();
});

async function open(options: TestContextOptions = {}): Promise<TestContext> {
  const context = await createTestContext(options);
  contexts.push(context);
  return context;
}

async function walled(options: Parameters<typeof createSandbox>[0] = { mode: 'required' }): Promise<Sandbox> {
  const sandbox = await createSandbox(options);
  sandboxes.push(sandbox);
  return sandbox;
}

describe('Bash', () => {
  it('takes no fields that it does not have, as every other tool', () => {
    expect(bash.inputSchema?.safeParse({ command: 'ls', cwd: '/' }).success).toBe(false);
  });

  it('tells what it would do: one command, where it would run', async () => {
    const context = await open();
    const input = { command: 'npm test\nnpm run lint', description: 'Runs the tests' };
    expect(await bash.effects?.(input, context)).toEqual([
      { kind: 'command', command: input.command, cwd: context.root },
    ]);
    expect(await bash.describe(input, context)).toEqual({
      title: 'Run npm test ⏎ npm run lint',
      kind: 'command',
      paths: [context.root],
      command: input.command,
      detail: 'Runs the tests',
    });
  });

  it('has a title of one line, in no time, whatever the command', async () => {
    const context = await open();
    const titleOf = async (command: string) => (await bash.describe({ command }, context)).title;
    expect(await titleOf('  ls\n')).toBe('Run ls');
    expect(await titleOf('x'.repeat(121))).toBe(`Run ${'x'.repeat(119)}…`);
    expect(await titleOf(`a${' '.repeat(400_000)}b`)).toBe('Run a…');
  });

  it('shows what is printed while it is, each part once', async () => {
    const context = await open();
    const fifo = join(context.root, 'go');
    const call = bash.call({ command: `mkfifo go; printf 'mä'; cat go; echo h` }, context);
    expect((await call.next()).value).toEqual({ type: 'progress', content: 'mä' });
    await writeFile(fifo, 'second');
    const rest: string[] = [];
    for await (const item of call)
      rest.push(item.type === 'progress' ? item.content : String(item.resultForAssistant));
    expect(rest.at(-1)).toBe('mäsecondh');
    expect(rest.slice(0, -1).join('')).not.toContain('mä');
  });

  it('keeps colours for people', async () => {
    const context = await open();
    const { text, result } = await runTool(bash, { command: "printf '\\033[31mred\\033[0m'" }, context);
    expect(text).toBe('red');
    expect(result.data).toMatchObject({ output: '\u001b[31mred\u001b[0m', exitCode: 0 });
    expect(result.shown).toBe('\u001b[31mred\u001b[0m');
    expect((await runTool(bash, { command: 'echo plain' }, context)).result).not.toHaveProperty('shown');
  });

  it('shows people the same notes as the model, without the colour of the output', async () => {
    const context = await open();
    const { text, result } = await runTool(bash, { command: "printf '\\033[31mred'; exit 3" }, context);
    expect(text).toBe('red\n\n[Exit code 3]');
    expect(result.shown).toBe('\u001b[31mred\u001b[0m\n\n[Exit code 3]');
  });

  it('reads the colours of a background command as well, but for lines that are chosen', async () => {
    const context = await open();
    const started = "printf '\\033[32mgreen\\033[0m\\n'";
    await runTool(bash, { command: started, run_in_background: true }, context);
    const { text, result } = await runTool(bashOutputTool, { bash_id: 'bash_1', block: true }, context);
    expect(text).toContain('\n\ngreen');
    expect(result.shown).toBe(text.replace('green', '\u001b[32mgreen\u001b[0m'));
    await runTool(bash, { command: started, run_in_background: true }, context);
    const chosen = await runTool(
      bashOutputTool,
      { bash_id: 'bash_2', block: true, filter: 'green' },
      context,
    );
    expect(chosen.text).toContain('green');
    expect(chosen.result).not.toHaveProperty('shown');
  });

  it('keeps a long output in a file that only its owner can read', async () => {
    const context = await open();
    const { text, result } = await runTool(bash, { command: 'seq 1 20000' }, context);
    const path = /in (\S+\.log): Read it/.exec(text)?.[1] ?? '';
    expect(dirname(path)).toBe(await context.session.scratch());
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await readFile(path, 'utf8')).split('\n')).toHaveLength(20001);
    expect(text.length).toBeLessThan(30_000);
    expect(result.data).toMatchObject({ logPath: path });
  });

  it('passes no secret of the gateway', async () => {
    const env = { PATH: process.env['PATH'], LANG: 'de_DE.UTF-8', SECRET_KEY: 'sk-never' };
    const context = await open({ sandbox: await walled({ mode: 'off', env }) });
    const { text } = await runTool(bash, { command: 'env' }, context);
    expect(text).toContain('LANG=de_DE.UTF-8');
    expect(text).not.toContain('sk-never');
  });

  it('is off, with the reason, where there is no bash', async () => {
    expect(await enablementOf(createBashTool({ environment: { PATH: '/nowhere' } }))).toMatchObject({
      enabled: false,
    });
    expect(await enablementOf(bash)).toBe(true);
  });

  it('is killed when the call is given up before it started', async () => {
    const context = await open({ signal: AbortSignal.abort() });
    await expect(runTool(bash, { command: 'touch made' }, context)).rejects.toThrow();
    expect(existsSync(join(context.root, 'made'))).toBe(false);
  });

  it('says what a background command was ended by when its time is over', async () => {
    const context = await open();
    await runTool(bash, { command: 'sleep 300', run_in_background: true, timeout: 200 }, context);
    const state = await context.session.jobs.get('bash_1')?.ended;
    expect(state).toMatchObject({ status: 'failed', message: expect.stringContaining('its time was over') });
  });

  it.each([
    [{ command: 'ls -la src' }, true],
    [{ command: 'cat a.txt' }, true],
    [{ command: 'cat a.txt', run_in_background: true }, false],
    [{ command: 'cat a.txt > b.txt' }, false],
    [{ command: 'ls; rm x' }, false],
    [{ command: 'ls $(rm x)' }, false],
    [{ command: 'ls\nrm x' }, false],
    [{ command: 'tail -f log' }, false],
    [{ command: 'git status' }, true],
    [{ command: 'git commit -m x' }, false],
    [{ command: 'ls --hyperlink=auto' }, false],
    [{ command: '' }, false],
  ])('says of %o that it only reads: %s', (input, readOnly) => {
    expect(bash.isReadOnly(input)).toBe(readOnly);
    expect(bash.isConcurrencySafe(input)).toBe(readOnly);
  });
});

describe.each(['off', 'required'] as const)(
  'a command that is longer than an argument, sandbox %s',
  (mode) => {
    const long = (command: string): string => {
      const padding = `# ${"it's all \\\\ padding".repeat(4)}\n`;
      return `${command}\n${padding.repeat(Math.ceil(200_000 / padding.length))}`;
    };

    it.each([
      ['its output and status', 'echo out; echo err >&2; (exit 3)'],
      ['where it ended', 'mkdir -p a/b && cd a/b'],
      ['that it left', 'cd /tmp; exit 7'],
      ['nothing to read', 'cat; read -r line; echo "$? [$line]"'],
      ['its name and arguments', 'echo "$0 $# $BASH_SUBSHELL $SHLVL"; return 2>/dev/null; echo "$?"'],
      ['here documents and quotes', "cat <<'E'\n$HOME `x` \\ \"é😀\"\nE\nprintf '%s\\n' 'a\nb'"],
      ['its own lines in messages', 'true\nno-such-program\necho "$LINENO"'],
      ['what is wrong with it', 'echo one\necho (\n'],
      ['its traps and jobs', "trap 'echo bye' EXIT; sleep 300 & echo on"],
      ['descriptors of its own', 'exec 4>four; echo x >&4; cat four; ls /proc/self/fd | wc -l'],
    ])('keeps %s', async (_, command) => {
      const sandbox = await walled({ mode });
      const [short, padded] = [await open({ sandbox }), await open({ sandbox })];
      const told = async (context: TestContext, text: string) => {
        const { text: said, result } = await runTool(bash, { command: text }, context);
        const folder = context.session.cwd.replace(context.root, '');
        return {
          said: said.replaceAll(context.root, ''),
          folder,
          isError: result.isError,
          data: result.data,
        };
      };
      const [{ data: a, ...expected }, { data: b, ...given }] = [
        await told(short, command),
        await told(padded, long(command)),
      ];
      expect(given).toEqual(expected);
      expect(Reflect.get(Object(b), 'exitCode')).toBe(Reflect.get(Object(a), 'exitCode'));
      expect((await readdir(await padded.session.scratch())).sort()).toEqual(
        (await readdir(await short.session.scratch())).sort(),
      );
    });

    it('runs to its last line, up to the limit', async () => {
      const context = await open({ sandbox: await walled({ mode }) });
      const line = ": 'line' \\\\\n";
      const most = line.repeat(Math.floor((BASH_LIMITS.commandBytes - 20) / line.length));
      expect((await runTool(bash, { command: `${most}echo the-end` }, context)).text).toBe('the-end');
      await expect(runTool(bash, { command: `${most}${most}` }, context)).rejects.toThrow(
        'longer than 512000',
      );
    });

    it('goes on in the background', async () => {
      const context = await open({ sandbox: await walled({ mode }) });
      await runTool(bash, { command: long('echo behind'), run_in_background: true }, context);
      const { text } = await runTool(bashOutputTool, { bash_id: 'bash_1', block: true }, context);
      expect(text).toContain('it ended with exit code 0');
      expect(text).toContain('behind');
    });
  },
);

describe('Bash in the sandbox', () => {
  it('writes in the workspace, and says what a refusal may come from', async () => {
    const context = await open({ sandbox: await walled() });
    const { text, result } = await runTool(
      bash,
      { command: 'echo x > own.txt; echo y > /usr/toolgate-x' },
      context,
    );
    expect(text).toMatch(/Read-only file system.*Exit code 1.*sandbox.*workspace/s);
    expect(result.data).toMatchObject({ sandboxed: true });
    expect(await readFile(join(context.root, 'own.txt'), 'utf8')).toBe('x\n');
  });

  it('says so when the network is what is missing', async () => {
    const context = await open({ sandbox: await walled() });
    const { text } = await runTool(bash, { command: 'curl -sS --max-time 5 http://example.com' }, context);
    expect(text).toMatch(/sandbox.*no network/s);
  });

  it('says nothing of it when a command succeeds', async () => {
    const context = await open({ sandbox: await walled() });
    const { text } = await runTool(bash, { command: 'echo Permission denied' }, context);
    expect(text).toBe('Permission denied');
  });

  it('keeps the folder and a temporary folder between commands', async () => {
    const context = await open({ sandbox: await walled() });
    await runTool(bash, { command: 'mkdir a && cd a && echo kept > /tmp/note' }, context);
    const { text } = await runTool(bash, { command: 'pwd; cat /tmp/note' }, context);
    expect(text).toBe(`${join(context.root, 'a')}\nkept`);
  });

  it('leaves no stand-ins in the workspace', async () => {
    const context = await open({ sandbox: await walled() });
    await runTool(bash, { command: 'true' }, context);
    expect(existsSync(join(context.root, '.git'))).toBe(false);
    expect(existsSync(join(context.root, '.vscode'))).toBe(false);
  });

  it('keeps scripts from reading what rules deny, and shows the rest', async () => {
    const context = await open();
    await mkdir(join(context.root, 'secrets'));
    await writeFile(join(context.root, '.env'), 'KEY=hidden-1');
    await writeFile(join(context.root, 'secrets', 'a'), 'hidden-2');
    await writeFile(join(context.root, 'open'), 'shown');
    const hidden = async () => [join(context.root, '.env'), join(context.root, 'secrets')];
    const read = `node -e 'process.stdout.write(require("fs").readFileSync(".env"))'; dd if=.env; cat secrets/a; find . -type f -exec cat {} +`;
    const { text } = await runTool(bash, { command: read }, { ...context, hidden, sandbox: await walled() });
    expect(text).toContain('shown');
    expect(text).not.toMatch(/hidden-\d/);
  });

  it('says what a command should not have made, also of one in the background', async () => {
    const context = await open({ sandbox: await walled() });
    const { text } = await runTool(bash, { command: 'echo evil > .npmrc; echo fine > a' }, context);
    expect(text).toContain(
      `${join(context.root, '.npmrc')} is now ${join(context.root, '.npmrc.set-aside')}`,
    );
    expect(existsSync(join(context.root, '.npmrc'))).toBe(false);
    expect(await readFile(join(context.root, 'a'), 'utf8')).toBe('fine\n');
    await runTool(bash, { command: 'echo evil > .npmrc; echo up', run_in_background: true }, context);
    const job = context.session.jobs.get('bash_1');
    await job?.ended;
    expect((await job?.readNew())?.text).toMatch(/^up\n\n\[.*\.npmrc\.set-aside-2/);
    expect((await job?.readNew())?.text).toBe('');
  });

  it('leaves what a tool wrote with approval while a command runs in the background', async () => {
    const context = await open({ sandbox: await walled() });
    const command = 'while [ ! -e .npmrc ]; do sleep 0.05; done; echo evil > .yarnrc';
    await runTool(bash, { command, run_in_background: true }, context);
    const path = join(context.root, '.npmrc');
    await runTool(writeTool, { file_path: path, content: 'save-exact=true\n' }, context);
    const job = context.session.jobs.get('bash_1');
    await job?.ended;
    expect((await readdir(context.root)).sort()).toEqual(['.npmrc', '.yarnrc.set-aside']);
    expect(await readFile(path, 'utf8')).toBe('save-exact=true\n');
    expect((await job?.readNew())?.text).not.toContain('.npmrc');
  });

  it('tells of children that a command left, though they ended with it', async () => {
    const context = await open({ sandbox: await walled() });
    const { text } = await runTool(bash, { command: 'sleep 300 & echo up' }, context);
    expect(text).toContain('Processes that the command left running were ended');
  });

  it('is not left on request', async () => {
    const context = await open({ sandbox: await walled({ mode: 'auto' }) });
    const refused = runTool(bash, { command: 'true', dangerouslyDisableSandbox: true }, context);
    await expect(refused).rejects.toThrow('not allowed to leave the sandbox');
    const free = await open();
    await expect(
      runTool(bash, { command: 'true', dangerouslyDisableSandbox: true }, free),
    ).resolves.toBeDefined();
  });

  it('is refused where there must be a sandbox and is none', async () => {
    const context = await open({ sandbox: await walled({ mode: 'required', env: { PATH: '/nowhere' } }) });
    const refused = runTool(bash, { command: 'touch made' }, context);
    await expect(refused).rejects.toBeInstanceOf(ToolError);
    await expect(refused).rejects.toThrow('not run');
    expect(existsSync(join(context.root, 'made'))).toBe(false);
  });

  it('hides what the gateway hides', async () => {
    const context = await open();
    await mkdir(join(context.root, '.toolgate'));
    await writeFile(join(context.root, '.toolgate', 'toolgate.db'), 'secret');
    const sandbox = await walled({ mode: 'required', hidden: [join(context.root, '.toolgate')] });
    const { text } = await runTool(
      bash,
      { command: 'cat .toolgate/toolgate.db; grep -r secret . || echo none' },
      { ...context, sandbox },
    );
    expect(text).not.toMatch(/secret$/m);
  });
});
