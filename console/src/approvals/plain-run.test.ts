import { describe, expect, it } from 'vitest';
import type { ApprovalWire } from '../../../src/server/console-api/wire/approvals.js';
import { hasMoreArguments, isPlainRun, isWholeInItsRow, titleOf } from './plain-run.js';

const HINTS: ApprovalWire['hints'] = {
  default_to_no: false,
  suppress_always: false,
  blocked_path: null,
  reason: null,
  title: null,
  description: null,
  mcp_server: null,
};

function asked(parts: Partial<ApprovalWire> = {}): ApprovalWire {
  return {
    id: 'apr_1',
    session: 'ses_1',
    key: 'local',
    agent: null,
    agent_label: null,
    tool_use_id: 'toolu_1',
    tool: 'Bash',
    input: { command: 'make test' },
    describe: { title: 'Run make test', kind: 'command', paths: ['/work'], command: 'make test' },
    why: 'No rule is about the command `make test`, and the mode is ask.',
    risks: ['writes'],
    cwd: '/work',
    project: '/work',
    question: false,
    suggestions: [],
    hints: HINTS,
    digest: 'd',
    state: 'pending',
    created_at: '2026-01-01T00:00:00.000Z',
    expires_at: null,
    used_at: null,
    decision: null,
    ...parts,
  };
}

const described = (parts: Partial<ApprovalWire['describe']>) => ({
  describe: { ...asked().describe, ...parts },
});
const input = (parts: object) => ({ input: { command: 'make test', ...parts } });

describe('a row', () => {
  it('shows all of a short command and of its description', () => {
    expect(isWholeInItsRow(asked())).toBe(true);
    const detail = 'Run the tests';
    expect(isWholeInItsRow(asked({ ...described({ detail }), ...input({ description: detail }) }))).toBe(
      true,
    );
  });

  it.each<[string, Partial<ApprovalWire>]>([
    ['variables of earlier commands', described({ detail: 'With variables of earlier commands: PATH=./x' })],
    [
      'variables behind a description',
      { ...described({ detail: 'Tests\nWith variables: A=1' }), ...input({ description: 'Tests' }) },
    ],
    [
      'a description of more than a row',
      { ...described({ detail: 'x'.repeat(121) }), ...input({ description: 'x'.repeat(121) }) },
    ],
    [
      'a run in the background',
      { ...described({ title: 'Run in the background make test' }), ...input({ run_in_background: true }) },
    ],
    ['another time-out', input({ timeout: 600_000 })],
    ['a field that it does not know', input({ dangerouslyDisableSandbox: true })],
    ['a command that is not the one of the input', { input: { command: 'make tset' } }],
    ['another folder', { cwd: '/work/deep', ...described({ paths: ['/work/deep'] }) }],
    ['other paths', described({ paths: ['/work', '/etc'] })],
    [
      'that it may have run',
      {
        why: 'The mode is ask. It was allowed before and had begun when the gateway stopped, so it may have done its work already.',
      },
    ],
    ['the engine’s description', { hints: { ...HINTS, description: 'Deploys' } }],
    ['the engine’s title', { hints: { ...HINTS, title: 'Deploy' } }],
    ['that it is asked each time', { hints: { ...HINTS, suppress_always: true } }],
    ['an MCP server', { hints: { ...HINTS, mcp_server: { name: 'docs', source: null } } }],
    ['what is hard to undo', { risks: ['irreversible'] }],
    [
      'a second line',
      { input: { command: 'ls\nid' }, ...described({ title: 'Run ls ⏎ id', command: 'ls\nid' }) },
    ],
  ])('does not show %s, which has to be opened', (_what, parts) => {
    expect(isWholeInItsRow(asked(parts))).toBe(false);
  });
});

describe('the title of a command', () => {
  const titled = (title: string, command: string, parts: Partial<ApprovalWire> = {}) =>
    isPlainRun(asked({ input: { command }, ...described({ title, command }), ...parts }));

  it('says no more than the command where that is run and waited for', () => {
    expect(titled('Run ls', ' ls\n')).toBe(true);
    expect(titled('Run ls ⏎ id', 'ls\n  id')).toBe(true);
    expect(titled('Run cut\\t-f1', 'cut\t-f1')).toBe(true);
    expect(titled(`Run ${'x'.repeat(80)}…`, 'x'.repeat(5_000))).toBe(true);
    expect(titled('Run in the background ls', 'in the background ls')).toBe(true);
  });

  it('is shown on its card where it says more than the command, whatever the engine calls it', () => {
    const hints = { ...HINTS, title: 'Test it' };
    expect(titleOf(asked({ hints }), 'en')).toEqual({ title: 'Test it', isSaidBelow: true });
    const title = 'Run in the background make test';
    const background = asked({ hints, ...described({ title }), ...input({ run_in_background: true }) });
    expect(titleOf(background, 'en')).toEqual({ title, isSaidBelow: false });
    expect(titleOf(background, 'zh')).toEqual({ title: '在后台运行 make test', isSaidBelow: false });
  });

  it('says that it runs in the background', () => {
    expect(titled('Run in the background ls', 'ls')).toBe(false);
    expect(titled('Run ls', 'ls', { input: { command: 'ls', run_in_background: true } })).toBe(false);
    expect(titled('End bash_1', 'ls')).toBe(false);
  });
});

it('arguments beside a command and its description are opened', () => {
  expect(hasMoreArguments(asked(input({ description: 'Tests', timeout: 1 })))).toBe(false);
  expect(hasMoreArguments(asked(input({ dangerouslyDisableSandbox: true })))).toBe(true);
});
