import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { call } from '../../../test/support/wire.js';
import { contentOf, openWorld, result, says, tool, user } from './testing.js';

describe('a conversation with Claude Code', { timeout: 60_000 }, () => {
  it('answers, and goes on in the same process', async () => {
    const world = await openWorld();
    world.script(says('Hello.'), says('Again.'));
    const first = await world.post({ messages: [user('Hi')] });
    expect(first).toMatchObject({ status: 200, body: { stop_reason: 'end_turn' } });
    expect(contentOf(first)).toEqual([{ type: 'text', text: 'Hello.' }]);
    const second = await world.post({
      messages: [user('Hi'), { role: 'assistant', content: 'Hello.' }, user('More')],
    });
    expect(second.headers.get('x-toolgate-attach')).toBe('continue');
    expect(contentOf(second)).toEqual([{ type: 'text', text: 'Again.' }]);
    expect(second.headers.get('x-session-id')).toBe(first.headers.get('x-session-id'));
  });

  it('hands calls of the client back and takes their results, beside a built-in', async () => {
    const world = await openWorld();
    world.script(
      {
        parts: [
          { type: 'text', text: 'Looking.' },
          call('mcp__gateway__weather', { city: 'Paris' }, 'toolu_1'),
          call('Write', { file_path: world.path('a.txt'), content: 'x' }, 'toolu_2'),
          call('mcp__gateway__weather', { city: 'Rome' }, 'toolu_3'),
        ],
      },
      says('Sunny.'),
    );
    const messages = [user('Weather?')];
    const tools = [tool('weather')];
    const first = await world.post({ messages, tools });
    expect(first).toMatchObject({ status: 200, body: { stop_reason: 'tool_use' } });
    expect(contentOf(first)).toMatchObject([
      { type: 'text', text: 'Looking.' },
      { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Paris' } },
      { type: 'tool_use', id: 'toolu_3', name: 'weather', input: { city: 'Rome' } },
    ]);
    const second = await world.post({
      tools,
      messages: [
        ...messages,
        { role: 'assistant', content: first.body['content'] },
        user([result('toolu_1', 'sunny'), result('toolu_3', 'rain')]),
      ],
    });
    expect(contentOf(second)).toEqual([{ type: 'text', text: 'Sunny.' }]);
    expect(existsSync(world.path('a.txt'))).toBe(true);
    const told = world.told(1).at(-1);
    expect(JSON.stringify(told)).toContain('toolu_2');
  });
});
