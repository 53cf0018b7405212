import { describe, expect, it } from 'vitest';
import type { JsonObject, Message } from '../../core/conversation.js';
import { decodeInput } from './decode-input.js';
import { FlatNames } from './flat-names.js';

const decode = (...items: JsonObject[]) => decodeInput(items, undefined, new FlatNames());
const messages = (...items: JsonObject[]): Message[] => decode(...items).messages;

const call = (id: string, more: JsonObject = {}): JsonObject => ({
  type: 'function_call',
  call_id: id,
  name: 'Read',
  arguments: '{}',
  ...more,
});
const output = (id: string, value: unknown = 'ok'): JsonObject => ({
  type: 'function_call_output',
  call_id: id,
  output: value,
});
const user = (text: string): JsonObject => ({ role: 'user', content: text });

describe('items in a row', () => {
  it('of one answer are one turn, and their results one message', () => {
    const decoded = messages(
      user('q'),
      { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm' }] },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I look.' }] },
      call('c1'),
      call('c2'),
      output('c1'),
      output('c2'),
      user('and?'),
    );
    expect(decoded.map(({ role, content }) => [role, ...content.map(({ type }) => type)])).toEqual([
      ['user', 'text'],
      ['assistant', 'thinking', 'text', 'tool_use', 'tool_use'],
      ['user', 'tool_result', 'tool_result'],
      ['user', 'text'],
    ]);
  });

  it('of another answer begin another turn', () => {
    const roles = messages(call('c1'), output('c1'), call('c2'), output('c2')).map(({ role }) => role);
    expect(roles).toEqual(['assistant', 'user', 'assistant', 'user']);
  });
});

describe('instructions', () => {
  it('stand in front, `instructions` first', () => {
    const { system, messages: rest } = decodeInput(
      [{ role: 'developer', content: 'two' }, { role: 'system', content: 'three' }, user('q')],
      'one',
      new FlatNames(),
    );
    expect(system.map(({ text }) => text)).toEqual(['one', 'two', 'three']);
    expect(rest).toHaveLength(1);
  });

  it('in the middle keep their place', () => {
    const decoded = messages(user('q'), { role: 'developer', content: 'Be quick.' }, user('r'));
    expect(decoded.map(({ role }) => role)).toEqual(['user', 'system', 'user']);
    expect(decoded[1]).toMatchObject({ content: [{ type: 'text', text: 'Be quick.' }] });
  });

  it('behind tools are in front all the same', () => {
    const { system } = decode(
      { type: 'additional_tools', role: 'developer', tools: [] },
      { role: 'developer', content: 'one' },
      user('q'),
    );
    expect(system).toHaveLength(1);
  });
});

describe('calls', () => {
  it('have their arguments as an object, and their own words where the object has others', () => {
    const [first] = messages(call('c', { arguments: '{"b": 1, "a": [2]}', id: 'fc_1', status: 'completed' }));
    expect(first?.content).toEqual([
      {
        type: 'tool_use',
        id: 'c',
        name: 'Read',
        input: { b: 1, a: [2] },
        extensions: {
          'openai-responses': { $arguments: '{"b": 1, "a": [2]}', id: 'fc_1', status: 'completed' },
        },
      },
    ]);
  });

  it.each<[unknown, JsonObject]>([
    ['', {}],
    [null, {}],
    ['null', {}],
    [{ a: 1 }, { a: 1 }],
    ['"{\\"a\\":1}"', { a: 1 }],
    ['{broken', {}],
    ['[1]', {}],
  ])('take %j for arguments', (given, input) => {
    expect(messages(call('c', { arguments: given }))[0]?.content[0]).toMatchObject({ input });
  });

  it('say what no object can say as a field of their own', () => {
    const [first] = messages(call('c', { arguments: '{broken' }));
    expect(first?.content[0]).toMatchObject({
      extensions: { 'openai-responses': { arguments: '{broken' } },
    });
  });

  it('inside a namespace have one name for both', () => {
    const [first] = messages(call('c', { namespace: 'mail', name: 'send' }));
    expect(first?.content[0]).toMatchObject({ name: 'mail__send' });
  });

  it('of free text have it as `input`', () => {
    const [first, second] = messages(
      { type: 'custom_tool_call', call_id: 'c', name: 'patch', input: '*** Begin' },
      { type: 'custom_tool_call_output', call_id: 'c', output: [{ type: 'input_text', text: 'done' }] },
    );
    expect(first?.content[0]).toMatchObject({
      type: 'tool_use',
      name: 'patch',
      input: { input: '*** Begin' },
    });
    expect(second?.content[0]).toMatchObject({ type: 'tool_result', content: [{ text: 'done' }] });
  });

  it('for tools are calls like any other when the client searches', () => {
    const [first, second] = messages(
      { type: 'tool_search_call', call_id: 'c', execution: 'client', arguments: { query: 'mail' } },
      { type: 'tool_search_output', call_id: 'c', tools: [{ type: 'namespace', name: 'mail', tools: [] }] },
    );
    expect(first?.content[0]).toMatchObject({ name: 'tool_search', input: { query: 'mail' } });
    expect(second?.content[0]).toMatchObject({
      content: [{ text: 'Tools that can be called now: mail' }],
    });
  });

  it('for tools are the provider’s own without an id', () => {
    const [first] = messages({ type: 'tool_search_call', call_id: null, execution: 'server', arguments: {} });
    expect(first?.content[0]).toMatchObject({ type: 'opaque', kind: 'tool_search_call' });
  });
});

describe('results', () => {
  it.each<[unknown, unknown]>([
    ['fine', [{ type: 'text', text: 'fine' }]],
    ['', []],
    [null, []],
    [{ ok: true }, [{ type: 'text', text: '{"ok":true}' }]],
    [
      [
        { type: 'input_text', text: 'a' },
        { type: 'input_image', image_url: 'data:image/png;base64,AAAA', detail: 'low' },
      ],
      [
        { type: 'text', text: 'a' },
        {
          type: 'image',
          source: { type: 'base64', mediaType: 'image/png', data: 'AAAA' },
          extensions: { 'openai-responses': { detail: 'low' } },
        },
      ],
    ],
  ])('%j', (given, content) => {
    expect(messages(output('c', given))[0]?.content[0]).toMatchObject({ toolUseId: 'c', content });
  });
});

describe('items of this wire alone', () => {
  it.each([
    ['item_reference', 'assistant'],
    ['compaction', 'assistant'],
    ['web_search_call', 'assistant'],
    ['computer_call', 'assistant'],
    ['computer_call_output', 'user'],
    ['mcp_approval_response', 'user'],
  ])('%s is kept whole, on the side of the %s', (type, role) => {
    const item = { type, id: 'x', more: [1] };
    expect(messages(item)).toEqual([
      { role, content: [{ type: 'opaque', dialect: 'openai-responses', kind: type, value: item }] },
    ]);
  });

  it('a message of another agent is one of the user', () => {
    const [first] = messages({
      type: 'agent_message',
      author: '/root/a',
      recipient: '/root',
      content: [{ type: 'input_text', text: 'Done.' }],
    });
    expect(first).toMatchObject({
      role: 'user',
      content: [{ type: 'text', text: '[Message from /root/a to /root]\nDone.' }],
    });
  });
});
