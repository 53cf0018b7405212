import { expect, it } from 'vitest';
import type { Block, Message } from '../../core/conversation.js';
import { LossLog } from '../../core/losses.js';
import { compactionAsText, fromCompaction } from './compaction.js';

const text = (said: string): Block => ({ type: 'text', text: said });
const compaction = (content: string | null, more: object = {}): Block => ({
  type: 'opaque',
  dialect: 'anthropic-messages',
  kind: 'compaction',
  value: { type: 'compaction', content, ...more },
});
const user = (...content: Block[]): Message => ({ role: 'user', content });
const assistant = (...content: Block[]): Message => ({ role: 'assistant', content });
const SUMMARY = text('Summary of the conversation before this point:\n\nB');

it('the last compaction is where the conversation begins', () => {
  const messages = [
    user(text('1')),
    assistant(compaction('A')),
    user(text('2')),
    assistant(compaction('B'), text('3')),
    user(text('4')),
  ];
  expect(fromCompaction(messages, new LossLog())).toEqual([
    user(SUMMARY),
    assistant(text('3')),
    user(text('4')),
  ]);
});

it('one that failed stands for nothing', () => {
  const messages = [user(text('1')), assistant(compaction(null), text('2')), user(text('3'))];
  expect(fromCompaction(messages, new LossLog())).toBe(messages);
});

it('changes of tools that it holds are a loss', () => {
  const losses = new LossLog();
  fromCompaction([assistant(compaction('B', { tool_changes: [{ type: 'tool_removal' }] }))], losses);
  expect(losses.list()).toMatchObject([{ path: 'messages.0.tool_changes' }]);
});

it('in a history that keeps every message it is text in its place', () => {
  expect([compaction('B'), compaction(null), text('x')].map(compactionAsText)).toEqual([
    SUMMARY,
    compaction(null),
    text('x'),
  ]);
});
