/**
 * Conversations that are kept. Everyone sees and ends their own key's, an administrator all of them;
 * one that has expired is as unknown as another key's.
 */
import { encodeBlock, type HrefOf } from '../../activity/encode.js';
import type { Message } from '../../core/conversation.js';
import { GatewayError } from '../../core/errors.js';
import { turnsOf } from '../../sessions/history/user-turns.js';
import type { Sessions } from '../../sessions/sessions.js';
import type { Session, SessionQuery, SessionState } from '../../store/sessions.js';
import type { Page } from '../../store/store.js';
import type { Exchange } from '../http/exchange.js';
import { readInteger } from '../http/read-request.js';
import { NO_STORE, sendJson, sendStatus } from '../http/respond.js';
import { stoppedBy } from './approvals.js';
import { forwardToOwner } from './at-owner.js';
import { chatBody } from './chat/chat-plan.js';
import { messageBody } from './chat/chat-queue.js';
import type { ConsoleApiContext, ConsoleApiHandler } from './context.js';
import { hrefIn } from './media.js';
import { findSession, ownOnly, readJson, unknownSession } from './request.js';
import { labelsBody } from './session-labels.js';
import { checkModeChange } from './session-mode.js';
import { recordsToWire } from './session-record.js';
import { type SessionFacts, sessionsToWire, sessionToWire } from './session-wire.js';
import {
  ARCHIVED_CHOICES,
  type MessageWire,
  SESSION_STATUSES,
  type SessionContentWire,
  type SessionStatus,
  type SessionWire,
  type StopAnswer,
  sessionStatus,
} from './wire/sessions.js';

/** Starts a turn, or resumes an interrupted one. The gateway owns the turn: no client has to wait for it. */
export const startChat: ConsoleApiHandler = async (exchange, context) => {
  const body = await readJson(exchange, context, chatBody, context.limits.bodyBytes);
  const session = body.session === undefined ? undefined : await context.sessions.get(body.session);
  if (session?.principal === exchange.principal.name) {
    const sent = () => Buffer.from(JSON.stringify(body));
    if (await forwardToOwner(exchange, context, session, sent)) return;
  }
  if (body.mode !== undefined) {
    checkModeChange({ to: body.mode, from: undefined, ...boundsOf(exchange, context) });
  }
  const started = await context.chat.start(body, exchange.principal);
  sendJson(exchange, 202, started, NO_STORE);
};

export const resumeSession: ConsoleApiHandler = async (exchange, context, parameters) => {
  const { id } = await findSession(exchange, context, parameters);
  sendJson(exchange, 202, await context.chat.resume(id), NO_STORE);
};

const STATES: readonly SessionState[] = ['live', 'parked', 'hibernated', 'expired'];
const PAGES = { sessions: { default: 50, min: 1, max: 500 }, messages: { default: 200, min: 1, max: 1000 } };

/** `status` is what it does, `state` how it is kept. */
export const listSessions: ConsoleApiHandler = async (exchange, context) => {
  const query = new URLSearchParams(exchange.query);
  const state = readOne(query, 'state', STATES);
  const status = readOne(query, 'status', SESSION_STATUSES);
  const search = query.get('search');
  const cursor = query.get('cursor');
  const key = query.get('key');
  const archived = readOne(query, 'archived', ARCHIVED_CHOICES) ?? 'exclude';
  const pinned = readOne(query, 'pinned', ['true', 'false']);
  const asked = {
    ...(key === null ? {} : { principal: key }),
    ...ownOnly(exchange),
    ...(state === undefined ? {} : { states: [state] }),
    ...(search === null ? {} : { search, signal: exchange.signal }),
    ...(cursor === null ? {} : { cursor }),
    ...(archived === 'include' ? {} : { archived: archived === 'only' }),
    ...(pinned === undefined ? {} : { pinned: pinned === 'true' }),
    limit: readInteger(query, 'limit', PAGES.sessions),
  };
  const list = () => (status === undefined ? listAll(context, asked) : listByStatus(context, asked, status));
  const { items, next } = await (search === null
    ? list()
    : context.searchLimit.run(exchange.principal.name, list));
  // What a session does now is only in part in the store, and a search ends with its page.
  const isCounted = search === null && status === undefined;
  const total = isCounted ? await context.sessions.count(asked) : null;
  sendJson(exchange, 200, { data: items, next: next ?? null, total }, NO_STORE);
};

/** The newest messages, or those before a position. */
export const getSession: ConsoleApiHandler = async (exchange, context, parameters) => {
  const query = new URLSearchParams(exchange.query);
  const limit = readInteger(query, 'limit', PAGES.messages);
  const end = Number.MAX_SAFE_INTEGER;
  const before = readInteger(query, 'before', { default: end, min: 0, max: end });
  const { id } = await findSession(exchange, context, parameters);
  // Each message of the model is written once, and so are the results that follow it.
  const content = await context.sessions.read(id, { records: before === end ? limit : end });
  if (content === undefined) throw unknownSession(id);
  const { session, readable: messages, open, records } = content;
  const shown = messagesToWire(messages, { before, limit }, hrefIn(id));
  const answer: SessionContentWire = {
    ...(await sessionToWire(context, session)),
    messages: shown,
    total: messages.length,
    open_calls: open.map(({ id: call, name, input }) => ({ id: call, name, input })),
    turns: recordsToWire(records, new Set(shown.map(({ turn }) => turn))),
  };
  sendJson(exchange, 200, answer, NO_STORE);
};

/** Any node writes it: a turn that runs elsewhere is not disturbed. */
export const labelSession: ConsoleApiHandler = async (exchange, context, parameters) => {
  const labels = await readJson(exchange, context, labelsBody);
  const { id, mode: from } = await findSession(exchange, context, parameters);
  if (labels.mode !== undefined) checkModeChange({ to: labels.mode, from, ...boundsOf(exchange, context) });
  const labelled = await context.sessions.label(id, labels);
  if (labelled === undefined) throw unknownSession(id);
  // What waits here is judged anew before this is answered; other nodes hear of the change.
  if (labels.mode !== undefined) await context.approvals.modeChanged(id);
  sendJson(exchange, 200, await sessionToWire(context, labelled), NO_STORE);
};

function boundsOf({ principal }: Exchange, { permissions }: Pick<ConsoleApiContext, 'permissions'>) {
  return { principal, configured: permissions.mode };
}

/** Ends the turn that runs, and what it started. */
export const deleteSession: ConsoleApiHandler = async (exchange, context, parameters) => {
  const { id } = await findSession(exchange, context, parameters);
  if (!(await context.sessions.delete(id, exchange.principal.name))) throw unknownSession(id);
  sendStatus(exchange, 204);
};

export const forkSession: ConsoleApiHandler = async (exchange, context, parameters) => {
  const { id } = await findSession(exchange, context, parameters);
  const forked = await context.sessions.fork(id);
  if (forked === undefined) throw unknownSession(id);
  sendJson(exchange, 201, await sessionToWire(context, forked), NO_STORE);
};

/** Any client may have begun the turn; what it has said and done so far stays. */
export const stopSession: ConsoleApiHandler = async (exchange, context, parameters) => {
  const { id } = await findSession(exchange, context, parameters);
  const { name } = exchange.principal;
  // First: the end of the turn says the next one.
  const withdrawn = await context.queue.withdraw(id);
  const stopped = await context.sessions.stop(id, name);
  // What the turn had taken and did not come to say.
  withdrawn.push(...(await context.queue.withdraw(id)));
  const answer: StopAnswer = { stopped, withdrawn };
  // When the answer arrives, no question of the turn is pending.
  if (answer.stopped) await context.approvals.cancelAbandoned(id, stoppedBy(name));
  sendJson(exchange, 200, answer, NO_STORE);
};

/** Says something while a turn runs: into it, or after it. Only in a session of one's own. */
export const sayMessage: ConsoleApiHandler = async (exchange, context, parameters) => {
  const body = await readJson(exchange, context, messageBody);
  const session = await findOwnSession(exchange, context, parameters);
  const outcome = await context.queue.say(session, body, exchange.principal);
  sendJson(exchange, 202, outcome.kind === 'started' ? outcome.started : outcome.message, NO_STORE);
};

export const listMessages: ConsoleApiHandler = async (exchange, context, parameters) => {
  const { id } = await findSession(exchange, context, parameters);
  sendJson(exchange, 200, { data: context.queue.list(id) }, NO_STORE);
};

export const withdrawMessage: ConsoleApiHandler = async (exchange, context, parameters) => {
  const { id } = await findOwnSession(exchange, context, parameters);
  const { message = '' } = parameters;
  const withdrawn = await context.queue.withdraw(id, message);
  if (withdrawn.length === 0) throw unknownMessage(message);
  sendStatus(exchange, 204);
};

/** Also an administrator speaks only in their own: what is said is said by the session's key. */
async function findOwnSession(...given: Parameters<typeof findSession>): Promise<Session> {
  const session = await findSession(...given);
  const [{ principal }] = given;
  if (session.principal !== principal.name) throw unknownSession(session.id);
  return session;
}

function unknownMessage(id: string): GatewayError {
  return new GatewayError(
    'not_found',
    `No message ${JSON.stringify(id.slice(0, 100))} waits in this session. It may have been said already.`,
    { param: 'message', detail: 'message_not_found' },
  );
}

function readOne<T extends string>(query: URLSearchParams, name: string, known: readonly T[]): T | undefined {
  const given = query.get(name);
  if (given === null) return undefined;
  const found = known.find((each) => each === given);
  if (found !== undefined) return found;
  throw new GatewayError('invalid_request', `${name}: expected one of ${known.join(', ')}.`, { param: name });
}

/**
 * The messages in front of `before`, at most `limit` of them. Instructions in the middle of a
 * conversation are not said by anyone, and are left out; positions are those in the whole.
 */
function messagesToWire(
  messages: readonly Message[],
  { before, limit }: { before: number; limit: number },
  hrefOf: HrefOf,
): MessageWire[] {
  const turns = turnsOf(messages);
  const end = Math.min(before, messages.length);
  return messages.slice(Math.max(0, end - limit), end).flatMap(({ role, content }, offset) => {
    if (role === 'system') return [];
    const index = Math.max(0, end - limit) + offset;
    const blocks = content.map((block) => encodeBlock(block, hrefOf));
    return [{ index, turn: turns[index] ?? 0, role, content: blocks }];
  });
}

/** Where so many looks into the store have not filled the page, the next page goes on; a search is long enough. */
const MOST_LOOKS = { list: 20, search: 1 };

type ListContext = SessionFacts & { sessions: Pick<Sessions, 'list' | 'running'> };

async function listAll(context: ListContext, query: SessionQuery): Promise<Page<SessionWire>> {
  const { items, ...rest } = await context.sessions.list(query);
  return { items: await sessionsToWire(context, items), ...rest };
}

/** Those that do something certain now, which only in part is in the store. */
export async function listByStatus(
  context: ListContext,
  query: SessionQuery,
  status: SessionStatus,
): Promise<Page<SessionWire>> {
  const mostLooks = query.search === undefined ? MOST_LOOKS.list : MOST_LOOKS.search;
  const items: SessionWire[] = [];
  let { cursor } = query;
  const running = await context.sessions.running();
  for (let looks = 1; ; looks++) {
    const narrow = narrowed(status, running);
    const page = await context.sessions.list({
      ...query,
      ...narrow,
      ...(query.states && { states: narrow.states.filter((state) => query.states?.includes(state)) }),
      // Not one more than there is room for: the next page begins after the last that was read.
      limit: query.limit - items.length,
      ...(cursor === undefined ? {} : { cursor }),
    });
    const shown = await sessionsToWire(context, page.items);
    items.push(...shown.filter((session) => sessionStatus(session) === status));
    cursor = page.next;
    if (cursor === undefined) return { items };
    if (items.length >= query.limit || looks >= mostLooks) return { items, next: cursor };
  }
}

type Narrowed = Pick<SessionQuery, 'among' | 'except' | 'waiting' | 'turnOpen'> & {
  states: readonly SessionState[];
};

const LASTING = ['live', 'parked', 'hibernated'] as const;

/** All that can be in the state, and as few others as the store can tell. */
function narrowed(status: SessionStatus, running: readonly string[]): Narrowed {
  switch (status) {
    case 'waiting':
      return { states: LASTING, waiting: true };
    case 'running':
      return { states: LASTING, waiting: false, among: running };
    case 'interrupted':
      return { states: LASTING, waiting: false, except: running, turnOpen: true };
    case 'client':
      return { states: ['parked', 'hibernated'], waiting: false, except: running };
    case 'idle':
      return { states: ['live'], waiting: false, except: running };
  }
}
