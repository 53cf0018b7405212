import { execFileSync, spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { BASH_LIMITS } from './limits.js';
import { quote, readReport, shellScript } from './shell-script.js';

describe('quote', () => {
  it.each(["it's", 'a\nb', 'back\\slash', '$HOME `x` "y"', '\\n', "'\\''", 'é😀', '%s \\x41 \\u0041'])(
    'holds %j as it is',
    (word) => {
      expect(execFileSync('bash', ['-c', `printf %s ${quote(word)}`], { encoding: 'utf8' })).toBe(word);
      expect(quote(word)).not.toContain('\n');
    },
  );
});

describe('readReport', () => {
  it.each([
    ['', undefined, false],
    ['/a/b\n\0', '/a/b', false],
    ['/a\n\0/b\n\0', '/b', false],
    ['/a\n\0/b', '/a', false],
    ['jobs\0/a\n\0', '/a', true],
    ['garbage\0/with\nline\n\0', '/with\nline', false],
    ['no end', undefined, false],
  ])('of %j', (captured, folder, jobs) => {
    expect(readReport(captured)).toEqual({ folder, jobs, variables: undefined });
  });

  it('has the variables of the last report that came to its end', () => {
    const first = '/a\n\0env\0=A=1\0end\0';
    expect(readReport(`${first}/a\n\0env\0=A=2\0=B=x=\ny\0end\0`).variables).toEqual(
      new Map([
        ['A', '2'],
        ['B', 'x=\ny'],
      ]),
    );
    expect(readReport(`${first}/a\n\0env\0=A=`).variables).toEqual(new Map([['A', '1']]));
  });
});

it('keeps status and output of the command', () => {
  const { script, command } = shellScript('echo hi; (exit 3)');
  expect(command).toBeUndefined();
  expect(() =>
    execFileSync('bash', ['-c', `${script} 3>/dev/null`], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore', 'ignore'],
    }),
  ).toThrow(expect.objectContaining({ status: 3, stdout: 'hi\n' }));
});

it.each(['export TOOLGATE_REPORT=1', 'export __toolgate_fd=1', 'export n=1 v=2'])(
  'reports nothing into the output after %j, and all of it where it belongs',
  (set) => {
    const run = (redirect: string): string =>
      execFileSync('bash', ['-c', `{ ${shellScript(`${set}; echo hi`).script}; } ${redirect}`], {
        encoding: 'utf8',
      });
    expect(run('3>/dev/null')).toBe('hi\n');
    const { variables } = readReport(run('3>&1 >/dev/null'));
    for (const [, name = '', value] of set.matchAll(/(\w+)=(\w+)/g)) expect(variables?.get(name)).toBe(value);
  },
);

it.each(['', 'set -eu; '])(
  'reports an exported IFS with its own value, and ends with the status, after %j',
  (set) => {
    const { script } = shellScript(`${set}export IFS=/1 A='x y'; (exit 12)`);
    const { status, stdout } = spawnSync('bash', ['-c', `{ ${script}; } 3>&1 >/dev/null`], {
      encoding: 'utf8',
    });
    expect(status).toBe(12);
    const { variables } = readReport(stdout);
    expect([variables?.get('IFS'), variables?.get('A')]).toEqual(['/1', 'x y']);
  },
);

it.each(['x', "'", '\\', 'é'])('is an argument of any system, however long a command of %j', (character) => {
  for (const length of [10_000, 20_000, 40_000, 500_000]) {
    const text = character.repeat(length);
    const { script, command } = shellScript(text);
    expect(Buffer.byteLength(script)).toBeLessThanOrEqual(BASH_LIMITS.scriptBytes);
    expect(command === undefined ? script.includes(quote(text)) : command === text).toBe(true);
  }
});
