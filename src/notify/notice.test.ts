/** What a message shows of a question, and what it lets one allow. */
import { describe, expect, it } from 'vitest';
import type { Approval } from '../store/approvals.js';
import { type InView, messageOf } from './message.js';
import { noticeOf } from './notice.js';

interface Given {
  tool?: string;
  input?: unknown;
  detail?: string;
  agent?: string;
  why?: string;
  cwd?: string;
  hints?: object;
  risks?: string[];
}

const CHAT: InView = { longest: 600, lines: 10 };

function noticeFor(given: Given) {
  const {
    tool = 'Bash',
    input = { command: 'git status' },
    detail,
    agent,
    why = 'No rule.',
    cwd = '/work',
    hints = {},
    risks = [],
  } = given;
  const approval: Approval = {
    ...{ id: 'apr_1', session: 's1', principal: 'alice', tool, toolUseId: 't1', digest: 'd' },
    ...{ state: 'pending', input, createdAt: 0, suggestions: [] },
    describe: {
      ...{ title: 'Run', ...(detail !== undefined && { detail }), ...(agent !== undefined && { agent }) },
      asked: { why, place: { root: cwd, cwd }, question: false, hints, risks },
    },
  };
  return noticeOf('approval.asked', approval, { publicUrl: undefined, redact: (text) => text });
}

const textFor = (given: Given) => noticeFor(given).data.approval?.text;
const choicesFor = (given: Given, inView = CHAT) => messageOf(noticeFor(given), inView, 'msg_1').choices;

describe('a message that offers Allow', () => {
  it('shows what the card says besides the input', () => {
    const detail = 'Kept from earlier commands: GIT_DIR=/tmp/evil';
    expect(textFor({ detail })).toBe(`git status\n${detail}`);
    const hints = { blockedPath: '/etc/hosts', reason: 'It is outside.' };
    expect(textFor({ hints })).toBe('git status\n/etc/hosts\nIt is outside.');
    expect(choicesFor({ detail, hints })).toEqual(['allow', 'deny']);
    expect(choicesFor({ detail: 'x'.repeat(700) })).toEqual(['deny']);
    expect(choicesFor({ detail: 'to \u202e here' })).toEqual(['deny']);
  });

  it('leaves out what repeats a field or the whole input, not what a field merely holds', () => {
    const input = { file_path: '/a', content: 'Leads to /etc/passwd, it says' };
    const shown = `file_path: /a\ncontent: ${input.content}`;
    expect(textFor({ input, detail: input.content, hints: { blockedPath: '/a' } })).toBe(shown);
    expect(textFor({ input, detail: JSON.stringify(input, undefined, 2) })).toBe(shown);
    expect(textFor({ input, detail: 'Leads to /etc/passwd' })).toBe(`${shown}\nLeads to /etc/passwd`);
  });

  it.each<[string, Given]>([
    ['a folder', { cwd: `/work/${'x'.repeat(300)}` }],
    ['a folder with hidden characters', { cwd: '/work/\u200bapp' }],
    ['a folder with two blanks', { cwd: '/work/my  app' }],
    ['an agent', { agent: 'x'.repeat(301) }],
    ['an agent with hidden characters', { agent: 'a\u202eb' }],
    ['a reason', { why: 'x'.repeat(301) }],
    ['a reason with hidden characters', { why: 'a\u2066b' }],
  ])('does not cut or rewrite %s', (_what, given) => {
    expect(choicesFor({})).toEqual(['allow', 'deny']);
    expect(noticeFor(given).data.approval).toMatchObject({ whole: false, input: null });
    expect(choicesFor(given)).toEqual(['deny']);
  });

  it('does not repeat the command in the reason, however long it is', () => {
    const command = `echo ${'$& '.repeat(150)}x`;
    const notice = noticeFor({ input: { command }, why: `No rule is about the command \`${command}\`.` });
    expect(notice.data.approval).toMatchObject({ why: 'No rule is about this command.', whole: true });
  });

  it.each<[string, string]>([
    ['more lines than are seen', `true${'\n:'.repeat(10)}`],
    ['a run of blanks', `true${' '.repeat(8)}; rm -rf x`],
    ['a run of tabs and blanks', `true${'\t '.repeat(4)}; rm -rf x`],
    ['empty lines', 'true\n\n\nrm -rf x'],
    ['lines of blanks', 'true\n \n\t\nrm -rf x'],
  ])('has nothing pushed out of sight by %s', (_what, command) => {
    expect(choicesFor({ input: { command } })).toEqual(['deny']);
  });

  it('may have a few lines', () => {
    const command = `if true; then\n    echo\n\nfi${'\n:'.repeat(6)}`;
    expect(choicesFor({ input: { command } })).toEqual(['allow', 'deny']);
  });

  it('counts the reason, the key and the folder where they stand in one field with the text', () => {
    const narrow: InView = { longest: 40, lines: 3, isOneField: true };
    expect(choicesFor({}, narrow)).toEqual(['allow', 'deny']);
    expect(choicesFor({ cwd: '/work/of/a/deep/folder' }, narrow)).toEqual(['deny']);
    expect(choicesFor({ why: 'No rule is about it at all.' }, narrow)).toEqual(['deny']);
    expect(choicesFor({ input: { command: 'a\nb' } }, narrow)).toEqual(['deny']);
  });

  it('has the whole name of the tool where titles are cut', () => {
    const titled: InView = { longest: 400, lines: 8, longestName: 40 };
    expect(choicesFor({ tool: 'mcp__files__list' }, titled)).toEqual(['allow', 'deny']);
    const tool = 'mcp__files__list_all_documents_in_folder_and_delete';
    expect(choicesFor({ tool }, titled)).toEqual(['deny']);
  });
});

it('says before the reason what deserves a second look, also where only little is in view', () => {
  const risks = ['irreversible', 'outside', 'network', 'writes'];
  const notice = noticeFor({ risks });
  expect(notice.data.approval?.risks).toEqual(risks);
  const message = messageOf(notice, CHAT, 'msg_1');
  expect(message.note).toBe('Hard to undo. Outside its folder. Uses the network. No rule.');
  expect(message.choices).toEqual(['allow', 'deny']);
  const narrow: InView = { longest: 40, lines: 3, isOneField: true };
  expect(choicesFor({}, narrow)).toEqual(['allow', 'deny']);
  expect(choicesFor({ risks }, narrow)).toEqual(['deny']);
});

describe('the text of a message', () => {
  it('names every field but a lone command', () => {
    expect(textFor({ input: { command: 'a\nb' } })).toBe('a\nb');
    expect(textFor({ input: { delete_id: 'x' } })).toBe('delete_id: x');
  });

  it('has no field that a value or a name forged', () => {
    expect(textFor({ input: { to: 'a\nforce: false', force: true } })).toBe(
      'to: "a\\nforce: false"\nforce: true',
    );
    expect(textFor({ input: { 'a: 1\nb': 2 } })).toBe('"a: 1\\nb": 2');
  });
});
