/** Claude Code as people use it: in a terminal, started by `toolgate code`. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { COMMAND } from '../support/gateway.js';
import { freePort, startUpstream } from '../support/scripted-upstream.js';
import { call } from '../support/wire.js';
import { clientProgram } from './programs.js';
import { ScriptedModel, say, use } from './scripted-model.js';
import { Terminal } from './terminal.js';
import { makeWorkspace, type Workspace } from './workspace.js';

/** As after the first start: a theme is chosen and this folder is trusted. */
async function settleIn({ home, path }: Workspace): Promise<void> {
  const folder = { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true };
  const settings = { hasCompletedOnboarding: true, theme: 'dark', projects: { [path]: folder } };
  await writeFile(join(home, '.claude.json'), JSON.stringify(settings));
}

it('a session in the terminal, from the first word to the exit code', async () => {
  const workspace = await makeWorkspace({ 'a.txt': 'alpha\n' });
  await settleIn(workspace);
  const model = new ScriptedModel({
    'Copy the file': [
      use([call('Bash', { command: 'cp a.txt b.txt', description: 'Copy' }, 'call_1')], 'Copying.'),
      say('The copy is made.'),
    ],
    'Thank you': [say('You are welcome.')],
  });
  const upstream = await startUpstream(model.script);
  const config = {
    server: { port: await freePort() },
    upstreams: { scripted: upstream.config('openai-chat') },
    models: { 'claude-*': { upstream: 'scripted', model: 'gpt-scripted' } },
  };
  await writeFile(workspace.at('toolgate.yaml'), JSON.stringify(config));
  const terminal = new Terminal(
    [
      process.execPath,
      COMMAND,
      'code',
      '--config',
      'toolgate.yaml',
      '--claude',
      clientProgram('Claude Code'),
      '--',
      '--allowedTools',
      'Bash',
    ],
    {
      cwd: workspace.path,
      env: {
        HOME: workspace.home,
        TMPDIR: workspace.home,
        CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL: '1',
      },
    },
  );
  await terminal.shows('❯');
  terminal.type('Copy the file');
  await terminal.shows('Copy the file');
  terminal.type('\r');
  await terminal.shows('The copy is made.');
  expect(await workspace.read('b.txt')).toBe('alpha\n');
  terminal.type('Thank you');
  await terminal.shows('Thank you');
  terminal.type('\r');
  await terminal.shows('You are welcome.');
  terminal.type('/exit');
  await terminal.shows('/exit');
  terminal.type('\r');
  expect(await terminal.exited, terminal.written.slice(-2000)).toBe(0);
  expect(model.problems).toEqual([]);
  expect(model.order).toEqual(['Copy the file#1', 'Copy the file#2', 'Thank you#1']);
});
