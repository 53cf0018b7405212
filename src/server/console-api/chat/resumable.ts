/** Whether the console may resume a broken turn, and what to do where it may not. */
import { GatewayError } from '../../../core/errors.js';
import { idempotencyMark } from '../../../sessions/history/history-fingerprint.js';
import { busy } from '../../../sessions/refusals.js';
import type { SessionProgress, UnfinishedTurn } from '../../../sessions/sessions.js';
import type { Run } from '../../../store/runs.js';

export function isOfRun({ idempotency }: UnfinishedTurn, { id }: Pick<Run, 'id'>): boolean {
  return idempotency === idempotencyMark(id);
}

/** Undefined where there is a turn of the run that can be resumed. */
export function nothingToResume(
  session: string,
  standing: SessionProgress | undefined,
  run: Pick<Run, 'id'> | undefined,
): GatewayError | undefined {
  const turn = standing?.turn;
  if (turn?.running === true) return busy(session);
  if (turn === undefined) {
    return refusal(`The session ${session} has no turn that broke off. Say something to go on.`);
  }
  if (turn.stopped) {
    return refusal(`The last turn of the session ${session} was stopped. Say something to go on.`);
  }
  if (run !== undefined && isOfRun(turn, run)) return undefined;
  return refusal(
    `The last turn of the session ${session} was begun by a client of /v1, and only that client can go on with it, by sending the same request again. To go on here, say something.`,
  );
}

function refusal(message: string): GatewayError {
  return new GatewayError('conflict', message, { detail: 'nothing_to_resume' });
}
