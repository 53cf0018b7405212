/** An upstream's word that a conversation does not fit any more. */
import type { DialectName } from '../../src/core/conversation.js';
import { json, type Reply } from '../support/replies.js';
import { anthropicError, openaiError, type Wire } from '../support/wire.js';

/** What the provider of each wire says when a conversation does not fit any more. */
const OVERFLOW: Readonly<Record<DialectName, Wire>> = {
  'openai-chat': openaiError(
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 140000 tokens. Please reduce the length of the messages.",
    { code: 'context_length_exceeded', param: 'messages' },
  ),
  'openai-responses': openaiError(
    'Your input exceeds the context window of this model. Please adjust your input and try again.',
    { code: 'context_length_exceeded', param: 'input' },
  ),
  'anthropic-messages': anthropicError(
    'invalid_request_error',
    'prompt is too long: 210000 tokens > 200000 maximum',
  ),
};

export const overflow = (dialect: DialectName) => (): Reply => json(OVERFLOW[dialect], { status: 400 });
