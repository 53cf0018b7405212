/**
 * What an event of the gateway does to the state of the page. Pure, and tolerant: what is repeated,
 * stale or not known changes nothing. Whether something is missing is for the connection to find.
 */
import type { ActivityWire } from '../../../../src/activity/wire.js';
import type { ApprovalWire } from '../../../../src/server/console-api/wire/approvals.js';
import type {
  ConsoleEvent,
  Snapshot,
  TurnEventWire,
} from '../../../../src/server/console-api/wire/events.js';
import type { SessionWire } from '../../../../src/server/console-api/wire/sessions.js';
import { withoutDecided } from './agents.js';
import { withApproval, withPending } from './approvals.js';
import { timeOf } from './cards.js';
import type { ConsoleState, TurnView } from './console-state.js';
import { eventPosition, isKnown } from './event-ids.js';
import { applyChunk, askInTurn, beginTurn, endTurn, liveTurn } from './turns.js';

/** The clocks of two machines are never quite the same. */
const SKEW_STEP_MS = 500;
const ENDED_TURNS_KEPT = 50;
const SESSIONS_KEPT = 1_000;

/** All of them, or it does not compile. */
const CHUNKS: Readonly<Record<ActivityWire['type'], true>> = {
  text: true,
  thinking: true,
  tool_use: true,
  dropped: true,
  tool_input_delta: true,
  tool_start: true,
  tool_waiting: true,
  tool_progress: true,
  tool_result: true,
  handed_back: true,
  model_start: true,
  usage: true,
  agent_start: true,
  agent_end: true,
  compacted: true,
  max_turns: true,
};

/** Chunks that may make the card of a call about which a question is known. */
const MAKES_CARD: ReadonlySet<string> = new Set<ActivityWire['type']>(['tool_use', 'tool_waiting']);

/** `receivedAt`: by the clock of the browser; without it the skew stays as it is. */
export function applyEvent(state: ConsoleState, event: ConsoleEvent, receivedAt?: number): ConsoleState {
  if (event.type === 'snapshot') {
    if (isKnown(event.id, state.lastId)) return state;
    return withClock(onSnapshot(state, event, event.id), event.now, receivedAt);
  }
  const position = eventPosition(state.lastId, event);
  if (position === 'repeat' || position === 'foreign') return state;
  const next = { ...reduce(state, event), lastId: event.id };
  // The other events with a time are replayed to a client that reconnects.
  return event.type === 'ping' ? withClock(next, event.now, receivedAt) : next;
}

/** An approval as an answer of the gateway showed it, outside of the events. */
export function noteApproval(state: ConsoleState, approval: ApprovalWire): ConsoleState {
  const approvals = withApproval(state.approvals, approval);
  if (approvals === state.approvals) return state;
  const now = approvals.get(approval.id) ?? approval;
  const turn = state.turns.get(now.session);
  const asked = turn && askInTurn(turn, now);
  if (asked === undefined || asked === turn) return { ...state, approvals };
  return { ...state, approvals, turns: put(state.turns, now.session, asked) };
}

function reduce(state: ConsoleState, event: Exclude<ConsoleEvent, { type: 'snapshot' }>): ConsoleState {
  if (isChunk(event)) return onChunk(state, event);
  switch (event.type) {
    case 'turn':
      return onTurn(state, event);
    case 'approval':
      return noteApproval(state, event.approval);
    case 'session':
      return onSession(state, event);
    case 'rule':
      return changed(state, 'rules');
    case 'mcp':
      return changed(state, 'mcp');
    case 'request':
      return changed(state, 'requests');
    default:
      return state;
  }
}

function onSnapshot(state: ConsoleState, { approvals: pending, turns }: Snapshot, id: string): ConsoleState {
  const approvals = withPending(state.approvals, pending);
  const views = new Map<string, TurnView>();
  for (const [session, turn] of state.turns)
    if (turn.ended !== undefined) views.set(session, withQuestions(turn, approvals));
  const waiting = new Set(pending.map((approval) => approval.id));
  for (const live of turns)
    views.set(live.session, withQuestions(withoutDecided(liveTurn(live), waiting), approvals));
  const { sessions, rules, mcp, requests } = state.changes;
  return {
    ...state,
    approvals,
    turns: views,
    // Lists are fetched after the first snapshot; a later one means that events may have been missed.
    changes:
      state.lastId === null
        ? state.changes
        : { sessions: sessions + 1, rules: rules + 1, mcp: mcp + 1, requests: requests + 1 },
    missed: state.lastId === null ? state.missed : state.missed + 1,
    lastId: id,
  };
}

function onChunk(state: ConsoleState, chunk: ActivityWire): ConsoleState {
  const turn = state.turns.get(chunk.session);
  if (turn === undefined) return state;
  const applied = applyChunk(turn, chunk);
  if (applied === turn) return state;
  const next =
    'tool_use_id' in chunk && MAKES_CARD.has(chunk.type)
      ? withQuestions(applied, state.approvals, chunk.tool_use_id)
      : applied;
  return { ...state, turns: put(state.turns, chunk.session, next) };
}

function onTurn(state: ConsoleState, event: TurnEventWire): ConsoleState {
  const known = state.turns.get(event.session);
  if (event.state === 'began') {
    if (known?.turn === event.turn && known.ended === undefined) return state;
    return { ...state, turns: bounded(put(state.turns, event.session, beginTurn(event)), ENDED_TURNS_KEPT) };
  }
  if (known === undefined || known.turn !== event.turn) return state;
  return { ...state, turns: put(state.turns, event.session, endTurn(known, event)) };
}

function onSession(
  state: ConsoleState,
  event:
    | { what: 'created' | 'changed'; session: SessionWire }
    | { what: 'deleted' | 'expired'; session: { id: string } },
): ConsoleState {
  const session = event.what === 'created' || event.what === 'changed' ? event.session : null;
  const sessions = put(state.sessions, event.session.id, session);
  for (const id of sessions.keys()) {
    if (sessions.size <= SESSIONS_KEPT) break;
    sessions.delete(id);
  }
  return changed({ ...state, sessions }, 'sessions');
}

/** Approvals may arrive before the call that they are about; of one call, or of all. */
function withQuestions(turn: TurnView, approvals: ConsoleState['approvals'], call?: string): TurnView {
  let next = turn;
  for (const approval of approvals.values()) {
    if (approval.session !== turn.session || (call !== undefined && approval.tool_use_id !== call)) continue;
    // Upstreams use ids again: what was decided before the turn was about another call.
    const since = timeOf(approval.created_at) ?? 0;
    if (approval.state === 'pending' || since >= turn.beganAt) next = askInTurn(next, approval);
  }
  return next;
}

function withClock(state: ConsoleState, now: string, receivedAt: number | undefined): ConsoleState {
  const at = timeOf(now);
  if (at === undefined || receivedAt === undefined) return state;
  const skewMs = at - receivedAt;
  return Math.abs(skewMs - state.skewMs) < SKEW_STEP_MS ? state : { ...state, skewMs };
}

function changed(state: ConsoleState, what: keyof ConsoleState['changes']): ConsoleState {
  return { ...state, changes: { ...state.changes, [what]: state.changes[what] + 1 } };
}

function isChunk(event: ConsoleEvent): event is ConsoleEvent & ActivityWire {
  return Object.hasOwn(CHUNKS, event.type);
}

/** The newest is last. */
function put<T>(map: ReadonlyMap<string, T>, key: string, value: T): Map<string, T> {
  const next = new Map(map);
  next.set(key, value);
  return next;
}

function bounded(turns: Map<string, TurnView>, kept: number): Map<string, TurnView> {
  let ended = 0;
  for (const turn of turns.values()) if (turn.ended !== undefined) ended += 1;
  for (const [session, turn] of turns) {
    if (ended <= kept) break;
    if (turn.ended === undefined) continue;
    turns.delete(session);
    ended -= 1;
  }
  return turns;
}
