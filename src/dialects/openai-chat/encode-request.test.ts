import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Block, ConversationRequest, JsonObject, Message } from '../../core/conversation.js';
import { LossLog } from '../../core/losses.js';
import { type Quirks, STANDARD_QUIRKS } from '../shared/quirks.js';
import { decodeRequest } from './decode-request.js';
import { encodeRequest } from './encode-request.js';

const REQUEST: ConversationRequest = {
  model: 'm',
  system: [],
  messages: [{ role: 'user', content: [{ type: 'text', text: 'q' }] }],
  tools: [],
  providerTools: [],
  stopSequences: [],
  stream: false,
  extensions: {},
};
const TOOLS = { tools: [{ name: 'f' }] };

function encode(fields: Partial<ConversationRequest>, quirks: Partial<Quirks> = {}) {
  const losses = new LossLog();
  const encoded = encodeRequest(
    { ...REQUEST, ...fields },
    { model: 'up', quirks: { ...STANDARD_QUIRKS, ...quirks }, losses },
  );
  const { messages: _messages, model: _model, tools: _tools, ...rest } = encoded.body;
  return { ...encoded, rest, losses: losses.list().map(({ path }) => path) };
}

describe('encodeRequest', () => {
  it('asks the upstream’s model at its own path', () => {
    const { path, headers, body } = encode({});
    expect({ path, headers, body }).toEqual({
      path: '/chat/completions',
      headers: {},
      body: { model: 'up', messages: [{ role: 'user', content: 'q' }] },
    });
  });

  interface Case {
    name: string;
    fields: Partial<ConversationRequest>;
    quirks?: Partial<Quirks>;
    rest: JsonObject;
    losses?: string[];
  }
  const foreign = {
    extensions: { 'anthropic-messages': { context_management: { edits: [{}] }, betas: ['x'] } },
  };
  const own = (fields: JsonObject) => ({ extensions: { 'openai-chat': fields } });
  const cases: Case[] = [
    { name: 'max tokens', fields: { maxTokens: 9 }, rest: { max_completion_tokens: 9 } },
    {
      name: 'max tokens in the older field',
      fields: { maxTokens: 9 },
      quirks: { maxTokensField: 'max_tokens' },
      rest: { max_tokens: 9 },
    },
    { name: 'sampling', fields: { temperature: 0.5, topP: 0.9 }, rest: { temperature: 0.5, top_p: 0.9 } },
    {
      name: 'sampling where there is none',
      fields: { temperature: 0.5, topP: 1, ...own({ presence_penalty: 1, seed: 5 }) },
      quirks: { sampling: false },
      rest: { seed: 5 },
      losses: ['temperature', 'presence_penalty'],
    },
    {
      name: 'the usual temperature is no loss',
      fields: { temperature: 1 },
      quirks: { sampling: false },
      rest: {},
    },
    { name: 'top_k', fields: { topK: 5 }, rest: {}, losses: ['top_k'] },
    { name: 'top_k of this wire', fields: { topK: 5, ...own({ top_k: 5 }) }, rest: { top_k: 5 } },
    { name: 'stops', fields: { stopSequences: ['a'] }, rest: { stop: ['a'] } },
    {
      name: 'too many stops',
      fields: { stopSequences: ['a', 'b', 'c'] },
      quirks: { maxStops: 2 },
      rest: { stop: ['a', 'b'] },
      losses: ['stop'],
    },
    {
      name: 'no stops',
      fields: { stopSequences: ['a'] },
      quirks: { stop: false },
      rest: {},
      losses: ['stop'],
    },
    { name: 'a user', fields: { userId: 'u' }, rest: { user: 'u' } },
    { name: 'no user', fields: { userId: 'u' }, quirks: { user: false }, rest: {}, losses: ['user'] },
    { name: 'a cache key', fields: { cacheKey: 'k' }, rest: { prompt_cache_key: 'k' } },
    { name: 'no cache key', fields: { cacheKey: 'k' }, quirks: { cacheKey: false }, rest: {} },
    { name: 'a tier', fields: { serviceTier: 'flex' }, rest: { service_tier: 'flex' } },
    { name: "Anthropic's tier", fields: { serviceTier: 'standard_only' }, rest: { service_tier: 'default' } },
    { name: 'the usual tier', fields: { serviceTier: 'auto' }, rest: {} },
    { name: 'an unknown tier', fields: { serviceTier: 'gold' }, rest: {}, losses: ['service_tier'] },
    {
      name: 'own fields',
      fields: own({ seed: 5, metadata: { a: 'b' }, $note: 1 }),
      rest: { seed: 5, metadata: { a: 'b' } },
    },
    { name: 'foreign fields', fields: foreign, rest: {}, losses: ['context_management'] },
    {
      name: 'a stream',
      fields: { stream: true, ...own({ stream_options: { include_obfuscation: false } }) },
      rest: { stream: true, stream_options: { include_obfuscation: false, include_usage: true } },
    },
    {
      name: 'a stream without usage',
      fields: { stream: true },
      quirks: { streamUsage: false },
      rest: { stream: true },
    },
    { name: 'no stream', fields: own({ stream_options: { include_usage: true } }), rest: {} },
  ];
  it.each(cases)('$name', ({ fields, quirks, rest, losses = [] }) => {
    const encoded = encode(fields, quirks);
    expect(encoded.rest).toEqual(rest);
    expect(encoded.losses).toEqual(losses);
  });

  it('shortens a user and a cache key, the same way every time', () => {
    const long = 'user_'.repeat(40);
    const { rest } = encode({ userId: long, cacheKey: long });
    expect(rest['user']).toMatch(/^[0-9a-f]{64}$/);
    expect(rest['prompt_cache_key']).toBe(rest['user']);
    expect(encode({ userId: long }).rest['user']).toBe(rest['user']);
    expect(encode({ userId: long }, { user: 32 }).rest['user']).toHaveLength(32);
  });
});

describe('thinking', () => {
  interface Case {
    name: string;
    fields: Partial<ConversationRequest>;
    quirks?: Partial<Quirks>;
    rest: JsonObject;
    losses?: string[];
  }
  const enabled = { thinking: { type: 'enabled', budgetTokens: 10_000 } } as const;
  const adaptive = { thinking: { type: 'adaptive' } } as const;
  const disabled = { thinking: { type: 'disabled' } } as const;
  const cases: Case[] = [
    { name: 'nothing asked', fields: {}, rest: {} },
    { name: 'a budget', fields: enabled, rest: { reasoning_effort: 'medium' } },
    { name: 'an effort', fields: { effort: 'xhigh' }, rest: { reasoning_effort: 'xhigh' } },
    { name: 'adaptive', fields: adaptive, rest: { reasoning_effort: 'medium' } },
    {
      name: 'adaptive with an effort',
      fields: { ...adaptive, effort: 'low' },
      rest: { reasoning_effort: 'low' },
    },
    { name: 'disabled', fields: disabled, rest: { reasoning_effort: 'none' } },
    {
      name: 'disabled with an effort',
      fields: { ...disabled, effort: 'high' },
      rest: { reasoning_effort: 'none' },
    },
    {
      name: 'clamped',
      fields: { effort: 'max' },
      quirks: { efforts: ['low', 'high'] },
      rest: { reasoning_effort: 'high' },
      losses: ['effort'],
    },
    {
      name: 'a model that does not think',
      fields: enabled,
      quirks: { efforts: [] },
      rest: {},
      losses: ['effort'],
    },
    { name: 'a model that need not be told not to', fields: disabled, quirks: { efforts: [] }, rest: {} },
    {
      name: 'OpenRouter',
      fields: enabled,
      quirks: { effortField: 'reasoning.effort' },
      rest: { reasoning: { effort: 'medium' } },
    },
    {
      name: 'OpenRouter, with the rest of its field',
      fields: { ...enabled, extensions: { 'openai-chat': { reasoning: { exclude: true } } } },
      quirks: { effortField: 'reasoning.effort' },
      rest: { reasoning: { exclude: true, effort: 'medium' } },
    },
    {
      name: 'Qwen',
      fields: enabled,
      quirks: { effortField: 'enable_thinking' },
      rest: { enable_thinking: true },
    },
    {
      name: 'Qwen off',
      fields: disabled,
      quirks: { effortField: 'enable_thinking' },
      rest: { enable_thinking: false },
    },
    {
      name: 'DeepSeek, which knows no degrees',
      fields: { effort: 'high' },
      quirks: { effortField: 'thinking' },
      rest: { thinking: { type: 'enabled' } },
      losses: ['effort'],
    },
    {
      name: 'DeepSeek off',
      fields: disabled,
      quirks: { effortField: 'thinking' },
      rest: { thinking: { type: 'disabled' } },
    },
    {
      name: 'a forced tool where that refuses thinking',
      fields: { ...TOOLS, ...enabled, toolChoice: { type: 'any' } },
      quirks: { effortField: 'thinking', thinkingWithForcedTool: false },
      rest: { thinking: { type: 'disabled' }, tool_choice: 'required' },
      losses: ['thinking'],
    },
    {
      name: 'nobody to tell',
      fields: enabled,
      quirks: { effortField: 'none' },
      rest: {},
      losses: ['effort'],
    },
    {
      name: 'tools without effort',
      fields: { ...TOOLS, ...enabled },
      quirks: { effortWithTools: false },
      rest: { reasoning_effort: 'none' },
      losses: ['effort'],
    },
    {
      name: 'tools without effort, nothing asked: silence would be the default',
      fields: TOOLS,
      quirks: { effortWithTools: false },
      rest: { reasoning_effort: 'none' },
    },
    {
      name: 'effort without tools',
      fields: enabled,
      quirks: { effortWithTools: false },
      rest: { reasoning_effort: 'medium' },
    },
  ];
  it.each(cases)('$name', ({ fields, quirks, rest, losses = [] }) => {
    const encoded = encode(fields, quirks);
    expect(encoded.rest).toEqual(rest);
    expect(encoded.losses).toEqual(losses);
  });
});

describe('the format of the answer', () => {
  const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
  const format = { type: 'json_schema', schema } as const;

  it('is a strict schema with a name', () => {
    expect(encode({ format }).rest).toEqual({
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'answer', schema: { ...schema, additionalProperties: false }, strict: true },
      },
    });
  });

  it('is not strict where the schema is not', () => {
    const open = { type: 'object', properties: { a: {} } };
    expect(encode({ format: { ...format, schema: open } }).rest).toEqual({
      response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: open } },
    });
    expect(encode({ format: { ...format, schema: open, strict: true } }).losses).toEqual(['format']);
  });

  it('is told in words where the upstream cannot be bound to it', () => {
    const object = encode({ format }, { structuredOutput: 'json_object' });
    expect(object.rest).toEqual({ response_format: { type: 'json_object' } });
    expect(object.body['messages']).toMatchObject([
      { role: 'system', content: expect.stringContaining(JSON.stringify(schema)) },
      {},
    ]);
    expect(object.losses).toEqual(['format']);
    const none = encode({ format, system: [{ type: 'text', text: 's' }] }, { structuredOutput: 'none' });
    expect(none.rest).toEqual({});
    expect(none.body['messages']).toMatchObject([
      { content: expect.stringMatching(/^s\n\nAnswer with one JSON/) },
      {},
    ]);
    expect(none.losses).toEqual(['format']);
  });

  it('is any JSON', () => {
    expect(encode({ format: { type: 'json_object' } }).rest).toEqual({
      response_format: { type: 'json_object' },
    });
    expect(encode({ format: { type: 'json_object' } }, { structuredOutput: 'none' }).losses).toEqual([
      'format',
    ]);
  });
});

describe('there and back', () => {
  const word = fc.string({ minLength: 1, maxLength: 20 });
  const textBlock = word.map((text): Block => ({ type: 'text', text }));
  const image = fc.constant<Block>({
    type: 'image',
    source: { type: 'base64', mediaType: 'image/png', data: 'AAAA' },
  });
  const input = fc.dictionary(fc.stringMatching(/^[a-z]{1,6}$/), fc.jsonValue({ maxDepth: 2 }), {
    maxKeys: 3,
  });
  const userMessage = fc.oneof(
    textBlock.map((block): Message => ({ role: 'user', content: [block] })),
    fc.tuple(textBlock, image).map((content): Message => ({ role: 'user', content })),
  );
  const calls = fc.array(input, { minLength: 1, maxLength: 3 });
  const exchange = fc.tuple(fc.option(textBlock, { nil: undefined }), calls, word);

  /** Ids are unique in a conversation; results stand behind their calls. */
  function turn(at: number, [said, inputs, answer]: [Block | undefined, JsonObject[], string]): Message[] {
    const id = (index: number) => `call_${at}_${index}`;
    const content: Block[] = said === undefined ? [] : [said];
    for (const [index, each] of inputs.entries()) {
      content.push({
        type: 'tool_use',
        id: id(index),
        name: 'Read',
        input: JSON.parse(JSON.stringify(each)),
      });
    }
    const results = inputs.map((_, index): Block => {
      return {
        type: 'tool_result',
        toolUseId: id(index),
        content: [{ type: 'text', text: answer }],
        isError: false,
      };
    });
    return [
      { role: 'assistant', content },
      { role: 'user', content: results },
    ];
  }

  const anyRequest = fc
    .record({
      system: fc.option(word, { nil: undefined }),
      first: userMessage,
      exchanges: fc.array(exchange, { maxLength: 3 }),
      last: userMessage,
      maxTokens: fc.option(fc.integer({ min: 1, max: 1e6 }), { nil: undefined }),
      temperature: fc.option(fc.double({ min: 0, max: 2, noNaN: true }), { nil: undefined }),
      effort: fc.option(fc.constantFrom('none', 'low', 'high'), { nil: undefined }),
      parallelToolCalls: fc.option(fc.boolean(), { nil: undefined }),
      choice: fc.option(fc.constantFrom('auto', 'any', 'none'), { nil: undefined }),
      stops: fc.array(word, { maxLength: 4 }),
      stream: fc.boolean(),
    })
    .map((given): ConversationRequest => {
      const { system, first, exchanges, last, maxTokens, temperature, effort, parallelToolCalls, choice } =
        given;
      return {
        ...REQUEST,
        system: system === undefined ? [] : [{ type: 'text', text: system }],
        messages: [first, ...exchanges.flatMap((each, index) => turn(index, each)), last],
        tools: [{ name: 'Read', inputSchema: { type: 'object', properties: {} } }],
        stopSequences: given.stops,
        stream: given.stream,
        extensions: given.stream ? { 'openai-chat': { stream_options: { include_usage: true } } } : {},
        ...(maxTokens === undefined ? {} : { maxTokens }),
        ...(temperature === undefined ? {} : { temperature }),
        ...(effort === undefined ? {} : { effort }),
        ...(parallelToolCalls === undefined ? {} : { parallelToolCalls }),
        ...(choice === undefined ? {} : { toolChoice: { type: choice } }),
      };
    });

  it('a request is what it was', () => {
    fc.assert(
      fc.property(anyRequest, (request) => {
        const losses = new LossLog();
        const { body } = encodeRequest(request, { model: request.model, quirks: STANDARD_QUIRKS, losses });
        expect(decodeRequest(JSON.parse(JSON.stringify(body)))).toEqual(request);
        expect(losses.list()).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it('a client’s own body comes out as it went in', () => {
    const body = {
      model: 'm',
      messages: [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is this?' },
            { type: 'image_url', image_url: { url: 'https://example.com/a.png', detail: 'high' } },
          ],
          name: 'bob',
        },
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            { id: 'a', type: 'function', function: { name: 'look', arguments: '{ "x": 1 }' } },
            { id: 'b', type: 'custom', custom: { name: 'patch', input: '***' } },
          ],
        },
        { role: 'tool', tool_call_id: 'a', content: 'A cat.' },
        { role: 'tool', tool_call_id: 'b', content: '' },
        { role: 'user', content: 'Thanks' },
      ],
      tools: [
        {
          type: 'function',
          function: {
            name: 'look',
            description: 'd',
            parameters: { type: 'object', properties: {} },
            strict: false,
          },
        },
        { type: 'custom', custom: { name: 'patch', format: { type: 'text' } } },
      ],
      tool_choice: { type: 'custom', custom: { name: 'patch' } },
      parallel_tool_calls: true,
      max_completion_tokens: 5,
      stop: ['x'],
      user: 'u',
      prompt_cache_key: 'k',
      service_tier: 'flex',
      reasoning_effort: 'low',
      response_format: { type: 'json_object' },
      logit_bias: { 1: 2 },
      store: true,
      stream: true,
      stream_options: { include_usage: true },
    };
    const losses = new LossLog();
    const encoded = encodeRequest(decodeRequest(body), { model: 'm', quirks: STANDARD_QUIRKS, losses });
    expect(encoded.body).toEqual(body);
    expect(losses.list()).toEqual([]);
  });
});
