import { describe, expect, it } from 'vitest';
import type { Block, Message, ToolResultBlock } from '../../../../src/core/conversation.js';
import { assistant, createBench, say, user } from '../../../support/claude-processes-bench.js';

const call = (id: string, name: string, input = {}): Block => ({ type: 'tool_use', id, name, input });
const result = (toolUseId: string, ...content: ToolResultBlock['content']): ToolResultBlock => ({
  type: 'tool_result',
  toolUseId,
  content,
  isError: false,
});
const text = (said: string) => ({ type: 'text' as const, text: said });
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

describe('a conversation that is gone on with', () => {
  const cases: { name: string; history: Message[]; incoming: Message[]; told: unknown[] }[] = [
    {
      name: 'is empty',
      history: [],
      incoming: [user('one')],
      told: [{ role: 'user', content: [text('one')] }],
    },
    {
      name: 'ends with text',
      history: [user('one'), assistant('two')],
      incoming: [user('three')],
      told: [
        { role: 'user', content: [text('one')] },
        { role: 'assistant', content: [text('two')] },
        { role: 'user', content: [text('three')] },
      ],
    },
    {
      name: 'ends with calls',
      history: [
        user('one'),
        assistant('two', call('toolu_1', 'Read', { file_path: '/x' }), call('toolu_2', 'mcp__gateway__w')),
      ],
      incoming: [user(result('toolu_1', text('A')), { ...result('toolu_2', text('B')), isError: true })],
      told: [
        { role: 'user', content: [text('one')] },
        {
          role: 'assistant',
          content: [
            text('two'),
            { type: 'tool_use', id: 'toolu_1', name: 'Read', input: { file_path: '/x' } },
            { type: 'tool_use', id: 'toolu_2', name: 'mcp__gateway__w', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'toolu_1', content: [text('A')] },
            { type: 'tool_result', tool_use_id: 'toolu_2', content: [text('B')], is_error: true },
          ],
        },
      ],
    },
    {
      name: 'has calls, results with images, documents, thinking and two user messages in a row',
      history: [
        user('one'),
        user({
          type: 'document',
          source: { type: 'text', mediaType: 'text/plain', data: 'doc' },
          title: 'D',
        }),
        assistant(
          { type: 'thinking', thinking: 'hm', signature: 'c2lnbmVk' },
          'two',
          call('toolu_1', 'Bash', { command: 'ls' }),
        ),
        user(
          result('toolu_1', text('A'), {
            type: 'image',
            source: { type: 'base64', mediaType: 'image/png', data: PIXEL },
          }),
          'and this',
        ),
        assistant('three', call('toolu_3', 'Read', { file_path: '/y' })),
        user({ ...result('toolu_3'), content: [text('gone')], isError: true }),
        assistant('four'),
      ],
      incoming: [user('five'), user('six')],
      told: [
        {
          role: 'user',
          content: [
            text('one'),
            { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'doc' }, title: 'D' },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'hm', signature: 'c2lnbmVk' },
            text('two'),
            { type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { command: 'ls' } },
          ],
        },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'toolu_1',
              content: [
                text('A'),
                { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PIXEL } },
              ],
            },
            text('and this'),
          ],
        },
        {
          role: 'assistant',
          content: [
            text('three'),
            { type: 'tool_use', id: 'toolu_3', name: 'Read', input: { file_path: '/y' } },
          ],
        },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 'toolu_3', content: [text('gone')], is_error: true }],
        },
        { role: 'assistant', content: [text('four')] },
        { role: 'user', content: [text('five'), text('six')] },
      ],
    },
  ];

  it.each(cases)('$name: the model sees it as it was', async ({ history, incoming, told }) => {
    const bench = await createBench();
    const process = await bench.open({ history });
    await say(process, ...incoming);
    expect(bench.told()).toEqual(told);
    expect(bench.calls()).toHaveLength(1);
  });
});
