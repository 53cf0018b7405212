/**
 * Outputs that are too large for Claude Code to tell whole: it saves them beside its transcript and
 * tells where. Its model may read them there; what is kept of the conversation names copies, because
 * the process takes its own files along.
 */
import { createWriteStream, existsSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { ToolResultBlock, ToolResultContent } from '../../../core/conversation.js';
import type { OpenToolState } from '../../../tools/runtime/runtime.js';
import { realTarget } from '../../../workspace/real-path.js';
import { openRegularFile } from '../../../workspace/regular-file.js';

const TRANSCRIPT = '.jsonl';
const FOLDER = 'tool-results';
/** The file names that it makes in the folder. */
const NAME = '[A-Za-z0-9_%-][A-Za-z0-9_.%-]*\\.(?:txt|json)';

export class SavedOutputs {
  #folder: string | undefined;

  /** The same session, whose tools may read them as well. */
  readableIn(session: OpenToolState): OpenToolState {
    return {
      ...session,
      get cwd() {
        return session.cwd;
      },
      set cwd(cwd) {
        session.cwd = cwd;
      },
      ownPaths: () => [
        ...(session.ownPaths?.() ?? []),
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
  async keep(result: ToolResultBlock, session: OpenToolState): Promise<ToolResultBlock> {
    const folder = this.#folder;
    if (folder === undefined) return result;
    const content: ToolResultContent[] = [];
    for (const part of result.content) {
      content.push(
        part.type === 'text' ? { ...part, text: await withCopies(part.text, folder, session) } : part,
      );
    }
    return { ...result, content };
  }
}

async function withCopies(text: string, folder: string, session: OpenToolState): Promise<string> {
  let kept = text;
  const named = text.match(new RegExp(`${escaped(`${folder}/`)}${NAME}`, 'g')) ?? [];
  for (const path of new Set(named)) {
    const copy = await copyOf(path, session).catch(() => undefined);
    if (copy !== undefined) kept = kept.replaceAll(path, copy);
  }
  return kept;
}

async function copyOf(path: string, session: OpenToolState): Promise<string> {
  const copy = join(await session.scratch(), basename(path));
  // Told of before.
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
