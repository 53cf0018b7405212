/**
 * Conversations with agents. Everyone sees and ends their own key's, an administrator all of them;
 * one that has expired is as unknown as another key's.
 */
import type { ToolUseBlock } from '../../core/conversation.js';
import { GatewayError } from '../../core/errors.js';
import type { SessionContent } from '../../sessions/sessions.js';
import type { Session, SessionState } from '../../store/sessions.js';
import type { UsageSum } from '../../store/usage.js';
import type { Handler, PathParameters, ServerContext } from '../context.js';
import type { Exchange } from '../exchange.js';
import { sendJson, sendStatus } from '../respond.js';
import { messageToWire } from './message-shape.js';
import { readInteger } from './query.js';
import { ownOnly } from './traces.js';

const STATES: readonly SessionState[] = ['live', 'parked', 'hibernated', 'expired'];
const NO_STORE = { 'cache-control': 'no-store' } as const;
/** More that wait are counted as this many. */
const MOST_APPROVALS = 100;

export const listSessions: Handler = async (exchange, { sessions }) => {
  const query = new URLSearchParams(exchange.query);
  const state = readState(query);
  const search = query.get('search');
  const cursor = query.get('cursor');
  const key = query.get('key');
  const page = await sessions.list({
    ...(key === null ? {} : { principal: key }),
    ...ownOnly(exchange),
    ...(state === undefined ? {} : { state }),
    ...(search === null || search === '' ? {} : { search }),
    ...(cursor === null ? {} : { cursor }),
    limit: readInteger(query, 'limit', { default: 50, min: 1, max: 500 }),
  });
  sendJson(exchange, 200, { data: page.items.map(toWire), next: page.next ?? null }, NO_STORE);
};

export const getSession: Handler = async (exchange, context, parameters) => {
  const { id } = await find(exchange, context, parameters);
  const content = await context.sessions.read(id);
  if (content === undefined) throw unknown(id);
  const [approvals, usage] = await Promise.all([waiting(context, id), usageOf(context, content.session)]);
  sendJson(exchange, 200, { ...contentToWire(content), pending_approvals: approvals, usage }, NO_STORE);
};

/** Ends the turn that runs, and what it started. */
export const deleteSession: Handler = async (exchange, context, parameters) => {
  const { id } = await find(exchange, context, parameters);
  if (!(await context.sessions.delete(id, exchange.principal.name))) throw unknown(id);
  sendStatus(exchange, 204);
};

export const forkSession: Handler = async (exchange, context, parameters) => {
  const { id } = await find(exchange, context, parameters);
  const forked = await context.sessions.fork(id);
  if (forked === undefined) throw unknown(id);
  sendJson(exchange, 201, toWire(forked), NO_STORE);
};

async function find(
  exchange: Exchange,
  { sessions }: ServerContext,
  { id = '' }: PathParameters,
): Promise<Session> {
  const session = await sessions.get(id);
  const { principal } = ownOnly(exchange);
  if (session === undefined || session.state === 'expired') throw unknown(id);
  if (principal !== undefined && session.principal !== principal) throw unknown(id);
  return session;
}

function readState(query: URLSearchParams): SessionState | undefined {
  const given = query.get('state');
  if (given === null) return undefined;
  const state = STATES.find((each) => each === given);
  if (state !== undefined) return state;
  throw new GatewayError('invalid_request', `state: expected one of ${STATES.join(', ')}.`, {
    param: 'state',
  });
}

async function waiting({ approvals }: ServerContext, session: string): Promise<number> {
  const { items } = await approvals.list({ session, state: 'pending', limit: MOST_APPROVALS });
  return items.length;
}

/** Null where nothing was asked in it yet. */
async function usageOf({ store }: ServerContext, session: Session): Promise<object | null> {
  const [sum] = await store.usage.summarise({
    from: session.createdAt - CLOCK_STEP_MS,
    to: Date.now() + CLOCK_STEP_MS,
    by: ['session'],
    session: session.id,
  });
  return sum === undefined ? null : usageToWire(sum);
}

/** A request begins before its session does. */
const CLOCK_STEP_MS = 3600 * 1000;

function usageToWire(sum: UsageSum): object {
  return {
    requests: sum.requests,
    errors: sum.errors,
    input_tokens: sum.inputTokens,
    output_tokens: sum.outputTokens,
    cache_read_tokens: sum.cacheReadTokens,
    cache_write_tokens: sum.cacheWriteTokens,
    cost_usd: sum.costUsd,
    unpriced_requests: sum.unpriced,
  };
}

function contentToWire({ session, messages, open }: SessionContent): object {
  return { ...toWire(session), messages: messages.map(messageToWire), open_calls: open.map(callToWire) };
}

function callToWire({ id, name, input }: ToolUseBlock): object {
  return { id, name, input };
}

function toWire(session: Session): object {
  return {
    id: session.id,
    key: session.principal,
    model: session.model,
    engine: session.engine,
    state: session.state,
    title: session.title ?? null,
    parent: session.parent ?? null,
    created_at: time(session.createdAt),
    updated_at: time(session.updatedAt),
    expires_at: time(session.expiresAt),
  };
}

function time(at: number): string {
  return new Date(at).toISOString();
}

function unknown(id: string): GatewayError {
  return new GatewayError(
    'not_found',
    `There is no session ${JSON.stringify(id.slice(0, 100))}. It may have expired or been deleted.`,
    { param: 'id', detail: 'session_not_found' },
  );
}
