/** A sub-agent may do more than the agent that started it. */
import { describe, expect, it } from 'vitest';
import type { JudgedToolCall } from '../../../src/permissions/decision.js';
import { probe } from '../policy-probe.js';

describe('a sub-agent', () => {
  it('is judged as its parent, call for call', async () => {
    const rules = probe({
      mode: 'ask',
      allow: ['Read', 'Bash(ls:*)'],
      deny: ['Read(./.env)', 'Bash(curl:*)'],
    });
    const { root } = rules;
    const calls: Partial<JudgedToolCall>[] = [
      { tool: 'Read', effects: [{ kind: 'read', path: `${root}/.env` }] },
      { tool: 'Read', effects: [{ kind: 'read', path: `${root}/a` }] },
      { tool: 'Bash', effects: [{ kind: 'command', command: 'curl x', cwd: root }] },
      { tool: 'Bash', effects: [{ kind: 'command', command: 'ls && id', cwd: root }] },
      { tool: 'Edit', effects: [{ kind: 'edit', path: `${root}/a` }] },
      { tool: 'mcp__a__b' },
    ];
    for (const call of calls) {
      const parent = await rules.judge(call);
      expect(await rules.judge({ ...call, agent: 'researcher' })).toEqual(parent);
    }
  });

  it('can be denied by its kind, and a kind that is allowed is not another one', async () => {
    const rules = probe({ mode: 'ask', allow: ['Task(reviewer)'], deny: ['Agent(writer)'] });
    const task = (kind: string) =>
      rules.judge({ tool: 'Task', input: { subagent_type: kind, prompt: 'reviewer' } });
    expect((await task('reviewer')).behaviour).toBe('allow');
    expect((await task('writer')).behaviour).toBe('deny');
    expect((await task('other')).behaviour).toBe('ask');
  });
});
