// In TypeScript, without a build step. `toolgate/tools` is there in whatever folder this file is.
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { defineTool, ToolError } from 'toolgate/tools';
import { z } from 'zod';

export const tool = defineTool({
  name: 'LineCount',
  description: 'Counts the lines of a text file.',
  inputSchema: z.strictObject({ file_path: z.string().describe('From the working folder.') }),
  isReadOnly: true,
  // Rules about reading files hold for it as they do for Read.
  effects: ({ file_path }, { session }) => [{ kind: 'read', path: resolve(session.cwd, file_path) }],
  async call({ file_path }, { session, signal }) {
    const path = resolve(session.cwd, file_path);
    const text = await readFile(path, { encoding: 'utf8', signal }).catch((error: Error) => {
      throw new ToolError(`${file_path} cannot be read (${error.message}). Find it with Glob.`);
    });
    return `${text.split('\n').length - 1} lines`;
  },
});
