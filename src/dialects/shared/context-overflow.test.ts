import { expect, it } from 'vitest';
import { isContextOverflow, promptTooLong } from './context-overflow.js';

/** Provider, its words, and the figures in them. */
const OVERFLOWS: [provider: string, message: string, asked?: number, limit?: number][] = [
  [
    'OpenAI Chat',
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 130512 tokens (130000 in the messages, 512 in the functions). Please reduce the length of the messages or functions.",
    130512,
    128000,
  ],
  [
    'OpenAI completions',
    "This model's maximum context length is 8192 tokens, however you requested 9000 tokens (8000 in your prompt; 1000 for the completion).",
    9000,
    8192,
  ],
  [
    'OpenAI Responses',
    'Your input exceeds the context window of this model. Please adjust your input and try again.',
  ],
  [
    'Gemini',
    'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
    1200000,
    1048576,
  ],
  [
    'vLLM',
    'The decoder prompt (length 40000) is longer than the maximum model length of 32768.',
    40000,
    32768,
  ],
  [
    'llama.cpp',
    'the request exceeds the available context size. try increasing the context size or enable context shift',
  ],
  [
    'llama.cpp with figures',
    'request (5000 tokens) exceeds the available context size (4096 tokens)',
    5000,
    4096,
  ],
  [
    'Mistral',
    'Prompt contains 140000 tokens, too large for model with 131072 maximum context length',
    140000,
    131072,
  ],
  ['Groq', 'Please reduce the length of the messages or completion.'],
  ['a bare code', 'context_length_exceeded'],
];

it.each<(typeof OVERFLOWS)[number]>(OVERFLOWS)(
  '%s says that the prompt does not fit',
  (_provider, message, asked, limit) => {
    expect(isContextOverflow(message)).toBe(true);
    const head =
      asked === undefined
        ? `prompt is too long: ${message}`
        : `prompt is too long: ${asked} tokens > ${limit} maximum (${message})`;
    expect(promptTooLong(message)).toBe(head);
  },
);

it.each([
  'prompt is too long: 210000 tokens > 200000 maximum',
  'Prompt is too long',
  'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length',
])('leaves words that clients know as they are: %s', (message) => {
  expect(isContextOverflow(message)).toBe(true);
  expect(promptTooLong(message)).toBe(message);
});

it.each([
  'max_tokens: must be at most 64000',
  'messages: at least one message is required',
  'Rate limit reached: too many requests',
  'Request exceeds the maximum size',
  'tool name is too long',
])('is not: %s', (message) => {
  expect(isContextOverflow(message)).toBe(false);
});
