/** Whether a rule has nothing to do with a call, by its form alone: reading commands is most of what a judgement costs. */
import type { JudgedToolCall } from '../decision.js';
import type { Effect } from '../effects.js';
import type { RuleTarget } from '../rules/rule.js';
import { canonicalTool, isFileTool } from '../rules/tool-names.js';

export function cannotMatch(target: RuleTarget, { tool, effects }: JudgedToolCall): boolean {
  const has = (...kinds: Effect['kind'][]): boolean => effects.some(({ kind }) => kinds.includes(kind));
  switch (target.kind) {
    case 'command':
    case 'command-prefix':
      return !effects.some((effect) => effect.kind === 'command' && mayRun(effect.command, target.words));
    case 'file':
      return !has('read', 'edit', 'command');
    case 'host':
      return !has('fetch', 'command');
    case 'field':
      return canonicalTool(tool) !== target.tool;
    case 'server':
      return !tool.startsWith(`mcp__${target.server}__`);
    case 'tools':
      return !tool.startsWith(target.prefix) && !has('read', 'edit', 'command', 'fetch');
    case 'tool':
      if (canonicalTool(tool) === target.name) return false;
      if (isFileTool(target.name)) return !has('read', 'edit', 'command');
      if (target.name === 'WebFetch') return !has('fetch', 'command');
      return target.name !== 'Bash' || !has('command');
  }
}

/** The first word is in the text, whatever quotes and breaks stand in it. */
function mayRun(command: string, words: readonly string[] = []): boolean {
  const [first = ''] = words;
  return first === '' || command.replace(/["'\\\n]/g, '').includes(first);
}
