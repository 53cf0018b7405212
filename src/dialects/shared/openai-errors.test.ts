import { describe, expect, it } from 'vitest';
import type { ErrorCode } from '../../core/errors.js';
import { promptTooLong } from './context-overflow.js';
import type { WireHeaders } from './dialect.js';
import { readEmbeddedError, readErrorBody } from './openai-error-body.js';
import { decodeOpenAiError, embeddedError } from './openai-errors.js';

describe('the shapes of an error body', () => {
  const shapes: [string, unknown, string | undefined][] = [
    ['OpenAI', { error: { message: 'No', type: 't', param: 'p', code: 'c' } }, 'No'],
    ['a string in error', { error: 'No' }, 'No'],
    ['vLLM', { object: 'error', message: 'No', type: 'BadRequestError', code: 400 }, 'No'],
    ['a message', { message: 'No', code: 500 }, 'No'],
    ['FastAPI text', { detail: 'No' }, 'No'],
    [
      'FastAPI list',
      { detail: [{ loc: ['body', 'messages', 0], msg: 'field required', type: 'missing' }] },
      'body.messages.0: field required',
    ],
    [
      'Mistral',
      { object: 'error', message: { detail: [{ loc: ['body'], msg: 'extra' }] }, type: 'invalid' },
      'body: extra',
    ],
    ['Gemini', [{ error: { code: 400, message: 'No', status: 'INVALID_ARGUMENT' } }], 'No'],
    ['Cloudflare', { success: false, errors: [{ code: 7003, message: 'No route' }] }, 'No route'],
    [
      'OpenRouter',
      { error: { message: 'Provider returned error', code: 400, metadata: { raw: 'too hot' } } },
      'Provider returned error: too hot',
    ],
    [
      'an error inside the message',
      { error: { message: 'upstream: {"error":{"message":"No"}}' } },
      'upstream: No',
    ],
    ['text', 'upstream connect error', 'upstream connect error'],
    ['HTML', '<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>', '502 Bad Gateway'],
    ['MiniMax', { base_resp: { status_code: 1004, status_msg: 'login fail' } }, 'login fail'],
    ['nothing', '', undefined],
    ['null', null, undefined],
  ];
  it.each(shapes)('%s', (_name, body, message) => {
    expect(readErrorBody(body)?.message).toBe(message);
  });

  it('an ordinary answer is no error', () => {
    for (const body of [
      { choices: [], usage: {} },
      { choices: [{ delta: {} }], error: null },
      { choices: [{ delta: {} }], base_resp: { status_code: 0, status_msg: '' } },
      { id: 'x', object: 'chat.completion.chunk' },
    ]) {
      expect(readEmbeddedError(body)).toBeUndefined();
    }
  });

  it('a body nested deeper than the stack is read as far as it says something', () => {
    const deep = JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`);
    const nested = JSON.parse(`${'{"message":'.repeat(50_000)}"x"${'}'.repeat(50_000)}`);
    for (const body of [deep, nested, { error: nested }, { error: deep }, { detail: deep }]) {
      expect(decodeOpenAiError(400, {}, body).code).toBe('invalid_request');
    }
  });

  it('an error beside empty choices is one', () => {
    expect(readEmbeddedError({ choices: [], error: { code: 502, message: 'gone' } })).toMatchObject({
      message: 'gone',
      status: 502,
    });
  });
});

describe('codes', () => {
  interface Case {
    status: number;
    body: unknown;
    code: ErrorCode;
    retryable?: boolean;
  }
  const error = (message: string, type?: string, code?: unknown) => ({ error: { message, type, code } });
  const cases: Case[] = [
    { status: 400, body: error('bad', 'invalid_request_error'), code: 'invalid_request' },
    {
      status: 401,
      body: error('Incorrect API key', 'invalid_request_error', 'invalid_api_key'),
      code: 'unauthenticated',
    },
    { status: 402, body: error('Insufficient Balance', 'unknown_error'), code: 'billing' },
    { status: 403, body: { detail: 'no' }, code: 'forbidden' },
    { status: 404, body: error('no such model', 'x', 'model_not_found'), code: 'not_found' },
    { status: 422, body: { detail: 'no' }, code: 'unprocessable' },
    {
      status: 429,
      body: error('Rate limit reached', 'requests', 'rate_limit_exceeded'),
      code: 'rate_limited',
      retryable: true,
    },
    {
      status: 429,
      body: error('You exceeded your current quota', 'insufficient_quota', 'insufficient_quota'),
      code: 'billing',
    },
    {
      status: 413,
      body: error(
        'Request too large for model on tokens per minute (TPM): Limit 6000',
        'tokens',
        'rate_limit_exceeded',
      ),
      code: 'rate_limited',
      retryable: true,
    },
    { status: 500, body: error('oops', 'server_error'), code: 'upstream_failed', retryable: true },
    { status: 502, body: '<html></html>', code: 'upstream_failed', retryable: true },
    { status: 503, body: error('busy', 'server_error'), code: 'unavailable', retryable: true },
    { status: 504, body: '', code: 'upstream_timeout', retryable: true },
    { status: 529, body: error('busy', 'overloaded_error'), code: 'overloaded', retryable: true },
    { status: 400, body: error('bad', 'server_error'), code: 'invalid_request' },
    { status: 418, body: '', code: 'invalid_request' },
    { status: 599, body: '', code: 'upstream_failed', retryable: true },
  ];
  it.each(cases)('$status $code', ({ status, body, code, retryable = false }) => {
    const decoded = decodeOpenAiError(status, {}, body);
    expect({ code: decoded.code, retryable: decoded.retryable, status: decoded.status }).toEqual({
      code,
      retryable,
      status,
    });
    expect(decoded.message).not.toBe('');
  });

  it('come from the body where there is no status', () => {
    const code = (body: object) => embeddedError(readErrorBody(body) ?? { message: '' }).code;
    expect(code({ error: { code: 'server_is_overloaded', message: 'x' } })).toBe('overloaded');
    expect(code({ error: { code: 429, message: 'x' } })).toBe('rate_limited');
    expect(code({ error: { code: '503', message: 'x' } })).toBe('unavailable');
    expect(code({ error: { message: 'x' } })).toBe('upstream_failed');
    expect(code({ detail: 'x' })).toBe('upstream_failed');
  });

  it('keep what the provider called it, and where', () => {
    expect(
      decodeOpenAiError(400, {}, { error: { message: 'x', type: 't', param: 'tools.0', code: 'c' } }),
    ).toMatchObject({ detail: 'c', param: 'tools.0' });
  });

  it("Gemini's quota that comes back in seconds is a limit, not a bill", () => {
    const body = [
      {
        error: {
          code: 429,
          message: 'You exceeded your current quota, please check your plan and billing details.',
          status: 'RESOURCE_EXHAUSTED',
          details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.5s' }],
        },
      },
    ];
    expect(decodeOpenAiError(429, {}, body)).toMatchObject({ code: 'rate_limited', retryAfter: 34.5 });
  });
});

/** Providers' own words, and the figures that are to be read from them. */
const OVERFLOWS: [string, string, string?][] = [
  [
    'OpenAI',
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 130512 tokens (129000 in the messages, 1512 in the functions). Please reduce the length of the messages or functions.",
    '130512 tokens > 128000',
  ],
  [
    'OpenAI, with the answer',
    "This model's maximum context length is 8192 tokens. However, you requested 12500 tokens (8500 in the messages, 4000 in the completion).",
    '12500 tokens > 8192',
  ],
  [
    'OpenAI, a configured limit',
    'Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 301234 tokens. Please reduce the length of the messages.',
    '301234 tokens > 272000',
  ],
  [
    'OpenAI, without figures',
    'Your input exceeds the context window of this model. Please adjust your input and try again.',
  ],
  ['Groq', 'Please reduce the length of the messages or completion.'],
  [
    'Cerebras',
    'Please reduce the length of the messages or completion. Current length is 70123 while limit is 65536',
    '70123 tokens > 65536',
  ],
  [
    'vLLM',
    "This model's maximum context length is 262144 tokens. However, you requested 0 output tokens and your prompt contains at least 262145 input tokens, for a total of at least 262145 tokens.",
    '262145 tokens > 262144',
  ],
  [
    'vLLM, older',
    'The decoder prompt (length 5000) is longer than the maximum model length of 4096.',
    '5000 tokens > 4096',
  ],
  [
    'Gemini',
    'The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).',
    '1196265 tokens > 1048575',
  ],
  [
    'Vertex',
    'Unable to submit request because the input token count is 32825 but model only supports up to 32768.',
    '32825 tokens > 32768',
  ],
  [
    'Mistral',
    'Prompt contains 40960 tokens and 0 draft tokens, too large for model with 32768 maximum context length',
    '40960 tokens > 32768',
  ],
  ['Anthropic', 'prompt is too long: 213462 tokens > 200000 maximum', '213462 tokens > 200000'],
  [
    'xAI',
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    '537812 tokens > 131072',
  ],
  [
    'OpenRouter',
    "This endpoint's maximum context length is 128000 tokens. However, you requested about 130500 tokens (129000 of text input, 1500 in the output).",
    '130500 tokens > 128000',
  ],
  [
    'llama.cpp',
    'request (66202 tokens) exceeds the available context size (65536 tokens), try increasing it',
    '66202 tokens > 65536',
  ],
  ['LM Studio', 'The number of tokens to keep from the initial prompt is greater than the context length.'],
  ['Qwen', 'Range of input length should be [1, 129024]'],
  [
    'Moonshot',
    'Invalid request: Your request exceeded model token limit: 131072 (requested: 140321)',
    '140321 tokens > 131072',
  ],
  ['Z.ai', 'Prompt exceeds max length'],
  ['MiniMax', 'invalid params, context window exceeds limit (2013)'],
  ['Copilot', 'prompt token count of 130000 exceeds the limit of 128000', '130000 tokens > 128000'],
  ['Bedrock', 'Input is too long for requested model.'],
  [
    'Together',
    'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 8000 `inputs` tokens and 1000 `max_new_tokens`',
  ],
  [
    'Poolside',
    'Input length 131393 exceeds the maximum allowed input length of 131040 tokens.',
    '131393 tokens > 131040',
  ],
  [
    'SGLang',
    "Input length (265330) exceeds model's maximum context length (262144).",
    '265330 tokens > 262144',
  ],
];

describe('a prompt that does not fit', () => {
  it.each(OVERFLOWS)('%s', (_name, message, figures) => {
    const error = decodeOpenAiError(400, {}, { error: { message } });
    expect(error).toMatchObject({ code: 'context_overflow', status: 400, retryable: false });
    expect(promptTooLong(error.message)).toMatch(/^prompt is too long/i);
    if (figures !== undefined) expect(promptTooLong(error.message)).toContain(figures);
  });

  it('is known by its code alone', () => {
    const body = { error: { message: 'no', code: 'context_length_exceeded' } };
    expect(decodeOpenAiError(400, {}, body).code).toBe('context_overflow');
  });

  it("takes llama.cpp's figures from their fields", () => {
    const error = {
      message: 'the request exceeds the available context size. try increasing the context size',
      type: 'exceed_context_size_error',
      n_prompt_tokens: 9001,
      n_ctx: 8192,
    };
    expect(decodeOpenAiError(400, {}, { error }).message).toBe(
      'prompt is too long: 9001 tokens > 8192 maximum',
    );
  });

  it.each([
    "'max_tokens' or 'max_completion_tokens' is too large: 10000. This model's maximum context length is 8192 tokens and your request has 500 input tokens (10000 > 8192 - 500).",
    "This model's maximum context length is 8192 tokens. However, you requested 10000 output tokens and your prompt contains at least 500 input tokens, for a total of at least 10500 tokens. Please reduce the length of the input prompt or the number of requested output tokens.",
    "This model's maximum context length is 8192 tokens. However, you requested 10500 tokens (400 in the messages, 100 in the functions, and 10000 in the completion). Please reduce the length of the messages, functions, or completion.",
    "This endpoint's maximum context length is 8192 tokens. However, you requested about 10500 tokens (500 of text input, 10000 in the output). Please reduce the length of either one.",
  ])('is told from an answer that would not fit: %s', (message) => {
    expect(decodeOpenAiError(400, {}, { error: { message } }).message).toMatch(
      /^input length and `max_tokens` exceed context limit: 500 \+ 10000 > 8192/,
    );
  });

  it.each([
    [429, 'Rate limit reached on tokens per min (TPM): Limit 10000, Used 9000, Requested 2000.'],
    [400, 'ThrottlingException: Too many tokens, please wait before trying again.'],
    [400, 'max_tokens must be at most 4096'],
  ])('is not %d %s', (status, message) => {
    expect(decodeOpenAiError(status, {}, { error: { message } }).code).not.toBe('context_overflow');
  });
});

describe('when to come back', () => {
  const waitOf = (headers: WireHeaders, message = 'slow down') =>
    decodeOpenAiError(429, headers, { error: { message } }).retryAfter;
  it.each<[string, WireHeaders, string, number]>([
    ['retry-after', { 'retry-after': '7' }, 'x', 7],
    ['retry-after-ms', { 'retry-after-ms': '250', 'retry-after': '1' }, 'x', 0.25],
    ['the message', {}, 'Please try again in 6m0s.', 360],
    ['the message, in milliseconds', {}, 'Please try again in 250ms.', 0.25],
    [
      'the limit that is used up',
      {
        'x-ratelimit-remaining-tokens': '0',
        'x-ratelimit-reset-tokens': '1m30s',
        'x-ratelimit-reset-requests': '1h',
      },
      'x',
      90,
    ],
    ['both limits', { 'x-ratelimit-reset-tokens': '2s', 'x-ratelimit-reset-requests': '1m' }, 'x', 60],
    ['a number of seconds', { 'x-ratelimit-reset': '12' }, 'x', 12],
  ])('from %s', (_name, headers, message, seconds) => {
    expect(waitOf(headers, message)).toBe(seconds);
  });

  it('from a moment', () => {
    expect(waitOf({ 'x-ratelimit-reset': String(Date.now() + 60_000) })).toBeGreaterThan(50);
  });

  it('is unknown where nothing says it', () => {
    expect(waitOf({})).toBeUndefined();
  });
});

describe('an error that is too long', () => {
  const long = 'a'.repeat(1_000_000);

  it.each([
    ['a message', { error: { message: long } }],
    ['a bare one', { error: long }],
    ['a list', { detail: Array.from({ length: 1_000 }, () => ({ msg: long.slice(0, 1_000) })) }],
    ['other fields', { error: { message: 'm', type: long, code: long, param: long } }],
  ])('is cut: %s', (_name, body) => {
    const { message, detail, param } = decodeOpenAiError(400, {}, body);
    for (const said of [message, detail ?? '', param ?? '']) expect(said.length).toBeLessThanOrEqual(2_000);
  });

  it('does not pass a redirect on', () => {
    const error = decodeOpenAiError(307, { location: 'http://127.0.0.1:1' }, '');
    expect(error).toMatchObject({ status: 502, message: expect.stringContaining('307') });
  });
});
