import { describe, expect, it } from 'vitest';
import { readPlain } from './lexer.js';

describe('plain commands', () => {
  it.each([
    ['ls', [['', 'ls']]],
    ['  ls\t-l  ', [['', 'ls', '-l']]],
    [
      'a && b || c; d | e',
      [
        ['', 'a'],
        ['&&', 'b'],
        ['||', 'c'],
        [';', 'd'],
        ['|', 'e'],
      ],
    ],
    [
      'a\n\nb\n',
      [
        ['', 'a'],
        [';', 'b'],
      ],
    ],
    [
      'a |\n b',
      [
        ['', 'a'],
        ['|', 'b'],
      ],
    ],
    ['a;', [['', 'a']]],
    [`echo 'a b' "c d" e\\ f`, [['', 'echo', 'a b', 'c d', 'e f']]],
    ['echo "a\\"b" "c\\\\d" "e\\f" "g\\$h"', [['', 'echo', 'a"b', 'c\\d', 'e\\f', 'g$h']]],
    ["git commit -m 'one\n\ntwo'", [['', 'git', 'commit', '-m', 'one\n\ntwo']]],
    ['grep "x$" f', [['', 'grep', 'x$', 'f']]],
    ['git show HEAD~1 HEAD@{1} HEAD^', [['', 'git', 'show', 'HEAD~1', 'HEAD@{1}', 'HEAD^']]],
    [`a""b ''`, [['', 'ab', '']]],
    ['a b=c !x a#b %1', [['', 'a', 'b=c', '!x', 'a#b', '%1']]],
  ])('%j', (command, expected) => {
    expect(readPlain(command)).toEqual({
      plain: true,
      commands: expected.map(([joiner, ...words]) => ({ joiner, words })),
    });
  });

  it.each([
    ['echo > x', 'redirects output'],
    ['echo < x', 'redirects input'],
    ['a &', 'runs in the background'],
    ['a & b', 'runs in the background'],
    ['a &> b', 'redirects output'],
    ['a |& b', 'redirects output'],
    ['echo $x', 'expands a variable'],
    ['echo $(x)', 'substitutes the output of a command'],
    ['echo "$(x)"', 'substitutes the output of a command'],
    ['echo `x`', 'substitutes the output of a command'],
    ['echo $((1))', 'calculates'],
    ["echo $'x'", 'has a quotation with escapes'],
    ['(a)', 'runs a subshell or defines a function'],
    ['echo *', 'expands a file pattern'],
    ['echo {a,b}', 'expands braces'],
    ['echo {1..2}', 'expands braces'],
    ['echo ~/x', 'expands ~'],
    ['A=1 x', 'sets a variable'],
    ['A=1', 'sets a variable'],
    ['if a; then b; fi', 'is more than a list of commands'],
    ['time a', 'is more than a list of commands'],
    ['! a', 'is more than a list of commands'],
    ['a # b', 'has a comment'],
    ['a \\\nb', 'continues on another line'],
    ["a 'b", 'has a quote that is not closed'],
    ['a "b', 'has a quote that is not closed'],
    ['a &&', 'ends in the middle'],
    ['', 'has no command in it'],
    ["'' a", 'has an empty command name'],
    ['a\rb', 'contains a control character or one that is not seen'],
  ])('not %j: %s', (command, problem) => {
    expect(readPlain(command)).toMatchObject({ plain: false, problem });
  });
});
