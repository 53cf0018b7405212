/** The end user for a wire that has one field for it, where OpenAI's have two. */
import type { ConversationRequest } from '../../core/conversation.js';
import type { LossLog } from '../../core/losses.js';

/** `user`, or `safety_identifier` where that is all that was given; two that differ are a loss. */
export function endUser({ userId, extensions }: ConversationRequest, losses: LossLog): string | undefined {
  for (const dialect of ['openai-chat', 'openai-responses'] as const) {
    const safety = extensions[dialect]?.['safety_identifier'];
    if (typeof safety !== 'string' || safety === '' || safety === userId) continue;
    if (userId === undefined) return safety;
    losses.add('safety_identifier', 'this wire names one user, and user is sent');
  }
  return userId;
}
