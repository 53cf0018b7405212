/**
 * `GET /api/events`: everything that the console shows, as server-sent events without a name; the
 * kind is in `type`. Each has an id (`EPOCH.SEQ`); `Last-Event-ID` (or `?last_event_id=`) goes on
 * behind it where the gateway still has what followed, else the stream begins with a snapshot.
 * `prev` is the id of the event in front of it on this stream: whoever finds another one there has
 * missed something and connects again. A reader that is too slow is disconnected, and comes back.
 */
import type { ApprovalWire, RuleWire } from './approvals.js';
import type { SessionWire } from './sessions.js';
import type { AgentRef, BlockWire, Time, TokenCounts } from './shared.js';

export type ConsoleEvent = { id: string; prev: string | null } & (
  | Snapshot
  | Chunk
  | TurnEventWire
  | { type: 'approval'; what: 'requested' | 'updated' | 'resolved'; approval: ApprovalWire; now: Time }
  | { type: 'session'; what: 'created' | 'changed'; session: SessionWire }
  | { type: 'session'; what: 'deleted' | 'expired'; session: { id: string } }
  | { type: 'rule'; what: 'added' | 'revoked'; rule: RuleWire }
  /** A server or its tools changed: fetch `/api/mcp`. */
  | { type: 'mcp'; server: string; state: string }
  /** A request was answered: its line in `/api/traces`. */
  | { type: 'request'; trace: unknown }
  | { type: 'ping'; now: Time }
);

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
  chunks: Chunk[];
  /** It became so long that the first of it was left out; what is kept of it is in `GET /api/sessions/:id`. */
  truncated?: boolean;
}

/** `end`: only with `ended`. */
export type TurnEventWire = { type: 'turn'; session: string; turn: string } & (
  | { state: 'began'; began_at: Time; model: string; message: BlockWire[] }
  | {
      state: 'ended';
      end: 'complete' | 'parked' | 'stopped' | 'broken' | 'failed';
      stop_reason: string | null;
      /** What to do next is in its message. */
      error: { type: string; message: string } | null;
    }
);

/** A piece of what an agent or a model does. `agent` is null for the main one. */
export type Chunk = { session: string; turn: string; agent: AgentRef | null; at: Time } & (
  | { type: 'text'; text: string }
  | { type: 'thinking'; text: string }
  /** A call begins; its arguments follow as `tool_input_delta`. */
  | { type: 'tool_use'; tool_use_id: string; name: string; complete: false }
  /**
   * The call is whole, and `tool_use_id` is the id that results, approvals and the transcript have.
   * `was`: it began under this one. `truncated`: long texts of the input are cut here.
   */
  | {
      type: 'tool_use';
      tool_use_id: string;
      name: string;
      complete: true;
      input: unknown;
      was?: string;
      truncated?: boolean;
    }
  /** Calls that had begun and will not be made: the answer broke off, and is asked for again. */
  | { type: 'dropped'; tool_use_ids: string[] }
  | { type: 'tool_input_delta'; tool_use_id: string; delta: string }
  /** It runs. */
  | {
      type: 'tool_start';
      tool_use_id: string;
      name: string;
      kind: string;
      title: string;
      command: string | null;
      diff: string | null;
      /** Why it was let through: "rule Bash(git:*) of the configuration", "allowed by alice (console)". */
      because: string | null;
    }
  /** It waits for a person. */
  | { type: 'tool_waiting'; tool_use_id: string; name: string; title: string; approval: string | null }
  /** What is new of what it prints or says. */
  | { type: 'tool_progress'; tool_use_id: string; name: string; text: string }
  | {
      type: 'tool_result';
      tool_use_id: string;
      name: string;
      outcome: string;
      is_error: boolean;
      duration_ms: number;
      content: BlockWire[];
      /** The text of `content` with its terminal codes, where it has any. In no transcript. */
      shown?: string;
      /** The whole of it is in `GET /api/sessions/:id`. */
      truncated: boolean;
      because: string | null;
    }
  /** Calls that the client has to run. */
  | { type: 'handed_back'; tool_use_ids: string[] }
  | { type: 'model_start'; step: number; model: string }
  | { type: 'usage'; step: number; stop_reason: string; usage: TokenCounts }
  | { type: 'agent_start'; description: string }
  | { type: 'agent_end'; turns: number; usage: TokenCounts; cut_short: string | null }
  | { type: 'compacted'; tokens_before: number; tokens_after: number }
  | { type: 'max_turns'; turns: number }
);
