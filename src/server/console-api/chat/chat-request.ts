/** What the console says, checked and decoded: text, or content blocks of the Anthropic Messages API. */
import * as z from 'zod';
import type { Block, Message } from '../../../core/conversation.js';
import { GatewayError } from '../../../core/errors.js';
import { decodeMessages } from '../../../dialects/anthropic-messages/decode-content.js';

/** Longest; a name is repeated in answers and remembered. */
const LIMITS = { model: 512, clientId: 200, session: 200, path: 4096, turns: 1_000_000 } as const;

export const chatBody = z.object({
  model: z.string('expected the name of a model').min(1, 'expected the name of a model').max(LIMITS.model),
  session: z.string().min(1).max(LIMITS.session).optional(),
  keep: z.int().min(0).max(LIMITS.turns).optional(),
  content: z.union([z.string(), z.array(z.unknown())], 'expected text or content blocks').default(''),
  cwd: z.string().min(1).max(LIMITS.path).optional(),
  client_id: z.string().min(1).max(LIMITS.clientId).optional(),
});

export type ChatBody = z.infer<typeof chatBody>;

/** What a person can say; results of calls and thinking are not theirs. */
const SAYABLE: ReadonlySet<Block['type']> = new Set(['text', 'image', 'document']);

/** Undefined for nothing at all. Throws `invalid_request` as the dialect does. */
export function saidIn({ content, keep }: ChatBody): Message | undefined {
  const [message] = content.length === 0 ? [] : decodeMessages([{ role: 'user', content }]);
  if (message === undefined || message.content.every(isBlank)) {
    if (keep !== undefined) return undefined;
    throw new GatewayError('invalid_request', 'content: say something. Send text, or content blocks.', {
      param: 'content',
    });
  }
  for (const { type } of message.content) {
    if (SAYABLE.has(type)) continue;
    throw new GatewayError(
      'invalid_request',
      `content: a block of the type ${type} cannot be said. Send text, images and documents.`,
      { param: 'content' },
    );
  }
  return message;
}

function isBlank(block: Block): boolean {
  return block.type === 'text' && block.text.trim() === '';
}
