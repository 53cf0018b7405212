import { describe, expect, it } from 'vitest';
import type { ConversationRequest, JsonObject, Message } from '../../core/conversation.js';
import { GatewayError } from '../../core/errors.js';
import { decodeRequest } from './decode-request.js';

const body = (fields: JsonObject = {}): JsonObject => ({
  model: 'm',
  messages: [{ role: 'user', content: 'Hi' }],
  ...fields,
});
const decode = (fields: JsonObject = {}): ConversationRequest => decodeRequest(body(fields));
const messages = (...list: JsonObject[]): Message[] => decodeRequest({ model: 'm', messages: list }).messages;

function errorOf(run: () => unknown): GatewayError {
  try {
    run();
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('a request', () => {
  it('with nothing but a question', () => {
    expect(decode()).toEqual({
      model: 'm',
      system: [],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
      tools: [],
      providerTools: [],
      stopSequences: [],
      stream: false,
      extensions: {},
    });
  });

  it('with every field that has a neutral meaning', () => {
    const request = decode({
      max_completion_tokens: 100,
      temperature: 1.5,
      top_p: 0.5,
      stop: ['a', 'b'],
      reasoning_effort: 'high',
      parallel_tool_calls: false,
      user: 'u',
      service_tier: 'flex',
      prompt_cache_key: 'k',
      stream: true,
    });
    expect(request).toMatchObject({
      maxTokens: 100,
      temperature: 1.5,
      topP: 0.5,
      stopSequences: ['a', 'b'],
      effort: 'high',
      parallelToolCalls: false,
      userId: 'u',
      serviceTier: 'flex',
      cacheKey: 'k',
      stream: true,
    });
    expect(request.extensions).toEqual({});
  });

  it('keeps what only this wire has, and what nobody knows', () => {
    const own = {
      seed: 1,
      logprobs: true,
      top_logprobs: 2,
      logit_bias: { 5: 1 },
      presence_penalty: 1,
      frequency_penalty: -1,
      metadata: { a: 'b' },
      modalities: ['text'],
      prediction: { type: 'content', content: 'x' },
      store: false,
      verbosity: 'low',
      web_search_options: {},
      safety_identifier: 's',
      stream_options: { include_usage: true },
      min_p: 0.1,
    };
    expect(decode({ ...own, n: 1, stop: null, user: null }).extensions).toEqual({ 'openai-chat': own });
  });

  it('max_completion_tokens wins over max_tokens, and one stop is a list', () => {
    expect(decode({ max_tokens: 1, max_completion_tokens: 2, stop: 'x' })).toMatchObject({
      maxTokens: 2,
      stopSequences: ['x'],
    });
    expect(decode({ max_tokens: 1, stop: '' })).toMatchObject({ maxTokens: 1, stopSequences: [] });
  });

  it('top_k is known to other wires too', () => {
    expect(decode({ top_k: 5 })).toMatchObject({ topK: 5, extensions: { 'openai-chat': { top_k: 5 } } });
  });
});

describe('thinking, as servers of this wire are asked for it', () => {
  const cases: [string, JsonObject, JsonObject][] = [
    ['DeepSeek on', { thinking: { type: 'enabled' } }, { thinking: { type: 'adaptive' } }],
    ['DeepSeek off', { thinking: { type: 'disabled' } }, { thinking: { type: 'disabled' } }],
    [
      'a budget',
      { thinking: { type: 'enabled', budget_tokens: 5 } },
      { thinking: { type: 'enabled', budgetTokens: 5 } },
    ],
    ['Qwen', { enable_thinking: false }, { thinking: { type: 'disabled' } }],
    ['OpenRouter', { reasoning: { effort: 'low' } }, { effort: 'low' }],
    [
      'OpenRouter, a budget',
      { reasoning: { max_tokens: 9 } },
      { thinking: { type: 'enabled', budgetTokens: 9 } },
    ],
    ['OpenRouter off', { reasoning: { enabled: false } }, { thinking: { type: 'disabled' } }],
    ['none', { reasoning_effort: 'none' }, { effort: 'none' }],
  ];
  it.each(cases)('%s', (_name, fields, expected) => {
    const request = decode(fields);
    expect(request).toMatchObject(expected);
    expect(request.extensions).toEqual({});
  });

  it('keeps what it does not understand of it', () => {
    expect(decode({ reasoning: { effort: 'low', exclude: true } }).extensions).toEqual({
      'openai-chat': { reasoning: { exclude: true } },
    });
  });
});

describe('response_format', () => {
  it.each<[JsonObject, unknown]>([
    [{ type: 'text' }, undefined],
    [{ type: 'json_object' }, { type: 'json_object' }],
    [
      {
        type: 'json_schema',
        json_schema: { name: 'n', description: 'd', schema: { type: 'object' }, strict: true },
      },
      { type: 'json_schema', name: 'n', description: 'd', schema: { type: 'object' }, strict: true },
    ],
  ])('%j', (response_format, format) => {
    expect(decode({ response_format }).format).toEqual(format);
  });
});

describe('messages', () => {
  it('in front are the system prompt, later instructions keep their place', () => {
    const request = decodeRequest({
      model: 'm',
      messages: [
        { role: 'system', content: 'a' },
        { role: 'developer', content: [{ type: 'text', text: 'b' }] },
        { role: 'user', content: 'Hi' },
        { role: 'system', content: 'c' },
      ],
    });
    expect(request.system).toEqual([
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ]);
    expect(request.messages[1]).toEqual({ role: 'system', content: [{ type: 'text', text: 'c' }] });
  });

  it('with images, audio and files', () => {
    const [message] = messages({
      role: 'user',
      name: 'bob',
      content: [
        { type: 'text', text: 'look', prompt_cache_breakpoint: { mode: 'explicit' } },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } },
        { type: 'image_url', image_url: 'https://example.com/a.png' },
        { type: 'input_audio', input_audio: { data: 'BBBB', format: 'wav' } },
        { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,CCCC' } },
        { type: 'file', file: { file_data: 'DDDD' } },
        { type: 'file', file: { file_id: 'file-1' } },
      ],
    });
    expect(message).toEqual({
      role: 'user',
      extensions: { 'openai-chat': { name: 'bob' } },
      content: [
        {
          type: 'text',
          text: 'look',
          extensions: { 'openai-chat': { prompt_cache_breakpoint: { mode: 'explicit' } } },
        },
        {
          type: 'image',
          source: { type: 'base64', mediaType: 'image/png', data: 'AAAA' },
          extensions: { 'openai-chat': { detail: 'low' } },
        },
        { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
        {
          type: 'opaque',
          dialect: 'openai-chat',
          kind: 'input_audio',
          value: { type: 'input_audio', input_audio: { data: 'BBBB', format: 'wav' } },
        },
        {
          type: 'document',
          title: 'a.pdf',
          source: { type: 'base64', mediaType: 'application/pdf', data: 'CCCC' },
        },
        { type: 'document', source: { type: 'base64', mediaType: 'application/pdf', data: 'DDDD' } },
        { type: 'document', source: { type: 'file', fileId: 'file-1' } },
      ],
    });
  });

  it('of the assistant, as an answer came back', () => {
    const [message] = messages({
      role: 'assistant',
      content: null,
      refusal: null,
      annotations: [],
      function_call: null,
      audio: null,
      reasoning_content: 'hm',
      tool_calls: [
        { id: 'a', type: 'function', function: { name: 'Read', arguments: '{"z":1,"a":2}' } },
        {
          id: 'b',
          type: 'function',
          function: { name: 'Read', arguments: '' },
          extra_content: { google: { thought_signature: 's' } },
        },
      ],
    });
    expect(message).toEqual({
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'hm' },
        { type: 'tool_use', id: 'a', name: 'Read', input: { z: 1, a: 2 } },
        {
          type: 'tool_use',
          id: 'b',
          name: 'Read',
          input: {},
          extensions: { 'openai-chat': { extra_content: { google: { thought_signature: 's' } } } },
        },
      ],
    });
  });

  it('of the assistant in parts, with a refusal and what only this wire has', () => {
    const [message] = messages({
      role: 'assistant',
      content: [
        { type: 'text', text: 'a' },
        { type: 'refusal', refusal: 'no' },
      ],
      audio: { id: 'au' },
      prefix: true,
    });
    expect(message).toEqual({
      role: 'assistant',
      extensions: { 'openai-chat': { prefix: true } },
      content: [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'no', extensions: { 'openai-chat': { refusal: true } } },
        { type: 'opaque', dialect: 'openai-chat', kind: 'audio', value: { audio: { id: 'au' } } },
      ],
    });
  });

  it('of tools in a row are results of one user message', () => {
    expect(
      messages(
        { role: 'tool', tool_call_id: 'a', content: 'x' },
        { role: 'tool', tool_call_id: 'b', content: [{ type: 'text', text: 'y' }] },
        { role: 'user', content: 'z' },
        { role: 'tool', tool_call_id: 'c', content: null },
        { role: 'tool', tool_call_id: 'd', content: { any: 'thing' } },
      ).map(({ role, content }) => [
        role,
        content.map((block) => ('toolUseId' in block ? block.toolUseId : block.type)),
      ]),
    ).toEqual([
      ['user', ['a', 'b']],
      ['user', ['text']],
      ['user', ['c', 'd']],
    ]);
  });

  it("of the wire's first form: function_call and its result", () => {
    const [call, result] = messages(
      { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{"a":1}' } },
      { role: 'function', name: 'f', content: 'x' },
    );
    expect(call?.content[0]).toMatchObject({ type: 'tool_use', name: 'f', input: { a: 1 } });
    const id = call?.content[0]?.type === 'tool_use' ? call.content[0].id : '';
    expect(result).toEqual({
      role: 'user',
      content: [
        { type: 'tool_result', toolUseId: id, content: [{ type: 'text', text: 'x' }], isError: false },
      ],
    });
  });
});

describe('arguments', () => {
  const decodeArguments = (text: unknown) => {
    const [message] = messages({
      role: 'assistant',
      tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: text } }],
    });
    const block = message?.content[0];
    return block?.type === 'tool_use' ? [block.input, block.extensions?.['openai-chat']] : undefined;
  };
  it.each<[string, unknown, unknown, unknown]>([
    ['an object', '{"a":1}', { a: 1 }, undefined],
    ['the same with other spaces, kept as written', '{"a": 1}', { a: 1 }, { $arguments: '{"a": 1}' }],
    ['nothing', '', {}, undefined],
    ['null', 'null', {}, undefined],
    ['missing', undefined, {}, undefined],
    ['encoded twice', '"{\\"a\\":1}"', { a: 1 }, { $arguments: '"{\\"a\\":1}"' }],
    ['an object on the wire', { a: 1 }, { a: 1 }, undefined],
    ['broken: kept as text', '{"a":', {}, { arguments: '{"a":' }],
    ['no object: kept as text', '[1]', {}, { arguments: '[1]' }],
  ])('%s', (_name, text, input, own) => {
    expect(decodeArguments(text)).toEqual([input, own]);
  });
});

describe('arguments nested deeper than the stack', () => {
  it('are kept as text', () => {
    const deep = `{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`;
    const [message] = messages({
      role: 'assistant',
      tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: deep } }],
    });
    const block = message?.content[0];
    expect(block?.type === 'tool_use' && block.input).toEqual({});
    expect(block?.type === 'tool_use' && block.extensions?.['openai-chat']?.['arguments'] === deep).toBe(
      true,
    );
  });
});

describe('tools', () => {
  const read = {
    type: 'function',
    function: { name: 'Read', description: 'd', parameters: { type: 'object' }, strict: true },
  };
  const write = { type: 'function', function: { name: 'Write' } };

  it('are functions, with what only this wire has', () => {
    expect(decode({ tools: [{ ...read, cache_control: { type: 'ephemeral' } }, write] }).tools).toEqual([
      {
        name: 'Read',
        description: 'd',
        inputSchema: { type: 'object' },
        strict: true,
        extensions: { 'openai-chat': { cache_control: { type: 'ephemeral' } } },
      },
      { name: 'Write' },
    ]);
  });

  it('that take free text are functions of one property elsewhere', () => {
    const custom = {
      name: 'patch',
      description: 'd',
      format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'x' } },
    };
    const [tool] = decode({ tools: [{ type: 'custom', custom }] }).tools;
    expect(tool).toMatchObject({
      name: 'patch',
      inputSchema: { type: 'object', required: ['input'] },
      extensions: { 'openai-chat': { $custom: custom, format: custom.format } },
    });
  });

  it('of a type that nobody knows are the provider’s own', () => {
    expect(decode({ tools: [{ type: 'web_search' }] }).providerTools).toEqual([
      { dialect: 'openai-chat', kind: 'web_search', name: 'web_search', value: { type: 'web_search' } },
    ]);
  });

  it('in the first form', () => {
    const request = decode({ functions: [{ name: 'f', parameters: {} }], function_call: { name: 'f' } });
    expect(request.tools).toEqual([
      { name: 'f', inputSchema: {}, extensions: { 'openai-chat': { $legacy: true } } },
    ]);
    expect(request.toolChoice).toEqual({ type: 'tool', name: 'f' });
  });

  it.each<[string, unknown, unknown, string[]]>([
    ['auto', 'auto', { type: 'auto' }, ['Read', 'Write']],
    ['none', 'none', { type: 'none' }, ['Read', 'Write']],
    ['required', 'required', { type: 'any' }, ['Read', 'Write']],
    [
      'a function',
      { type: 'function', function: { name: 'Read' } },
      { type: 'tool', name: 'Read' },
      ['Read', 'Write'],
    ],
    [
      'a custom tool',
      { type: 'custom', custom: { name: 'p' } },
      { type: 'tool', name: 'p' },
      ['Read', 'Write'],
    ],
    [
      'allowed tools',
      {
        type: 'allowed_tools',
        allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'Write' } }] },
      },
      { type: 'any' },
      ['Write'],
    ],
    ['nothing', null, undefined, ['Read', 'Write']],
  ])('are chosen among: %s', (_name, tool_choice, choice, names) => {
    const request = decode({ tools: [read, write], tool_choice });
    expect(request.toolChoice).toEqual(choice);
    expect(request.tools.map(({ name }) => name)).toEqual(names);
  });
});

describe('what is wrong is named by its path', () => {
  const cases: [string, unknown, string][] = [
    ['no object', [], ''],
    ['no model', { messages: [] }, 'model'],
    ['no messages', { model: 'm' }, 'messages'],
    ['an empty list', { model: 'm', messages: [] }, 'messages'],
    ['a message', { model: 'm', messages: ['x'] }, 'messages.0'],
    ['a role', { model: 'm', messages: [{ role: 'robot', content: '' }] }, 'messages.0.role'],
    ['content', { model: 'm', messages: [{ role: 'user', content: 5 }] }, 'messages.0.content'],
    ['a part', { model: 'm', messages: [{ role: 'user', content: [1] }] }, 'messages.0.content.0'],
    [
      'a part without a type',
      { model: 'm', messages: [{ role: 'user', content: [{}] }] },
      'messages.0.content.0.type',
    ],
    [
      'a text',
      { model: 'm', messages: [{ role: 'user', content: [{ type: 'text' }] }] },
      'messages.0.content.0.text',
    ],
    [
      'an image',
      { model: 'm', messages: [{ role: 'user', content: [{ type: 'image_url', image_url: {} }] }] },
      'messages.0.content.0.image_url.url',
    ],
    [
      'a file',
      { model: 'm', messages: [{ role: 'user', content: [{ type: 'file', file: {} }] }] },
      'messages.0.content.0.file',
    ],
    ['a call id', { model: 'm', messages: [{ role: 'tool', content: 'x' }] }, 'messages.0.tool_call_id'],
    ['calls', { model: 'm', messages: [{ role: 'assistant', tool_calls: {} }] }, 'messages.0.tool_calls'],
    [
      'a call',
      { model: 'm', messages: [{ role: 'assistant', tool_calls: [{}] }] },
      'messages.0.tool_calls.0.id',
    ],
    [
      'a called function',
      { model: 'm', messages: [{ role: 'assistant', tool_calls: [{ id: 'a', function: {} }] }] },
      'messages.0.tool_calls.0.function.name',
    ],
    [
      'an image in an instruction',
      { model: 'm', messages: [{ role: 'system', content: [{ type: 'image_url', image_url: 'x' }] }] },
      'messages.0.content',
    ],
    ['a function result', { model: 'm', messages: [{ role: 'function', content: 'x' }] }, 'messages.0.name'],
    ['tools', body({ tools: {} }), 'tools'],
    ['a tool', body({ tools: [{ type: 'function' }] }), 'tools.0.function'],
    ['a name', body({ tools: [{ type: 'function', function: {} }] }), 'tools.0.function.name'],
    [
      'parameters',
      body({ tools: [{ function: { name: 'f', parameters: [] } }] }),
      'tools.0.function.parameters',
    ],
    ['a choice', body({ tool_choice: 'must' }), 'tool_choice'],
    ['a chosen name', body({ tool_choice: { type: 'function', function: {} } }), 'tool_choice.function.name'],
    [
      'an allowed tool',
      body({
        tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [{ name: 'x' }] } },
      }),
      'tool_choice.allowed_tools.tools.0',
    ],
    ['max_tokens', body({ max_tokens: 0 }), 'max_tokens'],
    ['temperature', body({ temperature: 2.1 }), 'temperature'],
    ['top_p', body({ top_p: 'x' }), 'top_p'],
    ['stop', body({ stop: 5 }), 'stop'],
    ['one stop', body({ stop: ['a', 5] }), 'stop.1'],
    ['effort', body({ reasoning_effort: 'huge' }), 'reasoning_effort'],
    ['format', body({ response_format: { type: 'xml' } }), 'response_format.type'],
    ['a schema', body({ response_format: { type: 'json_schema' } }), 'response_format.json_schema'],
    ['stream', body({ stream: 'yes' }), 'stream'],
    ['logit_bias', body({ logit_bias: [] }), 'logit_bias'],
    ['presence_penalty', body({ presence_penalty: 3 }), 'presence_penalty'],
    ['seed', body({ seed: 1.5 }), 'seed'],
    ['verbosity', body({ verbosity: 'loud' }), 'verbosity'],
    ['stream_options', body({ stream_options: true }), 'stream_options'],
    ['n', body({ n: 0 }), 'n'],
  ];
  it.each(cases)('%s', (_name, value, param) => {
    const error = errorOf(() => decodeRequest(value));
    expect(error).toMatchObject({ code: 'invalid_request', status: 400, param });
  });

  it('more than one answer is asked for in its own bytes alone, and says what to do instead', () => {
    expect(decode({ n: 3 }).verbatim).toMatchObject({
      param: 'n',
      message: expect.stringContaining('Send 3 requests'),
    });
    expect(decode({ n: 1 })).not.toHaveProperty('verbatim');
  });

  it('names of Object are ordinary fields', () => {
    const request = decodeRequest(
      JSON.parse(
        '{"model":"m","messages":[{"role":"user","content":"x"}],"__defineGetter__":1,"hasOwnProperty":2,"__proto__":{"x":1}}',
      ),
    );
    expect(request.extensions['openai-chat']).toEqual({ ['__defineGetter__']: 1, hasOwnProperty: 2 });
  });
});
