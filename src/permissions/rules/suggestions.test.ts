import { describe, expect, it } from 'vitest';
import { probe } from '../../../test/attacks/policy-probe.js';
import type { JudgedToolCall } from '../decision.js';

const bash = (
  root: string,
  command: string,
  more: Partial<JudgedToolCall> = {},
): Partial<JudgedToolCall> => ({
  tool: 'Bash',
  input: { command },
  effects: [{ kind: 'command', command, cwd: root }],
  ...more,
});

describe('rules that the engine suggests', () => {
  it('stand behind ours, each once, if they would have allowed the call', async () => {
    const rules = probe();
    const engineRules = [
      { rule: 'Bash(touch a:*)', scope: 'project' },
      { rule: 'Bash(touch a b)', scope: 'session' },
      { rule: 'Bash(touch:*)', scope: 'everywhere' },
      { rule: 'Bash(npm publish:*)', scope: 'session' },
      { rule: 'Read(//srv/**)', scope: 'session' },
      { rule: 'Bash', scope: 'session' },
      { rule: 'Bash(', scope: 'session' },
    ] as const;
    const { suggestions } = await rules.judge(bash(rules.root, 'touch a b', { engineRules }));
    expect(suggestions).toEqual([
      { rule: 'Bash(touch a b)', behaviour: 'allow', covers: 'exactly this command' },
      { rule: 'Bash(touch a:*)', behaviour: 'allow', covers: expect.any(String) },
      {
        rule: 'Bash(touch:*)',
        behaviour: 'allow',
        covers: 'every plain command that begins with `touch`',
        source: 'engine',
        scope: 'everywhere',
      },
    ]);
  });

  it('are none, as ours, where no rule may be made of the question', async () => {
    const rules = probe();
    const call = bash(rules.root, 'npm test', {
      hints: { suppressAlways: true },
      engineRules: [{ rule: 'Bash(npm:*)', scope: 'session' }],
    });
    expect(await rules.judge(call)).toMatchObject({ behaviour: 'ask', suggestions: [] });
  });
});

it('suggests nothing for a part that no rule can allow', async () => {
  const rules = probe({ ask: ['Bash(git push:*)'] });
  expect((await rules.bash('git push origin main')).suggestions).toEqual([]);
});

it('suggests no rule that holds the values of variables of earlier commands', async () => {
  const rules = probe({ allow: ['Bash(npm test:*)'] });
  const { behaviour, suggestions } = await rules.judge({
    ...bash(rules.root, 'npm test'),
    effects: [
      { kind: 'command', command: 'npm test', cwd: rules.root },
      { kind: 'command', command: "export TOKEN=$'secret'; npm test", cwd: rules.root, withVariables: true },
    ],
  });
  expect(behaviour).toBe('ask');
  expect(JSON.stringify(suggestions)).not.toContain('secret');
});
