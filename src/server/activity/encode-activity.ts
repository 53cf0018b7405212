/**
 * What an agent did, as a line of a stream that only those see who look for it. It is a comment of
 * the event stream: every reader of such streams skips those, while the official clients take an
 * event of any name for a piece of the answer.
 */
import type { AgentActivity } from '../../activity/activity.js';
import type { JsonObject, ToolResultContent, Usage } from '../../core/conversation.js';
import type { ToolRunEvent } from '../../tools/runtime/runtime.js';
import type { TokenCounts } from '../console-api/wire/shared.js';

/** Characters of the longest texts. */
export const SHOWN = { title: 300, command: 1_000, preview: 2_000, name: 200 } as const;

/** Undefined for what is not told: words, and calls as they come. The answer itself is of those. */
export function describeActivity(activity: AgentActivity): JsonObject | undefined {
  switch (activity.type) {
    case 'tool':
      return describeTool(activity.event);
    case 'model-start':
      return { type: 'model_start', turn: activity.step, model: cut(activity.model, SHOWN.name) };
    case 'model-end':
      return {
        type: 'model_end',
        turn: activity.step,
        stop_reason: activity.stopReason,
        usage: usageToWire(activity.usage),
      };
    case 'handed-back':
      return { type: 'handed_back', tool_use_ids: activity.ids };
    case 'agent-start':
      return { type: 'agent_start', description: cut(activity.description, SHOWN.title) };
    case 'agent-end':
      return {
        type: 'agent_end',
        turns: activity.steps,
        usage: usageToWire(activity.usage),
        cut_short: activity.cutShort === undefined ? null : cut(activity.cutShort, SHOWN.title),
      };
    case 'compacted':
      return { type: 'compacted', tokens_before: activity.before, tokens_after: activity.after };
    case 'max-steps':
      return { type: 'max_turns', turns: activity.steps };
    case 'text':
    case 'thinking':
    case 'call-began':
    case 'call-input':
    case 'call-whole':
    case 'calls-dropped':
      return undefined;
  }
}

export function encodeActivity(activity: AgentActivity, seq: number): string | undefined {
  const what = describeActivity(activity);
  if (what === undefined) return undefined;
  const { session, agent } = activity;
  const { type, ...rest } = what;
  const line = { type, seq, session, agent: agent === undefined ? null : agentToWire(agent), ...rest };
  return `: toolgate ${oneLine(JSON.stringify(line))}\n\n`;
}

function describeTool(event: ToolRunEvent): JsonObject {
  const base = { tool_use_id: event.id, tool: cut(event.name, SHOWN.name) };
  switch (event.type) {
    case 'tool-start': {
      const { title, kind, command } = event.describe;
      return {
        type: 'tool_start',
        ...base,
        kind,
        title: cut(title, SHOWN.title),
        command: command === undefined ? null : cut(command, SHOWN.command),
      };
    }
    case 'tool-waiting':
      return {
        type: 'tool_waiting',
        ...base,
        approval: event.approval ?? null,
        title: cut(event.describe.title, SHOWN.title),
      };
    case 'tool-progress':
      return { type: 'tool_progress', ...base, text: cut(event.content, SHOWN.preview) };
    case 'tool-result': {
      const text = textOf(event.content);
      return {
        type: 'tool_result',
        ...base,
        outcome: event.outcome,
        is_error: event.isError,
        duration_ms: Math.round(event.durationMs),
        preview: cut(text, SHOWN.preview),
        truncated: text.length > SHOWN.preview,
      };
    }
  }
}

function textOf(content: readonly ToolResultContent[]): string {
  let text = '';
  for (const part of content) {
    if (text !== '') text += '\n';
    text += part.type === 'text' ? part.text : `[${part.type === 'opaque' ? part.kind : part.type}]`;
    if (text.length > SHOWN.preview) break;
  }
  return text;
}

function agentToWire({ id, label, parent }: { id: string; label: string; parent: string }): JsonObject {
  return { id, label: cut(label, SHOWN.title), parent };
}

export function usageToWire(usage: Usage): TokenCounts {
  return {
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cache_read_tokens: usage.cacheReadTokens,
    cache_write_tokens: usage.cacheWriteTokens,
  };
}

/** Never between the two halves of a character. */
export function cut(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const code = text.charCodeAt(limit - 1);
  return text.slice(0, code >= 0xd800 && code <= 0xdbff ? limit - 1 : limit);
}

/** JSON leaves signs as they are that some readers take for the end of a line. */
function oneLine(json: string): string {
  return json.replace(
    /[\u007f-\u009f\u2028\u2029]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
