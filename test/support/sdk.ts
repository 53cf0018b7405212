/** The official clients, pointed at a gateway: no retries, so that a test sees the first answer. */
import Anthropic, { type ClientOptions as AnthropicOptions } from '@anthropic-ai/sdk';
import OpenAI, { type ClientOptions as OpenAIOptions } from 'openai';

const KEY = 'client-key';

export const anthropicClient = (url: string, options: AnthropicOptions = {}): Anthropic =>
  new Anthropic({ baseURL: url, apiKey: KEY, authToken: null, maxRetries: 0, ...options });

export const openaiClient = (url: string, options: OpenAIOptions = {}): OpenAI =>
  new OpenAI({
    baseURL: `${url}/v1`,
    apiKey: KEY,
    organization: null,
    project: null,
    maxRetries: 0,
    ...options,
  });
