import type { PromptOptions } from '../runtime/tool.js';
import { BASH_LIMITS } from './limits.js';

export const BASH_DESCRIPTION = `Runs a command in bash and returns what it prints, with its exit code.
- Each command has a shell of its own. The folder that a command ends in is where the next one starts, as long as it is inside the workspace, and exported variables are kept; other variables, functions and aliases are not.
- Nothing can be typed into it: pass -y or --no-input where a program would ask.
- It is ended after its time-out (${BASH_LIMITS.timeoutMs / 1000} s unless you say otherwise, at most ${BASH_LIMITS.maxTimeoutMs / 60_000} min), with everything that it started. Set run_in_background for servers and watchers.
- Of a long output you get the beginning and the end, and the path of a file with all of it.`;

export function bashPrompt({ tools, cwd }: PromptOptions): string {
  const better = [
    ['Read', 'to read files, not cat, head or tail'],
    ['Edit', 'to change files, not sed or awk'],
    ['Write', 'to make files, not echo or heredocs'],
    ['Grep', 'to search in files, not grep or rg'],
    ['Glob', 'to find files by name, not find'],
  ].flatMap(([name, use]) => (name !== undefined && tools.includes(name) ? [`${name} ${use}`] : []));
  return [
    `Bash starts in ${cwd}.`,
    ...(better.length === 0 ? [] : [`Where they do, use the other tools: ${better.join('; ')}.`]),
    'Join commands that depend on each other with &&. Quote paths with spaces.',
    'Never use a command to get around a refusal of another tool.',
  ].join('\n');
}
