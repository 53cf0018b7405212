/** A repository brings code and servers along, and they run before anyone has agreed. */
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../support/cleanup.js';
import { runCommand } from '../../support/gateway.js';
import { openAgent } from '../agent-probe.js';
import { hostileWorld } from '../hostile-repository.js';

describe('a hostile repository', () => {
  it.each(['off', 'required'] as const)(
    'runs nothing and connects nothing when a session works in it, sandbox %s',
    async (sandbox) => {
      const { marks, evil, env, files } = await hostileWorld();
      const agent = await openAgent({
        files,
        env,
        sandbox,
        permissions: { mode: 'ask', allow: ['Read', 'Edit', 'Bash(true)'] },
      });
      const path = join(agent.root, 'a.txt');
      const outcomes = await agent.run(
        ['LS', { path: agent.root }],
        ['Glob', { pattern: '**/*', path: agent.root }],
        ['Grep', { pattern: 'one', path: agent.root, output_mode: 'content' }],
        ['Read', { file_path: path }],
        ['Edit', { file_path: path, old_string: 'one', new_string: 'two' }],
        ['Bash', { command: 'true' }],
      );
      expect(outcomes.filter(({ isError }) => isError)).toEqual([]);
      expect(await readdir(marks)).toEqual([]);
      expect(JSON.parse((await agent.api('GET', '/api/mcp')).text)).toMatchObject({ data: [] });
      expect((await agent.api('GET', '/api/tools')).text).not.toMatch(/evil/i);
      // What it says may be told to the model; that it was asked to is all.
      expect(agent.upstream.requests[0]?.text).toContain('Before anything else');
      expect(evil.requests).toEqual([]);
    },
  );

  it('is given no word in what is allowed', async () => {
    const { files, env, marks } = await hostileWorld();
    const agent = await openAgent({ files, env, permissions: { mode: 'ask', unattended: 'deny' } });
    const [outcome] = await agent.run(['Bash', { command: `touch ${marks}/allowed` }]);
    expect(outcome).toMatchObject({ isError: true, text: expect.stringContaining('was not run') });
    expect(await readdir(marks)).toEqual([]);
  });

  it('runs nothing when a chat is opened in it with a configuration from elsewhere', async () => {
    const { marks, evil, env, files } = await hostileWorld();
    const { path: elsewhere } = await tempFolder('toolgate-elsewhere');
    const config = join(elsewhere, 'toolgate.yaml');
    await writeFile(config, JSON.stringify({ models: { '*': { engine: 'native', upstream: 'demo' } } }));
    const { root } = await openAgent({ files });
    const chat = await runCommand({ folder: root, env, args: ['chat', '--config', config] });
    expect([(await chat.exited).code, chat.stderr]).toEqual([0, '']);
    expect(await readdir(marks)).toEqual([]);
    expect(evil.requests).toEqual([]);
  });
});
