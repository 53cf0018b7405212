import { expect, it } from 'vitest';
import { type AskOptions, askOf } from './ask-hints.js';

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
