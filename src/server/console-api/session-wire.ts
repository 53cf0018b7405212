/** Sessions as `/api` and `/api/events` show them. However many there are, the store is asked the same few things. */
import { mayTakeOver } from '../../sessions/persistence/lease-keeper.js';
import type { Sessions } from '../../sessions/sessions.js';
import { sessionLease } from '../../store/leases.js';
import type { ListedSession, Session } from '../../store/sessions.js';
import type { Store } from '../../store/store.js';
import type { UsageSum } from '../../store/usage.js';
import { nothingToResume } from './chat/chat-plan.js';
import type { SessionUsageWire, SessionWire } from './wire/sessions.js';

export interface SessionFacts {
  sessions: Pick<Sessions, 'get' | 'standing'>;
  store: {
    usage: Pick<Store['usage'], 'summarise'>;
    approvals: Pick<Store['approvals'], 'waiting'>;
    leases: Pick<Store['leases'], 'holders'>;
    runs: Pick<Store['runs'], 'ofSessions'>;
  };
}

/** A request begins before its session does. */
const CLOCK_STEP_MS = 3600 * 1000;

/** Undefined for one that is gone. */
export async function describeSession(facts: SessionFacts, id: string): Promise<SessionWire | undefined> {
  const session = await facts.sessions.get(id);
  return session === undefined || session.state === 'expired' ? undefined : sessionToWire(facts, session);
}

export async function sessionToWire(facts: SessionFacts, session: Session): Promise<SessionWire> {
  const [wire] = await sessionsToWire(facts, [session]);
  if (wire === undefined) throw new Error('A session was described as none.');
  return wire;
}

export async function sessionsToWire(
  facts: SessionFacts,
  sessions: readonly ListedSession[],
): Promise<SessionWire[]> {
  if (sessions.length === 0) return [];
  const { store } = facts;
  const ids = sessions.map(({ id }) => id);
  const standings = new Map(sessions.map((session) => [session.id, facts.sessions.standing(session)]));
  // A turn that does not run here may run in another process.
  const idle = ids.filter((id) => standings.get(id)?.turn?.running === false);
  const [waiting, usage, held] = await Promise.all([
    store.approvals.waiting(ids),
    usageOf(store, sessions),
    idle.length === 0 ? new Map<string, string>() : store.leases.holders(idle.map(sessionLease)),
  ]);
  const isElsewhere = (id: string): boolean => {
    const holder = held.get(sessionLease(id));
    return holder !== undefined && !mayTakeOver(holder);
  };
  const isInterrupted = (id: string): boolean => {
    const turn = standings.get(id)?.turn;
    return turn !== undefined && !turn.running && !turn.stopped && !isElsewhere(id);
  };
  const interrupted = new Set(ids.filter(isInterrupted));
  const runs = interrupted.size === 0 ? undefined : await store.runs.ofSessions([...interrupted]);
  return sessions.map((session) => {
    const { id } = session;
    const standing = standings.get(id);
    return {
      id,
      key: session.principal,
      model: session.model,
      engine: engineOf(session.engine),
      state: session.state,
      title: session.title ?? null,
      parent: session.parent ?? null,
      pinned: session.pinnedAt !== undefined,
      archived: session.archivedAt !== undefined,
      mode: session.mode ?? null,
      root: standing?.root || null,
      created_at: time(session.createdAt),
      updated_at: time(session.updatedAt),
      expires_at: time(session.expiresAt),
      running: standing?.turn?.running === true || isElsewhere(id),
      interrupted: interrupted.has(id),
      resumable: interrupted.has(id) && nothingToResume(id, standing, runs?.get(id)) === undefined,
      pending_approvals: waiting.get(id) ?? 0,
      usage: usage.get(id) ?? null,
      ...(session.match && { match: session.match }),
    };
  });
}

async function usageOf(
  { usage }: SessionFacts['store'],
  sessions: readonly Session[],
): Promise<Map<string, SessionUsageWire>> {
  const sums = await usage.summarise({
    from: Math.min(...sessions.map(({ createdAt }) => createdAt)) - CLOCK_STEP_MS,
    to: Date.now() + CLOCK_STEP_MS,
    by: ['session'],
    sessions: sessions.map(({ id }) => id),
  });
  return new Map(sums.map((sum) => [sum.group.session ?? '', usageToWire(sum)]));
}

/** Null where nothing is known of what it cost, which is not the same as nothing. */
export function costToWire({ requests, unpriced, costUsd }: UsageSum): number | null {
  return unpriced === requests ? null : costUsd;
}

function usageToWire(sum: UsageSum): SessionUsageWire {
  return {
    requests: sum.requests,
    errors: sum.errors,
    input_tokens: sum.inputTokens,
    output_tokens: sum.outputTokens,
    cache_read_tokens: sum.cacheReadTokens,
    cache_write_tokens: sum.cacheWriteTokens,
    cost_usd: costToWire(sum),
    unpriced_requests: sum.unpriced,
  };
}

/** Of what the store keeps as text. */
function engineOf(name: string): SessionWire['engine'] {
  return name === 'native' || name === 'claude-code' ? name : 'relay';
}

function time(at: number): string {
  return new Date(at).toISOString();
}
