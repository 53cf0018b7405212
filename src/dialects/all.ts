/** Every dialect there is. Adding one is one line here. */
import type { DialectName } from '../core/conversation.js';
import { anthropicMessages } from './anthropic-messages/index.js';
import { openaiChat } from './openai-chat/index.js';
import { openaiResponses } from './openai-responses/index.js';
import type { Dialect } from './shared/dialect.js';

export const DIALECTS: Readonly<Record<DialectName, Dialect>> = {
  'anthropic-messages': anthropicMessages,
  'openai-chat': openaiChat,
  'openai-responses': openaiResponses,
};

/** Where clients that speak it send their requests. */
export const DIALECT_PATHS: Readonly<Record<DialectName, string>> = {
  'anthropic-messages': '/v1/messages',
  'openai-chat': '/v1/chat/completions',
  'openai-responses': '/v1/responses',
};

export function dialectOfPath(path: string): Dialect | undefined {
  return Object.values(DIALECTS).find((dialect) => DIALECT_PATHS[dialect.name] === path);
}
