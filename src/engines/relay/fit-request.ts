/** A request within what its route allows, and with what its headers know about the conversation. */
import type { ConversationRequest } from '../../core/conversation.js';
import type { Loss } from '../../core/losses.js';
import type { WireHeaders } from '../../dialects/shared/dialect.js';
import { clampEffort } from '../../dialects/shared/effort.js';
import type { ModelRule } from '../../routing/model-router.js';

/** Headers by which clients name their conversation: Claude Code, Codex, and the contract's own. */
const CONVERSATION_HEADERS = ['x-claude-code-session-id', 'session-id', 'x-session-id'];

interface Fitted {
  request: ConversationRequest;
  losses: readonly Loss[];
  /** Something that the client wrote was changed, so its bytes cannot be forwarded. */
  changed: boolean;
}

export function fitRequest(request: ConversationRequest, rule: ModelRule, headers: WireHeaders): Fitted {
  const losses: Loss[] = [];
  const changes: Partial<ConversationRequest> = {};
  const { maxOutputTokens, efforts } = rule;
  if (maxOutputTokens !== undefined && (request.maxTokens ?? 0) > maxOutputTokens) {
    changes.maxTokens = maxOutputTokens;
    losses.push({
      path: 'max_tokens',
      reason: `cut to the ${maxOutputTokens} that the model is configured for`,
    });
  }
  if (efforts !== undefined && request.effort !== undefined) {
    const effort = clampEffort(request.effort, efforts);
    if (effort !== undefined && effort !== request.effort) {
      changes.effort = effort;
      losses.push({
        path: 'effort',
        reason: `${request.effort} became ${effort}, as the model is configured`,
      });
    }
  }
  const changed = losses.length > 0;
  const cacheKey = request.cacheKey ?? conversationOf(headers);
  if (cacheKey !== undefined && cacheKey !== request.cacheKey) changes.cacheKey = cacheKey;
  const isSame = !changed && changes.cacheKey === undefined;
  return { request: isSame ? request : { ...request, ...changes }, losses, changed };
}

function conversationOf(headers: WireHeaders): string | undefined {
  for (const name of CONVERSATION_HEADERS) {
    const value = headers[name];
    if (value !== undefined && value !== '') return value;
  }
  return undefined;
}
