/** The form of a permission rule. What a rule matches is decided elsewhere; here only whether it can be read. */
import { UNSEEN } from '../core/unseen.js';

/** Longer than any rule that a person would read. */
const MAX_RULE = 2_000;

const TOOL_NAME = /^[A-Za-z][A-Za-z0-9_-]*\*?$/;
/** A server's name has no `__`, so that server and tool can be separated. */
const MCP_NAME = /^mcp__(?:[A-Za-z0-9-]|_(?!_))+(?:__[A-Za-z0-9_.-]*\*?)?$/;
const MCP_SERVER_GLOB = /^mcp__(?:[A-Za-z0-9-]|_(?!_))*\*$/;

const RULE_FORMS =
  '`Tool`, `Tool(specifier)`, `mcp__server` or `mcp__server__tool`, with `*` only at the end';

/** What is wrong with `rule`, as words that follow "expected …", or undefined where it can be read. */
export function ruleProblem(rule: string): string | undefined {
  if (rule === '') return `expected a rule: ${RULE_FORMS}`;
  if (rule.length > MAX_RULE) return `expected a rule of at most ${MAX_RULE} characters`;
  if (UNSEEN.test(rule) || /[\t\n]/.test(rule))
    return 'expected a rule of one line, without control characters and characters that are not seen';
  if (rule.trim() !== rule) return 'expected a rule without spaces around it';
  if (rule === '*') return undefined;

  const open = rule.indexOf('(');
  const name = open === -1 ? rule : rule.slice(0, open);
  if (name.startsWith('mcp__')) {
    if (open !== -1) return 'expected an MCP rule without a specifier in parentheses';
    if (MCP_NAME.test(name) && !name.endsWith('__')) return undefined;
    if (MCP_SERVER_GLOB.test(name)) return undefined;
    return 'expected `mcp__server`, `mcp__server__tool` or `mcp__server__*`';
  }

  if (!TOOL_NAME.test(name)) {
    return name.slice(0, -1).includes('*')
      ? 'expected `*` only at the end of the name'
      : `expected a rule: ${RULE_FORMS}`;
  }
  if (open === -1) return undefined;
  if (name.endsWith('*')) return 'expected either `*` or a specifier in parentheses, not both';
  if (!rule.endsWith(')')) return 'expected the specifier to end with `)`';
  if (rule.slice(open + 1, -1).trim() === '') {
    return `expected a specifier between the parentheses, or \`${name}\` alone`;
  }
  return undefined;
}
