/** Which tools a model has, by what its entry names. */
import type { ListedTool, ToolSelection } from './runtime.js';
import type { Tool } from './tool.js';

type Named = Pick<Tool, 'name' | 'aliases'>;

/**
 * The selection is about the tools that the gateway has itself. Those of MCP servers come with
 * the server, unless a list names some of them: then only those.
 */
export function isSelected(
  { tool, origin }: { tool: Named; origin: ListedTool['source'] },
  selection: ToolSelection,
  requested: readonly string[],
): boolean {
  if (selection === 'all') return true;
  if (origin === 'mcp') {
    if (!Array.isArray(selection)) return true;
    const named = selection.filter((name) => name.startsWith('mcp__'));
    return named.length === 0 || named.some((name) => coversMcp(name, tool.name));
  }
  if (selection === 'none') return false;
  const names = selection === 'requested' ? requested : selection;
  return names.some((name) => hasName(tool, name));
}

/** `mcp__docs` is every tool of that server, as in a rule. */
function coversMcp(name: string, tool: string): boolean {
  return tool === name || tool.startsWith(`${name}__`);
}

export function hasName(tool: Named, name: string): boolean {
  return tool.name === name || (tool.aliases?.includes(name) ?? false);
}
