/** One line for a call that the gateway has not described yet. */
import { makeVisible } from '../../ui/visible.js';
import { textField } from './tool-output.js';

/** By tool: the argument that says most. */
const TELLING: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    Bash: ['command'],
    BashOutput: ['bash_id', 'shell_id'],
    KillShell: ['shell_id'],
    Edit: ['file_path'],
    MultiEdit: ['file_path'],
    Write: ['file_path'],
    Read: ['file_path'],
    NotebookEdit: ['notebook_path'],
    NotebookRead: ['notebook_path'],
    Grep: ['pattern'],
    Glob: ['pattern'],
    LS: ['path'],
    WebFetch: ['url'],
    WebSearch: ['query'],
    Task: ['description'],
    Agent: ['description'],
  }),
);
const ANY = ['command', 'file_path', 'path', 'url', 'query', 'pattern', 'description', 'name', 'title'];
const LONGEST = 200;

export function titleFromInput(name: string, input: unknown): string {
  for (const field of TELLING.get(name) ?? ANY) {
    const value = textField(input, field);
    if (value !== undefined && value.trim() !== '') return oneLine(value);
  }
  return '';
}

export function oneLine(value: string): string {
  const line = makeVisible(value.slice(0, LONGEST * 4))
    .replace(/\s+/g, ' ')
    .trim();
  return line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line;
}
