/** A rule as it is written, read into what it matches, and the tools that it speaks for. */
import type { RuleReach } from '../../store/rules.js';
import type { RuleSource } from '../decision.js';
import { hostOf } from '../shell/hosts.js';
import { readPlain } from '../shell/lexer.js';

export interface RuleEntry {
  /** As written. */
  text: string;
  source: RuleSource;
  /** Of a rule in the store. */
  id?: string;
  /** Holds in this session alone. */
  session?: string;
  /** Holds in this workspace alone. */
  project?: string;
}

export type RuleTarget =
  | { kind: 'tool'; name: string }
  /** Every tool whose name begins so. */
  | { kind: 'tools'; prefix: string }
  /** Every tool of an MCP server. */
  | { kind: 'server'; server: string }
  /** `text`: the whole command. `words`: of a single plain command. */
  | { kind: 'command'; text: string; words?: readonly string[] }
  | { kind: 'command-prefix'; words: readonly string[] }
  | { kind: 'file'; tool: string; pattern: string }
  /** `below`: its sub-domains alone. No host: could not be read. */
  | { kind: 'host'; host: string | undefined; below: boolean }
  | { kind: 'field'; tool: string; text: string };

/** `wide`: of a rule that denies or asks, which is read so that it rather matches too much. */
export function readRule(text: string, wide: boolean): RuleTarget {
  const open = text.indexOf('(');
  if (open === -1) return readName(text);
  const tool = canonicalTool(text.slice(0, open));
  const specifier = text.slice(open + 1, -1).trim();
  if (tool === 'Bash') return readCommand(specifier, wide);
  if (isFileTool(tool)) return { kind: 'file', tool, pattern: specifier };
  if (tool === 'WebFetch') return readHost(specifier);
  return { kind: 'field', tool, text: specifier };
}

function readName(text: string): RuleTarget {
  if (text.endsWith('*')) return { kind: 'tools', prefix: text.slice(0, -1) };
  const server = /^mcp__((?:(?!__).)+)$/.exec(text)?.[1];
  return server === undefined ? { kind: 'tool', name: canonicalTool(text) } : { kind: 'server', server };
}

function readCommand(specifier: string, wide: boolean): RuleTarget {
  if (specifier.endsWith(':*')) return { kind: 'command-prefix', words: words(specifier.slice(0, -2)) };
  if (wide && specifier === '*') return { kind: 'command-prefix', words: [] };
  // Not a form that allows anything, but a person who denies `curl *` means all of it.
  if (wide && specifier.endsWith(' *'))
    return { kind: 'command-prefix', words: words(specifier.slice(0, -2)) };
  const reading = readPlain(specifier);
  const single = reading.plain && reading.commands.length === 1 ? reading.commands[0]?.words : undefined;
  return { kind: 'command', text: specifier, ...(single === undefined ? {} : { words: single }) };
}

function words(text: string): readonly string[] {
  const trimmed = text.trim();
  if (trimmed === '') return [];
  const reading = readPlain(trimmed);
  const single = reading.plain && reading.commands.length === 1 ? reading.commands[0]?.words : undefined;
  return single ?? trimmed.split(/\s+/);
}

function readHost(specifier: string): RuleTarget {
  const domain = specifier.replace(/^domain:/i, '').trim();
  if (domain === '*') return { kind: 'tool', name: 'WebFetch' };
  const below = domain.startsWith('*.');
  const bare = below ? domain.slice(2) : domain;
  // A star anywhere else is no form of a domain.
  const host = bare.includes('*') ? undefined : hostOf(/:\/\//.test(bare) ? bare : `http://${bare}`);
  return { kind: 'host', host, below };
}

/** Bound by rules for `Read`, besides a rule with their own name. */
export const READ_TOOLS: ReadonlySet<string> = new Set(['Read', 'Grep', 'Glob', 'LS', 'NotebookRead']);
/** Bound by rules for `Edit`, besides a rule with their own name. */
export const EDIT_TOOLS: ReadonlySet<string> = new Set(['Edit', 'Write', 'MultiEdit', 'NotebookEdit']);

/** Further names of built-ins, for rules written with them. */
const ALIASES: Readonly<Record<string, string>> = { Agent: 'Task', Jupyter: 'NotebookEdit' };

export const canonicalTool = (name: string): string => ALIASES[name] ?? name;

export const isFileTool = (name: string): boolean => READ_TOOLS.has(name) || EDIT_TOOLS.has(name);

/** The part of the input that a specifier means, for tools that have neither files, hosts nor commands. */
export const SPECIFIER_FIELDS: Readonly<Record<string, string>> = {
  Task: 'subagent_type',
  WebSearch: 'query',
  MemoryRead: 'file_path',
  MemoryWrite: 'file_path',
};

/** Whether a rule that people made holds for calls of a session in a workspace. */
export function holdsFor(reach: RuleReach, session: string, root: string): boolean {
  switch (reach.scope) {
    case 'once':
    case 'session':
      return reach.session === session;
    case 'project':
      return reach.project === root;
    case 'everywhere':
      return true;
  }
}
