/**
 * What is said to a conversation beside Claude Code's own prompt. It would read the project's
 * CLAUDE.md itself, but only with the project's settings and hooks, and when its process starts, which
 * may be long before. So the files are read here, now, and as the native agent reads them.
 */
import type { Options } from '@anthropic-ai/claude-agent-sdk';
import { instructionsBlock, readInstructions } from '../../agent/loop/prompt/project-instructions.js';
import type { OpenOptions } from './claude-processes.js';

type SystemOptions = Pick<OpenOptions, 'system' | 'readable'>;

/** A prompt in the place of Claude Code's own stands alone; an empty one replaces nothing. */
export async function systemPrompt(
  cwd: string,
  { system, readable = () => true }: SystemOptions,
): Promise<NonNullable<Options['systemPrompt']>> {
  const text = system.text.trim();
  if (system.mode === 'replace' && text !== '') return system.text;
  const instructions = instructionsBlock(await readInstructions({ root: cwd, cwd, readable }));
  const append = [instructions, text === '' ? undefined : system.text].filter((part) => part !== undefined);
  return {
    type: 'preset',
    preset: 'claude_code',
    ...(append.length === 0 ? {} : { append: append.join('\n\n') }),
  };
}
