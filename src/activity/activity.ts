/**
 * What an agent does, reported as it happens: for a terminal, an event stream, a trace. An observer
 * only receives; an error that it throws is logged and changes nothing.
 */
import type { Block, JsonObject, StopReason, Usage } from '../core/conversation.js';
import type { GatewayError } from '../core/errors.js';
import type { Log } from '../observability/log.js';
import type { ToolRunEvent } from '../tools/runtime/runtime.js';
import type { ActivityRecord } from './wire.js';

export type AgentObserver = (activity: AgentActivity) => void;

/** `agent`: the sub-agent that it is about; none for the main one. */
export type AgentActivity = { session: string; agent?: ActiveAgent } & (
  | { type: 'model-start'; step: number; model: string }
  | { type: 'text'; text: string }
  | { type: 'thinking'; text: string }
  /** A call begins in the model's answer; `call-input` are pieces of the JSON text of its arguments. */
  | { type: 'call-began'; id: string; name: string }
  | { type: 'call-input'; id: string; json: string }
  /** It is whole. `id` is the one that its result will have; `was`: the one that it began under. */
  | { type: 'call-whole'; id: string; was?: string; name: string; input: JsonObject }
  /** Calls that had begun, and will not be made. */
  | { type: 'calls-dropped'; ids: readonly string[] }
  | { type: 'model-end'; step: number; usage: Usage; stopReason: StopReason }
  | { type: 'tool'; event: ToolRunEvent }
  /** Calls that the client has to run. */
  | { type: 'handed-back'; ids: readonly string[] }
  | { type: 'agent-start'; description: string }
  | { type: 'agent-end'; steps: number; usage: Usage; cutShort?: string }
  | { type: 'compacted'; before: number; after: number }
  | { type: 'max-steps'; steps: number }
);

export interface ActiveAgent {
  id: string;
  label: string;
  parent: string;
  /** The call that it works for, by the id that its result will have. */
  call?: string;
}

/** Receives every turn, whatever client asked for it and wherever the answer goes. */
export interface TurnWatcher {
  /** Never throws, and never keeps the turn waiting. */
  begin(turn: ObservedTurn): TurnSink;
}

export interface ObservedTurn {
  /** Of the request that began it. */
  id: string;
  session: string;
  principal: string;
  /** As the client named it. */
  model: string;
  /** What was said to begin it. */
  message: readonly Block[];
}

/** Receives the activities of one turn. After `end` it takes nothing more. */
export interface TurnSink {
  observe: AgentObserver;
  end(outcome: TurnOutcome): void;
  /**
   * What people were shown since the last call and the transcript does not say; undefined for nothing.
   * `outcome`: the turn comes to this end. Never throws.
   */
  takeRecord(outcome?: TurnOutcome): ActivityRecord | undefined;
}

/**
 * `parked`: calls wait for the client. `stopped`: its client left, or a person stopped it. `broken`: the gateway
 * stopped, or the session was lost. The same request resumes the last two.
 */
export interface TurnOutcome {
  end: 'complete' | 'parked' | 'stopped' | 'broken' | 'failed';
  stopReason?: StopReason;
  error?: GatewayError;
}

/** An activity without who it is of. */
export type AgentActivityBody = AgentActivity extends infer Activity
  ? Activity extends AgentActivity
    ? Omit<Activity, 'session' | 'agent'>
    : never
  : never;

/** Passes everything to `observe`; what that throws is logged and changes nothing. */
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
  agent?: ActiveAgent,
): (activity: AgentActivityBody) => void {
  const who = agent === undefined ? { session } : { session, agent };
  return (activity) => notify({ ...activity, ...who });
}
