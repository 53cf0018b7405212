/**
 * B3: a path is judged as one thing and used as another. A command in the sandbox plants a link, and
 * a tool outside of it follows; or the link comes between the question and the answer.
 */
import { readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type AgentProbe, type Attempt, openAgent } from './agent-probe.js';

const SECRET = 'the-secret-of-the-outside';
const RULES = { mode: 'ask', allow: ['Read', 'Edit', 'Bash', 'Grep', 'Glob', 'LS'], unattended: 'deny' };

async function openWalled(): Promise<AgentProbe> {
  const agent = await openAgent({ sandbox: 'required', permissions: RULES, files: { 'a.txt': 'mine\n' } });
  await writeFile(join(agent.outside, 'secret.txt'), SECRET);
  return agent;
}

/** A text that no rule about the path recognises. */
const backwards = (text: string): string => [...text].reverse().join('');

/** What a command makes, and what a tool is then asked to do with it. */
const PLANTED: readonly [link: string, to: 'outside' | 'folder', rest: string][] = [
  ['x', 'outside', 'secret.txt'],
  ['sub/folder', 'outside', ''],
  ['config', 'folder', 'toolgate.yaml'],
  ['state', 'folder', '.toolgate'],
  ['store', 'folder', '.toolgate/toolgate.db'],
];

describe('B3: a link that a command in the sandbox plants', () => {
  it.each(PLANTED)('%s -> %s/%s is judged by where it leads', async (link, to, rest) => {
    const agent = await openWalled();
    const path = join(agent.root, link);
    const target = join(agent[to], rest);
    const below = /\.(?:txt|yaml|db)$/.test(rest) ? path : join(path, 'secret.txt');
    const attempts: Attempt[] = [
      ['Read', { file_path: below }],
      ['Write', { file_path: below, content: 'planted' }],
      ['Edit', { file_path: below, old_string: SECRET, new_string: 'planted' }],
      ['Write', { file_path: join(path, 'new', 'file'), content: 'planted' }],
      ['Grep', { pattern: 'secret|store|upstreams', path, output_mode: 'content' }],
      ['Grep', { pattern: 'secret|upstreams', path: agent.root, output_mode: 'content' }],
      ['Glob', { pattern: '**/*', path }],
      ['LS', { path }],
      ['NotebookEdit', { notebook_path: below, new_source: 'planted', cell_number: 0 }],
    ];
    const [planted, ...outcomes] = await agent.run(
      [
        'Bash',
        { command: `mkdir -p sub && ln -s "$(echo ${backwards(target)} | rev)" ${link} && readlink ${link}` },
      ],
      ...attempts,
    );
    expect(planted).toMatchObject({ isError: false, text: expect.stringContaining(target) });
    for (const [index, outcome] of outcomes.entries()) {
      expect([attempts[index]?.[0], outcome.text]).not.toEqual([
        attempts[index]?.[0],
        expect.stringMatching(/the-secret|sk-upstream|toolgate\.db-wal/),
      ]);
      const searchesAround = attempts[index]?.[1]['path'] === agent.root;
      expect([index, outcome.isError, outcome.text]).toEqual([index, !searchesAround, expect.any(String)]);
    }
    expect(await readFile(join(agent.outside, 'secret.txt'), 'utf8')).toBe(SECRET);
    expect(await readdir(agent.outside)).toEqual(['secret.txt']);
    expect(await readFile(join(agent.folder, 'toolgate.yaml'), 'utf8')).toContain('upstreams');
  });

  it('in the place of its temporary folder does not choose what the next command may write', async () => {
    const agent = await openWalled();
    // Where the folder of the session is stands in the command's own list of mounts.
    const find = `folder=$(grep -o '/[^ ]*/s-[A-Za-z0-9]*' /proc/self/mountinfo | head -1)`;
    await agent.run(
      ['Bash', { command: `${find}; mv $folder/tmp $folder/old; ln -s ${agent.outside} $folder/tmp` }],
      ['Bash', { command: 'echo planted > /tmp/planted; cat /tmp/planted' }],
    );
    expect(agent.told()[1]).toEqual({ isError: false, text: 'planted' });
    expect(await readdir(agent.outside)).toEqual(['secret.txt']);
  });
});

type Swap = (agent: AgentProbe) => Promise<void>;

const swapFolder: Swap = async ({ root, outside }) => {
  await rename(join(root, 'dir'), join(root, 'old'));
  await symlink(outside, join(root, 'dir'));
};

const plantFile: Swap = async ({ root, outside }) => {
  await rm(join(root, 'dir', 'secret.txt'));
  await symlink(join(outside, 'secret.txt'), join(root, 'dir', 'secret.txt'));
};

/** A person is asked about a path; it leads elsewhere when the answer comes. */
describe('B3: a link that comes while a person is asked', () => {
  it.each<[what: string, attempt: (dir: string) => Attempt, swap: Swap]>([
    ['a new file', (dir) => ['Write', { file_path: join(dir, 'new.txt'), content: 'planted' }], swapFolder],
    ['a file', (dir) => ['Read', { file_path: join(dir, 'secret.txt') }], plantFile],
    ['a file in a folder', (dir) => ['Read', { file_path: join(dir, 'secret.txt') }], swapFolder],
    ['a search', (path) => ['Grep', { pattern: 'secret', path, output_mode: 'content' }], swapFolder],
    ['a search for names', (path) => ['Glob', { pattern: '*', path }], swapFolder],
    ['a list', (path) => ['LS', { path }], swapFolder],
  ])('%s: the answer was about the first place', async (_what, attempt, swap) => {
    const agent = await openAgent({
      permissions: { mode: 'ask', ask: ['Edit', 'Read'], unattended: 'wait' },
      files: { 'dir/secret.txt': 'mine' },
    });
    await writeFile(join(agent.outside, 'secret.txt'), SECRET);
    const running = agent.run(attempt(join(agent.root, 'dir')));
    const { id, digest } = await agent.waiting();
    await swap(agent);
    const decided = await agent.api('POST', `/api/approvals/${id}`, { decision: 'allow', digest });
    expect(decided.status).toBe(200);
    const [outcome] = await running;
    expect(outcome?.text).not.toMatch(/the-secret|outside/);
    expect(outcome?.isError).toBe(true);
    expect(await readFile(join(agent.outside, 'secret.txt'), 'utf8')).toBe(SECRET);
    expect(await readdir(agent.outside)).toEqual(['secret.txt']);
  });
});
