/**
 * Tool calls that wait, and their results. A call is opened by `sessions.checkpoint` before it is
 * handed back or run, its result is recorded here before anything acts on it, and the checkpoint
 * that acts on it marks it used.
 */
import type { JsonObject, ToolResultContent } from '../core/conversation.js';

export interface NewToolCall {
  /** The tool_use id; an id is opened once in a session. */
  id: string;
  name: string;
  input: JsonObject;
  /** `server`: a built-in. Open without a result after a restart, it may or may not have run. */
  runBy: 'client' | 'server';
}

export interface PendingToolCall extends NewToolCall {
  session: string;
  state: 'open' | 'answered' | 'used';
  openedAt: number;
  result?: ToolCallResult;
}

interface ToolCallResult {
  content: ToolResultContent[];
  isError: boolean;
  recordedAt: number;
  /** The principal for a client's result, the node for one of its own (built-in, time-out). */
  recordedBy: string;
}

export interface NewToolCallResult {
  id: string;
  content: readonly ToolResultContent[];
  isError: boolean;
}

/** Each id is in one list. With a conflict or an unknown id nothing was written, and `recorded` is empty. */
export interface RecordOutcome {
  recorded: string[];
  /** The same result was there already (key order apart). */
  repeated: string[];
  /** Another result was first; it stands. */
  conflicts: { id: string; recordedAt: number; recordedBy: string }[];
  unknown: string[];
}

export interface ToolCallStore {
  /** Needs no lease: results arrive on any node, which records them before it notifies the owner. */
  record(session: string, results: readonly NewToolCallResult[], by: string): Promise<RecordOutcome>;
  /** Every call of the session in the order they were opened. */
  list(session: string): Promise<PendingToolCall[]>;
  /** Calls with these ids in the principal's sessions that have not expired. */
  find(principal: string, ids: readonly string[]): Promise<PendingToolCall[]>;
}
