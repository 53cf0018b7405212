import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Block, Message, Role } from '../../core/conversation.js';
import { LossLog } from '../../core/losses.js';
import { repairHistory } from './repair-history.js';

const use = (id: string): Block => ({ type: 'tool_use', id, name: 'Read', input: {} });
const result = (id: string, text = `result of ${id}`): Block => ({
  type: 'tool_result',
  toolUseId: id,
  content: [{ type: 'text', text }],
  isError: false,
});
const text = (value: string): Block => ({ type: 'text', text: value });
const message = (role: Role, ...content: Block[]): Message => ({ role, content });
const user = (...content: Block[]) => message('user', ...content);
const assistant = (...content: Block[]) => message('assistant', ...content);
const system = (...content: Block[]) => message('system', ...content);

function repair(messages: Message[]) {
  const losses = new LossLog();
  return { messages: repairHistory(messages, losses), reasons: losses.list().map(({ reason }) => reason) };
}

/** `u[r1 t] a[1 2]`: a history as one short line. */
function sketch(messages: readonly Message[]): string {
  return messages
    .map(({ role, content }) => {
      const blocks = content.map((block) => {
        if (block.type === 'tool_use') return block.id;
        if (block.type === 'tool_result')
          return block.isError ? `!${block.toolUseId}` : `r${block.toolUseId}`;
        return block.type === 'text'
          ? block.text.replace(/^\[(\w+) of the tool call (\w+).*$/, 'lost-$2')
          : '?';
      });
      return `${role[0]}[${blocks.join(' ')}]`;
    })
    .join(' ');
}

describe('a history that is in order', () => {
  const histories: [string, Message[]][] = [
    ['empty', []],
    ['text', [user(text('a')), assistant(text('b')), user(text('c'))]],
    [
      'calls',
      [user(text('a')), assistant(text('b'), use('1'), use('2')), user(result('1'), result('2'), text('c'))],
    ],
    ['results and text in two messages', [assistant(use('1')), user(result('1')), user(text('c'))]],
    [
      'an instruction in the middle',
      [assistant(use('1')), user(result('1')), system(text('s')), user(text('c'))],
    ],
  ];
  it.each(histories)('is returned as it is: %s', (_name, messages) => {
    const repaired = repair(messages);
    expect(repaired.messages).toBe(messages);
    expect(repaired.reasons).toEqual([]);
  });
});

interface Case {
  name: string;
  messages: Message[];
  expected: string;
  losses?: number;
}

const cases: Case[] = [
  {
    name: 'text before results',
    messages: [assistant(use('1')), user(text('t'), result('1'))],
    expected: 'a[1] u[r1 t]',
  },
  {
    name: 'results in another order than the calls',
    messages: [assistant(use('1'), use('2')), user(result('2'), result('1'))],
    expected: 'a[1 2] u[r1 r2]',
  },
  {
    name: 'results in several messages',
    messages: [assistant(use('1'), use('2')), user(result('1')), user(text('t'), result('2'))],
    expected: 'a[1 2] u[r1 r2] u[t]',
  },
  {
    name: 'an instruction between a call and its result',
    messages: [assistant(use('1')), system(text('s')), user(result('1'), text('t'))],
    expected: 'a[1] u[r1] s[s] u[t]',
  },
  {
    name: 'a result that comes turns later',
    messages: [assistant(use('1')), user(text('t')), assistant(text('b')), user(result('1'))],
    expected: 'a[1] u[r1 t] a[b]',
  },
  {
    name: 'two assistant messages in a row',
    messages: [assistant(use('1')), assistant(use('2')), user(result('1'), result('2'), text('t'))],
    expected: 'a[1] u[r1] a[2] u[r2 t]',
  },
  {
    name: 'an orphan',
    messages: [user(result('9'), text('t')), assistant(text('b'))],
    expected: 'u[lost-9 result of 9 t] a[b]',
    losses: 1,
  },
  {
    name: 'a result before its call',
    messages: [user(result('1')), assistant(use('1')), user(text('t'))],
    expected: 'u[lost-1 result of 1] a[1] u[!1 t]',
    losses: 2,
  },
  {
    name: 'an unanswered call',
    messages: [assistant(text('b'), use('1'), use('2')), user(result('2'), text('stop'))],
    expected: 'a[b 1 2] u[!1 r2 stop]',
    losses: 1,
  },
  {
    name: 'an unanswered call at the end',
    messages: [user(text('a')), assistant(use('1'))],
    expected: 'u[a] a[1] u[!1]',
    losses: 1,
  },
  {
    name: 'a result that was sent twice',
    messages: [assistant(use('1')), user(result('1'), text('t')), user(result('1'))],
    expected: 'a[1] u[r1 t]',
    losses: 1,
  },
  {
    name: 'a second result that says something else',
    messages: [assistant(use('1')), user(result('1'), result('1', 'other'))],
    expected: 'a[1] u[r1 lost-1 other]',
    losses: 1,
  },
  {
    name: 'an id that a later turn uses again',
    messages: [assistant(use('0')), user(result('0', 'x')), assistant(use('0')), user(result('0', 'y'))],
    expected: 'a[0] u[r0] a[0-2] u[r0-2]',
  },
  {
    name: 'a call that stands twice in one message',
    messages: [assistant(use('1'), use('1')), user(result('1'))],
    expected: 'a[1] u[r1]',
    losses: 1,
  },
  {
    name: 'a result inside an assistant message',
    messages: [assistant(use('1'), result('1'), text('b')), user(text('t'))],
    expected: 'a[1 b] u[r1 t]',
  },
  {
    name: 'a call inside a user message',
    messages: [user(use('1'), text('t'))],
    expected: 'u[t]',
    losses: 1,
  },
  {
    name: 'a message that held nothing else',
    messages: [assistant(use('1')), user(text('t')), user(result('1')), assistant(text('b'))],
    expected: 'a[1] u[r1 t] a[b]',
  },
];

describe('a broken history', () => {
  it.each(cases)('$name', ({ messages, expected, losses = 0 }) => {
    const before = JSON.stringify(messages);
    const repaired = repair(messages);
    expect(sketch(repaired.messages)).toBe(expected);
    expect(repaired.reasons).toHaveLength(losses);
    expect(JSON.stringify(messages)).toBe(before);
  });

  it('keeps the text of a result with the id that its call got', () => {
    const { messages } = repair([
      assistant(use('0')),
      user(result('0', 'x')),
      assistant(use('0')),
      user(result('0', 'y')),
    ]);
    expect(messages[3]?.content[0]).toMatchObject({ toolUseId: '0-2', content: [{ text: 'y' }] });
  });

  it('is in order after one repair, whatever it was', () => {
    const id = fc.constantFrom('1', '2', '3');
    const block = fc.oneof(
      id.map(use),
      fc.tuple(id, id).map(([at, said]) => result(at, said)),
      id.map(text),
    );
    const anyMessage = fc
      .tuple(fc.constantFrom<Role>('user', 'assistant', 'system'), fc.array(block, { maxLength: 4 }))
      .map(([role, content]) => message(role, ...content));
    fc.assert(
      fc.property(fc.array(anyMessage, { maxLength: 8 }), (messages) => {
        const once = repair(messages).messages;
        expect(repair([...once]).messages).toEqual(once);
      }),
      { numRuns: 1_000 },
    );
  });
});
