/** How the turn of an agent ends, in the session and for the client, whichever engine ran it. */

import { stopEvent } from '../../core/block-events.js';
import type { Block, StopReason, ToolResultBlock, ToolUseBlock } from '../../core/conversation.js';
import { GatewayError, toGatewayError } from '../../core/errors.js';
import type { ModelEvent } from '../../core/events.js';
import type { Loss } from '../../core/losses.js';
import type { Log } from '../../observability/log.js';
import type { Turn } from '../../sessions/sessions.js';
import type { ModelRequest } from '../engine.js';
import { OWN_ANSWER, sessionHeaders } from './answers.js';
import type { AnswerHead } from './live/live-turns.js';
import type { ToolCallStream } from './tool-call-stream.js';
import type { TurnPersistence } from './turn-persistence.js';

/** Ends at which the client has an answer. */
export type AnsweredEnd =
  | { kind: 'done'; reason: StopReason; stopSequence?: string }
  /** The last message has calls that only the client can run; `results` are those of the others. */
  | {
      kind: 'handed-back';
      calls: readonly ToolUseBlock[];
      open: readonly ToolUseBlock[];
      results: ReadonlyMap<string, ToolResultBlock>;
    }
  | { kind: 'max-turns'; turns: number };

export interface EndingTurn {
  call: Pick<ModelRequest, 'id' | 'request'>;
  turn: Pick<Turn, 'id'>;
  keeper: Pick<TurnPersistence, 'complete'>;
  /** What the client has been told, calls apart. */
  said: readonly Block[];
  /** Calls that it has seen before they were kept. */
  shown: ToolCallStream;
  log: Log;
}

/** Keeps the end, and returns how the answer ends; nothing for an end without an answer. Rejects as the session does. */
export async function completeTurn(
  { call, turn, keeper, said: blocks, shown, log }: EndingTurn,
  end: AnsweredEnd | { kind: 'failed' | 'aborted' },
): Promise<ModelEvent[]> {
  switch (end.kind) {
    case 'handed-back': {
      const { calls, open, results } = end;
      const inOrder = shown.inOrder(open);
      const told = call.request.parallelToolCalls === false ? inOrder.slice(0, 1) : inOrder;
      await keeper.complete({
        answer: { blocks: [...blocks, ...told], reason: 'tool_use' },
        handedBack: { calls, open, results },
      });
      return [...told.flatMap((each) => shown.restOf(each)), stopEvent('tool_use')];
    }
    case 'max-turns': {
      const note = `paused after ${end.turns} model calls (max_turns)`;
      log.info({ id: call.id, session: turn.id, turns: end.turns }, note);
      await keeper.complete({ answer: { blocks, reason: 'pause_turn' } });
      return [{ type: 'loss', path: 'stop_reason', reason: note }, stopEvent('pause_turn')];
    }
    case 'done': {
      const { reason, stopSequence } = end;
      const sequence = stopSequence === undefined ? {} : { stopSequence };
      await keeper.complete({ answer: { blocks, reason, ...sequence } });
      return [stopEvent(reason, stopSequence)];
    }
    default:
      return [];
  }
}

/** Where the session was taken away, that is why, whatever came of it. */
export function turnFailure(turn: Pick<Turn, 'id' | 'signal'>, error: unknown): GatewayError {
  if (!turn.signal.aborted) return toGatewayError(error);
  const { reason } = turn.signal;
  if (reason instanceof GatewayError) return reason;
  return new GatewayError(
    'conflict',
    `The session ${turn.id} was deleted or taken over while this request was being answered. Send the conversation without X-Session-ID to go on.`,
    { cause: error },
  );
}

/** For a turn that nothing keeps yet; never rejects. */
export async function giveUp(turn: Turn, how: 'abandon' | 'discard', log: Log): Promise<void> {
  await turn[how]().catch((error: unknown) => {
    log.warn({ err: error, session: turn.id }, 'a turn could not be given up cleanly');
  });
}

/** `opened`: the first model call, where one was needed. `losses`: of the request. */
export function answerHead(
  turn: Pick<Turn, 'id' | 'how'>,
  losses: readonly Loss[],
  opened: { upstream: string; losses: readonly Loss[]; promptTokens: number | undefined } | undefined,
): AnswerHead {
  const headers = sessionHeaders(turn.id, turn.how);
  if (opened === undefined) return { upstream: OWN_ANSWER, losses, headers, promptTokens: 0 };
  const { upstream, promptTokens } = opened;
  return {
    upstream,
    losses: [...losses, ...opened.losses],
    headers,
    ...(promptTokens === undefined ? {} : { promptTokens }),
  };
}
