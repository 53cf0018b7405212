import { expect, it } from 'vitest';
import type { ReviewOutcome } from '../../../tools/runtime/review.js';
import { type AskOptions, askOf, ToolCallEvents } from './own-tool-calls.js';

const CALL = { wireId: 'wire', id: 'own', name: 'Read' };
const DESCRIBE = { title: 'Read a', kind: 'read', paths: [] } as const;
const said = (isError = false) => ({
  ...({ type: 'tool_result', toolUseId: 'wire', isError } as const),
  content: [{ type: 'text' as const, text: 'x' }],
});
const reviewed = (verdict: ReviewOutcome['verdict']): ReviewOutcome => ({
  ...{ verdict, name: 'Read', readOnly: true, describe: DESCRIBE, changed: false },
});

it('a call that ran took the time from its start, and says why it was let through', () => {
  let now = 100;
  const events = new ToolCallEvents(() => now);
  const because = { kind: 'mode', mode: 'allow' } as const;
  const started = events.start(CALL, reviewed({ allowed: true, input: {}, because }));
  expect(started).toEqual({ type: 'tool-start', id: 'own', name: 'Read', describe: DESCRIBE, because });
  now = 350;
  expect(events.end(said())).toMatchObject({
    event: { id: 'own', durationMs: 250, outcome: 'done', because, describe: DESCRIBE },
  });
  expect(events.end(said())).toBeUndefined();
});

it.each([
  ['denied', 'denied'],
  ['expired', 'expired'],
  ['cancelled', 'aborted'],
  ['unattended', 'unattended'],
] as const)('a call that was %s is told as %s', (outcome, told) => {
  const events = new ToolCallEvents();
  const verdict = { allowed: false, outcome, message: 'no', because: { kind: 'expiry' } } as const;
  events.refuse({ ...CALL, agentId: 'a' }, verdict, reviewed(verdict));
  expect(events.end(said(true))).toMatchObject({
    agentId: 'a',
    event: { outcome: told, durationMs: 0, isError: true, because: { kind: 'expiry' } },
  });
});

const PLACE = { root: '/work/app', cwd: '/work/app', home: '/home/ann' };
const asked = (more: Partial<AskOptions>, input = {}) =>
  askOf({ signal: new AbortController().signal, toolUseID: 't', requestId: 'r', ...more }, input, PLACE);

it('the hints of a question carry what Claude Code says about it', () => {
  expect(
    asked({
      defaultToNo: true,
      suppressAlwaysAllowRule: true,
      blockedPath: '/etc/hosts',
      decisionReason: 'It is outside.',
      title: 'Claude wants to read hosts',
      description: 'With access to /etc',
      mcpServer: { name: 'docs', source: 'project' },
    }).hints,
  ).toEqual({
    defaultToNo: true,
    suppressAlways: true,
    blockedPath: '/etc/hosts',
    reason: 'It is outside.',
    title: 'Claude wants to read hosts',
    description: 'With access to /etc',
    mcpServer: { name: 'docs', source: 'project' },
  });
});

it('there are no hints where Claude Code only repeats the call', () => {
  const { hints } = asked({ decisionReason: '', description: 'npm test' }, { command: 'npm test' });
  expect(hints).toEqual({});
  expect(asked({ description: 'src/a.ts' }, { file_path: '/work/app/src/a.ts' }).hints).toEqual({});
});

it('the hints name the rule of Claude Code that asks', () => {
  const matchedAskRule = { source: 'userSettings', toolName: 'Bash', ruleContent: 'git push:*' };
  expect(asked({ matchedAskRule }).hints.reason).toBe(
    'The rule Bash(git push:*) of Claude Code (userSettings) asks for it.',
  );
});

it('the hints have the suggestions of Claude Code that allow, and no others', () => {
  const rule = { toolName: 'Bash', ruleContent: 'npm test:*' };
  expect(
    asked({
      suggestions: [
        { type: 'addRules', rules: [rule], behavior: 'allow', destination: 'localSettings' },
        { type: 'addRules', rules: [rule], behavior: 'deny', destination: 'session' },
        { type: 'setMode', mode: 'acceptEdits', destination: 'session' },
      ],
    }).rules,
  ).toEqual([{ rule: 'Bash(npm test:*)', scope: 'project' }]);
});
