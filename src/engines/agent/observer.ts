/**
 * What an agent does, told while it does it: for a terminal, an event stream, a trace. An observer
 * is told and never asked; one that throws is logged and changes nothing.
 */
import type { StopReason, Usage } from '../../core/conversation.js';
import type { Log } from '../../observability/log.js';
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

/** An activity without who it is of. */
export type AgentActivityBody = AgentActivity extends infer Activity
  ? Activity extends AgentActivity
    ? Omit<Activity, 'session' | 'agent'>
    : never
  : never;

/** Told of everything; what it throws is logged and changes nothing. */
export function safeObserver(observe: AgentObserver | undefined, log: Log): AgentObserver {
  if (observe === undefined) return () => {};
  return (activity) => {
    try {
      observe(activity);
    } catch (error) {
      log.warn({ err: error, activity: activity.type }, 'an observer of the agent failed');
    }
  };
}

/** Names whose activity it is. */
export function notifierOf(
  notify: AgentObserver,
  session: string,
  agent?: { id: string; label: string; parent: string },
): (activity: AgentActivityBody) => void {
  const who = agent === undefined ? { session } : { session, agent };
  return (activity) => notify({ ...activity, ...who });
}
