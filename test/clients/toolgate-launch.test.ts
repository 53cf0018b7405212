/** `toolgate codex`, `opencode`, `pi` and `qwen`, as a person types them who has set the program up for something else. */
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { DialectName } from '../../src/core/conversation.js';
import { TIMEOUT_MS } from '../faults/counts.js';
import { type GatewayProcess, runCommand } from '../support/gateway.js';
import { freePort, startUpstream } from '../support/scripted-upstream.js';
import { type CallPart, call } from '../support/wire.js';
import { clientProgram } from './programs.js';
import { ScriptedModel, say, use } from './scripted-model.js';
import { makeWorkspace, type Workspace } from './workspace.js';

interface Launched {
  command: string;
  /** As the tests know it, and whether Node 24 has to run it. */
  client: string;
  onNode?: true;
  /** Words behind `--`. */
  args(prompt: string): string[];
  /** A file of the person's, which leads elsewhere. */
  own: { path: string; content: string };
  env?: Readonly<Record<string, string>>;
  /** A call of its tool that runs a command. */
  run(command: string): CallPart;
  isAside?(instructions: string): boolean;
  /** Of the upstream, where it is not Chat Completions: a strict one would not take the client's own bytes. */
  dialect?: DialectName;
}

/** Nobody listens there. */
const ELSEWHERE = 'http://127.0.0.1:9/v1';

const LAUNCHED: readonly Launched[] = [
  {
    command: 'codex',
    client: 'Codex',
    args: (prompt) => ['exec', '--json', '--dangerously-bypass-approvals-and-sandbox', prompt],
    own: {
      path: '.codex/config.toml',
      content: [
        'model = "own-model"',
        'model_provider = "own"',
        '[model_providers.own]',
        'name = "own"',
        `base_url = "${ELSEWHERE}"`,
        '',
      ].join('\n'),
    },
    run: (command) => call('exec_command', { cmd: command }, 'call_1'),
  },
  {
    command: 'opencode',
    client: 'opencode',
    args: (prompt) => ['run', '--format=json', '--auto', prompt],
    own: {
      path: '.config/opencode/opencode.json',
      content: JSON.stringify({
        $schema: 'https://opencode.ai/config.json',
        model: 'own/own-model',
        autoupdate: false,
        provider: {
          own: {
            npm: '@ai-sdk/openai-compatible',
            options: { baseURL: ELSEWHERE, apiKey: 'own-secret' },
            models: { 'own-model': {} },
          },
        },
      }),
    },
    env: { OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_AUTOUPDATE: '1' },
    run: (command) => call('bash', { command, description: 'Runs a command' }, 'call_1'),
    isAside: (instructions) => instructions.includes('title generator'),
  },
  {
    command: 'pi',
    client: 'pi',
    onNode: true,
    args: (prompt) => ['--mode', 'json', '--print', '--offline', prompt],
    own: {
      path: '.pi/agent/models.json',
      content: JSON.stringify({
        providers: {
          toolgate: {
            baseUrl: ELSEWHERE,
            api: 'openai-completions',
            apiKey: 'own-secret',
            models: [{ id: 'own-model' }],
          },
        },
      }),
    },
    run: (command) => call('bash', { command }, 'call_1'),
  },
  {
    command: 'qwen',
    client: 'qwen-code',
    onNode: true,
    args: (prompt) => ['--output-format=stream-json', '--yolo', '--prompt', prompt],
    own: {
      path: '.qwen/settings.json',
      content: JSON.stringify({
        model: { name: 'own-model' },
        security: { auth: { selectedType: 'openai', apiKey: 'own-secret', baseUrl: ELSEWHERE } },
      }),
    },
    run: (command) => call('run_shell_command', { command, is_background: false }, 'call_1'),
    isAside: (instructions) => instructions.includes('acting as the managed memory extraction subagent'),
    dialect: 'anthropic-messages',
  },
];

/** The program under its own name, where a PATH finds it. */
async function install({ command, client, onNode }: Launched, { home }: Workspace): Promise<string> {
  const folder = join(home, 'bin');
  await mkdir(folder, { recursive: true });
  const node = onNode === true ? [clientProgram('Node 24')] : [];
  const words = [...node, clientProgram(client)].map((word) => `'${word}'`);
  await writeFile(join(folder, command), `#!/bin/sh\nexec ${words.join(' ')} "$@"\n`);
  await chmod(join(folder, command), 0o755);
  return folder;
}

const KEY = 'k-of-the-gateway';

async function open(launched: Launched) {
  const workspace = await makeWorkspace({ 'a.txt': 'alpha\n' });
  const own = join(workspace.home, launched.own.path);
  await mkdir(dirname(own), { recursive: true });
  await writeFile(own, launched.own.content);
  const model = new ScriptedModel(
    { 'Copy it': [use([launched.run('cp a.txt b.txt')]), say('Copied.')] },
    ({ instructions }) => (launched.isAside?.(instructions) === true ? say('A title') : undefined),
  );
  const upstream = await startUpstream(model.script);
  const config = {
    server: { port: await freePort(), keys: [{ key: KEY }] },
    upstreams: { scripted: upstream.config(launched.dialect ?? 'openai-chat') },
    models: {
      helper: { engine: 'native', upstream: 'scripted' },
      'gpt-first': { upstream: 'scripted', context_window: 200_000 },
      'gpt-second': { upstream: 'scripted' },
    },
  };
  const start = async (args: readonly string[], path: string): Promise<GatewayProcess> =>
    runCommand({
      folder: workspace.path,
      config,
      args: [launched.command, '--config', 'toolgate.yaml', ...args],
      env: {
        ...launched.env,
        HOME: workspace.home,
        TMPDIR: workspace.home,
        PATH: [path, process.env['PATH'] ?? ''].join(delimiter),
        OPENAI_API_KEY: 'own-secret',
      },
    });
  return { workspace, own, model, upstream, start };
}

describe.each(LAUNCHED.map((each) => [each.command, each] as const))('toolgate %s', (_, launched) => {
  it(
    'starts it on a model of the gateway, and leaves what the person has set up as it is',
    async () => {
      const { workspace, own, model, upstream, start } = await open(launched);
      const run = await start(['--', ...launched.args('Copy it')], await install(launched, workspace));
      const report = (): string => `${run.stdout.slice(-3000)}\n${run.stderr.slice(-3000)}`;
      const ended = await run.exited;
      expect(model.problems, report()).toEqual([]);
      expect(ended, report()).toEqual({ code: 0, signal: null });
      expect(await workspace.read('b.txt'), report()).toBe('alpha\n');
      expect(run.stdout).toContain('Copied.');
      const asked = new Set(model.played.map(({ seen }) => seen.model));
      expect([...asked]).toEqual(['gpt-first']);
      // The programs write into their own files themselves: a folder that is trusted, a version.
      const kept = await readFile(own, 'utf8');
      const { content } = launched.own;
      if (own.endsWith('.json')) expect(JSON.parse(kept)).toMatchObject(JSON.parse(content));
      else expect(kept.startsWith(content), kept).toBe(true);
      expect(kept).not.toMatch(/gpt-|k-of-/);
      expect(`${run.stdout}${run.stderr}`).not.toContain(KEY);
      expect(JSON.stringify(upstream.requests.map(({ headers }) => headers))).not.toMatch(/own-secret|k-of-/);
    },
    TIMEOUT_MS,
  );

  it('takes the model that the person names, and ends as the program does', async () => {
    const { workspace, start } = await open(launched);
    const folder = join(workspace.home, 'bin');
    await mkdir(folder);
    const program = join(folder, 'other');
    await writeFile(program, '#!/bin/sh\nprintf \'%s\\n\' "$@"; env\nexit 7\n');
    await chmod(program, 0o755);
    const named = ['--model', 'gpt-second', `--${launched.command}`, program, '--', 'last word'];
    const run = await start(named, folder);
    expect(await run.exited).toEqual({ code: 7, signal: null });
    expect(run.stdout).toContain('gpt-second');
    expect(run.stdout).toContain('last word\n');
  });

  it('says how to get it where it is not there', async () => {
    const { workspace, start } = await open(launched);
    const run = await start([`--${launched.command}`, workspace.at('nothing')], workspace.home);
    expect(await run.exited).toEqual({ code: 1, signal: null });
    expect(run.stderr).toMatch(/There is no program at .*\nInstall it with `npm install -g \S+`, or name/);
  });
});
