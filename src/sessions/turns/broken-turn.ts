/** A turn that began and did not come to its end: what is left to do, and what may come behind it. */
import type { Message, ToolResultBlock, ToolUseBlock } from '../../core/conversation.js';
import type { PendingToolCall } from '../../store/tool-calls.js';
import { type FingerprintedRequest, saidIn } from '../matching/history-fingerprint.js';
import { atomsOf } from '../matching/visible-history.js';
import type { TurnRow } from '../persistence/session-row.js';
import type { OutstandingToolCalls } from '../sessions.js';
import { type ReviewedResults, resultOf } from './pending-tool-calls.js';
import { answerOf, errorResult, NO_RESULT } from './repair-history.js';

export function outstandingOf(
  calls: readonly ToolUseBlock[],
  recorded: ReadonlyMap<string, PendingToolCall>,
  known: ReadonlyMap<string, ToolResultBlock> = new Map(),
): OutstandingToolCalls | undefined {
  if (calls.length === 0) return undefined;
  const results = new Map(known);
  const started = new Set<string>();
  for (const { id } of calls) {
    const call = recorded.get(id);
    const result = call && resultOf(call);
    if (result !== undefined) results.set(id, result);
    else if (call?.runBy === 'server' && !results.has(id)) started.add(id);
  }
  return { calls, results, started };
}

/** The results behind a message that nobody goes on with: what is known, and the truth about the rest. */
export function settled({ calls, results, started }: OutstandingToolCalls): Message {
  const all = new Map(results);
  for (const id of started) all.set(id, errorResult(id, NO_RESULT.unsure));
  return answerOf({ calls, results: all }, NO_RESULT.stopped, []);
}

/**
 * What the request says behind the one that the turn was to answer; undefined where it does not go
 * on from there. A client that was cut off tells as much of the answer as it had: that is in the
 * transcript, as far as it was whole.
 */
export function behindBrokenTurn(
  { ends, messages }: FingerprintedRequest,
  { tail }: TurnRow,
  said: readonly Message[],
): readonly Message[] | undefined {
  const end = ends.find(({ hash }) => hash === tail);
  if (end === undefined || end.message === messages.length - 1) return undefined;
  const rest = messages.slice(end.message + 1);
  const next = rest.findIndex(({ role }) => role !== 'assistant');
  if (next < 0) return undefined;
  const told = spokenIn(rest.slice(0, next));
  const saved = spokenIn(said);
  // Nothing of it was whole: what the client has is all there is.
  if (saved === '') return rest;
  return told.startsWith(saved) || saved.startsWith(told) ? rest.slice(next) : undefined;
}

/**
 * New messages alone have nothing to be found by: under the session's name they come behind what was
 * asked last, answered or not. Results that the turn has are said again with them.
 */
export function newBehindBrokenTurn(
  { hasHistory, messages }: FingerprintedRequest,
  { other }: ReviewedResults,
): readonly Message[] | undefined {
  if (hasHistory || other.length > 0) return undefined;
  return saidIn(messages).length > 0 ? messages : undefined;
}

/** Only the words. */
function spokenIn(messages: readonly Message[]): string {
  const texts = messages.flatMap(({ role, content }): Message[] =>
    role === 'assistant' ? [{ role, content: content.filter(({ type }) => type === 'text') }] : [],
  );
  return atomsOf(texts)[0]?.key ?? '';
}
