import { describe, expect, it } from 'vitest';
import { BASH_LIMITS } from './limits.js';
import { type KeptVariables, keepVariables, settingVariables } from './shell-state.js';

const BASE = { PATH: '/bin', HOME: '/h', GIT_PAGER: 'cat' };
const endedWith = (changes: Record<string, string | undefined>): Map<string, string> =>
  new Map(
    Object.entries({ ...BASE, ...changes }).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as const],
    ),
  );

const keep = (kept: KeptVariables, after: Map<string, string>): string | undefined =>
  keepVariables(kept, { environment: BASE, variables: new Map(kept) }, after);

describe('variables that a session keeps', () => {
  it('are those that were set, changed and unset', () => {
    const kept: KeptVariables = new Map();
    expect(keep(kept, endedWith({ A: "it's\n", NODE_ENV: 'test', HOME: undefined }))).toContain(
      'later commands: A.',
    );
    expect(settingVariables(kept, true)).toBe("unset HOME; export A=$'it\\'s\\n'; export NODE_ENV=$'test'; ");
    expect(settingVariables(kept, false)).not.toContain('NODE_ENV');
    expect(keep(kept, endedWith({ NODE_ENV: 'test', HOME: undefined }))).toBeUndefined();
    expect([...kept.keys()]).toEqual(['HOME', 'NODE_ENV']);
  });

  it('are not what keeps git from running programs, what the shell sets, or what is too long', () => {
    const kept: KeptVariables = new Map();
    const long = 'x'.repeat(BASH_LIMITS.variableBytes);
    const note = keep(
      kept,
      endedWith({
        GIT_PAGER: './evil',
        SHLVL: '2',
        PWD: '/x',
        __toolgate_fd: '1',
        TOOLGATE_X: '1',
        LONG: long,
      }),
    );
    expect(note).toContain('Not kept for later commands: GIT_PAGER, LONG.');
    expect(kept.size).toBe(0);
    expect(keep(kept, endedWith({ GIT_PAGER: undefined }))).toContain('Not kept');
    expect(kept.size).toBe(0);
  });

  it.each(['UID', 'EUID', 'PPID', 'SHELLOPTS', 'BASHOPTS', 'BASH_VERSINFO', 'BASHPID', 'RANDOM', 'LINENO'])(
    'are not %s, which a shell does not let be set, or sets anew',
    (name) => {
      const kept: KeptVariables = new Map();
      expect(keep(kept, endedWith({ [name]: '1' }))).toContain(`Not kept for later commands: ${name}.`);
      expect(kept.size).toBe(0);
    },
  );

  it.each([
    ['NODE_ENV', 'test', true],
    ['NODE_ENV', '../../evil', false],
    ['RAILS_ENV', 'a b', false],
    ['APP_ENV', 'a\n', false],
    ['PORT', '', false],
    ['CI', 'true', true],
  ])('of the harmless ones only a plain word is: %s=%j', (name, value, harmless) => {
    const kept: KeptVariables = new Map();
    const note = keep(kept, endedWith({ [name]: value }));
    expect(note === undefined).toBe(harmless);
    expect(settingVariables(kept, false) === '').toBe(harmless);
  });
});
