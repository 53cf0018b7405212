/** `toolgate chat` as people use it: in a terminal, with approvals, or with a question through a pipe. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { COMMAND, startTestGateway } from '../support/gateway.js';
import { startUpstream } from '../support/scripted-upstream.js';
import { call } from '../support/wire.js';
import { type Conversations, ScriptedModel, say, use } from './scripted-model.js';
import { Terminal } from './terminal.js';
import { makeWorkspace, type Workspace } from './workspace.js';

const ENTER = '\r';
const CTRL_C = '\x03';
const CTRL_D = '\x04';
const ARROW_UP = '\x1b[A';
const PROMPT = '> ';

async function settle(turns: Conversations, permissions: object = {}): Promise<Workspace> {
  const workspace = await makeWorkspace({ 'a.txt': 'alpha\n' });
  const upstream = await startUpstream(new ScriptedModel(turns).script);
  const config = {
    upstreams: { scripted: upstream.config('openai-chat') },
    models: { fast: { upstream: 'scripted' }, slow: { upstream: 'scripted', model: 'slow-1' } },
    permissions,
    sandbox: 'off',
  };
  await writeFile(workspace.at('toolgate.yaml'), JSON.stringify(config));
  return workspace;
}

const environment = ({ home }: Workspace): Record<string, string> => ({ HOME: home, TMPDIR: home });

async function openChat(workspace: Workspace): Promise<Terminal> {
  const terminal = new Terminal([process.execPath, COMMAND, 'chat', '--config', 'toolgate.yaml'], {
    cwd: workspace.path,
    env: environment(workspace),
  });
  await terminal.shows('/help lists commands.');
  await terminal.shows(PROMPT);
  return terminal;
}

it('asks before it runs a command, and runs it after yes', async () => {
  const workspace = await settle({
    'Copy the file': [
      use([call('Bash', { command: 'cp a.txt b.txt', description: 'Copy' }, 'call_1')], 'Copying.'),
      say('The copy is made.'),
    ],
  });
  const terminal = await openChat(workspace);
  terminal.type(`Copy the file${ENTER}`);
  await terminal.shows('cp a.txt b.txt');
  await terminal.shows('your answer >');
  expect(existsSync(workspace.at('b.txt'))).toBe(false);
  terminal.type(`y${ENTER}`);
  await terminal.shows('The copy is made.');
  expect(await workspace.read('b.txt')).toBe('alpha\n');
  terminal.type(CTRL_D);
  expect(await terminal.exited).toBe(0);
});

it('takes several pasted lines for one message, and sends it with Enter', async () => {
  const workspace = await settle({
    'first line': [
      (seen) => say(JSON.stringify(seen).includes('first line\\nsecond') ? 'Both.' : 'Only one.'),
    ],
  });
  const terminal = await openChat(workspace);
  terminal.type('\x1b[200~first line\r\nsecond\x1b[201~');
  await terminal.shows('second');
  terminal.type(ENTER);
  await terminal.shows('Both.');
  terminal.type(CTRL_D);
  expect(await terminal.exited).toBe(0);
});

it('tells the model why it was refused, and makes a rule that holds for the next call', async () => {
  const workspace = await settle({
    'Remove it': [
      use([call('Bash', { command: 'rm a.txt', description: 'Remove' }, 'call_1')]),
      (seen) => say(JSON.stringify(seen).includes('keep that file') ? 'I keep it.' : 'I was told nothing.'),
    ],
    'Touch twice': [
      use([call('Bash', { command: 'touch c.txt', description: 'Touch' }, 'call_2')], ''),
      use([call('Bash', { command: 'touch c.txt', description: 'Touch again' }, 'call_3')], ''),
      say('Touched twice.'),
    ],
  });
  const terminal = await openChat(workspace);
  terminal.type(`Remove it${ENTER}`);
  await terminal.shows('rm a.txt');
  await terminal.shows('your answer >');
  terminal.type(`n keep that file${ENTER}`);
  await terminal.shows('I keep it.');
  expect(existsSync(workspace.at('a.txt'))).toBe(true);
  terminal.type(`Touch twice${ENTER}`);
  await terminal.shows('for this session: Bash(touch c.txt)');
  await terminal.shows('your answer >', 2);
  terminal.type(`s1${ENTER}`);
  await terminal.shows('Rule made: Bash(touch c.txt) (session)');
  await terminal.shows('Touched twice.');
  terminal.type(`/exit${ENTER}`);
  expect(await terminal.exited).toBe(0);
});

it('shows who decided elsewhere while it asked, and goes on', async () => {
  const workspace = await settle(
    {
      'Copy the file': [
        use([call('Bash', { command: 'cp a.txt b.txt', description: 'Copy' }, 'call_1')], 'Copying.'),
        say('The copy is made.'),
      ],
    },
    { unattended: 'wait' },
  );
  const config = JSON.parse(await workspace.read('toolgate.yaml'));
  const keys = [{ key: 'k-bob', name: 'bob', scopes: ['approve', 'admin'] }];
  await writeFile(workspace.at('toolgate.yaml'), JSON.stringify({ ...config, server: { keys } }));
  const terminal = await openChat(workspace);
  const gateway = await startTestGateway({ folder: workspace.path });
  terminal.type(`Copy the file${ENTER}`);
  await terminal.shows('your answer >');
  const headers = { authorization: 'Bearer k-bob', 'content-type': 'application/json' };
  const listed = await fetch(`${gateway.url}/api/approvals`, { headers });
  const { data } = z
    .object({ data: z.array(z.object({ id: z.string(), digest: z.string() })) })
    .parse(await listed.json());
  const [approval] = data;
  await fetch(`${gateway.url}/api/approvals/${approval?.id}`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ decision: 'allow', digest: approval?.digest }),
  });
  await terminal.shows('Allowed by bob (api).');
  await terminal.shows('The copy is made.');
  expect(await workspace.read('b.txt')).toBe('alpha\n');
  terminal.type(CTRL_D);
  expect(await terminal.exited).toBe(0);
});

it('Ctrl-C stops an answer that runs and leaves no command behind', async () => {
  const workspace = await settle(
    {
      'Wait long': [
        use(
          [
            call(
              'Bash',
              { command: 'echo $$ > pid.tmp; mv pid.tmp pid; sleep 600', description: 'Wait' },
              'call_1',
            ),
          ],
          '',
        ),
      ],
      'Still there': [say('Yes, I am.')],
    },
    { mode: 'allow' },
  );
  const terminal = await openChat(workspace);
  terminal.type(`Wait long${ENTER}`);
  await workspace.appears('pid');
  const pid = Number(await workspace.read('pid'));
  terminal.type(CTRL_C);
  await terminal.shows('Stopped.');
  expect(() => process.kill(pid, 0)).toThrow(/ESRCH/);
  terminal.type(`Still there${ENTER}`);
  await terminal.shows('Yes, I am.');
  terminal.type(CTRL_D);
  expect(await terminal.exited).toBe(0);
});

it('goes on with another model, in another mode, and in a later chat', async () => {
  const knows = (seen: unknown, ...words: string[]) =>
    say(words.every((word) => JSON.stringify(seen).includes(word)) ? 'It is **42**, I know.' : 'No idea.');
  const workspace = await settle({
    'Remember 42': [say('Noted.')],
    'Which number': [(seen) => knows(seen, 'Remember 42', 'Noted.', 'slow-1')],
    'Touch it': [
      use([call('Bash', { command: 'touch d.txt', description: 'Touch' }, 'call_1')], ''),
      say('It was refused.'),
    ],
    'Once more': [(seen) => knows(seen, 'Remember 42', 'Which number', 'It was refused.')],
  });
  const first = await openChat(workspace);
  first.type(`Remember 42${ENTER}`);
  await first.shows('Noted.');
  first.type(`/model nobody${ENTER}`);
  await first.shows('No model is called `nobody`.');
  first.type(`/model slow${ENTER}`);
  await first.shows('slow answers from now on');
  first.type(`Which number${ENTER}`);
  // The marks of what is strong are gone.
  await first.shows('It is 42, I know.');
  first.type(`/mode read-only${ENTER}`);
  await first.shows('everything else is refused (now)');
  first.type(`Touch it${ENTER}`);
  await first.shows('It was refused.');
  expect(existsSync(workspace.at('d.txt'))).toBe(false);
  first.type(CTRL_D);
  expect(await first.exited).toBe(0);

  const second = await openChat(workspace);
  second.type(`/resume${ENTER}`);
  await second.shows('1 Remember 42');
  await second.shows('or Enter for none >');
  second.type(`1${ENTER}`);
  await second.shows('> Touch it');
  await second.shows('It was refused.');
  second.type(`Once more${ENTER}`);
  await second.shows('It is 42, I know.');
  second.type(CTRL_D);
  expect(await second.exited).toBe(0);
});

it('brings back with the arrow keys what was typed in an earlier chat, but no answer to a question', async () => {
  const workspace = await settle({
    'Copy the file': [
      use([call('Bash', { command: 'cp a.txt b.txt', description: 'Copy' }, 'call_1')], 'Copying.'),
      say('The copy is made.'),
    ],
  });
  const first = await openChat(workspace);
  first.type(`Copy the file${ENTER}`);
  await first.shows('your answer >');
  first.type(`y${ENTER}`);
  await first.shows('The copy is made.');
  first.type(CTRL_D);
  expect(await first.exited).toBe(0);

  const second = await openChat(workspace);
  second.type(ARROW_UP);
  await second.shows('> Copy the file');
  // The line is taken back, and the chat is still there.
  second.type(`${CTRL_C}/mode${ENTER}`);
  await second.shows('is asked (now)');
  second.type(CTRL_D);
  expect(await second.exited).toBe(0);
});

it('answers a question that comes through a pipe, and refuses what nobody can be asked about', async () => {
  const workspace = await settle({
    'Copy the file': [
      use([call('Bash', { command: 'cp a.txt b.txt', description: 'Copy' }, 'call_1')], ''),
      say('It was not allowed.'),
    ],
  });
  const child = spawn(process.execPath, [COMMAND, 'chat', '--config', 'toolgate.yaml'], {
    cwd: workspace.path,
    env: { PATH: process.env['PATH'], ...environment(workspace) },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let shown = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text;
  });
  child.stdin.end('Copy the file\n');
  await once(child, 'close');
  expect(shown).toContain('It was not allowed.');
  expect(shown).toContain('nobody is here to answer');
  expect(existsSync(workspace.at('b.txt'))).toBe(false);
  expect(child.exitCode).toBe(0);
});
