/**
 * Conversations that are kept. Everyone sees and ends their own key's, an administrator all of them;
 * one that has expired is as unknown as another key's.
 */
import { GatewayError } from '../../core/errors.js';
import type { SessionState } from '../../store/sessions.js';
import type { Handler } from '../context.js';
import { stoppedBy } from '../left-questions.js';
import { NO_STORE, sendJson, sendStatus } from '../respond.js';
import type { SessionContentWire, StopAnswer } from '../wire/sessions.js';
import { findSession, unknownSession } from './find-session.js';
import { hrefIn } from './media.js';
import { messagesToWire } from './message-shape.js';
import { readInteger } from './query.js';
import { sessionsToWire, sessionToWire } from './session-wire.js';
import { ownOnly } from './traces.js';

const STATES: readonly SessionState[] = ['live', 'parked', 'hibernated', 'expired'];
const PAGES = { sessions: { default: 50, min: 1, max: 500 }, messages: { default: 200, min: 1, max: 1000 } };

export const listSessions: Handler = async (exchange, context) => {
  const query = new URLSearchParams(exchange.query);
  const state = readState(query);
  const search = query.get('search');
  const cursor = query.get('cursor');
  const key = query.get('key');
  const page = await context.sessions.list({
    ...(key === null ? {} : { principal: key }),
    ...ownOnly(exchange),
    ...(state === undefined ? {} : { state }),
    ...(search === null || search === '' ? {} : { search }),
    ...(cursor === null ? {} : { cursor }),
    limit: readInteger(query, 'limit', PAGES.sessions),
  });
  const data = await sessionsToWire(context, page.items);
  sendJson(exchange, 200, { data, next: page.next ?? null }, NO_STORE);
};

/** The newest messages, or those in front of a place. */
export const getSession: Handler = async (exchange, context, parameters) => {
  const query = new URLSearchParams(exchange.query);
  const limit = readInteger(query, 'limit', PAGES.messages);
  const end = Number.MAX_SAFE_INTEGER;
  const before = readInteger(query, 'before', { default: end, min: 0, max: end });
  const { id } = await findSession(exchange, context, parameters);
  const content = await context.sessions.read(id);
  if (content === undefined) throw unknownSession(id);
  const { session, messages, open } = content;
  const answer: SessionContentWire = {
    ...(await sessionToWire(context, session)),
    messages: messagesToWire(messages, { before, limit }, hrefIn(id)),
    total: messages.length,
    open_calls: open.map(({ id: call, name, input }) => ({ id: call, name, input })),
  };
  sendJson(exchange, 200, answer, NO_STORE);
};

/** Ends the turn that runs, and what it started. */
export const deleteSession: Handler = async (exchange, context, parameters) => {
  const { id } = await findSession(exchange, context, parameters);
  if (!(await context.sessions.delete(id, exchange.principal.name))) throw unknownSession(id);
  sendStatus(exchange, 204);
};

export const forkSession: Handler = async (exchange, context, parameters) => {
  const { id } = await findSession(exchange, context, parameters);
  const forked = await context.sessions.fork(id);
  if (forked === undefined) throw unknownSession(id);
  sendJson(exchange, 201, await sessionToWire(context, forked), NO_STORE);
};

/** Whoever began the turn: what it has said and done so far stays. */
export const stopSession: Handler = async (exchange, context, parameters) => {
  const { id } = await findSession(exchange, context, parameters);
  const { name } = exchange.principal;
  const answer: StopAnswer = { stopped: await context.sessions.stop(id, name) };
  // Whoever has stopped it finds no question of it any more.
  if (answer.stopped) await context.approvals.cancelLeft(id, stoppedBy(name));
  sendJson(exchange, 200, answer, NO_STORE);
};

function readState(query: URLSearchParams): SessionState | undefined {
  const given = query.get('state');
  if (given === null) return undefined;
  const state = STATES.find((each) => each === given);
  if (state !== undefined) return state;
  throw new GatewayError('invalid_request', `state: expected one of ${STATES.join(', ')}.`, {
    param: 'state',
  });
}
