import { describe, expect, it } from 'vitest';
import type { RemoteUpstreamConfig } from '../../config/schema.js';
import { GatewayError } from '../../core/errors.js';
import { createQuirkSource, type Lesson } from './create-quirk-source.js';
import { profileOf } from './profiles.js';

const options = (base_url: string, rest: Partial<RemoteUpstreamConfig> = {}): RemoteUpstreamConfig => ({
  dialect: 'openai-chat',
  base_url,
  timeout_s: 1,
  ...rest,
});

describe('profileOf', () => {
  it.each([
    ['https://api.openai.com/v1', 'openai'],
    ['https://me.openai.azure.com/openai/v1', 'azure'],
    ['https://api.deepseek.com/v1', 'deepseek'],
    ['https://generativelanguage.googleapis.com/v1beta/openai', 'gemini'],
    ['https://api.groq.com/openai/v1', 'groq'],
    ['https://api.mistral.ai/v1', 'mistral'],
    ['https://api.moonshot.ai/v1', 'moonshot'],
    ['https://openrouter.ai/api/v1', 'openrouter'],
    ['https://dashscope.aliyuncs.com/compatible-mode/v1', 'qwen'],
    ['http://127.0.0.1:8000/v1', 'vllm'],
    ['http://localhost:11434/v1', 'ollama'],
    ['http://localhost:8080/v1', 'llama.cpp'],
    ['https://api.anthropic.com', 'anthropic'],
    ['https://evil.example/api.openai.com', undefined],
    ['https://example.com/v1', undefined],
  ])('%s is %s', (url, name) => {
    expect(profileOf(url)).toBe(name);
  });
});

describe('createQuirkSource', () => {
  it('takes the profile of the address, with rows for the model', () => {
    const source = createQuirkSource({ upstream: 'u', options: options('https://api.openai.com/v1') });
    expect(source.of('gpt-4-turbo')).toMatchObject({ maxTokensField: 'max_tokens' });
    expect(source.of('gpt-4o')).toMatchObject({ maxTokensField: 'max_completion_tokens', schema: 'openai' });
    expect(source.of('gpt-5.4')).toMatchObject({ effortWithTools: false, sampling: false });
  });

  it.each([
    ['gpt-5.4', true],
    ['gpt-5.10-mini', true],
    ['gpt-6-astra', true],
    ['gpt-5.3', false],
    ['gpt-5', false],
    ['gpt-4.1', false],
  ])('knows whether %s has tool_search', (model, toolSearch) => {
    const source = createQuirkSource({ upstream: 'u', options: options('https://api.openai.com/v1') });
    expect(source.of(model)).toMatchObject({ toolSearch });
  });

  it('learns how long an answer may be, also where the prompt and the answer are too long together', () => {
    const source = createQuirkSource({ upstream: 'u', options: options('http://a/v1') });
    const learn = (message: string, code: 'invalid_request' | 'context_overflow'): boolean =>
      source.learn('m', new GatewayError(code, message, { status: 400 }), source.of('m'));
    expect(learn('This model supports at most 16384 completion tokens', 'invalid_request')).toBe(true);
    expect(source.of('m').maxOutputTokens).toBe(16384);
    const both = 'input length and `max_tokens` exceed context limit: 900 + 16384 > 8192, decrease';
    expect(learn(both, 'context_overflow')).toBe(true);
    expect(source.of('m').maxOutputTokens).toBe(4096);
    // Nothing shorter helps this prompt: the client is told.
    expect(learn(both, 'context_overflow')).toBe(false);
    expect(learn('prompt is too long: 9000 tokens > 8192 maximum', 'context_overflow')).toBe(false);
  });

  it('has one object for all models alike: behind a glob clients make up the names', () => {
    const source = createQuirkSource({ upstream: 'openai', options: options('https://api.openai.com/v1') });
    expect(source.of('made-up-1')).toBe(source.of('made-up-2'));
    expect(source.of('made-up-1')).not.toBe(source.of('o1-mini'));
  });

  it('lets the configuration win over the profile', () => {
    const given = options('https://api.openai.com/v1', { quirks: { sampling: true } });
    const source = createQuirkSource({ upstream: 'u', options: given });
    expect(source.of('gpt-5').sampling).toBe(true);
    expect(source.isPlain('gpt-5')).toBe(false);
  });

  it.each([
    [{ samplin: true }, 'upstreams.u.quirks.samplin'],
    [{ sampling: 'yes' }, 'upstreams.u.quirks.sampling'],
  ])('refuses the quirk %o by its path', (quirks, path) => {
    expect(() => createQuirkSource({ upstream: 'u', options: options('http://a/v1', { quirks }) })).toThrow(
      path,
    );
  });

  it('refuses an unknown profile', () => {
    const given = options('http://a/v1', { profile: 'opanai' });
    expect(() => createQuirkSource({ upstream: 'u', options: given })).toThrow('upstreams.u.profile');
  });

  const complaints: [message: string, expected: object, start?: object][] = [
    [
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      { maxTokensField: 'max_completion_tokens' },
      { maxTokensField: 'max_tokens' },
    ],
    ['body.max_completion_tokens: Extra inputs are not permitted', { maxTokensField: 'max_tokens' }],
    [
      "Function tools with reasoning_effort are not supported for gpt-5.4 in /v1/chat/completions. Please use /v1/responses or set reasoning_effort to 'none'.",
      { effortWithTools: false },
    ],
    ['Unrecognized request argument supplied: stream_options', { streamUsage: false }],
    ["Unsupported value: 'temperature' does not support 0 with this model.", { sampling: false }],
    ['parallel_tool_calls: unknown field', { parallelToolCalls: false }],
    [
      'The `reasoning_content` in the thinking mode must be passed back to the API.',
      { reasoningHistory: 'reasoning_content', reasoningRequired: true },
    ],
    ["Unknown parameter: 'prompt_cache_key'", { cacheKey: false }],
    ["tool_choice 'required' is not supported by this model", { toolChoice: ['auto', 'none'] }],
    ['Invalid schema for function: "format" uri is not supported', { schema: 'openai' }],
    ["'response_format' of type 'json_schema' is not supported", { structuredOutput: 'json_object' }],
    ['this model does not support image input', { images: false }],
  ];

  it.each(complaints)('learns from: %s', (message, expected, start = {}) => {
    const learned: Lesson[] = [];
    const source = createQuirkSource({
      upstream: 'u',
      options: options('http://a/v1', { quirks: { ...start } }),
      onLearned: (lesson) => learned.push(lesson),
    });
    expect(source.learn('m', new GatewayError('invalid_request', message), source.of('m'))).toBe(true);
    expect(source.of('m')).toMatchObject(expected);
    expect(source.isPlain('m')).toBe(false);
    expect(source.of('other')).not.toMatchObject(expected);
    expect(learned).toMatchObject([{ upstream: 'u', model: 'm', change: expected, evidence: message }]);
    const again = createQuirkSource({ upstream: 'u', options: options('http://a/v1'), lessons: learned });
    expect(again.of('m')).toMatchObject(expected);
  });

  it('learns from a router that finds no provider for it, though that is a 404', () => {
    const source = createQuirkSource({ upstream: 'u', options: options('http://a/v1') });
    const learn = (message: string): boolean =>
      source.learn('m', new GatewayError('not_found', message), source.of('m'));
    expect(learn('The model does not support images')).toBe(false);
    expect(learn('No endpoints found that support image input')).toBe(true);
    expect(source.of('m').images).toBe(false);
  });

  it('learns a thing once: the same complaint again is final', () => {
    const source = createQuirkSource({ upstream: 'u', options: options('http://a/v1') });
    const error = new GatewayError('invalid_request', "Unknown parameter: 'prompt_cache_key'");
    expect(source.learn('m', error, source.of('m'))).toBe(true);
    expect(source.learn('m', error, source.of('m'))).toBe(false);
  });

  it.each([
    ['another status', new GatewayError('rate_limited', 'stream_options not supported')],
    ['a full context', new GatewayError('context_overflow', 'max_tokens invalid, use max_completion_tokens')],
    ['an unknown complaint', new GatewayError('invalid_request', 'messages.0 is odd')],
  ])('learns nothing from %s', (_name, error) => {
    const source = createQuirkSource({ upstream: 'u', options: options('http://a/v1') });
    expect(source.learn('m', error, source.of('m'))).toBe(false);
  });
});
