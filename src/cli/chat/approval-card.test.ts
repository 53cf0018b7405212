import { describe, expect, it } from 'vitest';
import { approvalOf } from '../../../test/support/typed-terminal.js';
import { cardText, readCard, readChoice } from './approval-card.js';
import { painter } from './render.js';

const paint = painter(false);
const rules = [
  { rule: 'Bash(npm test)', behaviour: 'allow', covers: 'this command' },
  { rule: 'Bash(npm run:*)', behaviour: 'allow', covers: 'npm run …' },
];

describe('a card', () => {
  it('shows the whole command and every way to answer', () => {
    const command = `echo ${'x'.repeat(5000)} && rm -rf build`;
    const card = readCard(
      approvalOf({
        describe: {
          title: 'Run a command',
          kind: 'command',
          paths: [],
          command,
          asked: { why: 'no rule matches' },
        },
        suggestions: rules.slice(0, 1),
      }),
    );
    const text = cardText(card, paint);
    expect(text).toContain(command);
    expect(text).toContain('no rule matches');
    expect(text).toMatch(/^ {2}y {2}yes, this once$/m);
    expect(text).toMatch(/^ {2}s {2}yes, and for this session: Bash\(npm test\)$/m);
    expect(text).toMatch(/^ {2}n {2}no/m);
  });

  it('has the command once', () => {
    const command = 'git push origin main';
    const why = 'No rule is about the command `git push origin main`, so it is asked.';
    const describe = { title: `Run ${command}`, kind: 'command', paths: [], command, asked: { why } };
    const text = cardText(readCard(approvalOf({ describe })), paint);
    expect(text.split('git push')).toHaveLength(2);
    expect(text).toMatch(/^\? Run$/m);
    expect(text).toContain('No rule is about this command, so it is asked.');
  });

  it('hides nothing behind escapes', () => {
    const command = 'ls\u001b[2K\rrm -rf ~';
    const card = readCard(
      approvalOf({ describe: { title: 'x\u202ey', kind: 'command', paths: [], command } }),
    );
    const text = cardText(card, paint);
    expect(text).toContain('ls\\u001b[2K\\u000drm -rf ~');
    expect(text).toContain('x\\u202ey');
  });

  it('names the sub-agent that asks', () => {
    const describe = { title: 'Run ls', kind: 'command', paths: [], command: 'ls', agent: 'Find the bug' };
    const card = readCard(approvalOf({ agent: 'agent_1', describe }));
    expect(cardText(card, paint)).toContain('sub-agent: Find the bug');
  });

  it('shows the input where the description cannot be read', () => {
    const text = cardText(readCard(approvalOf({ describe: 7, input: { command: 'ls' } })), paint);
    expect(text).toContain('"command": "ls"');
  });
});

describe('what the engine says', () => {
  const hinted = (hints: object) =>
    readCard(
      approvalOf({
        describe: { title: 'Run x', kind: 'command', paths: [], asked: { why: 'no rule', hints } },
        suggestions: [...rules, { rule: 'Bash(x:*)', covers: 'x', source: 'engine' }],
      }),
    );

  it('is shown, with what it hides written out', () => {
    const hints = {
      reason: 'It is a sensitive file.\u001b[8m',
      blockedPath: '/etc/hosts',
      description: 'With access to /etc',
      mcpServer: { name: 'docs', source: 'project' },
    };
    const text = cardText(hinted(hints), paint);
    expect(text).toContain('It says: It is a sensitive file.\\u001b[8m');
    expect(text).toContain('About: /etc/hosts');
    expect(text).toContain('With access to /etc');
    expect(text).toContain('MCP server docs (project)');
    expect(text).toMatch(/Bash\(x:\*\).*engine suggests/);
  });

  it('keeps a single key from allowing, and puts no first', () => {
    const card = hinted({ defaultToNo: true });
    const text = cardText(card, paint);
    expect(text.indexOf('  n  no')).toBeLessThan(text.indexOf('  yes  this once'));
    for (const line of ['y', 'Y', 's1', 'p', '']) expect(readChoice(line, card).kind, line).toBe('unclear');
    expect(readChoice('yes', card)).toEqual({ kind: 'allow' });
    expect(readChoice('n', card)).toEqual({ kind: 'deny' });
  });

  it('takes away every "always"', () => {
    const card = hinted({ suppressAlways: true });
    expect(cardText(card, paint)).not.toContain('yes, and');
    expect(readChoice('s1', card)).toMatchObject({
      kind: 'unclear',
      problem: expect.stringContaining('No rule'),
    });
  });
});

describe('an answer', () => {
  const card = readCard(approvalOf({ suggestions: rules }));

  it.each([
    ['y', { kind: 'allow' }],
    [' YES ', { kind: 'allow' }],
    ['n', { kind: 'deny' }],
    ['no: use pnpm', { kind: 'deny', reason: 'use pnpm' }],
    ['n  use pnpm', { kind: 'deny', reason: 'use pnpm' }],
    ['e', { kind: 'edit' }],
    ['s1', { kind: 'always', rule: 'Bash(npm test)', scope: 'session' }],
    ['p2', { kind: 'always', rule: 'Bash(npm run:*)', scope: 'project' }],
    ['a', { kind: 'always', rule: 'Bash(npm test)', scope: 'everywhere' }],
  ])('%j', (line, choice) => {
    expect(readChoice(line, card)).toEqual(choice);
  });

  it.each(['', 'yy', 'nope', 's3', 'yes please', 'always'])('%j decides nothing', (line) => {
    expect(readChoice(line, card).kind).toBe('unclear');
  });
});
