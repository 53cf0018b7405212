/** A place for a model to reason in the open. What it writes is shown to people and changes nothing. */
import * as z from 'zod';
import type { Tool } from './runtime/tool.js';

const LONGEST_THOUGHT = 50_000;

const inputSchema = z.strictObject({
  thought: z
    .string()
    .trim()
    .min(1)
    .max(LONGEST_THOUGHT)
    .describe('What you are thinking, in your own words.'),
});

type ThinkInput = z.output<typeof inputSchema>;

export const thinkTool: Tool<ThinkInput> = {
  name: 'Think',
  userFacingName: () => 'Think',
  description:
    'Writes a thought down. Nothing is looked up and nothing changes; use it to reason before a hard step.',
  inputSchema,
  isReadOnly: () => true,
  isConcurrencySafe: () => true,
  needsPermissions: () => false,
  prompt:
    'Think is for reasoning in writing: weighing several ways to fix a bug, checking a plan against what the ' +
    'user asked for, or taking stock after a surprising result. The people who follow the work can read it. ' +
    'It brings no new information.',
  async *call(input) {
    yield { type: 'result', resultForAssistant: 'Noted.', data: { thought: input.thought } };
  },
  describe: (input) => ({ title: 'Think', kind: 'think', paths: [], detail: input.thought }),
};
