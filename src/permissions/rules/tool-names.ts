/** Which tools a rule for files speaks for. */

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
