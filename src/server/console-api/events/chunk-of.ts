/** What an agent does, in the words of the event stream. */
import type { ActiveAgent, AgentActivity } from '../../../activity/activity.js';
import type { ToolRunEvent } from '../../../tools/runtime/runtime.js';
import { cut, usageToWire } from '../../activity/encode-activity.js';
import type { Chunk } from '../wire/events.js';
import type { AgentRef } from '../wire/shared.js';
import { explain } from './explain.js';
import type { EventLimits } from './limits.js';
import { inputToShow, resultToShow } from './preview.js';

type Distributed<Each> = Each extends unknown ? Omit<Each, 'session' | 'turn' | 'agent' | 'at'> : never;
type ChunkBody = Distributed<Chunk>;

export function chunkOf(
  activity: AgentActivity,
  { turn, at }: { turn: string; at: string },
  limits: EventLimits,
): Chunk {
  const { session, agent } = activity;
  return {
    ...bodyOf(activity, limits),
    session,
    turn,
    agent: agent === undefined ? null : agentToWire(agent, limits),
    at,
  };
}

function bodyOf(activity: AgentActivity, limits: EventLimits): ChunkBody {
  switch (activity.type) {
    case 'text':
    case 'thinking':
      return { type: activity.type, text: activity.text };
    case 'call-began':
      return { type: 'tool_use', tool_use_id: activity.id, name: activity.name, complete: false };
    case 'call-input':
      return { type: 'tool_input_delta', tool_use_id: activity.id, delta: activity.json };
    case 'call-whole': {
      const { id, was, name } = activity;
      const { input, truncated } = inputToShow(activity.input, limits.inputChars);
      return {
        type: 'tool_use',
        tool_use_id: id,
        name,
        complete: true,
        input,
        ...(was === undefined ? {} : { was }),
        ...(truncated ? { truncated } : {}),
      };
    }
    case 'calls-dropped':
      return { type: 'dropped', tool_use_ids: [...activity.ids] };
    case 'tool':
      return toolBody(activity.event, limits);
    case 'handed-back':
      return { type: 'handed_back', tool_use_ids: [...activity.ids] };
    case 'model-start':
      return { type: 'model_start', step: activity.step, model: activity.model };
    case 'model-end':
      return {
        type: 'usage',
        step: activity.step,
        stop_reason: activity.stopReason,
        usage: usageToWire(activity.usage),
      };
    case 'agent-start':
      return { type: 'agent_start', description: cut(activity.description, limits.titleChars) };
    case 'agent-end':
      return {
        type: 'agent_end',
        turns: activity.steps,
        usage: usageToWire(activity.usage),
        cut_short: activity.cutShort === undefined ? null : cut(activity.cutShort, limits.titleChars),
      };
    case 'compacted':
      return { type: 'compacted', tokens_before: activity.before, tokens_after: activity.after };
    case 'max-steps':
      return { type: 'max_turns', turns: activity.steps };
  }
}

function toolBody(event: ToolRunEvent, limits: EventLimits): ChunkBody {
  const base = { tool_use_id: event.id, name: event.name };
  switch (event.type) {
    case 'tool-start': {
      const { title, kind, command, diff } = event.describe;
      return {
        type: 'tool_start',
        ...base,
        kind,
        title: cut(title, limits.titleChars),
        command: command === undefined ? null : cut(command, limits.commandChars),
        diff: diff === undefined ? null : cut(diff, limits.diffChars),
        because: explain(event.because, true),
      };
    }
    case 'tool-waiting':
      return {
        type: 'tool_waiting',
        ...base,
        title: cut(event.describe.title, limits.titleChars),
        approval: event.approval ?? null,
      };
    case 'tool-progress':
      return { type: 'tool_progress', ...base, text: cut(event.content, limits.progressChars) };
    case 'tool-result':
      return {
        type: 'tool_result',
        ...base,
        outcome: event.outcome,
        is_error: event.isError,
        duration_ms: Math.round(event.durationMs),
        ...resultToShow(event.content, limits),
        ...(event.shown === undefined || event.shown.length > limits.resultChars
          ? {}
          : { shown: event.shown }),
        because: explain(event.because, RAN.has(event.outcome)),
      };
  }
}

/** Outcomes of calls that were let through. */
const RAN: ReadonlySet<string> = new Set(['done', 'failed', 'aborted', 'timed-out']);

function agentToWire({ id, label, parent, call }: ActiveAgent, { titleChars }: EventLimits): AgentRef {
  return { id, label: cut(label, titleChars), parent: call ?? parent };
}
