/** What was typed in earlier chats, for the arrow keys. Of the user alone, and of no tool. */
import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Environment } from '../../config/environment-references.js';
import { userStateFolder } from '../../config/paths.js';

const FILE = 'chat-history';
const LINES = 500;

interface LineHistory {
  /** The newest last. */
  lines: readonly string[];
  /** Never rejects: a history that cannot be kept is no reason to end a conversation. */
  add(line: string): Promise<void>;
}

export async function openLineHistory(
  env: Environment,
  redact: (text: string) => string,
): Promise<LineHistory> {
  const file = join(userStateFolder(env), FILE);
  const text = await readFile(file, 'utf8').catch(() => '');
  const all = text.split('\n').filter((line) => line !== '');
  const lines = all.slice(-LINES);
  if (all.length > 2 * LINES) await writeFile(file, `${lines.join('\n')}\n`, { mode: 0o600 }).catch(() => {});
  let last: Promise<void> = Promise.resolve();
  return {
    lines,
    add(line) {
      last = last
        .then(() => mkdir(dirname(file), { recursive: true, mode: 0o700 }))
        .then(() => appendFile(file, `${redact(line)}\n`, { mode: 0o600 }))
        .catch(() => {});
      return last;
    },
  };
}
