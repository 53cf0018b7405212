/** Tool calls and results that cannot be matched: the request is refused, because a guess would lose one. */
import type { Message, ToolResultBlock } from '../../core/conversation.js';
import { resultKey, resultsIn, toolCallsIn } from '../history/visible-history.js';
import { sameToolCallTwice, twoResults } from '../refusals.js';

/**
 * Throws for two calls with one id in the same message, and for two results of one call after the
 * same message that differ. Later messages may use an id again: some servers count their calls.
 */
export function refuseDuplicateToolCalls(messages: readonly Message[]): void {
  let results = new Map<string, string>();
  for (const message of messages) {
    if (message.role === 'assistant') {
      results = new Map();
      const ids = new Set<string>();
      for (const { id } of toolCallsIn(message)) {
        if (ids.has(id)) throw sameToolCallTwice(id);
        ids.add(id);
      }
      continue;
    }
    for (const result of resultsIn([message])) {
      const key = resultKey(result);
      const known = results.get(result.toolUseId);
      if (known !== undefined && known !== key) throw twoResults(result.toolUseId);
      results.set(result.toolUseId, key);
    }
  }
}

/** Results whose call does not come before them in these messages. */
export function resultsWithoutToolCall(messages: readonly Message[]): ToolResultBlock[] {
  const called = new Set<string>();
  const results: ToolResultBlock[] = [];
  for (const message of messages) {
    for (const { id } of toolCallsIn(message)) called.add(id);
    for (const result of resultsIn([message])) if (!called.has(result.toolUseId)) results.push(result);
  }
  return results;
}
