import { describe, expect, it } from 'vitest';
import { loadJson } from '../../../test/support/dialect-fixtures.js';
import type { ConversationRequest, JsonObject } from '../../core/conversation.js';
import { LossLog } from '../../core/losses.js';
import { type Quirks, STANDARD_QUIRKS } from '../shared/quirks.js';
import { decodeRequest } from './decode-request.js';
import { encodeRequest } from './encode-request.js';

const BASE: ConversationRequest = {
  model: 'asked',
  system: [],
  messages: [{ role: 'user', content: [{ type: 'text', text: 'q' }] }],
  tools: [],
  providerTools: [],
  stopSequences: [],
  stream: false,
  extensions: {},
};

function encode(request: Partial<ConversationRequest>, quirks: Partial<Quirks> = {}) {
  const losses = new LossLog();
  const target = { model: 'gpt', quirks: { ...STANDARD_QUIRKS, ...quirks }, losses };
  const { path, headers, body } = encodeRequest({ ...BASE, ...request }, target);
  return { path, headers, body, losses: losses.list().map((loss) => loss.path) };
}

describe('a request', () => {
  it('goes to /responses and is kept by nobody', () => {
    expect(encode({})).toEqual({
      path: '/responses',
      headers: {},
      body: {
        model: 'gpt',
        input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'q' }] }],
        store: false,
      },
      losses: [],
    });
  });

  it.each(['codex-request.json', 'codex-tools-in-input.json'])('of Codex is what it was: %s', (name) => {
    const body = loadJson(import.meta.url, name);
    const losses = new LossLog();
    const request = decodeRequest(body);
    const target = { model: request.model, quirks: STANDARD_QUIRKS, losses };
    expect(encodeRequest(request, target).body).toEqual(body);
    expect(losses.list()).toEqual([]);
  });

  it('streams when asked to', () => {
    expect(encode({ stream: true }).body['stream']).toBe(true);
  });

  it('carries what every wire has', () => {
    const { body, losses } = encode({
      maxTokens: 100,
      temperature: 0.5,
      topP: 0.9,
      userId: 'u',
      cacheKey: 'k',
      serviceTier: 'priority',
    });
    expect(body).toMatchObject({
      max_output_tokens: 100,
      temperature: 0.5,
      top_p: 0.9,
      user: 'u',
      prompt_cache_key: 'k',
      service_tier: 'priority',
    });
    expect(losses).toEqual([]);
  });

  it('asks for no fewer tokens than are taken', () => {
    expect(encode({ maxTokens: 1 })).toMatchObject({
      body: { max_output_tokens: 16 },
      losses: ['maxTokens'],
    });
  });

  it('says what this wire has no place for', () => {
    expect(encode({ stopSequences: ['END'], topK: 5 }).losses).toEqual(['top_k', 'stop']);
    expect(encode({ temperature: 0, topP: 0.5 }, { sampling: false }).losses).toEqual([
      'temperature',
      'top_p',
    ]);
    expect(encode({ temperature: 1, topP: 1 }, { sampling: false }).losses).toEqual([]);
    expect(encode({ userId: 'u' }, { user: false }).losses).toEqual(['user']);
    expect(encode({ serviceTier: 'turbo' }).losses).toEqual(['service_tier']);
  });

  it('shortens names of users and caches, always to the same', () => {
    const long = 'x'.repeat(200);
    const [first, second] = [
      encode({ userId: long, cacheKey: long }),
      encode({ userId: long, cacheKey: long }),
    ];
    expect(String(first.body['user'])).toHaveLength(64);
    expect(String(first.body['prompt_cache_key'])).toHaveLength(64);
    expect(first.body).toEqual(second.body);
  });

  it('leaves out a cache key that the upstream does not know', () => {
    expect(encode({ cacheKey: 'k' }, { cacheKey: false }).body).not.toHaveProperty('prompt_cache_key');
  });
});

describe('thinking', () => {
  it.each<[Partial<ConversationRequest>, string]>([
    [{ thinking: { type: 'enabled', budgetTokens: 10_000 } }, 'medium'],
    [{ thinking: { type: 'adaptive' } }, 'medium'],
    [{ thinking: { type: 'adaptive' }, effort: 'high' }, 'high'],
    [{ effort: 'low' }, 'low'],
  ])('%j is asked for, shown and encrypted', (request, effort) => {
    expect(encode(request).body).toMatchObject({
      reasoning: { effort, summary: 'auto' },
      include: ['reasoning.encrypted_content'],
      store: false,
    });
  });

  it('that is off is off, whatever the effort', () => {
    const { body } = encode({ thinking: { type: 'disabled' }, effort: 'high' });
    expect(body['reasoning']).toEqual({ effort: 'none' });
    expect(body).not.toHaveProperty('include');
  });

  it('is left to the model when nobody speaks of it', () => {
    expect(encode({}).body).not.toHaveProperty('reasoning');
  });

  it('is held to what the model knows', () => {
    const { body, losses } = encode({ effort: 'max' }, { efforts: ['low', 'high'] });
    expect(body['reasoning']).toMatchObject({ effort: 'high' });
    expect(losses).toEqual(['effort']);
    expect(encode({ effort: 'high' }, { effortField: 'none' })).toMatchObject({ losses: ['effort'] });
  });

  it('is not shown or encrypted where the upstream refuses that', () => {
    const { body } = encode({ effort: 'high' }, { reasoningSummary: false, encryptedReasoning: false });
    expect(body['reasoning']).toEqual({ effort: 'high' });
    expect(body).not.toHaveProperty('include');
  });

  it('of a client of this wire is asked for as it did', () => {
    const request = decodeRequest({
      model: 'm',
      input: 'q',
      reasoning: { effort: 'low', context: 'all_turns' },
      include: ['message.output_text.logprobs'],
    });
    expect(encode(request).body).toMatchObject({
      reasoning: { effort: 'low', context: 'all_turns' },
      include: ['message.output_text.logprobs', 'reasoning.encrypted_content'],
    });
  });
});

describe('the format', () => {
  const closed = {
    type: 'object',
    properties: { a: { type: 'string' } },
    required: ['a'],
    additionalProperties: false,
  };

  it('is strict where the schema can be', () => {
    expect(encode({ format: { type: 'json_schema', schema: closed } }).body['text']).toEqual({
      format: { type: 'json_schema', name: 'answer', schema: closed, strict: true },
    });
  });

  it('is not where it cannot', () => {
    const open = { type: 'object', properties: { a: {} } };
    const { body, losses } = encode({
      format: { type: 'json_schema', schema: open, strict: true, name: 'my n' },
    });
    expect(body['text']).toMatchObject({ format: { name: expect.stringMatching(/^my_n_/), strict: false } });
    expect(losses).toEqual(['format']);
  });

  it('is told in words where the upstream has no such thing', () => {
    const { body, losses } = encode(
      { format: { type: 'json_schema', schema: closed } },
      { structuredOutput: 'none' },
    );
    expect(body).not.toHaveProperty('text');
    expect(body['instructions']).toContain(JSON.stringify(closed));
    expect(losses).toEqual(['format']);
  });

  it('stands beside the verbosity', () => {
    const request = decodeRequest({
      model: 'm',
      input: 'q',
      text: { verbosity: 'low', format: { type: 'json_object' } },
    });
    expect(encode(request).body['text']).toEqual({ verbosity: 'low', format: { type: 'json_object' } });
  });
});

describe('fields of other wires', () => {
  it('that mean the same are taken over', () => {
    const chat: JsonObject = { metadata: { a: 'b' }, safety_identifier: 's', verbosity: 'high', seed: 7 };
    const { body, losses } = encode({ extensions: { 'openai-chat': chat } });
    expect(body).toMatchObject({ metadata: { a: 'b' }, safety_identifier: 's', text: { verbosity: 'high' } });
    expect(losses).toEqual(['seed']);
  });

  it('that mean nothing here are a loss', () => {
    const { losses } = encode({
      extensions: { 'anthropic-messages': { context_management: { edits: [1] } } },
    });
    expect(losses).toEqual(['context_management']);
  });
});

describe('a conversation that the upstream keeps', () => {
  it('goes on there', () => {
    const body = {
      model: 'gpt',
      previous_response_id: 'resp_1',
      store: true,
      input: [{ type: 'function_call_output', call_id: 'c', output: 'ok' }],
    };
    expect(encode(decodeRequest(body)).body).toEqual(body);
  });

  it('goes on without new words', () => {
    expect(encode(decodeRequest({ model: 'gpt', previous_response_id: 'r', input: [] })).body).toMatchObject({
      previous_response_id: 'r',
      input: [],
    });
  });
});
