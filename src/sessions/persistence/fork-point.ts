/** Where a fork parts from its parent: at the end of an answer, or in the middle of what was imported. */
import type { Message } from '../../core/conversation.js';
import { type Link, seedOf } from '../matching/hash-chain.js';
import { HistoryFingerprint } from '../matching/history-fingerprint.js';
import { messagesIn } from '../turns/user-turns.js';
import type { LoadedSession, TurnEndMarks } from './session-reader.js';
import type { TurnEndMark } from './session-row.js';

export interface ForkPoint {
  /** The last end of an answer that is kept; undefined: from the very beginning. */
  mark: TurnEndMark | undefined;
  /** What is kept behind it, and the link of all that is kept. */
  base: readonly Message[];
  end: Link;
}

/** Throws `invalid_request` where there are fewer turns. */
export function forkPoint(
  parent: LoadedSession,
  marks: TurnEndMarks,
  keep: number,
  engine: string,
): ForkPoint {
  const { messages } = parent.log;
  const count = messagesIn(messages, keep);
  const mark = marks.entries.findLast((entry): entry is TurnEndMark => {
    return entry.kind === 'mark' && isBeginningOf(parent.log.asOf(entry.step), messages, count);
  });
  const kept = mark === undefined ? 0 : parent.log.asOf(mark.step).length;
  const start: Link =
    mark === undefined ? seedOf({ ...parent.record, engine }) : { hash: mark.hash, position: mark.position };
  const base = messages.slice(kept, count);
  return { mark, base, end: HistoryFingerprint.from(start, base).end };
}

/** Notes may have taken the place of what was there then. */
function isBeginningOf(then: readonly Message[], now: readonly Message[], count: number): boolean {
  return then.length <= count && then.every((message, index) => message === now[index]);
}
