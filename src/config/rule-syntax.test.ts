import { describe, expect, it } from 'vitest';
import { ruleProblem } from './rule-syntax.js';

describe('the form of a rule', () => {
  it.each([
    'Read',
    'Bash(npm test)',
    'Edit(./src/**)',
    'mcp__docs__*',
    'Read(./Ünïcode 你好)',
    `Bash(${'x'.repeat(1_900)})`,
  ])('can be read: %s', (rule) => {
    expect(ruleProblem(rule)).toBeUndefined();
  });

  it.each([
    ['a name without end', 'A'.repeat(1_000_000)],
    ['a specifier without end', `Bash(${'x'.repeat(2_000)})`],
    ['a name of a server without end', `mcp__${'a'.repeat(3_000)}`],
    ['a mark that turns the text around', 'Read(./a\u202etxt.exe)'],
    ['a new line', 'Bash(ls\nrm x)'],
    ['a carriage return', 'Bash(ls\rrm x)'],
    ['a tab', 'Bash(ls\tx)'],
    ['a space of no width', 'Read(./a\u200bb)'],
    ['an escape', 'Bash(ls \u001b[2K)'],
    ['a zero byte', 'Read(./a\0b)'],
  ])('cannot with %s', (_, rule) => {
    expect(ruleProblem(rule)).toMatch(/^expected a rule/);
  });
});
