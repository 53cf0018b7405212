/**
 * A path is judged as one thing and used as another. A command in the sandbox plants a link, and
 * a tool outside of it follows; or the link comes between the question and the answer.
 */
import { readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { count } from '../../faults/counts.js';
import { until } from '../../support/until.js';
import { type AgentProbe, type Attempt, openAgent } from '../agent-probe.js';

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

describe('a link that a command in the sandbox plants', () => {
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

/** `dir` leads elsewhere from then on, or something in it does. */
type Swap = (dir: string, outside: string) => Promise<void>;

const swapFolder: Swap = async (dir, outside) => {
  await rename(dir, `${dir}-before`);
  await symlink(outside, dir);
};

const plantFile: Swap = async (dir, outside) => {
  await rm(join(dir, 'secret.txt'));
  await symlink(join(outside, 'secret.txt'), join(dir, 'secret.txt'));
};

const notebook = (source: string): string =>
  JSON.stringify({
    cells: [{ cell_type: 'code', id: 'one', metadata: {}, source, outputs: [], execution_count: null }],
    metadata: {},
    nbformat: 4,
    nbformat_minor: 5,
  });

const read = (dir: string): Attempt => ['Read', { file_path: join(dir, 'secret.txt') }];
const readNotebook = (dir: string): Attempt => ['NotebookRead', { notebook_path: join(dir, 'n.ipynb') }];

/** The last of the calls is the one that matters: nothing is changed that was not read before. */
const MADE: readonly [what: string, attempts: (dir: string) => Attempt[], swap: Swap][] = [
  ['a new file', (dir) => [['Write', { file_path: join(dir, 'new.txt'), content: 'planted' }]], swapFolder],
  ['a file', (dir) => [read(dir)], plantFile],
  ['a file in a folder', (dir) => [read(dir)], swapFolder],
  [
    'a file that is written over',
    (dir) => [read(dir), ['Write', { file_path: join(dir, 'secret.txt'), content: 'planted' }]],
    swapFolder,
  ],
  [
    'a change',
    (dir) => [
      read(dir),
      ['Edit', { file_path: join(dir, 'secret.txt'), old_string: 'e', new_string: 'planted' }],
    ],
    plantFile,
  ],
  [
    'several changes',
    (dir) => [
      read(dir),
      [
        'MultiEdit',
        { file_path: join(dir, 'secret.txt'), edits: [{ old_string: 'e', new_string: 'planted' }] },
      ],
    ],
    swapFolder,
  ],
  ['a notebook', (dir) => [readNotebook(dir)], swapFolder],
  [
    'a cell of a notebook',
    (dir) => [
      readNotebook(dir),
      ['NotebookEdit', { notebook_path: join(dir, 'n.ipynb'), cell_id: 'one', new_source: 'planted' }],
    ],
    swapFolder,
  ],
  ['a search', (path) => [['Grep', { pattern: 'secret', path, output_mode: 'content' }]], swapFolder],
  ['a search for names', (path) => [['Glob', { pattern: '*', path }]], swapFolder],
  ['a list', (path) => [['LS', { path }]], swapFolder],
];

/** Few processes of Claude Code, and none to spare. */
const SESSIONS = { max_live: 2 };

describe.each(['native', 'claude-code'])('on the engine %s', (engine) => {
  it('an answer is about the place that a person was asked about', { timeout: 120_000 }, async () => {
    const dirs = MADE.map(([what]) => what.replaceAll(' ', '-'));
    const files = dirs.flatMap((dir) => [
      [`${dir}/secret.txt`, 'mine'],
      [`${dir}/n.ipynb`, notebook('mine')],
    ]);
    const agent = await openAgent({
      permissions: { mode: 'ask', ask: ['Edit', 'Read'], unattended: 'wait' },
      sandbox: 'required',
      model: { engine },
      rest: { sessions: SESSIONS },
      files: Object.fromEntries(files),
    });
    await writeFile(join(agent.outside, 'secret.txt'), SECRET);
    await writeFile(join(agent.outside, 'n.ipynb'), notebook(SECRET));
    const before = await contentsOf(agent.outside);
    const calls = MADE.map(([, made], index) => made(join(agent.root, dirs[index] ?? '')));
    const running = agent.run(...calls.flat());
    let last = '';
    for (const [index, [, , swap]] of MADE.entries()) {
      const own = calls[index] ?? [];
      for (const [position, [tool]] of own.entries()) {
        const asked = await until(async () => {
          const next = await agent.waiting();
          return next.id !== last && next;
        });
        last = asked.id;
        expect(asked.tool).toBe(tool);
        if (position === own.length - 1) await swap(join(agent.root, dirs[index] ?? ''), agent.outside);
        await agent.decide(asked, 'allow');
      }
    }
    const outcomes = await running;
    for (const [index, [what]] of MADE.entries()) {
      const own = outcomes.splice(0, calls[index]?.length).at(-1);
      expect([what, own]).toEqual([what, { isError: true, text: expect.any(String) }]);
      expect([what, own?.text]).not.toEqual([what, expect.stringMatching(/the-secret|outside/)]);
    }
    expect(await contentsOf(agent.outside)).toEqual(before);
  });

  it('a link that a command changes all the time leads no tool outside', { timeout: 120_000 }, async () => {
    const agent = await openAgent({
      sandbox: 'required',
      permissions: RULES,
      model: { engine, max_turns: 4 * TRIES + 10 },
      rest: { sessions: SESSIONS },
      files: { 'inside/toolgate.yaml': 'mine\n' },
    });
    const way = join(agent.root, 'way', 'toolgate.yaml');
    const before = await readFile(join(agent.folder, 'toolgate.yaml'), 'utf8');
    const each: Attempt[] = Array.from({ length: TRIES }, (_, index): Attempt[] => [
      ['Read', { file_path: way }],
      ['Edit', { file_path: way, old_string: 'upstreams', new_string: 'planted' }],
      ['Write', { file_path: way, content: 'planted' }],
      ['Write', { file_path: join(agent.root, 'way', `new-${index}`), content: 'planted' }],
    ]).flat();
    const [begun, , ...outcomes] = await agent.run(
      ['Bash', { command: swapping(agent.folder), run_in_background: true }],
      ['Bash', { command: 'until [ -e begun ]; do sleep 0.01; done' }],
      ...each,
    );
    await writeFile(join(agent.root, 'stop'), '');
    expect(begun).toMatchObject({ isError: false });
    expect(outcomes).toHaveLength(each.length);
    expect(outcomes.map(({ text }) => text).join('\n')).not.toMatch(/sk-upstream/);
    expect(await readFile(join(agent.folder, 'toolgate.yaml'), 'utf8')).toBe(before);
    expect((await readdir(agent.folder)).filter((name) => name.startsWith('new-'))).toEqual([]);
  });
});

async function contentsOf(folder: string): Promise<string[][]> {
  const names = (await readdir(folder)).toSorted();
  return Promise.all(names.map(async (name) => [name, await readFile(join(folder, name), 'utf8')]));
}

/** How often each tool is tried meanwhile. */
const TRIES = count(6, 96);

/** Until the test says so, `way` leads into the workspace and out of it in turn. */
const swapping = (to: string): string =>
  [
    `out="$(echo ${backwards(to)} | rev)"`,
    'while [ ! -e stop ]; do',
    '  ln -sfn inside next && mv -T next way; ln -sfn "$out" next && mv -T next way; touch begun',
    'done',
  ].join('\n');
