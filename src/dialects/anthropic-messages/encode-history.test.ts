import { describe, expect, it } from 'vitest';
import type { Block, Message, Role, TextBlock } from '../../core/conversation.js';
import { LossLog } from '../../core/losses.js';
import { type Quirks, STANDARD_QUIRKS } from '../shared/quirks.js';
import { ToolNames } from '../shared/tool-names.js';
import { encodeHistory } from './encode-history.js';
import { TOOL_NAME_LIMITS } from './wire.js';

const text = (value: string): TextBlock => ({ type: 'text', text: value });
const call = (id: string, name = 'T'): Block => ({ type: 'tool_use', id, name, input: {} });
const result = (toolUseId: string, value = 'r'): Block => ({
  type: 'tool_result',
  toolUseId,
  content: value === '' ? [] : [text(value)],
  isError: false,
});
const user = (...content: Block[]): Message => ({ role: 'user', content });
const assistant = (...content: Block[]): Message => ({ role: 'assistant', content });
const system = (...content: Block[]): Message => ({ role: 'system', content });

interface Options {
  quirks?: Partial<Quirks>;
  native?: boolean;
  system?: TextBlock[];
}

function encode(messages: Message[], { quirks = {}, native = false, system: head = [] }: Options = {}) {
  const losses = new LossLog();
  const history = encodeHistory(head, messages, {
    quirks: { ...STANDARD_QUIRKS, ...quirks },
    losses,
    names: new ToolNames(TOOL_NAME_LIMITS),
    native,
  });
  return { ...history, losses: losses.list().map(({ path, reason }) => `${path}: ${reason}`) };
}

/** `user(a b) assistant(T#id)`: what a reader of the test wants to compare. */
function sketch(messages: readonly { role: string; content: readonly Record<string, unknown>[] }[]): string {
  return messages
    .map(({ role, content }) => {
      const blocks = content.map((block) => {
        if (block['type'] === 'text') return String(block['text']).replaceAll('\n', '|');
        if (block['type'] === 'tool_use') return `#${block['id']}`;
        if (block['type'] === 'tool_result') return `=${block['tool_use_id']}${block['is_error'] ? '!' : ''}`;
        return String(block['type']);
      });
      return `${role}(${blocks.join(' ')})`;
    })
    .join(' ');
}

const signed: Block = { type: 'thinking', thinking: 't', signature: 'sig=' };
const server: Block = {
  type: 'opaque',
  dialect: 'anthropic-messages',
  kind: 'server_tool_use',
  value: { type: 'server_tool_use', id: 's' },
};

describe('turns', () => {
  it.each<[string, Message[], string, Options?]>([
    ['alternate', [user(text('a')), assistant(text('b')), user(text('c'))], 'user(a) assistant(b) user(c)'],
    ['of the same role are merged', [user(text('a')), user(text('b'))], 'user(a b)'],
    [
      'with calls are parted by their results',
      [user(text('a')), assistant(text('b'), call('x')), assistant(text('c')), user(result('x'))],
      'user(a) assistant(b #x) user(=x) assistant(c)',
    ],
    [
      'of an assistant merged around an empty user message',
      [user(text('a')), assistant(text('b')), user(text(' ')), assistant(text('c')), user(text('d'))],
      'user(a) assistant(b c) user(d)',
    ],
    ['without content are left out', [user(text('a')), assistant(), user(text('b'))], 'user(a b)'],
    ['of blank text are left out', [user(text('a')), assistant(text(' \n')), user(text('b'))], 'user(a b)'],
    [
      'begin with a user',
      [assistant(text('a'))],
      'user((the conversation begins with the assistant)) assistant(a)',
    ],
    ['that say nothing still ask something', [user(text(''))], 'user((no content))'],
    ['that are only instructions are asked', [], 'user(s)', { system: [text('s')] }],
    [
      'that are continued do not end in white space',
      [user(text('a')), assistant(text('b \n'))],
      'user(a) assistant(b)',
    ],
  ])('%s', (_name, messages, expected, options) => {
    expect(sketch(encode(messages, options).messages)).toBe(expected);
  });

  it('of another wire end in their calls, those of this wire stay as they came', () => {
    const messages = [
      user(text('a')),
      assistant(call('x'), text('b'), call('y')),
      user(result('x'), result('y')),
    ];
    expect(sketch(encode(messages).messages)).toBe('user(a) assistant(b #x #y) user(=x =y)');
    expect(sketch(encode(messages, { native: true }).messages)).toBe(
      'user(a) assistant(#x b #y) user(=x =y)',
    );
  });

  it('keep signed thinking and server tools in their place', () => {
    const messages = [user(text('a')), assistant(call('x'), signed, server, text('b')), user(result('x'))];
    expect(sketch(encode(messages).messages)).toBe(
      'user(a) assistant(#x thinking server_tool_use b) user(=x)',
    );
  });
});

describe('calls and results', () => {
  it.each<[string, Message[], string]>([
    [
      'results come before the text of their message',
      [user(text('a')), assistant(call('x')), user(text('b'), result('x'))],
      'user(a) assistant(#x) user(=x b)',
    ],
    [
      'an orphan becomes text',
      [user(text('a')), assistant(text('b')), user(result('gone', 'old'), text('c'))],
      'user(a) assistant(b) user([Result of the tool call gone, which is no longer part of this conversation] old c)',
    ],
    [
      'a call without a result gets one',
      [user(text('a')), assistant(call('x'), call('y')), user(result('y'))],
      'user(a) assistant(#x #y) user(=x! =y)',
    ],
    ['a last call gets a result', [user(text('a')), assistant(call('x'))], 'user(a) assistant(#x) user(=x!)'],
    [
      'a repeated result is sent once',
      [user(text('a')), assistant(call('x')), user(result('x'), result('x'))],
      'user(a) assistant(#x) user(=x)',
    ],
    [
      'an id used again is made another one',
      [user(text('a')), assistant(call('x')), user(result('x')), assistant(call('x')), user(result('x'))],
      'user(a) assistant(#x) user(=x) assistant(#x-2) user(=x-2)',
    ],
  ])('%s', (_name, messages, expected) => {
    const { messages: sent } = encode(messages);
    expect(sketch(sent)).toBe(expected);
  });

  it('fits ids and names on both sides alike', () => {
    const { messages } = encode([
      user(text('a')),
      assistant(call('functions.Bash:0', 'a.b')),
      user(result('functions.Bash:0')),
    ]);
    const use = messages[1]?.content[0];
    expect(use?.['id']).toMatch(/^functions_Bash_0_[0-9a-f]{8}$/);
    expect(use?.['name']).toMatch(/^a_b_[0-9a-f]{8}$/);
    expect(messages[2]?.content[0]?.['tool_use_id']).toBe(use?.['id']);
  });

  it('gives an error without content a word, and a result without content none', () => {
    const { messages } = encode([
      user(text('a')),
      assistant(call('x'), call('y')),
      user({ type: 'tool_result', toolUseId: 'x', content: [], isError: true }, result('y', '')),
    ]);
    expect(messages[2]?.content).toEqual([
      { type: 'tool_result', tool_use_id: 'x', content: [{ type: 'text', text: 'Error' }], is_error: true },
      { type: 'tool_result', tool_use_id: 'y' },
    ]);
  });

  it('keeps references inside results and drops them with a lost call', () => {
    const reference: Block = {
      type: 'opaque',
      dialect: 'anthropic-messages',
      kind: 'tool_reference',
      value: { type: 'tool_reference', tool_name: 't' },
    };
    const answered = (id: string): Message =>
      user({ type: 'tool_result', toolUseId: id, content: [reference], isError: false });
    const { messages, losses } = encode([
      user(text('a')),
      assistant(call('x')),
      answered('x'),
      assistant(text('b')),
      answered('gone'),
    ]);
    expect(messages[2]?.content).toEqual([
      { type: 'tool_result', tool_use_id: 'x', content: [{ type: 'tool_reference', tool_name: 't' }] },
    ]);
    expect(sketch(messages.slice(4))).toContain('user([Result of the tool call gone');
    expect(losses).toContain('messages.4.content.1: its tool result has lost its call');
  });
});

describe('instructions in the middle', () => {
  const reminder = (value: string): string => `<system-reminder>|${value}|</system-reminder>`;
  it.each<[string, Message[], string, Options?]>([
    [
      'stay in place for a client of this wire',
      [user(text('a')), system(text('s')), assistant(text('b')), user(text('c')), system(text('t'))],
      'user(a) system(s) assistant(b) user(c) system(t)',
      { native: true },
    ],
    [
      'of another wire go behind the user turn they came in',
      [
        user(text('a')),
        assistant(text('b')),
        system(text('s')),
        user(text('c')),
        system(text('t')),
        assistant(text('d')),
      ],
      'user(a) assistant(b) user(c) system(s t) assistant(d)',
    ],
    [
      'of another wire without a user turn are a reminder',
      [user(text('a')), assistant(text('b')), system(text('s'))],
      `user(a) assistant(b) user(${reminder('s')})`,
    ],
    [
      'are reminders for an upstream that takes none',
      [user(text('a')), system(text('s'), text('t')), assistant(text('b'))],
      `user(a ${reminder('s||t')}) assistant(b)`,
      { native: true, quirks: { midSystem: false } },
    ],
    [
      'never part a call from its result',
      [user(text('a')), assistant(call('x')), system(text('s')), user(result('x'), text('b'))],
      `user(a) assistant(#x) user(=x ${reminder('s')} b)`,
      { quirks: { midSystem: false } },
    ],
    [
      'never part a call from its result where they stay',
      [user(text('a')), assistant(call('x')), system(text('s')), user(result('x'), text('b'))],
      'user(a) assistant(#x) user(=x b) system(s)',
    ],
  ])('%s', (_name, messages, expected, options) => {
    expect(sketch(encode(messages, options).messages)).toBe(expected);
  });

  it('before everything else belong to the system prompt', () => {
    const sent = encode([system(text('s')), user(text('a'))], { system: [text('p')] });
    expect(sent.system).toEqual([
      { type: 'text', text: 'p' },
      { type: 'text', text: 's' },
    ]);
    expect(sketch(sent.messages)).toBe('user(a)');
  });

  const settings: Message = {
    role: 'system',
    content: [],
    extensions: { 'anthropic-messages': { output_config: { effort: 'low' } } },
  };
  it('may be only settings', () => {
    const { messages } = encode([user(text('a')), settings, system()], { native: true });
    expect(messages.slice(1)).toEqual([{ role: 'system', content: [], output_config: { effort: 'low' } }]);
  });

  it('lose their settings where they cannot stay', () => {
    const { messages, losses } = encode([user(text('a')), settings], {
      native: true,
      quirks: { midSystem: false },
    });
    expect(sketch(messages)).toBe('user(a)');
    expect(losses).toEqual(['messages.1.output_config: the upstream takes no system message in the middle']);
  });
});

describe('media', () => {
  const image: Block = { type: 'image', source: { type: 'base64', mediaType: 'image/jpg', data: 'AA' } };
  const document = (source: Extract<Block, { type: 'document' }>['source'], title?: string): Block => ({
    type: 'document',
    source,
    ...(title === undefined ? {} : { title }),
  });
  const base64 = (value: string): string => Buffer.from(value).toString('base64');

  it.each<[string, Block, object, Options?]>([
    ['an image', image, { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: 'AA' } }],
    [
      'an image by URL',
      { type: 'image', source: { type: 'url', url: 'u' } },
      { type: 'image', source: { type: 'url', url: 'u' } },
    ],
    [
      'an image by file of this provider',
      { type: 'image', source: { type: 'file', fileId: 'file_1' } },
      { type: 'image', source: { type: 'file', file_id: 'file_1' } },
    ],
    [
      "an image by another provider's file",
      { type: 'image', source: { type: 'file', fileId: 'file-abc' } },
      { type: 'text', text: '[image omitted]' },
    ],
    [
      'an image for a model without sight',
      image,
      { type: 'text', text: '[image omitted: image/jpg]' },
      { quirks: { images: false } },
    ],
    [
      'a PDF',
      document({ type: 'base64', mediaType: 'application/pdf', data: 'JVBE' }, 'T'),
      {
        type: 'document',
        source: { type: 'base64', media_type: 'application/pdf', data: 'JVBE' },
        title: 'T',
      },
    ],
    [
      'a text file as base64',
      document({ type: 'base64', mediaType: 'text/csv', data: base64('a,é') }),
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'a,é' } },
    ],
    [
      'a file of another kind',
      document({ type: 'base64', mediaType: 'application/zip', data: 'UEs' }),
      { type: 'text', text: '[document omitted: application/zip]' },
    ],
    [
      'a text document for an upstream without documents',
      document({ type: 'text', mediaType: 'text/plain', data: 'd' }, 'T'),
      { type: 'text', text: 'T\n\nd' },
      { quirks: { documents: false } },
    ],
    [
      'a PDF for an upstream without documents',
      document({ type: 'url', url: 'u' }),
      { type: 'text', text: '[document omitted]' },
      { quirks: { documents: false } },
    ],
  ])('%s', (_name, block, expected, options) => {
    const { messages, losses } = encode([user(block)], options);
    expect(messages).toEqual([{ role: 'user', content: [expected] }]);
    expect(losses.length > 0).toBe('text' in expected && String(expected.text).includes('omitted'));
  });

  it('in a result stays there, unless the upstream takes none there', () => {
    const messages = [
      user(text('a')),
      assistant(call('x')),
      user({ type: 'tool_result', toolUseId: 'x', content: [image], isError: false }),
    ];
    expect(encode(messages).messages[2]?.content[0]?.['content']).toMatchObject([{ type: 'image' }]);
    expect(
      encode(messages, { quirks: { toolResultImage: 'omit' } }).messages[2]?.content[0]?.['content'],
    ).toEqual([{ type: 'text', text: '[image omitted: image/jpg]' }]);
  });

  it.each<[Role]>([['user'], ['assistant']])("loses another dialect's blocks in %s messages", (role) => {
    const foreign: Block = { type: 'opaque', dialect: 'openai-responses', kind: 'item_reference', value: {} };
    const { losses } = encode([user(text('a')), { role, content: [foreign] }]);
    expect(losses).toEqual(['messages.1.content.0: item_reference is known to openai-responses only']);
  });
});
