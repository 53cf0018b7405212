/** Refusals of requests that only an upstream of their own wire could serve. */
import type { Continuation, Verbatim } from '../core/conversation.js';
import { GatewayError } from '../core/errors.js';

/** In the words of the API, by the field that names it. */
const KINDS: Readonly<Record<string, { kind: string; detail: string }>> = {
  previous_response_id: { kind: 'the response', detail: 'previous_response_not_found' },
  conversation: { kind: 'the conversation', detail: 'conversation_not_found' },
  'prompt.id': { kind: 'the stored prompt', detail: 'prompt_not_found' },
  'thread.previous_message_id': { kind: 'the thread of the message', detail: 'thread_not_found' },
};
const ITEM = { kind: 'the item', detail: 'item_not_found' } as const;

/** The answer to a request whose bytes would have to be forwarded and cannot be. */
export function notForwarded({ param, message }: Verbatim): GatewayError {
  return new GatewayError('invalid_request', message, { param });
}

export function unknownHistory({ id, param }: Continuation, advice: string): GatewayError {
  const { kind, detail } = KINDS[param] ?? ITEM;
  return new GatewayError(
    'not_found',
    `Nothing is known here of ${kind} ${JSON.stringify(id.slice(0, 100))}, which the request goes on from. It may have expired, been deleted, or been made with store: false, with another key or by another provider. ${advice}`,
    { param, detail },
  );
}
