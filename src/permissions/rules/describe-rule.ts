/** What a rule covers, in a few words for the person who is about to make it. */
import { readRule } from './rule.js';
import { READ_TOOLS, SPECIFIER_FIELDS } from './tool-names.js';

export function describeRule(rule: string): string {
  if (rule === '*') return 'every call of every tool';
  const target = readRule(rule, false);
  switch (target.kind) {
    case 'tool':
      return byName(target.name);
    case 'tools':
      return target.prefix === ''
        ? 'every call of every tool'
        : `every tool whose name begins with ${target.prefix}`;
    case 'server':
      return `every tool of the MCP server ${target.server}`;
    case 'command':
      return 'exactly this command';
    case 'command-prefix':
      return target.words.length === 0
        ? 'every plain command'
        : `every plain command that begins with \`${target.words.join(' ')}\``;
    case 'file':
      return `${doing(target.tool)} ${target.pattern}${target.pattern.endsWith('/**') ? '' : ' and, if it is a folder, everything in it'}`;
    case 'host':
      if (target.host === undefined) return 'nothing: the host cannot be read';
      return target.below ? `pages of every host below ${target.host}` : `pages of ${target.host}`;
    case 'field': {
      const field = SPECIFIER_FIELDS[target.tool];
      return field === undefined
        ? `nothing: ${target.tool} has no part that a specifier could be about`
        : `calls of ${target.tool} whose ${field} is ${target.text}`;
    }
  }
}

const FILE_TOOLS: Readonly<Record<string, string>> = {
  Read: 'reading everything in the workspace',
  Edit: 'changing everything in the workspace',
};

function byName(tool: string): string {
  const known = FILE_TOOLS[tool];
  if (known !== undefined) return known;
  if (tool === 'Bash') return 'every command';
  if (tool === 'WebFetch') return 'pages of every host';
  return tool.startsWith('mcp__') ? 'this tool of the MCP server' : 'every call of this tool';
}

function doing(tool: string): string {
  if (tool === 'Read') return 'reading';
  if (tool === 'Edit') return 'changing';
  return `${READ_TOOLS.has(tool) ? 'reading' : 'changing'} with ${tool}`;
}
