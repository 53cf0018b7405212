import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Probe, type ProbeOptions, probe } from '../../../test/attacks/policy-probe.js';
import { SESSION_MODES, type SessionMode } from '../../store/sessions.js';
import type { JudgedToolCall } from '../decision.js';

const callIn = (
  rules: Probe,
  call: Pick<JudgedToolCall, 'tool' | 'effects' | 'readOnly'>,
): JudgedToolCall => ({
  ...{ principal: 'local', session: 's1', toolUseId: 't1', input: {}, needsPermissions: true },
  location: { root: rules.root, cwd: rules.root },
  ...call,
});

const decide = async (
  rules: Probe,
  mode: SessionMode,
  call: Pick<JudgedToolCall, 'tool' | 'effects' | 'readOnly'>,
) => (await rules.policy.decide(callIn(rules, call), [], mode)).behaviour;

const edit = (path: string, tool = 'Edit') =>
  ({ tool, readOnly: false, effects: [{ kind: 'edit', path }] }) as const;
const read = (path: string) => ({ tool: 'Read', readOnly: true, effects: [{ kind: 'read', path }] }) as const;
const bash = (command: string, cwd: string, readOnly = false) =>
  ({ tool: 'Bash', readOnly, effects: [{ kind: 'command', command, cwd }] }) as const;

const everything: ProbeOptions = { mode: 'allow', allow: ['*', 'Edit', 'Bash(touch:*)'] };

describe('allow-edits', () => {
  it('lets the tools that edit files do so inside the workspace, and nothing else', async () => {
    const rules = probe({ deny: ['Edit(./secret.txt)'], ask: ['Edit(./asked.txt)'] });
    const at = (path: string) => join(rules.root, path);
    symlinkSync(rules.outside, at('link'));
    for (const tool of ['Edit', 'Write', 'MultiEdit', 'NotebookEdit']) {
      expect(await decide(rules, 'allow-edits', edit(at('a.txt'), tool)), tool).toBe('allow');
    }
    expect(await decide(rules, 'allow-edits', edit(at('secret.txt'))), 'a rule that denies').toBe('deny');
    expect(await decide(rules, 'allow-edits', edit(at('asked.txt'))), 'a rule that asks').toBe('ask');
    expect(await decide(rules, 'allow-edits', edit(join(rules.outside, 'x'))), 'outside').toBe('ask');
    expect(await decide(rules, 'allow-edits', edit(at('link/x'))), 'through a link').toBe('ask');
    expect(await decide(rules, 'allow-edits', edit(at('.git/hooks/pre-commit'))), 'what runs').toBe('ask');
    expect(await decide(rules, 'allow-edits', edit(at('toolgate.yaml'))), "the gateway's own").toBe('deny');
    expect(await decide(rules, 'allow-edits', edit(at('a.txt'), 'mcp__x__write')), 'another tool').toBe(
      'ask',
    );
    expect(await decide(rules, 'allow-edits', bash('echo x > a.txt', rules.root)), 'a command').toBe('ask');
    expect(await decide(rules, 'allow-edits', bash('rm a.txt', rules.root)), 'a command').toBe('ask');
  });
});

describe.each(['plan', 'read-only'] as const)('%s', (mode) => {
  it('only reads, whatever rules allow', async () => {
    const rules = probe(everything);
    expect(await decide(rules, mode, read(join(rules.root, 'a.txt')))).toBe('allow');
    expect(await decide(rules, mode, bash('ls', rules.root, true))).toBe('allow');
    expect(await decide(rules, mode, edit(join(rules.root, 'a.txt')))).toBe('deny');
    expect(await decide(rules, mode, bash('touch a.txt', rules.root))).toBe('deny');
    expect(await decide(rules, mode, { tool: 'mcp__x__send', readOnly: false, effects: [] })).toBe('deny');
    const url = 'https://example.com/';
    const fetches = { tool: 'WebFetch', readOnly: false, effects: [{ kind: 'fetch', url }] } as const;
    expect(await decide(rules, mode, fetches)).toBe('deny');
  });

  it('does not open what is asked about without it', async () => {
    const rules = probe();
    expect(await decide(rules, mode, bash('git log', rules.root, true))).toBe('ask');
    expect(await decide(rules, mode, read(join(rules.outside, 'x')))).toBe('deny');
  });
});

describe('the configuration', () => {
  it.each(SESSION_MODES)('is the upper bound of %s', async (mode) => {
    const severity = { allow: 0, ask: 1, deny: 2 };
    for (const configured of ['read-only', 'deny', 'allow'] as const) {
      const rules = probe({ mode: configured });
      const calls = [edit(join(rules.root, 'a')), read(join(rules.root, 'a')), bash('make', rules.root)];
      for (const call of calls) {
        const without = await rules.policy.decide(callIn(rules, call), []);
        const chosen = await decide(rules, mode, call);
        expect(severity[chosen], `${configured} ${call.tool}`).toBeGreaterThanOrEqual(
          severity[without.behaviour],
        );
      }
    }
  });

  it('is narrowed by ask where it allows', async () => {
    const rules = probe({ mode: 'allow', allow: ['Bash(ls:*)'] });
    expect(await decide(rules, 'ask', edit(join(rules.root, 'a.txt')))).toBe('ask');
    expect(await decide(rules, 'ask', bash('ls', rules.root))).toBe('allow');
  });

  it('suggests no rule that would not help in the mode', async () => {
    const rules = probe();
    const command = callIn(rules, bash('git log', rules.root, true));
    const { suggestions } = await rules.policy.decide(command, [], 'plan');
    for (const { rule } of suggestions) {
      const ruled = probe({ allow: [rule] });
      expect(await decide(ruled, 'plan', bash('git log', ruled.root, true)), rule).toBe('allow');
    }
  });
});
