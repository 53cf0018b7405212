/** What the gateway has in its environment and in its files is inherited by the programs that it starts. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { everythingServer } from '../../support/mcp-servers.js';
import { until } from '../../support/until.js';
import { type AgentProbe, type Attempt, openAgent, UPSTREAM_KEY } from '../agent-probe.js';

const ENV = {
  OPENAI_API_KEY: 'sk-openai-secret-1',
  ANTHROPIC_API_KEY: 'sk-anthropic-secret-2',
  ANTHROPIC_AUTH_TOKEN: 'secret-3',
  TOOLGATE_KEY: 'secret-4',
  DATABASE_URL: 'postgres://user:secret-5@db/x',
  AWS_SECRET_ACCESS_KEY: 'secret-6',
  GITHUB_TOKEN: 'secret-7',
  NODE_OPTIONS: '--title=secret-8',
  HTTPS_PROXY: 'http://user:secret-9@127.0.0.1:1',
  LD_PRELOAD: '',
  BASH_ENV: '',
};
const SECRETS = new RegExp(`secret-\\d|${UPSTREAM_KEY}`);

const commands = (...lines: readonly string[]): Attempt[] => lines.map((command) => ['Bash', { command }]);

async function refuted(agent: AgentProbe, attempts: readonly Attempt[]): Promise<string[]> {
  const outcomes = await agent.run(...attempts);
  expect(outcomes).toHaveLength(attempts.length);
  for (const { text } of outcomes) expect(text).not.toContain('Internal error');
  return outcomes.map(({ text }) => text);
}

const OWN_ENVIRONMENT = commands(
  'env',
  'printenv',
  'declare -p; set; export -p',
  "cat /proc/self/environ | tr '\\0' '\\n'",
  'node -p "JSON.stringify(process.env)"',
  'echo "$OPENAI_API_KEY$ANTHROPIC_API_KEY$TOOLGATE_KEY$GITHUB_TOKEN$NODE_OPTIONS"',
  "bash -lic 'env'",
);

/** Everything that can be seen of other processes and of the gateway's files. */
const OTHERS = commands(
  "cat /proc/$PPID/environ | tr '\\0' '\\n'",
  "for p in /proc/[0-9]*; do tr '\\0' '\\n' < $p/environ; done 2>/dev/null",
  'for p in /proc/[0-9]*; do cat $p/cmdline; done 2>/dev/null',
  'ps auxeww',
  'd=$PWD/..; cat "$d"/gateway/toolgate.yaml',
  'd=$PWD/..; cat "$d"/gateway/.toolgate/*; strings "$d"/gateway/.toolgate/toolgate.db',
  'd=$PWD/..; cp -r "$d"/gateway here; cat here/toolgate.yaml',
  'ls -l /proc/self/fd; cat /proc/self/fd/[3-9]',
);

describe('the secrets of the gateway', () => {
  it.each(['off', 'required'] as const)(
    'are not in the environment of a command, sandbox %s',
    async (sandbox) => {
      const agent = await openAgent({ env: ENV, sandbox });
      for (const text of await refuted(agent, OWN_ENVIRONMENT)) expect(text).not.toMatch(SECRETS);
      expect((await refuted(agent, commands('env'))).join()).toContain('PATH=');
    },
  );

  it('cannot be reached from inside the sandbox in any other way', async () => {
    const agent = await openAgent({ env: ENV, sandbox: 'required', visible: true });
    for (const text of await refuted(agent, OTHERS)) expect(text).not.toMatch(SECRETS);
  });

  it('are no matter of a rule for the program, without a sandbox', async () => {
    const agent = await openAgent({
      env: ENV,
      permissions: {
        mode: 'ask',
        allow: ['Bash(cat:*)', 'Bash(strings:*)', 'Bash(grep:*)', 'Bash(cd:*)', 'Bash(cp:*)', 'Read', 'Edit'],
      },
    });
    const attempts = commands(
      'cat /proc/$PPID/environ',
      'cat /proc/1/environ',
      'strings /proc/*/environ',
      'cat /proc/"$PPID"/environ',
      'cd /proc/$PPID && cat environ',
      'grep -a KEY /proc/*/environ',
      'cat ../gateway/toolgate.yaml',
      'cat ../gateway/.toolgate/toolgate.db',
      'cp -r ../gateway here',
    );
    for (const [index, text] of (await refuted(agent, attempts)).entries())
      expect(text, JSON.stringify(attempts[index])).toContain('Bash was not run');
  });

  it('are denied whatever is allowed, without a sandbox', async () => {
    const agent = await openAgent({ env: ENV, permissions: { mode: 'allow', allow: ['*', 'Bash'] } });
    const attempts = commands(
      'cat /proc/1/environ',
      'cat ../gateway/toolgate.yaml',
      'cp ../gateway/.toolgate/toolgate.db x',
    );
    for (const [index, text] of (await refuted(agent, attempts)).entries())
      expect(text, JSON.stringify(attempts[index])).toMatch(/Bash was not run.*no tool may touch/);
  });

  it('are not shown by tools that read, whatever is allowed', async () => {
    const agent = await openAgent({ env: ENV, permissions: { mode: 'allow', allow: ['*'] } });
    const { folder } = agent;
    const attempts: Attempt[] = [
      ['Read', { file_path: '/proc/self/environ' }],
      ['Read', { file_path: join(folder, 'toolgate.yaml') }],
      ['Read', { file_path: join(folder, '.toolgate', 'toolgate.db') }],
      ['Grep', { pattern: 'key', path: folder, output_mode: 'content' }],
      ['Grep', { pattern: 'secret', path: '/proc/self', output_mode: 'content', glob: 'environ' }],
      ['Glob', { pattern: '**/*', path: folder }],
    ];
    for (const [index, text] of (await refuted(agent, attempts)).entries()) {
      expect(text, JSON.stringify(attempts[index])).not.toMatch(SECRETS);
      expect(text, JSON.stringify(attempts[index])).not.toMatch(/toolgate\.(?:yaml|db)$/m);
    }
  });

  it('are not given to MCP servers that are programs, but for what is configured for them', async () => {
    const agent = await openAgent({
      env: ENV,
      rest: { mcp_servers: { every: { ...everythingServer(), env: { MINE: 'meant-for-it' } } } },
    });
    await until(async () => (await agent.api('GET', '/api/mcp')).text.includes('"connected"'));
    const [text] = await refuted(agent, [['mcp__every__get-env', {}]]);
    expect(text).toContain('meant-for-it');
    expect(text).not.toMatch(SECRETS);
    expect(await readFile(join(agent.folder, 'toolgate.yaml'), 'utf8')).toContain(UPSTREAM_KEY);
  });
});
