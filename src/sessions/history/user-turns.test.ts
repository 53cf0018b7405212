import { describe, expect, it } from 'vitest';
import type { Block, Message } from '../../core/conversation.js';
import { messagesIn, turnsOf } from './user-turns.js';

const text = (value: string): Block => ({ type: 'text', text: value });
const user = (...content: Block[]): Message => ({ role: 'user', content });
const assistant = (...content: Block[]): Message => ({ role: 'assistant', content });
const call: Block = { type: 'tool_use', id: 'c1', name: 'Read', input: {} };
const result: Block = { type: 'tool_result', toolUseId: 'c1', content: [], isError: false };

const TALK: Message[] = [
  user(text('one')),
  assistant(text('let me see'), call),
  user(result, text('and hurry')),
  assistant(text('done')),
  user(text('two')),
  user(text('three')),
  assistant(text('all right')),
];

describe('user turns of a conversation', () => {
  it('begin with what the user says, not with results of calls', () => {
    expect(turnsOf(TALK)).toEqual([0, 0, 0, 0, 1, 2, 2]);
    expect(turnsOf([assistant(text('hello')), user(text('hi'))])).toEqual([0, 0]);
    expect(turnsOf([])).toEqual([]);
  });

  it('are never split', () => {
    expect([0, 1, 2, 3].map((keep) => messagesIn(TALK, keep))).toEqual([0, 4, 5, 7]);
    expect(messagesIn([], 0)).toBe(0);
    expect(() => messagesIn(TALK, 4)).toThrow('the conversation has 3 turns');
  });
});
