import { describe, expect, it } from 'vitest';
import { readUpdates } from './permission-updates.js';

const PLACE = { root: '/work/app', cwd: '/work/app', home: '/home/ann' };
const IN_SRC = { ...PLACE, cwd: '/work/app/src' };
const ELSEWHERE = { ...PLACE, cwd: '/srv/data' };

const add = (toolName: string, ruleContent?: string, more: object = {}) => ({
  type: 'addRules',
  rules: [{ toolName, ...(ruleContent === undefined ? {} : { ruleContent }) }],
  behavior: 'allow',
  destination: 'session',
  ...more,
});

const ruleOf = (update: object, location = PLACE) => readUpdates([update], location).rules[0]?.rule;

describe('rules of Claude Code', () => {
  it.each([
    ['Bash', 'npm run test:*', 'Bash(npm run test:*)'],
    ['Bash', 'npm run *', 'Bash(npm run:*)'],
    ['Bash', 'git diff HEAD', 'Bash(git diff HEAD)'],
    ['WebFetch', 'domain:example.com', 'WebFetch(domain:example.com)'],
    ['Read', '//etc/hosts', 'Read(//etc/hosts)'],
    ['Edit', '~/notes/**', 'Edit(~/notes/**)'],
    ['Read', '/src/**', 'Read(./src/**)'],
    ['Edit', 'src/a.ts', 'Edit(./src/a.ts)'],
    ['Edit', './a.ts', 'Edit(./a.ts)'],
    ['Read', '*.md', 'Read(*.md)'],
    ['mcp__docs__search', undefined, 'mcp__docs__search'],
  ])('%s %s is %3$s', (tool, content, rule) => {
    expect(ruleOf(add(tool, content))).toBe(rule);
  });

  it('that are relative are so to where Claude Code is', () => {
    expect(ruleOf(add('Edit', './a.ts'), IN_SRC)).toBe('Edit(./src/a.ts)');
    expect(ruleOf(add('Edit', 'x/a.ts'), IN_SRC)).toBe('Edit(./src/x/a.ts)');
    expect(ruleOf(add('Read', '*.md'), IN_SRC)).toBe('Read(./src/**/*.md)');
    expect(ruleOf(add('Read', 'x/a.ts'), ELSEWHERE)).toBe('Read(//srv/data/x/a.ts)');
    expect(ruleOf(add('Read', '/x'), ELSEWHERE)).toBe('Read(./x)');
  });

  it('hold where they would have been kept', () => {
    const scopeOf = (destination: string) =>
      readUpdates([add('Bash', 'ls', { destination })], PLACE).rules[0]?.scope;
    expect(['session', 'cliArg', 'localSettings', 'projectSettings', 'userSettings'].map(scopeOf)).toEqual([
      'session',
      'session',
      'project',
      'project',
      'everywhere',
    ]);
  });

  it('keep what they do', () => {
    expect(readUpdates([add('Bash', 'curl:*', { behavior: 'deny' })], PLACE).rules).toEqual([
      { rule: 'Bash(curl:*)', behaviour: 'deny', scope: 'session' },
    ]);
  });

  it('that mean something else here are left out, with the reason', () => {
    for (const [tool, content] of [
      ['Bash', 'git * main'],
      ['Bash', 'npm*:*'],
      ['mcp__docs__search', 'x'],
      ['Bash', 'a\nb'],
      ['not a name', 'x'],
    ] as const) {
      const { rules, leftOut } = readUpdates([add(tool, content)], PLACE);
      expect([rules, leftOut.length], `${tool} ${content}`).toEqual([[], 1]);
    }
  });
});

describe('folders', () => {
  it('become rules for reading and changing what is in them', () => {
    const update = { type: 'addDirectories', destination: 'localSettings' };
    const rulesOf = (folder: string) =>
      readUpdates([{ ...update, directories: [folder] }], PLACE).rules.map(({ rule, scope }) => [
        rule,
        scope,
      ]);
    expect(rulesOf('/srv/[x]')).toEqual([
      ['Read(//srv/\\[x\\]/**)', 'project'],
      ['Edit(//srv/\\[x\\]/**)', 'project'],
    ]);
    expect(rulesOf('/home/ann/notes')[0]).toEqual(['Read(~/notes/**)', 'project']);
    expect(rulesOf('lib')[0]).toEqual(['Read(./lib/**)', 'project']);
  });
});

it('leaves out what the gateway has no rule for, and what is no update', () => {
  const { rules, leftOut } = readUpdates(
    [
      { type: 'setMode', mode: 'acceptEdits', destination: 'session' },
      add('Bash', 'ls', { type: 'removeRules' }),
      { type: 'removeDirectories', directories: ['/x'], destination: 'session' },
      { type: 'other' },
      'x',
      null,
    ],
    PLACE,
  );
  expect(rules).toEqual([]);
  expect(leftOut).toHaveLength(6);
  expect(leftOut[0]).toContain('setMode');
});
