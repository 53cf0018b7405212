/** An allowed command writes a file by redirection. */
import { describe, expect, it } from 'vitest';
import { probe } from '../policy-probe.js';

const WRITES = [
  'echo x > f',
  'echo x >f',
  'echo x >> f',
  'echo x >| f',
  'echo x 1> f',
  'echo x 2> f',
  'echo x &> f',
  'echo x &>> f',
  'echo x >& f',
  'echo x <> f',
  '> f echo x',
  'echo x 3>f',
  'echo x {fd}> f',
  'cat <<EOF > f\nx\nEOF',
  'cat < f',
  'cat <<EOF\nx\nEOF',
  'cat <<< x',
  'echo x > "f"',
  'echo x 2>&1',
];

describe('redirection behind an allowed command', () => {
  const allowed = probe({ allow: ['Bash(echo:*)', 'Bash(cat:*)', 'Edit', 'Read'] });
  it.each(WRITES)('no prefix rule covers: %s', async (command) => {
    const decision = await allowed.bash(command);
    expect(decision.behaviour).toBe('ask');
    expect(decision.because.kind).toBe('shell');
  });

  const denied = probe({ mode: 'allow', deny: ['Edit(./f)', 'Read(./f)'] });
  it.each(WRITES.filter((command) => /\bf\b/.test(command) && !command.includes('{fd}')))(
    'the file is checked: %s',
    async (command) => {
      expect((await denied.bash(command)).behaviour).toBe('deny');
    },
  );

  it('is covered by a rule for exactly that command', async () => {
    const exact = probe({ allow: ['Bash(echo x > f)'] });
    expect((await exact.bash('echo x > f')).behaviour).toBe('allow');
    expect((await exact.bash('echo x > g')).behaviour).toBe('ask');
    expect((await exact.bash('echo  x > f')).behaviour).toBe('ask');
  });

  it('is asked about where the file runs code, in every mode and with every rule that does not name it', async () => {
    const open = probe({ mode: 'allow', allow: ['Bash', 'Edit'] });
    for (const command of [
      'echo x > ~/.bashrc',
      'echo x >> .git/hooks/pre-commit',
      `echo x >| ${open.home}/.zshrc`,
      'echo x > .MCP.json',
    ]) {
      expect((await open.bash(command)).behaviour, command).toBe('ask');
    }
  });
});
