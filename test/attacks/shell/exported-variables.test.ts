/** A variable that an earlier command exported makes an allowed command do something else. */
import { describe, expect, it } from 'vitest';
import { openAgent } from '../agent-probe.js';

const permissions = { mode: 'ask', allow: ['Bash(. ./set.sh)', 'Bash(ls:*)', 'Bash(git diff:*)'] };

describe('variables of earlier commands', () => {
  it.each([
    ['PATH=$PWD/bin:$PATH', 'ls'],
    ['LD_PRELOAD=$PWD/evil.so', 'ls'],
    ['GIT_EXTERNAL_DIFF=./evil', 'git diff'],
    ['GIT_DIR=$PWD/planted', 'git diff'],
    ['IFS=/', 'ls'],
    ['ANYTHING=x', 'ls'],
  ])('after export %s no prefix rule covers: %s', async (assignment, command) => {
    for (const sandbox of ['required', 'off'] as const) {
      const agent = await openAgent({ sandbox, permissions, files: { 'set.sh': `export ${assignment}` } });
      const [set, later] = await agent.run(['Bash', { command: '. ./set.sh' }], ['Bash', { command }]);
      expect(set?.text).toContain('Kept for later commands');
      expect(later?.text).toContain('needs the approval of a person');
    }
  });

  it('what holds git back cannot be taken away, and a harmless one changes no rule', async () => {
    const set = 'unset GIT_CONFIG_COUNT; export GIT_PAGER=./evil NODE_ENV=test';
    const agent = await openAgent({
      sandbox: 'required',
      permissions: { ...permissions, allow: [...permissions.allow, 'Bash(printenv:*)'] },
      files: { 'set.sh': set },
    });
    const [first, second, third] = await agent.run(
      ['Bash', { command: '. ./set.sh' }],
      ['Bash', { command: 'ls' }],
      ['Bash', { command: 'printenv GIT_CONFIG_COUNT GIT_PAGER NODE_ENV' }],
    );
    expect(first?.text).toMatch(/Not kept for later commands: .*GIT_CONFIG_COUNT/);
    expect(second?.text).toContain('set.sh');
    expect(third?.text).toMatch(/^\d+\ncat\ntest\n?$/);
  });

  it('another session has none of them', async () => {
    const agent = await openAgent({ sandbox: 'required', permissions: { mode: 'allow' } });
    await agent.run(['Bash', { command: 'export A=1' }]);
    const [seen] = await agent.run(['Bash', { command: 'echo "[$A]"' }]);
    expect(seen?.text).toContain('[]');
  });
});
