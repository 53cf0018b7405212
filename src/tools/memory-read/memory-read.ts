/** Reads what earlier conversations of the same principal kept. */
import { join } from 'node:path';
import * as z from 'zod';
import { type Tool, ToolError } from '../runtime/tool.js';
import { listMemories, memoryPathProblem, readMemory, renderMemories } from './memory-folder.js';

export interface MemoryOptions {
  /** `tools.memory` of the configuration. */
  enabled: boolean;
}

export const MEMORY_OFF = {
  enabled: false,
  reason: 'Switched off: tools.memory is false in toolgate.yaml.',
} as const;

/** Names in the prompt; the rest is for MemoryRead to show. */
const LISTED_IN_PROMPT = 40;

const inputSchema = z.strictObject({
  file_path: z
    .string()
    .optional()
    .describe('A memory, by its path inside the memory folder. Left out: the list of all memories.'),
});

type MemoryReadInput = z.output<typeof inputSchema>;

export function memoryReadTool(options: MemoryOptions): Tool<MemoryReadInput> {
  return {
    name: 'MemoryRead',
    userFacingName: () => 'Read memory',
    description:
      'Reads a memory that was kept in an earlier conversation, or lists all of them when no path is given.',
    inputSchema,
    isEnabled: options.enabled || MEMORY_OFF,
    isReadOnly: () => true,
    isConcurrencySafe: () => true,
    needsPermissions: () => false,
    async prompt({ memoryDir }) {
      const files = memoryDir === undefined ? [] : await listMemories(memoryDir, LISTED_IN_PROMPT + 1);
      const shown = renderMemories(files.slice(0, LISTED_IN_PROMPT));
      const more = files.length > LISTED_IN_PROMPT ? '\n- and more: call MemoryRead without a path' : '';
      return (
        'MemoryRead shows notes from earlier conversations with the same user. Read those that bear on the task ' +
        'before you start. They may be out of date: check them against what you see.' +
        (shown === '' ? '' : `\nMemories there are:\n${shown}${more}`)
      );
    },
    validateInput({ file_path: path }) {
      const problem = isList(path) ? undefined : memoryPathProblem(path);
      return problem === undefined ? { ok: true } : { ok: false, message: problem };
    },
    async *call({ file_path: path }, context) {
      const { memoryDir } = context.session;
      if (isList(path)) {
        const files = await listMemories(memoryDir);
        yield {
          type: 'result',
          resultForAssistant: files.length === 0 ? 'There are no memories yet.' : renderMemories(files),
          data: { files: files.map(({ path, bytes }) => ({ path, bytes })) },
        };
        return;
      }
      const text = await readMemory(memoryDir, path);
      if (text === undefined) {
        throw new ToolError(
          `There is no memory "${path}". Call MemoryRead without a path to see what there is.`,
        );
      }
      yield { type: 'result', resultForAssistant: text, data: { path, bytes: Buffer.byteLength(text) } };
    },
    describe: ({ file_path: path }, context) =>
      isList(path)
        ? { title: 'List memories', kind: 'memory', paths: [] }
        : { title: `Read memory ${path}`, kind: 'memory', paths: [join(context.session.memoryDir, path)] },
  };
}

function isList(path: string | undefined): path is undefined | '' {
  return path === undefined || path === '';
}
