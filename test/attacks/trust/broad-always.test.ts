/** "always" is remembered more broadly than it was meant, or for more than it was meant for. */
import { describe, expect, it } from 'vitest';
import type { JudgedToolCall } from '../../../src/permissions/decision.js';
import type { NewRule, Rule } from '../../../src/store/rules.js';
import { probe } from '../policy-probe.js';

type Reach = Pick<NewRule, 'scope'> & { session?: string; project?: string };
const stored = (rule: string, reach: Reach): Rule =>
  ({ id: 'r1', rule, behaviour: 'allow', createdBy: 'a', createdAt: 0, ...reach }) as Rule;

describe('a rule that a person made', () => {
  it.each([
    { scope: 'once', session: 's1' },
    { scope: 'session', session: 's1' },
  ] as const)('holds in its session alone: $scope', async (reach) => {
    const rules = [stored('Edit', reach)];
    expect((await probe({ stored: rules, session: 's1' }).edit('a')).behaviour).toBe('allow');
    expect((await probe({ stored: rules, session: 's2' }).edit('a')).behaviour).toBe('ask');
  });

  it('holds in its project alone', async () => {
    const one = probe();
    const two = probe();
    const rules = [stored('Edit', { scope: 'project', project: one.root })];
    const call = (at: typeof one): JudgedToolCall => ({
      principal: 'a',
      session: 's',
      toolUseId: 't',
      tool: 'Edit',
      input: {},
      readOnly: false,
      needsPermissions: true,
      effects: [{ kind: 'edit', path: `${at.root}/a` }],
      location: { root: at.root, cwd: at.root },
    });
    expect((await one.policy.decide(call(one), rules)).behaviour).toBe('allow');
    expect((await two.policy.decide(call(two), rules)).behaviour).toBe('ask');
  });

  it('is named by the decision that stands on it', async () => {
    const decision = await probe({ stored: [stored('Edit(./a)', { scope: 'session', session: 's1' })] }).edit(
      'a',
    );
    expect(decision.because).toMatchObject({ kind: 'rule', id: 'r1', source: 'session', rule: 'Edit(./a)' });
  });

  it('is not suggested for a command of several lines, which nobody reads as a rule', async () => {
    const { behaviour, suggestions } = await probe().bash('a\nb');
    expect(behaviour).toBe('ask');
    expect(suggestions).toEqual([]);
  });

  const commands = [
    'npm test',
    'npm run build -- --x',
    'git push origin main',
    'rm -rf build',
    'sudo ls',
    'python x.py',
    'python -c id',
    'bash run.sh',
    'curl https://a.example',
    'echo x > f',
    'git status && npm test',
    'find . -delete',
    'xargs rm',
    'env ls',
    'make',
    'cat /etc/passwd',
    'git log --output=x',
    'ls *.ts',
    'node -e 1',
    'docker run alpine',
    'echo $(id)',
    'cargo test --all',
    'FOO=1 ls',
  ];
  it.each(commands)(
    'suggested for a command allows that command, and no program whole: %j',
    async (command) => {
      const { suggestions } = await probe().bash(command);
      expect(suggestions.length).toBeGreaterThan(0);
      expect(suggestions[0]?.rule).toBe(`Bash(${command})`);
      for (const { rule } of suggestions) {
        expect((await probe({ allow: [rule] }).bash(command)).behaviour, rule).toBe('allow');
        expect(rule).not.toMatch(
          /^Bash\([^ ]*:\*\)$|^Bash$|^\*$|^Bash\((?:rm|sudo|env|xargs|bash|python|find|curl|node) .*:\*\)$/,
        );
        if (rule.endsWith(':*)'))
          expect((await probe({ allow: [rule] }).bash(`${command}; id`)).behaviour).toBe('ask');
      }
    },
  );

  it('is suggested only where it would help', async () => {
    const asked = probe({ ask: ['Bash(git push:*)', 'Read(./a)'] });
    expect((await asked.bash('git push')).suggestions).toEqual([]);
    expect((await asked.read('a')).suggestions).toEqual([]);
  });

  it.each([
    ['Edit', 'edit', 'src/a[1]*.ts', ['Edit(./src/a\\[1\\]\\*.ts)', 'Edit(./src/**)']],
    ['Write', 'edit', '.git/hooks/x', ['Edit(./.git/hooks/x)']],
  ] as const)('suggested for %s of a file is for it or its folder', async (tool, kind, path, expected) => {
    const rules = probe();
    const effect = { kind, path: `${rules.root}/${path}` };
    const { suggestions } = await rules.judge({ tool, effects: [effect] });
    expect(suggestions.map(({ rule }) => rule)).toEqual(expected);
  });

  it('suggested for reading elsewhere is for that file or its folder', async () => {
    const rules = probe();
    const { suggestions } = await rules.read(`${rules.outside}/a.ts`);
    expect(suggestions.map(({ rule }) => rule)).toEqual([
      `Read(/${rules.outside}/a.ts)`,
      `Read(/${rules.outside}/**)`,
    ]);
  });

  it('suggested for a page is for its host, and for a tool of a server for that tool', async () => {
    const rules = probe();
    expect((await rules.fetch('https://Docs.Example:8080/a')).suggestions.map(({ rule }) => rule)).toEqual([
      'WebFetch(domain:docs.example)',
    ]);
    expect((await rules.judge({ tool: 'mcp__a__b' })).suggestions.map(({ rule }) => rule)).toEqual([
      'mcp__a__b',
    ]);
  });
});
