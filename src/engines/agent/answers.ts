/** Answers for which no model is asked, and what every answer of an agent says about its session. */
import { eventsOfBlocks, eventsOfCall, stopEvent } from '../../core/block-events.js';
import type { ModelEvent } from '../../core/events.js';
import type { AttachKind, Attachment, AttachNote } from '../../sessions/sessions.js';
import type { Answer } from '../engine.js';

export const SESSION_HEADER = 'x-session-id';
export const ATTACH_HEADER = 'x-toolgate-attach';
export const ATTACH_NOTE_HEADER = 'x-toolgate-attach-note';

/** Who answers where no model is asked, for `x-toolgate-upstream`. */
export const OWN_ANSWER = 'toolgate';

export function sessionHeaders(session: string, how: AttachKind): Record<string, string> {
  return { [SESSION_HEADER]: session, [ATTACH_HEADER]: how };
}

/** Of one request, whoever else is given the same answer. */
export function noteHeaders(note: AttachNote | undefined): Record<string, string> {
  return note === undefined ? {} : { [ATTACH_NOTE_HEADER]: note };
}

/** Calls that still wait for the client, or an answer that was given before. */
export function givenAnswer(attached: Extract<Attachment, { kind: 'waiting' | 'answered' }>): Answer {
  return {
    upstream: OWN_ANSWER,
    losses: attached.losses,
    headers: sessionHeaders(attached.session, attached.how),
    promptTokens: 0,
    body: { kind: 'events', batches: once([NO_TOKENS, ...eventsOf(attached)]) },
  };
}

const NO_TOKENS: ModelEvent = { type: 'usage', usage: { outputTokens: 0 } };

function eventsOf(attached: Extract<Attachment, { kind: 'waiting' | 'answered' }>): ModelEvent[] {
  if (attached.kind === 'waiting') return [...attached.open.flatMap(eventsOfCall), stopEvent('tool_use')];
  const { blocks, reason, stopSequence } = attached.answer;
  return [...eventsOfBlocks(blocks), stopEvent(reason, stopSequence)];
}

async function* once<T>(item: T): AsyncGenerator<T> {
  yield item;
}
