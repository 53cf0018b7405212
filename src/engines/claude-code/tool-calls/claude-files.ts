/**
 * Files of Claude Code's own tools, as the gateway's need to know them: what was read and written, and
 * outputs that it saved.
 */
import { createWriteStream, existsSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { HookInput } from '@anthropic-ai/claude-agent-sdk';
import type { JsonObject, ToolResultBlock, ToolResultContent } from '../../../core/conversation.js';
import { isObject } from '../../../core/is-object.js';
import type { OpenToolState } from '../../../tools/runtime/runtime.js';
import { readSnapshot } from '../../../tools/runtime/tool-state-snapshot.js';
import { realTarget } from '../../../workspace/real-path.js';
import { openRegularFile } from '../../../workspace/regular-file.js';
import { readTextFile } from '../../../workspace/text-file.js';

const TRANSCRIPT = '.jsonl';
const FOLDER = 'tool-results';
/** The file names that it makes in the folder. */
const NAME = '[A-Za-z0-9_%-][A-Za-z0-9_.%-]*\\.(?:txt|json)';

/**
 * Outputs that are too large for Claude Code to tell whole: it saves them beside its transcript and
 * tells where. Its model may read them there; what is kept of the conversation names copies, because
 * the process takes its own files along.
 */
export class SavedOutputs {
  #folder: string | undefined;

  /** The same session, whose tools may read them as well. */
  readableIn(toolState: OpenToolState): OpenToolState {
    return {
      ...toolState,
      get cwd() {
        return toolState.cwd;
      },
      set cwd(cwd) {
        toolState.cwd = cwd;
      },
      ownPaths: () => [
        ...(toolState.ownPaths?.() ?? []),
        ...(this.#folder === undefined ? [] : [this.#folder]),
      ],
    };
  }

  /** `transcript`: its path, as hooks get it. */
  note(transcript: string): void {
    if (!transcript.endsWith(TRANSCRIPT)) return;
    this.#folder = join(transcript.slice(0, -TRANSCRIPT.length), FOLDER);
  }

  /** The result with files of the session in the place of the process's. Never rejects. */
  async keep(result: ToolResultBlock, toolState: OpenToolState): Promise<ToolResultBlock> {
    const folder = this.#folder;
    if (folder === undefined) return result;
    const content: ToolResultContent[] = [];
    for (const part of result.content) {
      content.push(
        part.type === 'text' ? { ...part, text: await withCopies(part.text, folder, toolState) } : part,
      );
    }
    return { ...result, content };
  }
}

async function withCopies(text: string, folder: string, toolState: OpenToolState): Promise<string> {
  let kept = text;
  const named = text.match(new RegExp(`${escaped(`${folder}/`)}${NAME}`, 'g')) ?? [];
  for (const path of new Set(named)) {
    const copy = await copyOf(path, toolState).catch(() => undefined);
    if (copy !== undefined) kept = kept.replaceAll(path, copy);
  }
  return kept;
}

async function copyOf(path: string, toolState: OpenToolState): Promise<string> {
  const copy = join(await toolState.scratch(), basename(path));
  // An earlier result named the same file.
  if (existsSync(copy)) return copy;
  // A link in its place could name any other file.
  const { handle } = await openRegularFile(join(realTarget(dirname(path)), basename(path)));
  const partial = `${copy}.partial`;
  await pipeline(handle.createReadStream(), createWriteStream(partial, { mode: 0o600 }));
  await rename(partial, copy);
  return copy;
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/** Tools after which the file that they name is known, by the field with its path. */
const FILE_FIELDS: Readonly<Record<string, string>> = {
  Read: 'file_path',
  Write: 'file_path',
  Edit: 'file_path',
};

/**
 * Mirrors what Claude Code's own tools have read and written into the state of the gateway's tools:
 * to them a file that was just read must count as read. After a call of the main agent that went well.
 * Never rejects.
 */
export async function mirrorToolCall(input: HookInput, toolState: OpenToolState, now: number): Promise<void> {
  if (input.hook_event_name !== 'PostToolUse' || input.agent_id !== undefined) return;
  const given = isObject(input.tool_input) ? input.tool_input : {};
  if (input.tool_name === 'TodoWrite') {
    toolState.todos.replace(readSnapshot({ todos: given['todos'] }).todos);
    return;
  }
  const path = given[FILE_FIELDS[input.tool_name] ?? ''];
  if (typeof path !== 'string') return;
  try {
    const real = realTarget(path);
    const file = await readTextFile(real);
    if (file === undefined) return;
    const lines = input.tool_name === 'Read' ? linesOf(given) : undefined;
    toolState.files.set(real, { ...file.version, readAt: now, ...(lines === undefined ? {} : { lines }) });
  } catch {
    // No text, too large, gone again: then it is read once more before it is changed.
  }
}

function linesOf({ offset, limit }: JsonObject): { from: number; to: number } | undefined {
  if (typeof offset !== 'number' && typeof limit !== 'number') return undefined;
  const from = typeof offset === 'number' && offset > 0 ? offset : 1;
  return { from, to: typeof limit === 'number' ? from + limit - 1 : Number.MAX_SAFE_INTEGER };
}
