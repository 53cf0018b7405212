/**
 * Mirrors what Claude Code's own tools have read and written into the state of the gateway's tools:
 * to them a file that was just read must count as read.
 */
import type { HookInput } from '@anthropic-ai/claude-agent-sdk';
import type { JsonObject } from '../../../core/conversation.js';
import { isObject } from '../../../core/is-object.js';
import type { OpenToolState } from '../../../tools/runtime/runtime.js';
import { readSnapshot } from '../../../tools/runtime/snapshot.js';
import { realTarget } from '../../../workspace/real-path.js';
import { readTextFile } from '../../../workspace/text-file.js';

/** Tools after which the file that they name is known, by the field with its path. */
const FILE_FIELDS: Readonly<Record<string, string>> = {
  Read: 'file_path',
  Write: 'file_path',
  Edit: 'file_path',
};

/** After a call of the main agent that went well. Never rejects. */
export async function mirrorToolCall(input: HookInput, session: OpenToolState, now: number): Promise<void> {
  if (input.hook_event_name !== 'PostToolUse' || input.agent_id !== undefined) return;
  const given = isObject(input.tool_input) ? input.tool_input : {};
  if (input.tool_name === 'TodoWrite') {
    session.todos.replace(readSnapshot({ todos: given['todos'] }).todos);
    return;
  }
  const path = given[FILE_FIELDS[input.tool_name] ?? ''];
  if (typeof path !== 'string') return;
  try {
    const real = realTarget(path);
    const file = await readTextFile(real);
    if (file === undefined) return;
    const lines = input.tool_name === 'Read' ? linesOf(given) : undefined;
    session.files.set(real, { ...file.version, readAt: now, ...(lines === undefined ? {} : { lines }) });
  } catch {
    // No text, too large, gone again: then it is read once more before it is changed.
  }
}

function linesOf({ offset, limit }: JsonObject): { from: number; to: number } | undefined {
  if (typeof offset !== 'number' && typeof limit !== 'number') return undefined;
  const from = typeof offset === 'number' && offset > 0 ? offset : 1;
  return { from, to: typeof limit === 'number' ? from + limit - 1 : Number.MAX_SAFE_INTEGER };
}
