/** From a request to its turn, or to an answer that is there or on its way already. */
import { setTimeout as delay } from 'node:timers/promises';
import { endUserOf } from '../../core/end-user.js';
import { GatewayError } from '../../core/errors.js';
import { eventsOfBlocks, eventsOfToolCall, type ModelEvent, stopEvent } from '../../core/events.js';
import type {
  AttachKind,
  Attachment,
  AttachNote,
  AttachRequest,
  NotedAttachment,
  SessionEngineName,
  Sessions,
  Turn,
} from '../../sessions/sessions.js';
import type { Answer, Delivery, ModelRequest } from '../engine.js';
import { LIMITS } from './limits.js';
import type { LiveTurn, LiveTurns } from './live-turns.js';

export const SESSION_HEADER = 'x-session-id';
const ATTACH_HEADER = 'x-toolgate-attach';
const ATTACH_NOTE_HEADER = 'x-toolgate-attach-note';

/** Who answers where no model is asked, for `x-toolgate-upstream`. */
export const OWN_ANSWER = 'toolgate';

export type Attached =
  /** The caller begins or fails `running`, and ends `turn`. */
  { kind: 'turn'; turn: Turn; running: LiveTurn } | { kind: 'answer'; answer: Answer };

interface AttachTurnOptions {
  sessions: Pick<Sessions, 'attach' | 'delivered' | 'passedOn'>;
  turns: LiveTurns;
  call: Pick<ModelRequest, 'signal' | 'observe' | 'announce'>;
  request: AttachRequest;
  pingMs: number;
  /** The turn is over, and has not come to its end. */
  onEnd(turn: Turn): Promise<void>;
}

/** Rejects as `Sessions.attach` does, and as a turn that was joined. */
export async function attachTurn(options: AttachTurnOptions): Promise<Attached> {
  const { sessions, turns, call, request, pingMs, onEnd } = options;
  for (let tries = 0; tries < LIMITS.join.tries; tries += 1) {
    const attached = await attach(options);
    const note = noteHeaders(attached?.note);
    const announce = (session: string, how: AttachKind) =>
      call.announce?.({ ...sessionHeaders(session, how), ...note });
    switch (attached?.kind) {
      case 'turn': {
        const { turn } = attached;
        const running = turns.open(
          turn,
          { ...call, headers: note },
          {
            pingMs,
            onEnd: () => onEnd(turn),
            delivery: deliveryOf(sessions, turn.id, turn.key),
          },
        );
        announce(turn.id, turn.how);
        return { kind: 'turn', turn, running };
      }
      case 'waiting':
        announce(attached.session, attached.how);
        return { kind: 'answer', answer: withHeaders(givenAnswer(attached), note) };
      case 'answered': {
        const { session, how, key } = attached;
        announce(session, how);
        const delivery = deliveryOf(sessions, session, key);
        return { kind: 'answer', answer: { ...withHeaders(givenAnswer(attached), note), delivery } };
      }
      case 'running': {
        const { session, how, key } = attached;
        const joining = turns.join(session, key, { ...call, headers: note });
        announce(session, how);
        const answer = await joining;
        if (answer !== undefined) return { kind: 'answer', answer };
      }
    }
    if (call.signal.aborted) break;
    // Between a turn's end here and the session's own there is a moment.
    if (tries > 0) await delay(LIMITS.join.pauseMs);
  }
  throw new GatewayError(
    'conflict',
    `The same request${request.id === undefined ? '' : ` of the session ${request.id}`} is being answered, and its answer can no longer be joined. Send it again in a moment.`,
    { retryable: true },
  );
}

function deliveryOf(sessions: AttachTurnOptions['sessions'], session: string, key: string): Delivery {
  return {
    key,
    confirm: () => sessions.delivered(session, key),
    passOn: () => sessions.passedOn(session, key),
  };
}

function withHeaders(answer: Answer, headers: Readonly<Record<string, string>>): Answer {
  return { ...answer, headers: { ...answer.headers, ...headers } };
}

/** Undefined: a turn of the same key was still being stopped, and is over now. */
async function attach({
  sessions,
  turns,
  call,
  request,
}: AttachTurnOptions): Promise<NotedAttachment | undefined> {
  try {
    return await sessions.attach(request);
  } catch (error) {
    // Who stops an answer and says something else means it.
    if (!(error instanceof GatewayError) || error.code !== 'conflict') throw error;
    if (!(await turns.stopped(request.principal, call.signal))) throw error;
    return undefined;
  }
}

/** The official SDKs count in it how often they have sent the request before. */
const RETRY_HEADER = 'x-stainless-retry-count';

export function attachRequest(
  { headers, idempotencyKey, again, kept, principal, request, signal }: ModelRequest,
  engine: SessionEngineName,
  root: string,
): AttachRequest {
  return {
    principal: principal.name,
    user: endUserOf(request),
    // What is said in the console is said by the key's holder.
    anyUser: kept !== undefined,
    id: headers[SESSION_HEADER] || undefined,
    idempotencyKey,
    engine,
    model: request.model,
    root,
    parent: kept?.parent,
    mode: kept?.mode,
    lasting: kept !== undefined,
    repeat: idempotencyKey !== undefined || again === true || Number(headers[RETRY_HEADER]) > 0,
    signal,
    request,
  };
}

export function sessionHeaders(session: string, how: AttachKind): Record<string, string> {
  return { [SESSION_HEADER]: session, [ATTACH_HEADER]: how };
}

/** Of one request, also where others get the same answer. */
function noteHeaders(note: AttachNote | undefined): Record<string, string> {
  return note === undefined ? {} : { [ATTACH_NOTE_HEADER]: note };
}

/** Calls that still wait for the client, or an answer that was given before. */
function givenAnswer(attached: Extract<Attachment, { kind: 'waiting' | 'answered' }>): Answer {
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
  if (attached.kind === 'waiting') return [...attached.open.flatMap(eventsOfToolCall), stopEvent('tool_use')];
  const { blocks, reason, stopSequence } = attached.answer;
  return [...eventsOfBlocks(blocks), stopEvent(reason, stopSequence)];
}

async function* once<T>(item: T): AsyncGenerator<T> {
  yield item;
}
