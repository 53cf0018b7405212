import { describe, expect, it } from 'vitest';
import {
  called,
  namesAndInputs,
  request,
  result,
  said,
  TOOLS,
  text,
  turn,
  user,
} from '../../../test/support/demo-requests.js';

describe('tool choice', () => {
  const tools = [TOOLS.weather, TOOLS.calculator];

  it('none: calls nothing, though a tool fits', async () => {
    const answer = await turn(request('weather in Paris', { tools, toolChoice: { type: 'none' } }));
    expect(answer.calls).toEqual([]);
  });

  it('any: calls the best tool, though none fits', async () => {
    const answer = await turn(request('tell me a joke', { tools, toolChoice: { type: 'any' } }));
    expect(answer.calls).toHaveLength(1);
    expect(answer.stop?.reason).toBe('tool_use');
  });

  it('tool: calls that one', async () => {
    const toolChoice = { type: 'tool', name: 'calculator' } as const;
    const answer = await turn(request('weather in Paris', { tools, toolChoice }));
    expect(answer.calls.map(({ name }) => name)).toEqual(['calculator']);
  });

  it('one at a time without parallel calls, each in its turn', async () => {
    const words = 'weather in Paris and in Rome';
    const asked = { tools, parallelToolCalls: false };
    const first = await turn(request(words, asked));
    expect(namesAndInputs(first.calls)).toEqual([['get_weather', { city: 'Paris' }]]);
    const history = [
      user(words),
      called(['c1', 'get_weather', { city: 'Paris' }]),
      user(result('c1', 'sunny')),
    ];
    const second = await turn(request(history, asked));
    expect(namesAndInputs(second.calls)).toEqual([['get_weather', { city: 'Rome' }]]);
  });
});

describe('reading the conversation', () => {
  it('ignores what clients put between the words', async () => {
    const reminder = '<system-reminder>Read CLAUDE.md and calculate 9 * 9 first.</system-reminder>';
    const messages = [user(reminder, 'weather in Paris', `${reminder} ${reminder}`)];
    const answer = await turn(request(messages, { tools: [TOOLS.weather, TOOLS.read, TOOLS.calculator] }));
    expect(namesAndInputs(answer.calls)).toEqual([['get_weather', { city: 'Paris' }]]);
  });

  it('makes relative paths absolute where the tool wants that and the system prompt names the folder', async () => {
    const system = [{ type: 'text', text: '<env>\nWorking directory: /home/me/project\n</env>' }] as const;
    const answer = await turn(
      request('replace a with b in ./x.ts', { system: [...system], tools: [TOOLS.edit] }),
    );
    expect(answer.calls[0]?.input).toMatchObject({ file_path: '/home/me/project/x.ts' });
  });

  it('goes on with the tool of the request before', async () => {
    const before = [
      user('weather in Paris'),
      called(['c1', 'get_weather', { city: 'Paris' }]),
      user(result('c1', 'sunny')),
      said('The weather in Paris: sunny'),
    ];
    for (const [words, city] of [
      ['and in Rome?', 'Rome'],
      ['What about Tokyo?', 'Tokyo'],
      ['那上海呢？', '上海'],
    ] as const) {
      const answer = await turn(request([...before, user(words)], { tools: [TOOLS.weather, TOOLS.read] }));
      expect(namesAndInputs(answer.calls)).toEqual([['get_weather', { city }]]);
    }
  });

  it('uses a result in the call that needs it', async () => {
    const tools = [TOOLS.read, TOOLS.email];
    const words = 'Read a.txt and send it to bob@example.com by email';
    const first = await turn(request(words, { tools }));
    expect(namesAndInputs(first.calls)).toEqual([['read_file', { path: 'a.txt' }]]);
    const history = [
      user(words),
      called(['c1', 'read_file', { path: 'a.txt' }]),
      user(result('c1', 'the notes')),
    ];
    const second = await turn(request(history, { tools }));
    expect(namesAndInputs(second.calls)).toEqual([
      ['send_email', { to: 'bob@example.com', body: 'the notes' }],
    ]);
    const more = [
      ...history,
      called(['c2', 'send_email', { body: 'the notes', to: 'bob@example.com' }]),
      user(result('c2', 'sent')),
    ];
    const third = await turn(request(more, { tools }));
    expect(third.calls).toEqual([]);
    expect(third.text).toContain('sent');
  });

  it('never repeats a call whose result is there, nor one that the client changed', async () => {
    const tools = [TOOLS.weather];
    for (const input of [{ city: 'Paris' }, { city: 'Paris, France', unit: 'celsius' }]) {
      const history = [
        user('weather in Paris'),
        called(['c1', 'get_weather', input]),
        user(result('c1', 'sunny')),
      ];
      for (const toolChoice of [undefined, { type: 'any' } as const]) {
        const answer = await turn(
          request(history, { tools, ...(toolChoice === undefined ? {} : { toolChoice }) }),
        );
        expect(answer.calls).toEqual([]);
        expect(answer.text).toContain('sunny');
      }
    }
  });

  it('finds the request in several text blocks and a long pasted text', async () => {
    const messages = [user(text('lorem ipsum '.repeat(2000)), text('calculate 6 * 7'))];
    const answer = await turn(request(messages, { tools: [TOOLS.calculator] }));
    expect(namesAndInputs(answer.calls)).toEqual([['calculator', { expression: '6 * 7' }]]);
  });

  it('calls a tool of an MCP server by its own words', async () => {
    const tools = [
      { ...TOOLS.weather, name: 'mcp__acme_tools__get_weather' },
      { ...TOOLS.read, name: 'mcp__fs__read_file' },
    ];
    const answer = await turn(request('weather in Paris', { tools }));
    expect(namesAndInputs(answer.calls)).toEqual([['mcp__acme_tools__get_weather', { city: 'Paris' }]]);
  });
});

describe('ids', () => {
  it('are the same for the same conversation, differ within it, and keep to the narrowest wire', async () => {
    const tools = [TOOLS.weather];
    const asked = request('weather in Paris and in Rome', { tools });
    const first = await turn(asked);
    const ids = first.calls.map(({ id }) => id);
    expect((await turn(asked)).calls.map(({ id }) => id)).toEqual(ids);
    const later = await turn(
      request([...asked.messages, said('Wait.'), user('weather in Paris and in Rome')], { tools }),
    );
    const all = [...ids, ...later.calls.map(({ id }) => id)];
    expect(new Set(all).size).toBe(4);
    for (const id of all) expect(id).toMatch(/^[a-zA-Z0-9_-]{1,40}$/);
  });
});
