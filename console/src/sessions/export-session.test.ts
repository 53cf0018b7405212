import { expect, it } from 'vitest';
import type { MessageWire } from '../../../src/server/console-api/wire/sessions.js';
import { markdownOf } from './export-session.js';

it('a conversation as Markdown has all that was said and done, and no fence in it ends early', () => {
  const messages: MessageWire[] = [
    { index: 0, turn: 0, role: 'user', content: [{ type: 'text', text: 'Look' }] },
    {
      index: 1,
      turn: 0,
      role: 'assistant',
      content: [
        { type: 'text', text: 'I look.' },
        { type: 'tool_use', id: 'c', name: 'Read', input: { file_path: 'a.md' } },
      ],
    },
    {
      index: 2,
      turn: 0,
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'c',
          is_error: false,
          content: [{ type: 'text', text: '````\n# Not a heading\n````' }],
        },
      ],
    },
  ];
  expect(markdownOf({ title: 'Look\n# twice', id: 'ses_1', model: 'coder', messages })).toBe(
    [
      '# Look # twice',
      'coder · ses_1',
      '## User',
      'Look',
      '## Assistant',
      'I look.',
      '**Read**',
      '```json\n{\n  "file_path": "a.md"\n}\n```',
      '`````\n````\n# Not a heading\n````\n`````',
    ]
      .join('\n\n')
      .concat('\n'),
  );
});
