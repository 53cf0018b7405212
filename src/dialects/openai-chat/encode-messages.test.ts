import { describe, expect, it } from 'vitest';
import type { Block, ConversationRequest, JsonObject, Message, TextBlock } from '../../core/conversation.js';
import { LossLog } from '../../core/losses.js';
import { type Quirks, STANDARD_QUIRKS } from '../shared/quirks.js';
import { sealSignature } from '../shared/sealed-signature.js';
import { encodeRequest } from './encode-request.js';

interface Encoded {
  messages: unknown;
  losses: string[];
}

function encode(messages: Message[], quirks: Partial<Quirks> = {}, system: TextBlock[] = []): Encoded {
  const request: ConversationRequest = {
    model: 'm',
    system,
    messages,
    tools: [],
    providerTools: [],
    stopSequences: [],
    stream: false,
    extensions: {},
  };
  const losses = new LossLog();
  const { body } = encodeRequest(request, { model: 'up', quirks: { ...STANDARD_QUIRKS, ...quirks }, losses });
  return {
    messages: body['messages'],
    losses: losses.list().map(({ path, reason }) => `${path}: ${reason}`),
  };
}

const text = (value: string): TextBlock => ({ type: 'text', text: value });
const use = (id: string, input: JsonObject = {}, own?: JsonObject): Block => ({
  type: 'tool_use',
  id,
  name: 'Read',
  input,
  ...(own === undefined ? {} : { extensions: { 'openai-chat': own } }),
});
const result = (
  id: string,
  content: (Block & { type: 'text' | 'image' | 'document' | 'opaque' })[],
  isError = false,
): Block => ({
  type: 'tool_result',
  toolUseId: id,
  content,
  isError,
});
const PNG: Block & { type: 'image' } = {
  type: 'image',
  source: { type: 'base64', mediaType: 'image/png', data: 'AAAA' },
};
const PNG_PART = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
const user = (...content: Block[]): Message => ({ role: 'user', content });
const assistant = (...content: Block[]): Message => ({ role: 'assistant', content });
const call = (id: string, args = '{}') => ({
  id,
  type: 'function',
  function: { name: 'Read', arguments: args },
});
const Q = user(text('q'));
const WIRE_Q = { role: 'user', content: 'q' };

describe('instructions', () => {
  it('are one message, without the billing line', () => {
    const billing = 'x-anthropic-billing-header: cc_version=2.1; cch=1f2e3;';
    const { messages, losses } = encode([Q], {}, [text(billing), text('a'), text(''), text('b')]);
    expect(messages).toEqual([{ role: 'system', content: 'a\n\nb' }, WIRE_Q]);
    expect(losses).toEqual([]);
  });

  it('have the role that the upstream knows', () => {
    expect(encode([Q], { systemRole: 'developer' }, [text('a')]).messages).toEqual([
      { role: 'developer', content: 'a' },
      WIRE_Q,
    ]);
  });

  it('alone become the question', () => {
    expect(encode([], {}, [text('a')]).messages).toEqual([{ role: 'user', content: 'a' }]);
    expect(encode([]).messages).toEqual([{ role: 'user', content: '' }]);
  });

  it('in the middle keep their place', () => {
    const history: Message[] = [
      Q,
      { role: 'system', content: [text('s')] },
      { role: 'system', content: [] },
      Q,
    ];
    expect(encode(history).messages).toEqual([
      WIRE_Q,
      { role: 'user', content: '<system-reminder>\ns\n</system-reminder>' },
      WIRE_Q,
    ]);
    expect(encode(history, { midSystemRole: 'system' }).messages).toEqual([
      WIRE_Q,
      { role: 'system', content: 's' },
      WIRE_Q,
    ]);
  });
});

describe('a user message', () => {
  it('is a string where it is only text', () => {
    expect(encode([user(text('a'), text(''), text('b'))]).messages).toEqual([
      { role: 'user', content: 'a\n\nb' },
    ]);
  });

  it('is parts where there is more', () => {
    const detail: Block = { ...PNG, extensions: { 'openai-chat': { detail: 'low' } } };
    expect(
      encode([user(text('a'), detail, { type: 'image', source: { type: 'url', url: 'https://x/y' } })])
        .messages,
    ).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } },
          { type: 'image_url', image_url: { url: 'https://x/y' } },
        ],
      },
    ]);
  });

  it('carries documents as files, or as text where they are text', () => {
    const pdf: Block = {
      type: 'document',
      title: 'a.pdf',
      source: { type: 'base64', mediaType: 'application/pdf', data: 'CC' },
    };
    const plain: Block = {
      type: 'document',
      title: 'a.txt',
      source: { type: 'text', mediaType: 'text/plain', data: 'hello' },
    };
    const coded: Block = {
      type: 'document',
      source: { type: 'base64', mediaType: 'text/markdown', data: 'aGk=' },
    };
    expect(encode([user(pdf, plain, coded)]).messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,CC' } },
          { type: 'text', text: 'a.txt\n\nhello' },
          { type: 'text', text: 'hi' },
        ],
      },
    ]);
  });

  it.each<[string, Block, Partial<Quirks>, string]>([
    ['an image that the upstream cannot see', PNG, { images: false }, '[image omitted: image/png]'],
    [
      'an image in a file',
      { type: 'image', source: { type: 'file', fileId: 'file_1' } },
      {},
      '[image omitted]',
    ],
    [
      'a document that the upstream cannot read',
      { type: 'document', source: { type: 'base64', mediaType: 'application/pdf', data: 'C' } },
      { documents: false },
      '[document omitted: application/pdf]',
    ],
    [
      "a document in Anthropic's files",
      { type: 'document', source: { type: 'file', fileId: 'file_1' } },
      {},
      '[document omitted]',
    ],
    [
      'a document at an address',
      { type: 'document', source: { type: 'url', url: 'https://x/y.pdf' } },
      {},
      '[document omitted at https://x/y.pdf]',
    ],
  ])('says that it left out %s', (_name, block, quirks, said) => {
    const { messages, losses } = encode([user(block)], quirks);
    expect(messages).toEqual([{ role: 'user', content: said }]);
    expect(losses).toHaveLength(1);
  });

  it('keeps what only this wire has and reports what only another has', () => {
    const audio: Block = {
      type: 'opaque',
      dialect: 'openai-chat',
      kind: 'input_audio',
      value: { type: 'input_audio', input_audio: {} },
    };
    const other: Block = {
      type: 'opaque',
      dialect: 'anthropic-messages',
      kind: 'container_upload',
      value: {},
    };
    const { messages, losses } = encode([
      { ...user(text('a'), audio, other), extensions: { 'openai-chat': { name: 'bob' } } },
    ]);
    expect(messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          { type: 'input_audio', input_audio: {} },
        ],
        name: 'bob',
      },
    ]);
    expect(losses).toEqual(['messages.0.content.2: container_upload is known to anthropic-messages only']);
  });

  it('tells what a search result says', () => {
    const found: Block = {
      type: 'opaque',
      dialect: 'anthropic-messages',
      kind: 'search_result',
      value: { title: 'T', source: 'https://x', content: [{ type: 'text', text: 'words' }] },
    };
    expect(encode([user(found)]).messages).toEqual([{ role: 'user', content: 'T\nhttps://x\nwords' }]);
  });
});

describe('results of tools', () => {
  it('come before the text, in the order of the calls', () => {
    const { messages } = encode([
      assistant(text('a'), use('1', { z: 1, a: 2 }), use('2')),
      user(text('t'), result('2', [text('two')]), result('1', [text('one'), text('more')])),
    ]);
    expect(messages).toEqual([
      { role: 'assistant', content: 'a', tool_calls: [call('1', '{"z":1,"a":2}'), call('2')] },
      { role: 'tool', tool_call_id: '1', content: 'one\nmore' },
      { role: 'tool', tool_call_id: '2', content: 'two' },
      { role: 'user', content: 't' },
    ]);
  });

  it('are never without content, and say that they are errors', () => {
    const history = (block: Block) => encode([assistant(use('1')), user(block)]).messages;
    const tool = (content: string) => [
      { role: 'assistant', content: null, tool_calls: [call('1')] },
      { role: 'tool', tool_call_id: '1', content },
    ];
    expect(history(result('1', []))).toEqual(tool(''));
    expect(history(result('1', [text('no file')], true))).toEqual(tool('Error: no file'));
    expect(history(result('1', [text('Error: no file')], true))).toEqual(tool('Error: no file'));
    expect(history(result('1', [text('<tool_use_error>x</tool_use_error>')], true))).toEqual(
      tool('<tool_use_error>x</tool_use_error>'),
    );
    expect(history(result('1', [], true))).toEqual(tool('Error: the tool failed without a message.'));
  });

  const withImages = [
    assistant(use('1'), use('2')),
    user(result('1', [text('one'), PNG]), result('2', [PNG]), text('t')),
  ];

  it('send images behind all of them', () => {
    expect(encode(withImages).messages).toEqual([
      { role: 'assistant', content: null, tool_calls: [call('1'), call('2')] },
      { role: 'tool', tool_call_id: '1', content: 'one' },
      { role: 'tool', tool_call_id: '2', content: '[The result is attached in the next message.]' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Attached to the result of 1:' },
          PNG_PART,
          { type: 'text', text: 'Attached to the result of 2:' },
          PNG_PART,
          { type: 'text', text: 't' },
        ],
      },
    ]);
  });

  it('send images inside where that is understood', () => {
    expect(encode(withImages, { toolResultImage: 'inline' }).messages).toEqual([
      { role: 'assistant', content: null, tool_calls: [call('1'), call('2')] },
      { role: 'tool', tool_call_id: '1', content: [{ type: 'text', text: 'one' }, PNG_PART] },
      { role: 'tool', tool_call_id: '2', content: [PNG_PART] },
      { role: 'user', content: 't' },
    ]);
  });

  it('leave images out where they are not', () => {
    const { messages, losses } = encode(withImages, { toolResultImage: 'omit' });
    expect(messages).toMatchObject([
      {},
      { content: 'one\n[image omitted: image/png]' },
      { content: '[image omitted: image/png]' },
      {},
    ]);
    expect(losses).toHaveLength(2);
  });

  it('say which tools a search found', () => {
    const found: Block & { type: 'opaque' } = {
      type: 'opaque',
      dialect: 'anthropic-messages',
      kind: 'tool_reference',
      value: { type: 'tool_reference', tool_name: 'Grep' },
    };
    const { messages, losses } = encode([assistant(use('1')), user(result('1', [found]))]);
    expect(messages).toMatchObject([{}, { content: '[The tool Grep can be called now.]' }]);
    expect(losses).toEqual([]);
  });

  it('have a name and a turn behind them where the upstream wants that', () => {
    expect(
      encode([assistant(use('1')), user(result('1', [text('x')]), text('t'))], {
        toolResultName: true,
        assistantAfterTool: true,
      }).messages,
    ).toEqual([
      { role: 'assistant', content: null, tool_calls: [call('1')] },
      { role: 'tool', tool_call_id: '1', name: 'Read', content: 'x' },
      { role: 'assistant', content: 'I have the results.' },
      { role: 'user', content: 't' },
    ]);
  });

  it('without their call are text, calls without a result get one', () => {
    const { messages, losses } = encode([
      user(result('9', [text('x')])),
      assistant(use('1')),
      user(text('t')),
    ]);
    expect(messages).toEqual([
      {
        role: 'user',
        content: '[Result of the tool call 9, which is no longer part of this conversation]\n\nx',
      },
      { role: 'assistant', content: null, tool_calls: [call('1')] },
      { role: 'tool', tool_call_id: '1', content: expect.stringMatching(/^Error: No result/) },
      { role: 'user', content: 't' },
    ]);
    expect(losses).toHaveLength(2);
  });
});

describe('an assistant turn', () => {
  it('is one string, and nothing when it says nothing', () => {
    expect(encode([assistant(text('a'), text('b')), assistant(text('')), Q]).messages).toEqual([
      { role: 'assistant', content: 'ab' },
      WIRE_Q,
    ]);
  });

  it('fits ids into the limit on the call and on its result', () => {
    const id = `toolu_${'x'.repeat(80)}`;
    const { messages } = encode([assistant(use(id)), user(result(id, []))]);
    const ids = [...JSON.stringify(messages).matchAll(/"(?:tool_call_)?id":"([^"]*)"/g)].map(
      (match) => match[1],
    );
    expect(ids[0]).toHaveLength(40);
    expect(ids[1]).toBe(ids[0]);
    const short = encode([assistant(use(id)), user(result(id, []))], { toolIdLimit: 9 });
    expect(short.messages).toMatchObject([
      { tool_calls: [{ id: expect.stringMatching(/^[a-z0-9]{9}$/) }] },
      { tool_call_id: expect.stringMatching(/^[a-z0-9]{9}$/) },
    ]);
  });

  it("gives a model's own arguments back as it wrote them", () => {
    const { messages } = encode([
      assistant(use('1', { a: 1 }, { $arguments: '{"a": 1}' }), use('2', {}, { arguments: '{"a":' })),
      user(result('1', []), result('2', [])),
    ]);
    expect(messages).toMatchObject([{ tool_calls: [call('1', '{"a": 1}'), call('2', '{"a":')] }, {}, {}]);
    expect(JSON.stringify(messages)).not.toContain('$arguments');
  });

  it('restores calls of custom tools and refusals', () => {
    const refusal: Block = { ...text('no'), extensions: { 'openai-chat': { refusal: true } } };
    expect(
      encode([assistant(refusal, use('1', { input: 'x' }, { type: 'custom' })), user(result('1', []))])
        .messages,
    ).toEqual([
      {
        role: 'assistant',
        content: null,
        refusal: 'no',
        tool_calls: [{ id: '1', type: 'custom', custom: { name: 'Read', input: 'x' } }],
      },
      { role: 'tool', tool_call_id: '1', content: '' },
    ]);
  });

  it('that comes last is not continued, and that is said', () => {
    expect(encode([Q, assistant(text('{'))]).losses).toHaveLength(1);
  });
});

describe('thinking of earlier turns', () => {
  const history = [
    assistant(
      { type: 'thinking', thinking: 'hm', signature: 'c2ln' },
      { type: 'redacted_thinking', data: 'cg' },
      use('1'),
    ),
    user(result('1', [])),
    assistant(use('2')),
    user(result('2', [])),
  ];

  it('is left out, as a loss, where nobody wants it', () => {
    const { messages, losses } = encode(history);
    expect(JSON.stringify(messages)).not.toContain('hm');
    expect(losses).toEqual(['messages: thinking of earlier turns is not sent to this upstream']);
  });

  it.each(['reasoning_content', 'reasoning'] as const)('is sent back as %s', (field) => {
    expect(encode(history, { reasoningHistory: field }).messages).toMatchObject([
      { [field]: 'hm' },
      {},
      {},
      {},
    ]);
  });

  it('is empty where it is unknown and must be there', () => {
    expect(
      encode(history, { reasoningHistory: 'reasoning_content', reasoningRequired: true }).messages,
    ).toMatchObject([{ reasoning_content: 'hm' }, {}, { reasoning_content: '' }, {}]);
  });

  it('is sent back with its proof', () => {
    expect(encode(history, { reasoningHistory: 'reasoning_details' }).messages).toMatchObject([
      {
        reasoning_details: [
          { type: 'reasoning.text', text: 'hm', signature: 'c2ln', format: 'anthropic-claude-v1' },
          { type: 'reasoning.encrypted', data: 'cg' },
        ],
      },
      {},
      {},
      {},
    ]);
  });

  it('sealed for this wire is opened for it', () => {
    const details = [{ type: 'reasoning.encrypted', data: 'ZW5j', format: 'openai-responses-v1' }];
    const signature = sealSignature('openai-chat', JSON.stringify(details));
    const sealed = [assistant({ type: 'thinking', thinking: '', signature }, text('a')), Q];
    expect(encode(sealed, { reasoningHistory: 'reasoning_details' }).messages).toMatchObject([
      { reasoning_details: details },
      {},
    ]);
  });
});

describe("Gemini's thought signatures", () => {
  const signed = { extra_content: { google: { thought_signature: 's' } } };

  it('go back on their call', () => {
    const history = [assistant(use('1', {}, signed), use('2')), user(result('1', []), result('2', []))];
    expect(encode(history, { thoughtSignatures: true }).messages).toMatchObject([
      { tool_calls: [signed, { id: '2' }] },
      {},
      {},
    ]);
    expect(JSON.stringify(encode(history).messages)).not.toContain('thought_signature');
  });

  it('that the client lost are stood in for on the first call', () => {
    const history = [assistant(use('1'), use('2')), user(result('1', []), result('2', []))];
    const { messages } = encode(history, { thoughtSignatures: true });
    expect(messages).toMatchObject([
      {
        tool_calls: [
          { extra_content: { google: { thought_signature: 'skip_thought_signature_validator' } } },
          {},
        ],
      },
      {},
      {},
    ]);
    expect(JSON.stringify(messages).match(/extra_content/g)).toHaveLength(1);
  });
});
