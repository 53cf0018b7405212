/** Calls and results that cannot be told apart: whichever was taken, something else would be lost unsaid. */
import type { Message } from '../../core/conversation.js';
import { sameCallTwice, twoResults } from '../refusals.js';
import { callsIn, resultKey, resultsIn } from './visible-history.js';

/**
 * Throws for two calls with one id in the same message, and for two results of one call behind the
 * same message that differ. Later messages may use an id again: some servers count their calls.
 */
export function refuseDuplicateToolCalls(messages: readonly Message[]): void {
  let results = new Map<string, string>();
  for (const message of messages) {
    if (message.role === 'assistant') {
      results = new Map();
      const ids = new Set<string>();
      for (const { id } of callsIn(message)) {
        if (ids.has(id)) throw sameCallTwice(id);
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
