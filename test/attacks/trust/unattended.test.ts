/** What is judged does not depend on who watches, nor on what the repository says it is. */
import { describe, expect, it } from 'vitest';
import { probe } from '../policy-probe.js';

describe('without anybody there', () => {
  it('nothing is allowed that would be asked about: the policy knows no such thing as being watched', async () => {
    const rules = { allow: ['Read'] };
    const decisions = await Promise.all(
      ['s1', 'headless', ''].map((session) => probe({ ...rules, session }).bash('rm x')),
    );
    expect(decisions.map(({ behaviour }) => behaviour)).toEqual(['ask', 'ask', 'ask']);
  });
});

describe('trust by metadata or by place', () => {
  it('a worktree that points elsewhere is judged by the root that the operator chose', async () => {
    const workspace = probe({ allow: ['Read'] });
    workspace.write('.git', `gitdir: ${workspace.outside}/.git/worktrees/x\n`);
    expect((await workspace.read(`${workspace.outside}/a`)).behaviour).toBe('ask');
    const project = probe({
      stored: [
        {
          id: '1',
          rule: 'Edit',
          behaviour: 'allow',
          scope: 'project',
          project: workspace.outside,
          createdBy: 'a',
          createdAt: 0,
        },
      ],
    });
    expect((await project.edit('a')).behaviour).toBe('ask');
  });
});
