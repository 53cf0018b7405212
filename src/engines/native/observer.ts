/**
 * What an agent does, told while it does it: for a terminal, an event stream, a trace. An observer
 * is told and never asked; one that throws is logged and changes nothing.
 */
import type { StopReason, Usage } from '../../core/conversation.js';
import type { ToolRunEvent } from '../../tools/runtime/runtime.js';

export type AgentObserver = (activity: AgentActivity) => void;

/** `agent`: the sub-agent that it is about; none for the main one. */
export type AgentActivity = { session: string; agent?: { id: string; label: string; parent: string } } & (
  | { type: 'model-start'; turn: number; model: string }
  /** Of a sub-agent: what the main one says is in the answer itself. */
  | { type: 'text'; text: string }
  | { type: 'thinking'; text: string }
  | { type: 'model-end'; turn: number; usage: Usage; stopReason: StopReason }
  | { type: 'tool'; event: ToolRunEvent }
  /** Calls that the client has to run. */
  | { type: 'handed-back'; ids: readonly string[] }
  | { type: 'agent-start'; description: string }
  | { type: 'agent-end'; turns: number; usage: Usage; cutShort?: string }
  | { type: 'compacted'; before: number; after: number }
  | { type: 'max-turns'; turns: number }
);
