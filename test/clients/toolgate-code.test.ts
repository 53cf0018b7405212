/** `toolgate code`, as a person types it. */
import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import { closeAfterTest } from '../support/cleanup.js';
import { type GatewayProcess, runCommand, startGatewayProcess } from '../support/gateway.js';
import { freePort, type ScriptedUpstream, startUpstream } from '../support/scripted-upstream.js';
import { isRecord, type JsonRecord } from '../support/violation.js';
import { call } from '../support/wire.js';
import { clientProgram } from './programs.js';
import { type Aside, type Conversations, ScriptedModel, say, use } from './scripted-model.js';
import { makeWorkspace, type Workspace } from './workspace.js';

interface Setting {
  workspace: Workspace;
  model: ScriptedModel;
  upstream: ScriptedUpstream;
  port: number;
  config: JsonRecord;
}

/** A configuration on a port where nobody listens yet. */
async function makeSetting(conversations: Conversations, models?: object, aside?: Aside): Promise<Setting> {
  const workspace = await makeWorkspace({ 'a.txt': 'alpha\n' });
  const model = new ScriptedModel(conversations, aside);
  const upstream = await startUpstream(model.script);
  const port = await freePort();
  const config = {
    server: { port },
    upstreams: { scripted: upstream.config('openai-chat') },
    models: models ?? { 'claude-*': { upstream: 'scripted', model: 'gpt-scripted' } },
  };
  return { workspace, model, upstream, port, config };
}

/** Credentials of the person's own, which must stay where they are. */
const OWN_ENVIRONMENT = {
  ANTHROPIC_API_KEY: 'own-secret',
  ANTHROPIC_BASE_URL: 'https://api.anthropic.com',
  CLAUDE_CODE_USE_BEDROCK: '1',
};

const runCode = (
  { workspace, config }: Setting,
  args: readonly string[],
  program = clientProgram('Claude Code'),
): Promise<GatewayProcess> =>
  runCommand({
    folder: workspace.path,
    config,
    args: ['code', '--config', 'toolgate.yaml', '--claude', program, '--', ...args],
    env: { ...OWN_ENVIRONMENT, HOME: workspace.home, TMPDIR: workspace.home },
  });

const asked = (prompt: string): string[] => [
  '-p',
  prompt,
  '--output-format',
  'json',
  '--allowedTools',
  'Bash',
];

const answerOf = ({ stdout }: GatewayProcess): unknown => {
  const printed: unknown = JSON.parse(stdout);
  return isRecord(printed) ? printed['result'] : undefined;
};

const isListening = (port: number): Promise<boolean> =>
  fetch(`http://127.0.0.1:${port}/healthz`).then(
    ({ ok }) => ok,
    () => false,
  );

const COPY: Conversations = {
  'Copy it': [
    use([call('Bash', { command: 'cp a.txt b.txt', description: 'Copy' }, 'call_1')]),
    say('Copied.'),
  ],
};

describe('toolgate code', () => {
  it('starts a gateway for as long as Claude Code runs', async () => {
    const setting = await makeSetting(COPY);
    const run = await runCode(setting, asked('Copy it'));
    expect(await run.exited, run.stderr).toEqual({ code: 0, signal: null });
    expect(answerOf(run)).toBe('Copied.');
    expect(await setting.workspace.read('b.txt')).toBe('alpha\n');
    expect(setting.model.problems).toEqual([]);
    expect(setting.model.order).toEqual(['Copy it#1', 'Copy it#2']);
    for (const { headers } of setting.upstream.requests)
      expect(headers).toMatchObject({ authorization: 'Bearer upstream-secret' });
    expect(await isListening(setting.port)).toBe(false);
  });

  it('uses the gateway that runs already, and leaves it running', async () => {
    const setting = await makeSetting(COPY);
    const gateway = await startGatewayProcess({
      folder: setting.workspace.path,
      config: setting.config,
      args: ['start', '--config', 'toolgate.yaml', '--log-level', 'silent'],
    });
    const run = await runCode(setting, asked('Copy it'));
    expect(await run.exited, run.stderr).toEqual({ code: 0, signal: null });
    expect(answerOf(run)).toBe('Copied.');
    expect(await isListening(setting.port)).toBe(true);
    await gateway.close();
  });

  it('asks for a model that there is where no claude name is configured', async () => {
    const setting = await makeSetting(
      { 'Say hello': [say('Hello.')] },
      { 'gpt-5.4': { upstream: 'scripted' } },
    );
    const run = await runCode(setting, asked('Say hello'));
    expect(await run.exited, run.stderr).toEqual({ code: 0, signal: null });
    expect(setting.model.played.map(({ seen }) => seen.model)).toEqual(['gpt-5.4']);
  });

  it.each([
    ['lets run', '0', 'alpha'],
    ['stops', '90', undefined],
  ])('has auto mode on a model of another provider, which %s what it checks', async (_, severity, copy) => {
    const checks: string[] = [];
    const command = `node -e "fs.writeFileSync('b.txt', 'alpha')"`;
    const steps = [use([call('Bash', { command, description: 'Write' }, 'call_1')]), say('Done.')];
    const setting = await makeSetting({ 'Write it': steps }, undefined, ({ recorded: { text } }) => {
      if (!text.includes('You are a security monitor')) return undefined;
      checks.push(text);
      return say(`<severity>${severity}</severity>`);
    });
    const args = ['-p', 'Write it', '--output-format', 'json', '--permission-mode', 'auto'];
    const run = await runCode(setting, args);
    expect(await run.exited, run.stderr).toEqual({ code: 0, signal: null });
    expect(setting.model.problems).toEqual([]);
    expect(checks.length).toBeGreaterThan(0);
    expect(checks[0]).toContain('writeFileSync');
    expect(await setting.workspace.read('b.txt').catch(() => undefined)).toBe(copy);
  });

  it('passes the exit code of Claude Code on', async () => {
    const setting = await makeSetting({ 'Fail please': [] });
    const run = await runCode(setting, asked('Fail please'));
    expect(await run.exited).toEqual({ code: 1, signal: null });
    expect(run.stdout).toContain('there is no step 1');
  });

  it.each([
    ['exit 7', 7],
    ['kill -TERM $$', 143],
  ])('passes on how any program ends: %s', async (script, code) => {
    const setting = await makeSetting({});
    const run = await runCode(setting, ['-c', script], '/bin/sh');
    expect(await run.exited, run.stderr).toEqual({ code, signal: null });
  });

  it('gives it an environment that leads nowhere but to the gateway', async () => {
    const setting = await makeSetting({});
    const run = await runCode(setting, ['-c', 'env'], '/bin/sh');
    await run.exited;
    const { stdout } = run;
    expect(stdout).toContain(`ANTHROPIC_BASE_URL=http://127.0.0.1:${setting.port}\n`);
    expect(stdout).not.toMatch(/own-secret|BEDROCK|api\.anthropic\.com/);
  });

  it('listens elsewhere when its port is taken by another program, and says so', async () => {
    const setting = await makeSetting({ 'Say hello': [say('Hello.')] });
    const other = createServer((_, response) => response.writeHead(404).end()).listen(
      setting.port,
      '127.0.0.1',
    );
    closeAfterTest(() => other.close());
    const run = await runCode(setting, asked('Say hello'));
    expect(await run.exited, run.stderr).toEqual({ code: 0, signal: null });
    expect(answerOf(run)).toBe('Hello.');
    expect(run.stderr).toMatch(/used by another program: this gateway listens on http:\/\/127\.0\.0\.1:\d+/);
  });

  it('says what to do when Claude Code is not there', async () => {
    const setting = await makeSetting({});
    const missing = await runCode(setting, [], setting.workspace.at('no-such-program'));
    expect(await missing.exited).toEqual({ code: 1, signal: null });
    expect(missing.stderr).toContain('npm install -g @anthropic-ai/claude-code');
  });

  it('takes the Claude Code of the Agent SDK where there is none on the PATH', async () => {
    const { workspace } = await makeSetting({});
    const run = await runCommand({
      folder: workspace.path,
      args: ['code', '--', '--version'],
      env: { PATH: workspace.home },
    });
    expect(await run.exited).toEqual({ code: 0, signal: null });
    expect(run.stdout).toMatch(/^\d+\.\d+\.\d+ \(Claude Code\)/m);
  });
});
