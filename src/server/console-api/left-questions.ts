/**
 * Questions about abandoned calls: a turn broke before the answer, and then it
 * was stopped, or the conversation went on. Allowed, they would run nothing.
 */
import type { Log } from '../../observability/log.js';
import type { ApprovalCoordinator } from '../../permissions/approvals.js';
import type { SessionEvent, Sessions } from '../../sessions/sessions.js';

const WENT_ON = 'The conversation went on without this call.';

export const stoppedBy = (name: string): string => `Stopped by ${name}.`;

interface LeftQuestionsOptions {
  sessions: Pick<Sessions, 'subscribe'>;
  approvals: Pick<ApprovalCoordinator, 'cancelLeft'>;
  log: Pick<Log, 'warn'>;
}

/** Until the returned function is called. */
export function cancelLeftQuestions({ sessions, approvals, log }: LeftQuestionsOptions): () => void {
  return sessions.subscribe((event) => {
    const reason = reasonOf(event);
    if (reason === undefined) return;
    const { session } = event;
    approvals.cancelLeft(session, reason).catch((error: unknown) => {
      log.warn({ err: error, session }, 'abandoned approvals could not be cancelled');
    });
  });
}

function reasonOf(event: SessionEvent): string | undefined {
  if (event.type === 'turn-left') return event.by === undefined ? WENT_ON : stoppedBy(event.by);
  // A resumed turn may no longer need some of what was asked before the break.
  return event.type === 'turn-ended' && event.end === 'complete' ? WENT_ON : undefined;
}
