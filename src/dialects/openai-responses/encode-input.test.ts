import { describe, expect, it } from 'vitest';
import type { Block, ConversationRequest, JsonObject, Message } from '../../core/conversation.js';
import { LossLog } from '../../core/losses.js';
import { type Quirks, STANDARD_QUIRKS } from '../shared/quirks.js';
import { sealSignature } from '../shared/sealed-signature.js';
import { encodeRequest } from './encode-request.js';

function encode(
  messages: readonly Message[],
  more: Partial<ConversationRequest> = {},
  quirks: Partial<Quirks> = {},
): { input: JsonObject[]; instructions: unknown; losses: string[] } {
  const losses = new LossLog();
  const request: ConversationRequest = {
    model: 'm',
    system: [],
    messages: [...messages],
    tools: [],
    providerTools: [],
    stopSequences: [],
    stream: false,
    extensions: {},
    ...more,
  };
  const target = { model: 'm', quirks: { ...STANDARD_QUIRKS, ...quirks }, losses };
  const { body } = encodeRequest(request, target);
  const input = Array.isArray(body['input']) ? body['input'] : [];
  return {
    input,
    instructions: body['instructions'],
    losses: losses.list().map(({ path, reason }) => `${path}: ${reason}`),
  };
}

const user = (...content: Block[]): Message => ({ role: 'user', content });
const assistant = (...content: Block[]): Message => ({ role: 'assistant', content });
const text = (value: string): Block => ({ type: 'text', text: value });
const call = (id: string, input: JsonObject = {}): Block => ({ type: 'tool_use', id, name: 'Read', input });
const result = (toolUseId: string, more: Partial<Extract<Block, { type: 'tool_result' }>> = {}): Block => ({
  type: 'tool_result',
  toolUseId,
  content: [{ type: 'text', text: 'ok' }],
  isError: false,
  ...more,
});
const own = (payload: JsonObject): string => sealSignature('openai-responses', JSON.stringify(payload));

describe('instructions', () => {
  it('are one text, without the line that changes with every request', () => {
    const system = ['x-anthropic-billing-header: cch=abcde;', 'Be brief.', 'Be kind.'].map((each) => ({
      type: 'text' as const,
      text: each,
    }));
    expect(encode([user(text('q'))], { system }).instructions).toBe('Be brief.\n\nBe kind.');
  });

  it('alone are what is to be answered', () => {
    const { instructions, input } = encode([], { system: [{ type: 'text', text: 'Say hi' }] });
    expect(instructions).toBeUndefined();
    expect(input).toEqual([
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Say hi' }] },
    ]);
  });

  it('in the middle keep their place, in the role that the upstream knows', () => {
    const messages = [
      user(text('q')),
      { role: 'system' as const, content: [text('Hurry.')] },
      user(text('r')),
    ];
    expect(encode(messages).input.map(({ role }) => role)).toEqual(['user', 'system', 'user']);
    expect(encode(messages, {}, { systemRole: 'developer' }).input[1]).toEqual({
      type: 'message',
      role: 'developer',
      content: [{ type: 'input_text', text: 'Hurry.' }],
    });
  });
});

describe('turns of the assistant', () => {
  it('are a message and calls, in their order', () => {
    const { input } = encode([
      assistant(text('I look.'), call('c1', { a: 1 }), call('c2')),
      user(result('c1'), result('c2')),
    ]);
    expect(input).toEqual([
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I look.' }] },
      { type: 'function_call', call_id: 'c1', name: 'Read', arguments: '{"a":1}' },
      { type: 'function_call', call_id: 'c2', name: 'Read', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c1', output: 'ok' },
      { type: 'function_call_output', call_id: 'c2', output: 'ok' },
    ]);
  });

  it('without a word have no message', () => {
    const { input } = encode([user(text('q')), assistant(text(''), call('c')), user(result('c'))]);
    expect(input.map(({ type }) => type)).toEqual(['message', 'function_call', 'function_call_output']);
  });

  it('that say nothing at all are left out', () => {
    expect(encode([user(text('q')), assistant(text('')), user(text('r'))]).input).toHaveLength(2);
  });

  it('at the end are not gone on with, and that is said', () => {
    expect(encode([user(text('q')), assistant(text('Well,'))]).losses).toEqual([
      'messages: the upstream begins a new answer and does not go on with the last message',
    ]);
  });
});

describe('thinking', () => {
  it('of this wire is sent again, in front of what came of it', () => {
    const signature = own({ id: 'rs_1', encrypted_content: 'gAAA' });
    const { input, losses } = encode([
      user(text('q')),
      assistant({ type: 'thinking', thinking: 'Hm.', signature }, call('c')),
      user(result('c')),
    ]);
    expect(input[1]).toEqual({
      type: 'reasoning',
      id: 'rs_1',
      summary: [{ type: 'summary_text', text: 'Hm.' }],
      encrypted_content: 'gAAA',
    });
    expect(losses).toEqual([]);
  });

  it('that was not shown has no summary', () => {
    const signature = own({ id: '', encrypted_content: 'gAAA' });
    const { input } = encode([
      assistant({ type: 'thinking', thinking: '', signature }, text('So.')),
      user(text('q')),
    ]);
    expect(input[0]).toEqual({ type: 'reasoning', summary: [], encrypted_content: 'gAAA' });
  });

  it.each<[string, Block]>([
    ['of Anthropic', { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' }],
    ['of another wire', { type: 'thinking', thinking: 'Hm.', signature: sealSignature('openai-chat', '[]') }],
    ['without proof', { type: 'thinking', thinking: 'Hm.' }],
    ['in code', { type: 'redacted_thinking', data: 'x' }],
  ])('%s is left out and named', (_kind, block) => {
    const { input, losses } = encode([user(text('q')), assistant(block, text('So.')), user(text('r'))]);
    expect(input.map(({ type }) => type)).toEqual(['message', 'message', 'message']);
    expect(losses).toEqual(['messages: thinking that another wire made is not sent to this upstream']);
  });

  it('that nothing came of is left out', () => {
    const signature = own({ id: 'rs_1', encrypted_content: 'gAAA' });
    const { input, losses } = encode([
      user(text('q')),
      assistant({ type: 'thinking', thinking: 'Hm.', signature }),
      user(text('r')),
    ]);
    expect(input.map(({ type }) => type)).toEqual(['message', 'message']);
    expect(losses).toHaveLength(1);
  });
});

describe('results', () => {
  const results = (block: Block, quirks: Partial<Quirks> = {}) =>
    encode([assistant(call('c')), user(block)], {}, quirks).input[1]?.['output'];
  const image: Block = { type: 'image', source: { type: 'base64', mediaType: 'image/png', data: 'AAAA' } };

  it('that are errors say so', () => {
    const failed = (value: string) =>
      results(result('c', { content: [{ type: 'text', text: value }], isError: true }));
    expect(failed('no such file')).toBe('Error: no such file');
    expect(failed('Error: no such file')).toBe('Error: no such file');
    expect(failed('')).toBe('Error: the tool failed without a message.');
  });

  it('without content are an empty text', () => {
    expect(results(result('c', { content: [] }))).toBe('');
  });

  it('hold their images', () => {
    expect(results(result('c', { content: [{ type: 'text', text: 'see' }, image] }))).toEqual([
      { type: 'input_text', text: 'see' },
      { type: 'input_image', image_url: 'data:image/png;base64,AAAA' },
    ]);
  });

  it('name an image that the upstream does not take', () => {
    expect(results(result('c', { content: [image] }), { toolResultImage: 'omit' })).toBe(
      '[image omitted: image/png]',
    );
    expect(results(result('c', { content: [image] }), { images: false })).toBe('[image omitted: image/png]');
  });

  it('stand before the text that came with them', () => {
    const { input } = encode([assistant(call('c')), user(text('also'), result('c'))]);
    expect(input.map(({ type }) => type)).toEqual(['function_call', 'function_call_output', 'message']);
  });

  it('without a call are text, and calls without a result get one', () => {
    const orphan = encode([user(result('gone'), text('and?'))]);
    expect(orphan.input).toMatchObject([{ type: 'message', role: 'user' }]);
    const open = encode([user(text('q')), assistant(call('c')), user(text('never mind'))]);
    expect(open.input.map(({ type }) => type)).toEqual([
      'message',
      'function_call',
      'function_call_output',
      'message',
    ]);
    expect(open.input[2]?.['output']).toMatch(/^Error: /);
  });
});

describe('ids and names', () => {
  it('of calls fit, the same on the call and on its result', () => {
    const id = `toolu_${'x'.repeat(1300)}`;
    const { input } = encode([assistant(call(id)), user(result(id))]);
    expect(String(input[0]?.['call_id']).length).toBeLessThanOrEqual(64);
    expect(input[0]?.['call_id']).toBe(input[1]?.['call_id']);
  });

  it('of tools fit', () => {
    const name = 'mcp.server/'.repeat(10);
    const { input } = encode([assistant({ type: 'tool_use', id: 'c', name, input: {} }), user(result('c'))]);
    expect(String(input[0]?.['name'])).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
  });
});

describe('what this wire alone has', () => {
  const opaque = (value: JsonObject): Block => ({
    type: 'opaque',
    dialect: 'openai-responses',
    kind: String(value['type']),
    value,
  });

  it('comes back as it was', () => {
    const search = { type: 'web_search_call', id: 'ws_1' };
    const shell = { type: 'local_shell_call_output', id: 'x', output: '' };
    const audio = { type: 'input_audio', input_audio: {} };
    const { input } = encode([
      assistant(opaque(search), text('So.')),
      user(opaque(shell), text('a'), opaque(audio)),
    ]);
    expect(input).toEqual([
      search,
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'So.' }] },
      shell,
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'a' }, audio] },
    ]);
  });

  it('of another wire is a loss', () => {
    const { losses } = encode([
      user(text('q')),
      assistant(
        { type: 'opaque', dialect: 'anthropic-messages', kind: 'server_tool_use', value: {} },
        text('So.'),
      ),
      user(text('r')),
    ]);
    expect(losses).toEqual(['messages.1.content.0: server_tool_use is known to anthropic-messages only']);
  });
});
