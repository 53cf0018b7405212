import { expect, it } from 'vitest';
import type { VerdictReason } from '../../../permissions/gate.js';
import { explain } from './explain.js';

it.each<[VerdictReason, boolean, string]>([
  [
    { kind: 'rule', rule: 'Bash(git:*)', source: 'configuration', part: 'git log' },
    true,
    'rule Bash(git:*) of the configuration',
  ],
  [{ kind: 'rule', rule: 'Read', source: 'session', part: 'a' }, true, 'rule Read for this session'],
  [{ kind: 'mode', mode: 'allow' }, true, 'no rule matches, and the mode is allow'],
  [{ kind: 'person', by: 'alice', via: 'console' }, true, 'allowed by alice (console)'],
  [
    { kind: 'person', by: 'bob', via: 'api', reason: 'not now', rule: 'Bash(rm:*)' },
    false,
    'denied by bob (api), with the rule Bash(rm:*): not now',
  ],
  [{ kind: 'expiry' }, false, 'nobody answered in time'],
])('explains %j', (because, allowed, words) => {
  expect(explain(because, allowed)).toBe(words);
});

it('explains nothing where nothing was decided', () => {
  expect(explain(undefined, true)).toBeNull();
});
