/** A rule that is made of a command's own first words is about that command. */
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Decision } from '../../../src/permissions/decision.js';
import { analyse, type ShellParser, shellParser } from '../../../src/permissions/shell/analyse.js';
import type { RuleBehaviour } from '../../../src/store/rules.js';
import { count, TIMEOUT_MS } from '../../faults/counts.js';
import { commandCorpus } from '../command-corpus.js';
import { type Probe, probe } from '../policy-probe.js';

const MAX_WORDS = 4;

let parser: ShellParser;
let here: Probe;
const corpus = commandCorpus();

beforeAll(async () => {
  parser = await shellParser();
  here = probe({ mode: 'ask' });
});

function judge(command: string, behaviour: RuleBehaviour, rules: readonly string[]): Promise<Decision> {
  const stored = rules.map((rule, at) => ({
    ...{ id: `r${at}`, rule, behaviour, scope: 'everywhere' as const },
    ...{ createdBy: 'a', createdAt: 0 },
  }));
  return here.judge({ input: { command }, effects: [{ kind: 'command', command, cwd: here.root }] }, stored);
}

const quoted = (word: string): string =>
  /^[\w./:@%+,=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

/** The first words of each command in a line, as far as the text tells them. */
function firstWords(command: string): string[][] {
  return analyse(parser, command)
    .commands.map(({ words }) => {
      const end = words.findIndex(({ literal, glob, text }) => !literal || glob || /[\p{C}\n]/u.test(text));
      return words.slice(0, end === -1 ? MAX_WORDS : Math.min(end, MAX_WORDS)).map(({ text }) => text);
    })
    .filter(([program = '']) => program !== '');
}

const prefixRule = (words: readonly string[]): string => `Bash(${words.map(quoted).join(' ')}:*)`;

describe('a rule of a command’s own first words', () => {
  it('has commands of every kind to be tried on', () => {
    expect(corpus.length).toBeGreaterThan(1_500);
    expect(corpus.filter((command) => command.startsWith('./')).length).toBeGreaterThan(3);
  });

  const tried = fc.record({
    command: fc.constantFrom(...corpus),
    length: fc.integer({ min: 1, max: MAX_WORDS }),
    path: fc.constantFrom('', './', '/usr/local/bin/', '../x/'),
  });
  const runs = { numRuns: count(400, 20_000) };

  it.each(['deny', 'ask'] as const)(
    'matches it where rules %s, by whatever path it is called',
    async (behaviour) => {
      await fc.assert(
        fc.asyncProperty(tried, async ({ command, length, path }) => {
          for (const [program = '', ...rest] of firstWords(command)) {
            const named = program.includes('/') ? program : `${path}${program}`;
            const rule = prefixRule([named, ...rest].slice(0, length));
            const decision = await judge(command, behaviour, [rule]);
            if (decision.because.kind === 'protected') continue;
            expect({ rule, behaviour: decision.behaviour, because: decision.because.kind }).toEqual({
              rule,
              behaviour,
              because: 'rule',
            });
          }
        }),
        runs,
      );
    },
    TIMEOUT_MS,
  );

  it(
    'matches it where rules allow, or says why it does not cover it',
    async () => {
      await fc.assert(
        fc.asyncProperty(tried, async ({ command, length }) => {
          const { plain } = analyse(parser, command);
          const parts = firstWords(command);
          if (plain === undefined || parts.length !== plain.length) return;
          const rules = parts.map((words) => prefixRule(words.slice(0, length)));
          const decision = await judge(command, 'allow', rules);
          const { kind } = decision.because;
          expect({ rules, kind: kind === 'mode' ? decision.message : 'about it' }).toEqual({
            rules,
            kind: 'about it',
          });
        }),
        runs,
      );
    },
    TIMEOUT_MS,
  );

  it('names the program with its path where it allows: another one of that name is not meant', async () => {
    for (const [rule, command] of [
      ['Bash(./deploy.sh:*)', 'deploy.sh now'],
      ['Bash(./deploy.sh:*)', 'other/deploy.sh now'],
      ['Bash(git log:*)', './git log'],
    ] as const) {
      expect((await judge(command, 'allow', [rule])).behaviour, `${rule} ${command}`).toBe('ask');
    }
    expect((await judge('./deploy.sh now', 'allow', ['Bash(./deploy.sh:*)'])).behaviour).toBe('allow');
  });

  it.each([
    ['Bash(./deploy.sh:*)', './deploy.sh now'],
    ['Bash(./deploy.sh:*)', 'cd x && ../deploy.sh'],
    ['Bash(./deploy.sh:*)', 'bash ./deploy.sh now'],
    ['Bash(./deploy.sh:*)', 'sh -x deploy.sh'],
    ['Bash(deploy.py:*)', 'python3 scripts/deploy.py'],
    ['Bash(./deploy.sh *)', 'sudo ./deploy.sh'],
    ['Bash(./deploy.sh)', './deploy.sh'],
    ['Bash(/usr/bin/git push:*)', 'git push origin'],
    ['Bash(/usr/bin/git push:*)', 'echo $(git -C x push)'],
  ])('%s denies %s', async (rule, command) => {
    expect((await judge(command, 'deny', [rule])).behaviour).toBe('deny');
    expect((await judge(command, 'ask', [rule])).because.kind).toBe('rule');
  });

  it('that ends in a slash names no program, and denies not all of them', async () => {
    expect((await judge('ls', 'deny', ['Bash(./scripts/:*)'])).behaviour).toBe('ask');
  });
});
