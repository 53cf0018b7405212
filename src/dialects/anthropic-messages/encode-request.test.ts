import { describe, expect, it } from 'vitest';
import { loadJson } from '../../../test/support/dialect-fixtures.js';
import type { Block, ConversationRequest, Message, Role } from '../../core/conversation.js';
import { LossLog } from '../../core/losses.js';
import { type Quirks, STANDARD_QUIRKS } from '../shared/quirks.js';
import { decodeRequest } from './decode-request.js';
import { encodeRequest } from './encode-request.js';

const text = (value: string): Block => ({ type: 'text', text: value });
const call = (id: string, name = 'T'): Block => ({ type: 'tool_use', id, name, input: { a: 1 } });
const result = (toolUseId: string, value = 'r'): Block => ({
  type: 'tool_result',
  toolUseId,
  content: value === '' ? [] : [{ type: 'text', text: value }],
  isError: false,
});
const message = (role: Role, ...content: Block[]): Message => ({ role, content });

function neutral(fields: Partial<ConversationRequest> = {}): ConversationRequest {
  return {
    model: 'asked',
    system: [],
    messages: [message('user', text('hi'))],
    tools: [],
    providerTools: [],
    stopSequences: [],
    stream: false,
    extensions: {},
    ...fields,
  };
}

const NATIVE = { extensions: { 'anthropic-messages': {} } };

function encode(fields: Partial<ConversationRequest>, quirks: Partial<Quirks> = {}) {
  const losses = new LossLog();
  const encoded = encodeRequest(neutral(fields), {
    model: 'upstream-model',
    quirks: { ...STANDARD_QUIRKS, cacheControl: false, ...quirks },
    losses,
  });
  return { ...encoded, losses: losses.list().map(({ path, reason }) => `${path}: ${reason}`) };
}

const messagesOf = (
  messages: Message[],
  quirks?: Partial<Quirks>,
  fields: Partial<ConversationRequest> = {},
) => {
  const { body, losses } = encode({ messages, ...fields }, quirks);
  return { messages: body['messages'], losses };
};

describe('the request', () => {
  it('is the least that the wire takes', () => {
    const { path, headers, body, losses } = encode({});
    expect({ path, headers, losses }).toEqual({
      path: '/v1/messages',
      headers: { 'anthropic-version': '2023-06-01' },
      losses: [],
    });
    expect(body).toEqual({
      model: 'upstream-model',
      max_tokens: STANDARD_QUIRKS.defaultMaxTokens,
      messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
      stream: false,
    });
  });

  it('gives back what Claude Code sent', () => {
    const sent = loadJson(import.meta.url, 'claude-code-request.json');
    const losses = new LossLog();
    const { body } = encodeRequest(decodeRequest(sent), {
      model: 'claude-opus-5-5',
      quirks: STANDARD_QUIRKS,
      losses,
    });
    expect(losses.list()).toEqual([]);
    // What only says the default is left out; a string is an array of one text block.
    const expected = JSON.parse(
      JSON.stringify(sent)
        .replace('"citations":null,', '')
        .replace(',"citations":null', '')
        .replace(',"type":"custom"', '')
        .replace('"12000 tokens left"', '[{"type":"text","text":"12000 tokens left"}]')
        .replace('"1\\texport const foo = 1;\\n"', '[{"type":"text","text":"1\\texport const foo = 1;\\n"}]'),
    );
    expect(body).toEqual(expected);
  });

  it.each<[string, Partial<ConversationRequest>, object, string[]?]>([
    ['max_tokens', { maxTokens: 5 }, { max_tokens: 5 }],
    ['stream', { stream: true }, { stream: true }],
    ['temperature', { temperature: 0.3 }, { temperature: 0.3 }],
    [
      'a temperature above the wire',
      { temperature: 1.7 },
      { temperature: 1 },
      ['temperature: 1.7 became 1, the most of this wire'],
    ],
    ['top_p', { topP: 0.5 }, { top_p: 0.5 }],
    ['top_k', { topK: 5 }, { top_k: 5 }],
    [
      'stop sequences',
      { stopSequences: ['a', 'b', 'c', 'd', 'e'] },
      { stop_sequences: ['a', 'b', 'c', 'd', 'e'] },
    ],
    [
      'a stop sequence of white space',
      { stopSequences: ['\n', 'a'] },
      { stop_sequences: ['a'] },
      ['stopSequences: the wire takes no stop sequence of white space'],
    ],
    ['a user id', { userId: 'u' }, { metadata: { user_id: 'u' } }],
    ['the tier of another wire', { serviceTier: 'default' }, { service_tier: 'standard_only' }],
    [
      'a format',
      { format: { type: 'json_schema', schema: { type: 'object' }, name: 'n', strict: true } },
      { output_config: { format: { type: 'json_schema', schema: { type: 'object' } } } },
    ],
    [
      'a format and an effort',
      { ...NATIVE, effort: 'low', format: { type: 'json_schema', schema: {} } },
      { output_config: { effort: 'low', format: { type: 'json_schema', schema: {} } } },
    ],
  ])('carries %s', (_name, fields, expected, lost = []) => {
    const { body, losses } = encode(fields);
    expect(body).toMatchObject(expected);
    expect(losses).toEqual(lost);
  });

  it.each<[string, Partial<ConversationRequest>, Partial<Quirks>, string, string]>([
    ['a tier', { serviceTier: 'flex' }, {}, 'service_tier', 'serviceTier: this wire has no tier "flex"'],
    [
      'json_object',
      { format: { type: 'json_object' } },
      {},
      'output_config',
      'format: the upstream cannot be held to json_object',
    ],
    [
      'a schema for an upstream without',
      { format: { type: 'json_schema', schema: {} } },
      { structuredOutput: 'none' },
      'output_config',
      'format: the upstream cannot be held to json_schema',
    ],
    [
      'stops',
      { stopSequences: ['a'] },
      { stop: false },
      'stop_sequences',
      'stopSequences: the upstream takes no stop sequences',
    ],
    ['a user', { userId: 'u' }, { user: false }, 'metadata', 'userId: the upstream takes no user id'],
    ['a long user', { userId: 'u'.repeat(257) }, {}, 'metadata', 'userId: longer than 256 characters'],
    [
      'temperature',
      { temperature: 0 },
      { sampling: false },
      'temperature',
      'temperature: the model takes no sampling parameters',
    ],
    ['top_k', { topK: 3 }, { sampling: false }, 'top_k', 'topK: the model takes no sampling parameters'],
    [
      'both temperature and top_p',
      { temperature: 0.2, topP: 0.2 },
      {},
      'top_p',
      'topP: the wire takes temperature or top_p, not both',
    ],
    [
      "another wire's field",
      { extensions: { 'openai-chat': { logit_bias: { 5: 1 } } } },
      {},
      'logit_bias',
      'logit_bias: only openai-chat has it',
    ],
  ])('loses %s', (_name, fields, quirks, field, loss) => {
    const { body, losses } = encode(fields, quirks);
    expect(body).not.toHaveProperty(field);
    expect(losses).toEqual([loss]);
  });

  it('does not call the defaults of another wire a loss', () => {
    const { losses } = encode({
      topP: 1,
      extensions: {
        'openai-chat': {
          n: 1,
          presence_penalty: 0,
          stream_options: { include_usage: true },
          store: false,
          stop: null,
        },
      },
    });
    expect(losses).toEqual([]);
  });

  it('restores the fields of this wire, betas as the header', () => {
    const { body, headers } = encode({
      userId: 'u',
      effort: 'high',
      extensions: {
        'anthropic-messages': {
          container: 'c',
          betas: ['a', 'b'],
          metadata: { team: 1 },
          output_config: { task_budget: { type: 'tokens', total: 5 } },
        },
      },
    });
    expect(body).toMatchObject({
      container: 'c',
      metadata: { user_id: 'u', team: 1 },
      output_config: { effort: 'high', task_budget: { type: 'tokens', total: 5 } },
    });
    expect(body).not.toHaveProperty('betas');
    expect(headers['anthropic-beta']).toBe('a,b');
  });
});

describe('tools', () => {
  it('have a schema, a fitting name and the fields of this wire', () => {
    const long = `mcp__server__${'x'.repeat(130)}`;
    const { body, names } = encode({
      tools: [
        { name: 'plain', description: 'd', inputSchema: { type: 'object', properties: {} }, strict: true },
        { name: 'no.schema' },
        {
          name: long,
          inputSchema: { properties: { a: {} } },
          extensions: { 'anthropic-messages': { defer_loading: true } },
        },
      ],
      toolChoice: { type: 'tool', name: long },
    });
    const tools = JSON.parse(JSON.stringify(body['tools']));
    expect(tools[0]).toEqual({
      name: 'plain',
      description: 'd',
      input_schema: { type: 'object', properties: {} },
      strict: true,
    });
    expect(tools[1]).toEqual({
      name: expect.stringMatching(/^no_schema_[0-9a-f]{8}$/),
      input_schema: { type: 'object', properties: {} },
    });
    expect(tools[2]).toMatchObject({
      input_schema: { type: 'object', properties: { a: {} } },
      defer_loading: true,
    });
    expect(tools[2].name).toMatch(/^[a-zA-Z0-9_-]{1,128}$/);
    expect(names.decode(tools[2].name)).toBe(long);
    expect(body['tool_choice']).toEqual({ type: 'tool', name: tools[2].name });
  });

  it('merge a union at the top of a schema that another wire allowed', () => {
    const inputSchema = {
      anyOf: [
        { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
        { type: 'object', properties: { b: { type: 'number' } } },
      ],
      properties: { c: {} },
      required: ['c'],
    };
    const { body, losses } = encode({ tools: [{ name: 't', inputSchema }] });
    expect(body['tools']).toEqual([
      {
        name: 't',
        input_schema: {
          type: 'object',
          properties: { a: { type: 'string' }, b: { type: 'number' }, c: {} },
          required: ['c'],
        },
      },
    ]);
    expect(losses).toEqual(['tools.t.input_schema.anyOf: the variants were merged into one object']);
  });

  it("run by the provider go out as they came, another provider's are a loss", () => {
    const value = { type: 'web_search_20250305', name: 'web_search', cache_control: { type: 'ephemeral' } };
    const own = { dialect: 'anthropic-messages', kind: value.type, name: 'web_search', value } as const;
    const foreign = {
      dialect: 'openai-responses',
      kind: 'file_search',
      name: 'file_search',
      value: {},
    } as const;
    expect(encode({ providerTools: [own] }, { cacheControl: true }).body['tools']).toEqual([value]);
    const { body, losses } = encode({ providerTools: [own, foreign] });
    expect(body['tools']).toEqual([{ type: 'web_search_20250305', name: 'web_search' }]);
    expect(losses).toEqual(['tools.file_search: file_search is run by openai-responses providers only']);
  });

  it('are cut down for an upstream that takes less of JSON Schema, strict too', () => {
    const inputSchema = { type: 'object', properties: { a: { type: 'string', format: 'uri' } } };
    const { body, losses } = encode(
      { tools: [{ name: 't', inputSchema, strict: true }] },
      { schema: 'openai', strictTools: false },
    );
    expect(body['tools']).toEqual([
      { name: 't', input_schema: { type: 'object', properties: { a: { type: 'string' } } } },
    ]);
    expect(losses).toEqual([
      'tools.t.input_schema: the upstream does not take format',
      'tools.t.strict: the upstream does not enforce schemas',
    ]);
  });

  const TOOLS = { tools: [{ name: 't' }] };
  it.each<[string, Partial<ConversationRequest>, unknown, Partial<Quirks>?, string[]?]>([
    ['auto', { toolChoice: { type: 'auto' } }, { type: 'auto' }],
    ['any', { toolChoice: { type: 'any' } }, { type: 'any' }],
    ['none', { toolChoice: { type: 'none' } }, { type: 'none' }],
    ['a tool', { toolChoice: { type: 'tool', name: 't' } }, { type: 'tool', name: 't' }],
    ['one call', { parallelToolCalls: false }, { type: 'auto', disable_parallel_tool_use: true }],
    [
      'one call of any',
      { toolChoice: { type: 'any' }, parallelToolCalls: false },
      { type: 'any', disable_parallel_tool_use: true },
    ],
    ['many calls', { parallelToolCalls: true }, undefined],
    [
      'many calls of auto',
      { toolChoice: { type: 'auto' }, parallelToolCalls: true },
      { type: 'auto', disable_parallel_tool_use: false },
    ],
    [
      'none has no parallel calls',
      { toolChoice: { type: 'none' }, parallelToolCalls: false },
      { type: 'none' },
    ],
    [
      'one call where that is unknown',
      { parallelToolCalls: false },
      undefined,
      { parallelToolCalls: false },
      ['parallelToolCalls: the upstream does not limit itself to one call'],
    ],
    [
      'a tool where that is unknown',
      { toolChoice: { type: 'tool', name: 't' } },
      { type: 'any' },
      { toolChoice: ['auto', 'any'] },
      ['toolChoice: the upstream does not know "tool", "any" was sent'],
    ],
    [
      'none where that is unknown',
      { toolChoice: { type: 'none' } },
      undefined,
      { toolChoice: ['auto'] },
      ['toolChoice: the upstream does not know "none", "auto" was sent'],
    ],
  ])('choice: %s', (_name, fields, expected, quirks = {}, lost = []) => {
    const { body, losses } = encode({ ...TOOLS, ...fields }, quirks);
    expect(body['tool_choice']).toEqual(expected);
    expect(losses).toEqual(lost);
  });

  it('are never chosen from where there are none', () => {
    const { body } = encode({ toolChoice: { type: 'any' }, parallelToolCalls: false });
    expect(body).not.toHaveProperty('tool_choice');
    expect(body).not.toHaveProperty('tools');
  });
});

describe('thinking', () => {
  const loop: Message[] = [
    message('user', text('hi')),
    message('assistant', call('a')),
    message('user', result('a')),
  ];
  it.each<[string, Partial<ConversationRequest>, object, Partial<Quirks>?, string[]?]>([
    [
      'a budget',
      { thinking: { type: 'enabled', budgetTokens: 2000 }, maxTokens: 4000 },
      { thinking: { type: 'enabled', budget_tokens: 2000 } },
    ],
    [
      'a budget above the default answer',
      { thinking: { type: 'enabled', budgetTokens: 40_000 } },
      { thinking: { type: 'enabled', budget_tokens: 40_000 }, max_tokens: 44_096 },
    ],
    ['off', { thinking: { type: 'disabled' } }, { thinking: { type: 'disabled' } }],
    [
      'what only this wire says',
      {
        thinking: { type: 'adaptive' },
        extensions: { 'anthropic-messages': { thinking: { type: 'between_tools' } } },
      },
      { thinking: { type: 'between_tools' } },
    ],
    [
      'how it is shown',
      {
        thinking: { type: 'adaptive' },
        extensions: { 'anthropic-messages': { thinking: { display: 'omitted' } } },
      },
      { thinking: { type: 'adaptive', display: 'omitted' } },
    ],
    [
      'effort of another wire',
      { effort: 'high' },
      { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } },
    ],
    [
      'effort of this wire',
      { ...NATIVE, effort: 'high' },
      { thinking: undefined, output_config: { effort: 'high' } },
    ],
    ['no effort', { effort: 'none' }, { thinking: { type: 'disabled' }, output_config: undefined }],
    [
      'an effort that this wire lacks',
      { effort: 'minimal' },
      { output_config: { effort: 'low' } },
      {},
      ['effort: "minimal" became "low"'],
    ],
    [
      'an effort that the model lacks',
      { effort: 'max' },
      { output_config: { effort: 'high' } },
      { efforts: ['low', 'medium', 'high'] },
      ['effort: "max" became "high"'],
    ],
    [
      'effort for a model without',
      { effort: 'high' },
      { thinking: undefined, output_config: undefined },
      { effortField: 'none' },
      ['effort: the upstream takes no effort'],
    ],
    [
      'effort for a model with budgets',
      { effort: 'low', maxTokens: 10_000 },
      { thinking: { type: 'enabled', budget_tokens: 4096 }, output_config: undefined },
      { effortField: 'thinking' },
    ],
    [
      'effort for a budget that leaves no answer',
      { effort: 'low', maxTokens: 1000 },
      { thinking: undefined },
      { effortField: 'thinking' },
      ['thinking: max_tokens leaves no room for the 1024 tokens that thinking takes'],
    ],
    [
      'adaptive for a model with budgets',
      { ...NATIVE, thinking: { type: 'adaptive' }, maxTokens: 50_000 },
      { thinking: { type: 'enabled', budget_tokens: 16_384 } },
      { effortField: 'thinking' },
    ],
    [
      'effort and a forced call',
      { effort: 'high', tools: [{ name: 't' }], toolChoice: { type: 'any' } },
      { thinking: undefined, output_config: { effort: 'high' }, tool_choice: { type: 'any' } },
      {},
      ['thinking: a model that must call a tool does not think first'],
    ],
    [
      'a budget in a turn that another model began',
      { thinking: { type: 'enabled', budgetTokens: 2000 }, messages: loop },
      { thinking: undefined },
      {},
      ['thinking: the tool calls being answered were made without thinking of this wire'],
    ],
    [
      'adaptive in a turn that another model began',
      { thinking: { type: 'adaptive' }, messages: loop },
      { thinking: { type: 'adaptive' } },
    ],
    [
      'sampling while thinking',
      { thinking: { type: 'adaptive' }, temperature: 0.2, topP: 0.5, topK: 5 },
      { temperature: undefined, top_p: undefined, top_k: undefined },
      {},
      [
        'temperature: a model that thinks takes no temperature',
        'topP: a model that thinks takes no such top_p',
        'topK: a model that thinks takes no top_k',
      ],
    ],
    [
      'sampling that thinking allows',
      { ...NATIVE, thinking: { type: 'adaptive' }, temperature: 1, topP: 0.95 },
      { temperature: 1, top_p: 0.95 },
    ],
    ['sampling without thinking', { thinking: { type: 'disabled' }, temperature: 0.2 }, { temperature: 0.2 }],
  ])('%s', (_name, fields, expected, quirks = {}, lost = []) => {
    const { body, losses } = encode(fields, quirks);
    for (const [key, value] of Object.entries(expected)) expect(body[key], key).toEqual(value);
    expect(losses).toEqual(lost);
  });

  it('goes back only where this wire signed it', () => {
    const thought = (signature?: string): Block => ({
      type: 'thinking',
      thinking: 't',
      ...(signature === undefined ? {} : { signature }),
    });
    const { messages, losses } = messagesOf([
      message('user', text('hi')),
      message(
        'assistant',
        thought('Eq+/='),
        thought(),
        thought('tg1.openai-responses.abc'),
        { type: 'redacted_thinking', data: 'EmwK' },
        { type: 'redacted_thinking', data: 'tg1.openai-chat.x' },
        text('a'),
      ),
      message('user', text('b')),
    ]);
    expect(messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'hi' }] },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 't', signature: 'Eq+/=' },
          { type: 'redacted_thinking', data: 'EmwK' },
          { type: 'text', text: 'a' },
        ],
      },
      { role: 'user', content: [{ type: 'text', text: 'b' }] },
    ]);
    expect(losses).toEqual([
      'messages.1.content.1: thinking without a signature of this wire',
      'messages.1.content.2: thinking without a signature of this wire',
      "messages.1.content.4: another wire's encrypted thinking",
    ]);
  });
});

describe('cache breakpoints', () => {
  const mark = { cache_control: { type: 'ephemeral' } };
  const fields: Partial<ConversationRequest> = {
    system: [
      { type: 'text', text: 's1' },
      { type: 'text', text: 's2' },
    ],
    tools: [{ name: 'a' }, { name: 'b' }],
    messages: [
      message('user', text('1')),
      message('assistant', text('2')),
      message('user', text('3')),
      message('assistant', call('a')),
      message('user', result('a'), text('5')),
    ],
  };

  it('are set for a client whose wire has none', () => {
    const { body } = encode(fields, { cacheControl: true });
    const marked = JSON.stringify(body).split('"cache_control"').length - 1;
    expect(marked).toBe(4);
    expect(body).toMatchObject({
      system: [{ text: 's1' }, { text: 's2', ...mark }],
      tools: [{ name: 'a' }, { name: 'b', ...mark }],
      messages: [
        {},
        {},
        { content: [{ text: '3', ...mark }] },
        {},
        { content: [{ type: 'tool_result' }, { text: '5', ...mark }] },
      ],
    });
  });

  it.each<[string, Partial<ConversationRequest>, Partial<Quirks>]>([
    ['of a client that speaks this wire', NATIVE, { cacheControl: true }],
    ['for an upstream without', {}, { cacheControl: false }],
  ])('are not set %s', (_name, more, quirks) => {
    expect(JSON.stringify(encode({ ...fields, ...more }, quirks).body)).not.toContain('cache_control');
  });

  it('of the client itself are kept alone', () => {
    const extensions = { 'anthropic-messages': mark };
    const { body } = encode(
      { ...fields, system: [{ type: 'text', text: 's', extensions }] },
      { cacheControl: true },
    );
    expect(JSON.stringify(body).split('"cache_control"').length - 1).toBe(1);
  });

  it('are taken out everywhere for an upstream without', () => {
    const extensions = { 'anthropic-messages': mark };
    const { body } = encode({
      extensions,
      system: [{ type: 'text', text: 's', extensions }],
      tools: [{ name: 't', extensions }],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'x', extensions },
            { type: 'opaque', dialect: 'anthropic-messages', kind: 'k', value: { type: 'k', ...mark } },
          ],
        },
      ],
    });
    expect(JSON.stringify(body)).not.toContain('cache_control');
  });
});
