/** Git metadata says that the folder belongs to a project that is trusted. Only the operator's root counts. */
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type AgentProbe, openAgent } from '../agent-probe.js';

const missing = (path: string): Promise<boolean> =>
  stat(path).then(
    () => false,
    () => true,
  );

/** What a command does that no rule reads. */
const PLANT = `import { writeFileSync } from 'node:fs';
for (const path of TARGETS) {
  try { writeFileSync(path, 'x'); } catch (error) { console.log(error.code); }
}`;

/** The workspace claims to be a worktree, or a part, of a repository outside. */
const CLAIMS: readonly [what: string, claim: (agent: AgentProbe) => Promise<void>][] = [
  [
    'a worktree of a repository outside',
    async ({ root, outside }) => {
      await mkdir(join(outside, '.git', 'worktrees', 'x'), { recursive: true });
      await writeFile(join(outside, '.git', 'worktrees', 'x', 'gitdir'), join(root, '.git'));
      await writeFile(join(outside, '.git', 'worktrees', 'x', 'commondir'), '../..');
      await writeFile(join(root, '.git'), `gitdir: ${outside}/.git/worktrees/x\n`);
    },
  ],
  [
    'a repository whose work tree is outside',
    async ({ root, outside }) => {
      await mkdir(join(root, '.git'));
      await writeFile(join(root, '.git', 'HEAD'), 'ref: refs/heads/main\n');
      await writeFile(
        join(root, '.git', 'config'),
        `[core]\n\tworktree = ${outside}\n[safe]\n\tdirectory = *\n`,
      );
    },
  ],
  [
    'a submodule of one outside',
    async ({ root, outside }) => {
      await mkdir(join(outside, '.git', 'modules', 'work'), { recursive: true });
      await writeFile(join(root, '.git'), 'gitdir: ../outside/.git/modules/work\n');
    },
  ],
];

describe('a workspace that claims to be', () => {
  it.each(CLAIMS)('%s is the workspace and nothing more', async (_what, claim) => {
    const agent = await openAgent({
      sandbox: 'required',
      visible: true,
      permissions: { mode: 'ask', allow: ['Read', 'Edit', 'Bash'], unattended: 'deny' },
    });
    await claim(agent);
    await writeFile(join(agent.outside, 'secret'), 'the-secret');
    const targets = ['made', '.git/hooks-made'].map((name) => join(agent.outside, name));
    await writeFile(join(agent.root, 'plant.mjs'), PLANT.replace('TARGETS', JSON.stringify(targets)));
    const [read, written, ran, inside] = await agent.run(
      ['Read', { file_path: join(agent.outside, 'secret') }],
      ['Write', { file_path: join(agent.outside, 'made'), content: 'x' }],
      ['Bash', { command: 'node plant.mjs' }],
      ['Write', { file_path: join(agent.root, 'mine'), content: 'x' }],
    );
    expect(read).toMatchObject({ isError: true, text: expect.not.stringContaining('the-secret') });
    expect(written?.isError).toBe(true);
    expect(ran?.text.match(/EROFS|EACCES|ENOENT/g)).toHaveLength(2);
    expect(inside?.isError).toBe(false);
    expect(await missing(join(agent.outside, 'made'))).toBe(true);
    expect(await missing(join(agent.outside, '.git', 'hooks-made'))).toBe(true);
    expect(await readFile(join(agent.root, 'mine'), 'utf8')).toBe('x');
  });

  it('another project gets none of the rules that were made for that one', async () => {
    const agent = await openAgent({ permissions: { mode: 'ask', unattended: 'deny' } });
    await CLAIMS[0]?.[1](agent);
    const rule = { rule: 'Bash', behaviour: 'allow', scope: 'project' };
    expect((await agent.api('POST', '/api/rules', { ...rule, project: agent.outside })).status).toBe(201);
    expect((await agent.run(['Bash', { command: 'sleep 0' }]))[0]).toMatchObject({ isError: true });
    expect((await agent.api('POST', '/api/rules', { ...rule, project: agent.root })).status).toBe(201);
    expect((await agent.run(['Bash', { command: 'sleep 0' }]))[0]).toMatchObject({ isError: false });
  });
});
