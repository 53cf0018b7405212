import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  claudeProcesses,
  contentOf,
  openWorld,
  result,
  says,
  tool,
  user,
} from '../../support/claude-world.js';
import { call } from '../../support/wire.js';

describe('a conversation with Claude Code', { timeout: 60_000 }, () => {
  it('answers, and goes on in the same process', async () => {
    const world = await openWorld();
    world.script(says('Hello.'), says('Again.'));
    const first = await world.post({ messages: [user('Hi')] });
    expect(first).toMatchObject({ status: 200, body: { stop_reason: 'end_turn' } });
    expect(contentOf(first)).toEqual([{ type: 'text', text: 'Hello.' }]);
    const processes = claudeProcesses(world.root);
    const second = await world.post({
      messages: [user('Hi'), { role: 'assistant', content: 'Hello.' }, user('More')],
    });
    expect(claudeProcesses(world.root)).toEqual(expect.arrayContaining(processes));
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

  it('counts its model calls once, with the answer, and puts what the client wishes into them', async () => {
    const world = await openWorld();
    world.script({ parts: [call('Read', { file_path: world.path('none') }, 'toolu_1')] }, says('Done.'));
    const wishes = { max_tokens: 77, temperature: 0.3, stop_sequences: ['END'] };
    const answer = await world.post({ messages: [user('Hi')], ...wishes });
    expect(answer.body['usage']).toMatchObject({ input_tokens: 40, output_tokens: 20 });
    expect(world.upstream.requests.map(({ json }) => json)).toMatchObject([wishes, wishes]);
    const { data } = await world.usage();
    expect(data).toMatchObject([{ model: 'agent', requests: 1, input_tokens: 40, output_tokens: 20 }]);
  });

  it('ends with what cut the model off, and asks it no further', async () => {
    const world = await openWorld();
    world.script({ ...says('Half of'), stop: 'max_tokens' });
    const answer = await world.post({ messages: [user('Hi')] });
    expect(answer.body).toMatchObject({ stop_reason: 'max_tokens', content: [{ text: 'Half of' }] });
    expect(world.upstream.requests).toHaveLength(1);
  });

  it('pauses where the turns are used up, before it asks the model again', async () => {
    const world = await openWorld({ model: { max_turns: 1 } });
    world.script({ parts: [call('Read', { file_path: world.path('none') }, 'toolu_1')] });
    const answer = await world.post({ messages: [user('Hi')] });
    expect(answer.body).toMatchObject({ stop_reason: 'pause_turn' });
    expect(world.upstream.requests).toHaveLength(1);
  });
});
