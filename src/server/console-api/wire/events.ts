/**
 * `GET /api/events`: everything that the console shows, as server-sent events without a name; the
 * kind is in `type`. Each has an id (`EPOCH.SEQ`); `Last-Event-ID` (or `?last_event_id=`) goes on
 * after it where the gateway still has what followed, else the stream begins with a snapshot.
 * `prev` is the id of the event in front of it on this stream: a reader that finds another one there has
 * missed something and connects again. A reader that is too slow is disconnected, and comes back.
 */
import type { ActivityWire, BlockWire, Time, TurnEndWire } from '../../../activity/wire.js';
import type { ApprovalWire, RuleWire } from './approvals.js';
import type { SessionWire } from './sessions.js';

export type ConsoleEvent = { id: string; prev: string | null } & (
  | Snapshot
  | ActivityWire
  | TurnEventWire
  | { type: 'approval'; what: 'requested' | 'updated' | 'resolved'; approval: ApprovalWire; now: Time }
  | { type: 'session'; what: 'created' | 'changed'; session: SessionWire }
  | { type: 'session'; what: 'deleted' | 'expired'; session: { id: string } }
  | { type: 'rule'; what: 'added' | 'revoked'; rule: RuleWire }
  /** A server or its tools changed: fetch `/api/mcp`. */
  | { type: 'mcp'; server: string; state: string }
  /** A request was answered: its line in `/api/traces`. */
  | { type: 'request'; trace: unknown }
  | BudgetEventWire
  | { type: 'ping'; now: Time }
);

/** A key, or its team, has passed the soft limit of its budget; once a period and node. */
interface BudgetEventWire {
  type: 'budget';
  key: string;
  /** Where it is the budget of the team; `key` is whose request passed it. */
  team?: string;
  spent_usd: number;
  soft_usd: number;
  usd: number;
  per: 'day' | 'week' | 'month';
  resets_at: Time;
}

/** What is true now; everything before it can be forgotten. */
export interface Snapshot {
  type: 'snapshot';
  now: Time;
  /** All that wait for a person. */
  approvals: ApprovalWire[];
  turns: TurnSnapshotWire[];
}

/** A turn that runs, as if it had been watched from its beginning. */
export interface TurnSnapshotWire {
  session: string;
  turn: string;
  began_at: Time;
  model: string;
  /** What was said to begin it. */
  message: BlockWire[];
  /** In order, with consecutive pieces of the same text put together. */
  chunks: ActivityWire[];
  /** It became so long that the first of it was left out; what is kept of it is in `GET /api/sessions/:id`. */
  truncated?: boolean;
}

/** `end`: only with `ended`. */
export type TurnEventWire = { type: 'turn'; session: string; turn: string } & (
  | { state: 'began'; began_at: Time; model: string; message: BlockWire[] }
  | ({ state: 'ended' } & TurnEndWire)
);
