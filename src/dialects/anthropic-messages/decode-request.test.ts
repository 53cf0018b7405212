import { describe, expect, it } from 'vitest';
import { loadJson } from '../../../test/support/dialect-fixtures.js';
import type { Block, ConversationRequest, Extensions, JsonObject } from '../../core/conversation.js';
import { GatewayError } from '../../core/errors.js';
import { decodeCountTokensRequest, decodeRequest } from './decode-request.js';

const EMPTY = { model: 'm', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] };
const decode = (fields: object): ConversationRequest => decodeRequest({ ...EMPTY, ...fields });
const blocks = (content: unknown, role = 'user'): Block[] =>
  decode({ messages: [{ role, content }] }).messages[0]?.content ?? [];
const block = (value: unknown, role?: string): Block | undefined => blocks([value], role)[0];
const own = (fields: JsonObject): { extensions: Extensions } => ({
  extensions: { 'anthropic-messages': fields },
});

function messageOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'invalid_request') return error.message;
    throw error;
  }
  return 'nothing was wrong';
}

describe('the body', () => {
  it('decodes the least that the API takes', () => {
    expect(decodeRequest(EMPTY)).toEqual({
      model: 'm',
      system: [],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
      tools: [],
      providerTools: [],
      maxTokens: 10,
      stopSequences: [],
      stream: false,
      extensions: { 'anthropic-messages': {} },
    });
  });

  it('decodes what Claude Code sends', () => {
    const request = decodeRequest(loadJson(import.meta.url, 'claude-code-request.json'));
    expect(request.extensions).toEqual({
      'anthropic-messages': {
        context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
        thinking: { display: 'summarized' },
        output_config: { task_budget: { type: 'tokens', total: 50000 } },
      },
    });
    expect(request).toMatchObject({
      stream: true,
      maxTokens: 64000,
      thinking: { type: 'adaptive' },
      effort: 'high',
      toolChoice: { type: 'auto' },
      parallelToolCalls: false,
      cacheKey: '0f5bd1a2-8a1c-4b7e-9b61-3d0b1d8f2c11',
    });
    expect(request.system[1]).toEqual({
      type: 'text',
      text: "You are Claude Code, Anthropic's official CLI for Claude.",
      ...own({ cache_control: { type: 'ephemeral', ttl: '1h' } }),
    });
    expect(request.tools.map(({ name }) => name)).toEqual(['Read', 'Grep', 'DeferredToolPlaceholder']);
    expect(request.providerTools.map(({ kind, name }) => [kind, name])).toEqual([
      ['web_search_20260318', 'web_search'],
      ['mcp_toolset', 'docs'],
      ['browser_toolset_20260801', 'browser'],
    ]);
    expect(request.messages.map(({ role, content }) => [role, content.map(({ type }) => type)])).toEqual([
      ['user', ['text', 'text']],
      ['system', []],
      ['assistant', ['thinking', 'redacted_thinking', 'text', 'tool_use', 'tool_use']],
      ['user', ['tool_result', 'tool_result', 'text']],
      ['system', ['text']],
    ]);
    expect(request.messages[1]).toEqual({
      role: 'system',
      content: [],
      ...own({ output_config: { effort: 'xhigh' } }),
    });
    expect(request.messages[4]).toMatchObject(own({ clear_at: 'next_user_message' }));
  });

  it('keeps schemas and inputs by reference', () => {
    const schema = { type: 'object' };
    const input = { b: 1, a: 2 };
    const request = decode({
      tools: [{ name: 't', input_schema: schema }],
      messages: [{ role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 't', input }] }],
    });
    expect(request.tools[0]?.inputSchema).toBe(schema);
    expect(request.messages[0]?.content[0]).toHaveProperty('input', input);
  });

  it('reads null as not given', () => {
    const nulls = [
      'system',
      'tools',
      'tool_choice',
      'temperature',
      'top_p',
      'top_k',
      'stop_sequences',
      'thinking',
      'output_config',
      'output_format',
      'metadata',
      'service_tier',
      'stream',
      'speed',
    ];
    expect(decode(Object.fromEntries(nulls.map((name) => [name, null])))).toEqual(decodeRequest(EMPTY));
  });

  it('does not let a __proto__ key through', () => {
    const body: unknown = JSON.parse(
      '{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"x"}],"__proto__":{"stream":true}}',
    );
    expect(decodeRequest(body).extensions).toEqual({ 'anthropic-messages': {} });
  });

  it.each<[string, object, object]>([
    ['system as text', { system: 's' }, { system: [{ type: 'text', text: 's' }] }],
    ['empty system', { system: '' }, { system: [] }],
    ['temperature', { temperature: 0.5 }, { temperature: 0.5 }],
    ['top_p', { top_p: 0.9 }, { topP: 0.9 }],
    ['top_k', { top_k: 5 }, { topK: 5 }],
    ['stop_sequences', { stop_sequences: ['a', '\n'] }, { stopSequences: ['a', '\n'] }],
    ['stream', { stream: true }, { stream: true }],
    ['service_tier', { service_tier: 'standard_only' }, { serviceTier: 'standard_only' }],
    ['max_tokens 0, which only fills the cache', { max_tokens: 0 }, { maxTokens: 0 }],
    [
      'thinking with a budget',
      { thinking: { type: 'enabled', budget_tokens: 1024 } },
      { thinking: { type: 'enabled', budgetTokens: 1024 } },
    ],
    ['thinking off', { thinking: { type: 'disabled' } }, { thinking: { type: 'disabled' } }],
    ['adaptive thinking', { thinking: { type: 'adaptive' } }, { thinking: { type: 'adaptive' } }],
    [
      'thinking of a kind that other wires lack',
      { thinking: { type: 'between_tools' } },
      { thinking: { type: 'adaptive' }, ...own({ thinking: { type: 'between_tools' } }) },
    ],
    ['effort', { output_config: { effort: 'max' } }, { effort: 'max' }],
    [
      'a format',
      { output_config: { format: { type: 'json_schema', schema: { type: 'object' } } } },
      { format: { type: 'json_schema', schema: { type: 'object' } } },
    ],
    [
      'the old place of a format',
      { output_format: { type: 'json_schema', schema: { type: 'object' } } },
      { format: { type: 'json_schema', schema: { type: 'object' } } },
    ],
    ['tool_choice auto', { tool_choice: { type: 'auto' } }, { toolChoice: { type: 'auto' } }],
    ['tool_choice none', { tool_choice: { type: 'none' } }, { toolChoice: { type: 'none' } }],
    [
      'tool_choice any',
      { tool_choice: { type: 'any', disable_parallel_tool_use: false } },
      { toolChoice: { type: 'any' }, parallelToolCalls: true },
    ],
    [
      'tool_choice tool',
      { tool_choice: { type: 'tool', name: 't', disable_parallel_tool_use: true } },
      { toolChoice: { type: 'tool', name: 't' }, parallelToolCalls: false },
    ],
    [
      'a tool without a schema',
      { tools: [{ name: 't', description: 'd' }] },
      { tools: [{ name: 't', description: 'd' }] },
    ],
    [
      'a strict tool with fields of this wire',
      { tools: [{ name: 't', input_schema: {}, strict: true, type: 'custom', defer_loading: true }] },
      { tools: [{ name: 't', inputSchema: {}, strict: true, ...own({ defer_loading: true }) }] },
    ],
    [
      'tools that the provider runs',
      { tools: [{ type: 'code_execution_20260521', name: 'code_execution' }] },
      {
        tools: [],
        providerTools: [
          {
            dialect: 'anthropic-messages',
            kind: 'code_execution_20260521',
            name: 'code_execution',
            value: { type: 'code_execution_20260521', name: 'code_execution' },
          },
        ],
      },
    ],
    [
      'typed tools that the client runs',
      {
        tools: [
          { type: 'bash_20250124', name: 'bash', strict: false, cache_control: { type: 'ephemeral' } },
          { type: 'text_editor_20250728', name: 'str_replace_based_edit_tool', max_characters: 9 },
        ],
      },
      {
        tools: [
          {
            name: 'bash',
            strict: false,
            inputSchema: expect.objectContaining({ type: 'object' }),
            typed: {
              dialect: 'anthropic-messages',
              kind: 'bash_20250124',
              value: { type: 'bash_20250124', name: 'bash' },
            },
            ...own({ cache_control: { type: 'ephemeral' } }),
          },
          {
            name: 'str_replace_based_edit_tool',
            description: expect.stringContaining('at most 9 characters'),
            typed: { value: { max_characters: 9 } },
          },
        ],
        providerTools: [],
      },
    ],
    [
      'a plain user id and more metadata',
      { metadata: { user_id: 'u-1', team: 'x' } },
      { userId: 'u-1', ...own({ metadata: { team: 'x' } }) },
    ],
    [
      "the session in Claude Code's older user id",
      { metadata: { user_id: 'user_ab_account__session_0f5bd1a2-8a1c-4b7e-9b61-3d0b1d8f2c11' } },
      { cacheKey: '0f5bd1a2-8a1c-4b7e-9b61-3d0b1d8f2c11' },
    ],
    [
      'top-level fields that only this wire has',
      { container: 'c', mcp_servers: [{ type: 'url' }], betas: ['b'], later: 1 },
      own({ container: 'c', mcp_servers: [{ type: 'url' }], betas: ['b'], later: 1 }),
    ],
  ])('%s', (_name, fields, expected) => {
    expect(decode(fields)).toMatchObject(expected);
  });

  it.each(['{broken', '{"session_id":""}', '{"session_id":5}', '{}', 'session_x'])(
    'finds no session in the user id %s',
    (userId) => {
      expect(decode({ metadata: { user_id: userId } })).not.toHaveProperty('cacheKey');
    },
  );
});

describe('content', () => {
  it.each<[string, unknown, Block, string?]>([
    ['text', { type: 'text', text: 't' }, { type: 'text', text: 't' }],
    [
      'text with its nulls',
      { type: 'text', text: 't', citations: null, cache_control: null },
      { type: 'text', text: 't' },
    ],
    [
      'text with a breakpoint',
      { type: 'text', text: 't', cache_control: { type: 'ephemeral' } },
      { type: 'text', text: 't', ...own({ cache_control: { type: 'ephemeral' } }) },
    ],
    [
      'an image',
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA' } },
      { type: 'image', source: { type: 'base64', mediaType: 'image/png', data: 'AA' } },
    ],
    [
      'an image by URL',
      { type: 'image', source: { type: 'url', url: 'https://x/y.png' } },
      { type: 'image', source: { type: 'url', url: 'https://x/y.png' } },
    ],
    [
      'an image by file',
      {
        type: 'image',
        source: { type: 'file', file_id: 'file_1' },
        transformations: { oversized_image: 'error' },
      },
      {
        type: 'image',
        source: { type: 'file', fileId: 'file_1' },
        ...own({ transformations: { oversized_image: 'error' } }),
      },
    ],
    [
      'a PDF',
      {
        type: 'document',
        source: { type: 'base64', media_type: 'application/pdf', data: 'JVBE' },
        title: 'T',
        context: 'c',
        citations: { enabled: true },
      },
      {
        type: 'document',
        source: { type: 'base64', mediaType: 'application/pdf', data: 'JVBE' },
        title: 'T',
        ...own({ context: 'c', citations: { enabled: true } }),
      },
    ],
    [
      'a text document',
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'd' }, title: null },
      { type: 'document', source: { type: 'text', mediaType: 'text/plain', data: 'd' } },
    ],
    [
      'a document by URL',
      { type: 'document', source: { type: 'url', url: 'https://x/y.pdf' } },
      { type: 'document', source: { type: 'url', url: 'https://x/y.pdf' } },
    ],
    [
      'a document of blocks, as text and as it came',
      {
        type: 'document',
        source: {
          type: 'content',
          content: [
            { type: 'text', text: 'a' },
            { type: 'text', text: 'b' },
          ],
        },
      },
      {
        type: 'document',
        source: { type: 'text', mediaType: 'text/plain', data: 'a\nb' },
        ...own({
          source: {
            type: 'content',
            content: [
              { type: 'text', text: 'a' },
              { type: 'text', text: 'b' },
            ],
          },
        }),
      },
    ],
    [
      'thinking',
      { type: 'thinking', thinking: 't', signature: 's' },
      { type: 'thinking', thinking: 't', signature: 's' },
      'assistant',
    ],
    [
      'unsigned thinking',
      { type: 'thinking', thinking: 't', signature: '' },
      { type: 'thinking', thinking: 't' },
      'assistant',
    ],
    [
      'redacted thinking',
      { type: 'redacted_thinking', data: 'd' },
      { type: 'redacted_thinking', data: 'd' },
      'assistant',
    ],
    [
      'a call',
      { type: 'tool_use', id: 'i', name: 'n', input: { a: 1 }, caller: { type: 'direct' } },
      { type: 'tool_use', id: 'i', name: 'n', input: { a: 1 }, ...own({ caller: { type: 'direct' } }) },
      'assistant',
    ],
    [
      'a call without input',
      { type: 'tool_use', id: 'i', name: 'n' },
      { type: 'tool_use', id: 'i', name: 'n', input: {} },
      'assistant',
    ],
    [
      'a result as text',
      { type: 'tool_result', tool_use_id: 'i', content: 'r' },
      { type: 'tool_result', toolUseId: 'i', content: [{ type: 'text', text: 'r' }], isError: false },
    ],
    [
      'a result without content',
      { type: 'tool_result', tool_use_id: 'i', is_error: true },
      { type: 'tool_result', toolUseId: 'i', content: [], isError: true },
    ],
    [
      'a result of blocks',
      {
        type: 'tool_result',
        tool_use_id: 'i',
        content: [
          { type: 'text', text: 'r' },
          { type: 'image', source: { type: 'url', url: 'u' } },
          { type: 'document', source: { type: 'file', file_id: 'f' } },
          { type: 'search_result', source: 's', title: 't', content: [] },
        ],
      },
      {
        type: 'tool_result',
        toolUseId: 'i',
        isError: false,
        content: [
          { type: 'text', text: 'r' },
          { type: 'image', source: { type: 'url', url: 'u' } },
          { type: 'document', source: { type: 'file', fileId: 'f' } },
          {
            type: 'opaque',
            dialect: 'anthropic-messages',
            kind: 'search_result',
            value: { type: 'search_result', source: 's', title: 't', content: [] },
          },
        ],
      },
    ],
  ])('%s', (_name, wire, neutral, role = 'user') => {
    expect(block(wire, role)).toEqual(neutral);
  });

  it.each([
    { type: 'server_tool_use', id: 's', name: 'web_search', input: {} },
    { type: 'web_search_tool_result', tool_use_id: 's', content: [] },
    { type: 'container_upload', file_id: 'f' },
    { type: 'of_the_future', anything: 1 },
    { type: 'image', source: { type: 'of_the_future' } },
    { type: 'document', source: { type: 'content', content: [{ type: 'image', source: {} }] } },
  ])('keeps a block as it came: $type', (value) => {
    expect(block(value, 'assistant')).toEqual({
      type: 'opaque',
      dialect: 'anthropic-messages',
      kind: value.type,
      value,
    });
  });

  it.each([['user'], ['assistant'], ['system']])('takes a %s message without content', (role) => {
    expect(blocks('', role)).toEqual([]);
    expect(blocks([], role)).toEqual([]);
  });

  it('takes a system message that is only settings', () => {
    const { messages } = decode({
      messages: [
        { role: 'user', content: 'x' },
        { role: 'system', output_config: { effort: 'low' } },
      ],
    });
    expect(messages[1]).toEqual({
      role: 'system',
      content: [],
      ...own({ output_config: { effort: 'low' } }),
    });
  });
});

describe('errors name the place and what was expected', () => {
  const at = (path: string, value: unknown): [unknown, string] => {
    const body: Record<string, unknown> = structuredClone({
      ...EMPTY,
      messages: [
        { role: 'user', content: 'a' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'i', name: 'n', input: {} }] },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 'i', content: [{ type: 'text', text: 'x' }] }],
        },
      ],
      system: [{ type: 'text', text: 's' }],
      tools: [{ name: 't', input_schema: {} }],
    });
    const steps = path.split('.');
    const last = steps.pop() ?? '';
    let holder: unknown = body;
    for (const step of steps) holder = Reflect.get(Object(holder), step);
    Reflect.set(Object(holder), last, value);
    return [body, path];
  };

  it.each<[string, unknown, string]>([
    ['model', undefined, 'a non-empty string, got nothing'],
    ['model', '', 'a non-empty string, got the string ""'],
    ['max_tokens', undefined, 'a whole number of at least 0, got nothing'],
    ['max_tokens', 1.5, 'a whole number of at least 0, got number 1.5'],
    ['max_tokens', -1, 'a whole number of at least 0, got number -1'],
    ['messages', undefined, 'an array, got nothing'],
    ['messages', [], 'at least one message, got an array'],
    ['messages.1', 'x', 'an object, got the string "x"'],
    ['messages.0.role', 'tool', 'one of "user", "assistant", "system", got the string "tool"'],
    ['messages.0.content', undefined, 'a string or an array of content blocks, got nothing'],
    ['messages.0.content', 3, 'a string or an array of content blocks, got number 3'],
    ['messages.1.content.0', null, 'a content block, got null'],
    ['messages.1.content.0', { type: 'text', text: 3 }, 'a string, got number 3'],
    ['messages.1.content.0.type', 5, 'the type of a content block, got number 5'],
    ['messages.1.content.0.id', '', 'a non-empty string, got the string ""'],
    ['messages.1.content.0.name', 1, 'a non-empty string, got number 1'],
    ['messages.1.content.0.input', 'x', 'an object, got the string "x"'],
    [
      'messages.1.content.0.type',
      'tool_result',
      'a block that assistant messages may hold, got the string "tool_result"',
    ],
    [
      'messages.2.content.0.type',
      'tool_use',
      'a block that user messages may hold, got the string "tool_use"',
    ],
    [
      'messages.2.content.0.type',
      'thinking',
      'a block that user messages may hold, got the string "thinking"',
    ],
    ['messages.2.content.0.tool_use_id', null, 'a non-empty string, got null'],
    ['messages.2.content.0.is_error', 'no', 'true or false, got the string "no"'],
    ['messages.2.content.0.content', {}, 'a string or an array of content blocks, got an object'],
    ['messages.2.content.0.content.0', [], 'a content block, got an array'],
    ['messages.2.content.0.content.0.text', null, 'a string, got null'],
    ['system', 5, 'a string or an array of text blocks, got number 5'],
    ['system.0', 'x', 'a text block, got the string "x"'],
    ['system.0.type', 'image', '"text", got the string "image"'],
    ['tools', {}, 'an array, got an object'],
    ['tools.0', 1, 'an object, got number 1'],
    ['tools.0.name', '', 'a non-empty string, got the string ""'],
    ['tools.0.description', 1, 'a string, got number 1'],
    ['tools.0.input_schema', 'x', 'an object, got the string "x"'],
    ['tools.0.strict', 1, 'true or false, got number 1'],
    ['tools.0.type', 7, 'a non-empty string, got number 7'],
    ['tool_choice', 'auto', 'an object, got the string "auto"'],
    ['tool_choice', { type: 'x' }, 'one of "auto", "any", "tool", "none", got the string "x"'],
    ['tool_choice', { type: 'tool' }, 'a non-empty string, got nothing'],
    ['temperature', 1.5, 'a number from 0 to 1, got number 1.5'],
    ['top_p', 'x', 'a number from 0 to 1, got the string "x"'],
    ['top_k', 0.5, 'a whole number of at least 0, got number 0.5'],
    ['stop_sequences', 'x', 'an array, got the string "x"'],
    ['stream', 'yes', 'true or false, got the string "yes"'],
    ['thinking', true, 'an object, got boolean true'],
    ['thinking', { type: 'enabled' }, 'a whole number of at least 1, got nothing'],
    ['output_config', { effort: 'huge' }, 'one of "none"'],
    ['output_config', { format: { type: 'xml' } }, 'one of "json_schema", got the string "xml"'],
    ['metadata', 'x', 'an object, got the string "x"'],
    ['metadata', { user_id: 5 }, 'a string, got number 5'],
  ])('%s = %j', (path, value, expected) => {
    const [body] = at(path, value);
    const message = messageOf(() => decodeRequest(body));
    expect(message).toContain(`expected ${expected}`);
    expect(message.startsWith(path)).toBe(true);
  });

  it.each([[undefined], [null], ['x'], [[]], [5]])('a body of %j', (body) => {
    expect(messageOf(() => decodeRequest(body))).toContain('the body: expected an object');
  });

  it('goes down to the field of a block', () => {
    const [body] = at('messages.1.content.0', { type: 'text', text: 3 });
    expect(messageOf(() => decodeRequest(body))).toBe(
      'messages.1.content.0.text: expected a string, got number 3',
    );
  });

  it.each<[unknown, string]>([
    [{ type: 'image' }, 'source: expected an object, got nothing'],
    [{ type: 'image', source: {} }, 'source.type: expected a string, got nothing'],
    [
      { type: 'image', source: { type: 'base64', data: 'A' } },
      'source.media_type: expected a string, got nothing',
    ],
    [{ type: 'document', source: { type: 'url' } }, 'source.url: expected a string, got nothing'],
    [
      { type: 'document', source: { type: 'url', url: 'u' }, title: 1 },
      'title: expected a string, got number 1',
    ],
  ])('media %j', (value, expected) => {
    expect(messageOf(() => block(value))).toBe(`messages.0.content.0.${expected}`);
  });
});

it('counts tokens of a body without max_tokens', () => {
  const { max_tokens: _, ...body } = EMPTY;
  expect(decodeCountTokensRequest(body)).not.toHaveProperty('maxTokens');
});
