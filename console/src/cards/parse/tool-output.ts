/** Results of the built-in tools, read back from the text that the model was given. */

export interface NumberedLine {
  number: number | undefined;
  text: string;
  /** A line around a match. */
  context?: boolean;
}

/** `   12<TAB>text`, as Read gives it, or with an arrow. Undefined where the text has no such lines. */
export function numberedLines(text: string): NumberedLine[] | undefined {
  const lines = text.split('\n');
  const first = lines.findIndex((line) => line.trim() !== '');
  if (first < 0 || !NUMBERED.test(lines[first] ?? '')) return undefined;
  return lines.map((line) => {
    const match = NUMBERED.exec(line);
    return match === null
      ? { number: undefined, text: line }
      : { number: Number(match[1]), text: match[2] ?? '' };
  });
}

const NUMBERED = /^\s{0,12}(\d{1,9})(?:\t|→)(.*)$/s;

export interface FileMatches {
  /** Undefined where only one file was searched. */
  path: string | undefined;
  /** Of the mode that counts. */
  count: number | undefined;
  lines: NumberedLine[];
}

interface SearchResult {
  files: FileMatches[];
  /** What the tool says about its own result: `[No files found.]`. */
  notes: string[];
}

const MATCH = /^(.+?)([:-])(\d+)\2(.*)$/s;
const OWN_FILE = /^(\d+)([:-])(.*)$/s;
const COUNT = /^(.+):(\d+)$/;

/** `mode` is what the call asked for. */
export function searchResult(text: string, mode: string): SearchResult {
  const notes: string[] = [];
  const rest: string[] = [];
  for (const line of text.split('\n')) {
    if (/^\[.*\]$/.test(line)) notes.push(line.slice(1, -1));
    else if (line.trim() !== '' && line !== '--') rest.push(line);
  }
  return { files: mode === 'content' ? byFile(rest) : rest.map((line) => named(line, mode)), notes };
}

function named(line: string, mode: string): FileMatches {
  const counted = mode === 'count' ? COUNT.exec(line) : null;
  return counted === null
    ? { path: line, count: undefined, lines: [] }
    : { path: counted[1], count: Number(counted[2]), lines: [] };
}

/** A path may hold any character. The lines of one file are adjacent, so the last path is tried first. */
function byFile(lines: readonly string[]): FileMatches[] {
  const files: FileMatches[] = [];
  const add = (path: string | undefined, line: NumberedLine): void => {
    const last = files.at(-1);
    if (last !== undefined && last.path === path) last.lines.push(line);
    else files.push({ path, count: undefined, lines: [line] });
  };
  for (const line of lines) {
    const last = files.at(-1)?.path;
    const known = last === undefined ? null : behindPath(line, last);
    if (known !== null) {
      add(last, known);
      continue;
    }
    const own = OWN_FILE.exec(line);
    const match = own === null ? MATCH.exec(line) : null;
    if (own !== null) add(undefined, { number: Number(own[1]), text: own[3] ?? '', context: own[2] === '-' });
    else if (match !== null)
      add(match[1], { number: Number(match[3]), text: match[4] ?? '', context: match[2] === '-' });
    else {
      const at = line.indexOf(':');
      if (at > 0) add(line.slice(0, at), { number: undefined, text: line.slice(at + 1) });
      else add(undefined, { number: undefined, text: line });
    }
  }
  return files;
}

function behindPath(line: string, path: string): NumberedLine | null {
  if (!line.startsWith(path)) return null;
  const match = /^([:-])(\d+)\1(.*)$/s.exec(line.slice(path.length));
  return match === null
    ? null
    : { number: Number(match[2]), text: match[3] ?? '', context: match[1] === '-' };
}

interface FoundLink {
  url: string;
  title: string;
}

const LINK = /https?:\/\/[^\s<>"'`\\{}|^]+/g;
const MOST_LINKS = 100;

/** Addresses that a text names, each once. The title is the line in front of it where it has one. */
export function linksOf(text: string): FoundLink[] {
  const found = new Map<string, FoundLink>();
  const lines = text.split('\n');
  for (const [index, line] of lines.entries()) {
    for (const [raw] of line.matchAll(LINK)) {
      const url = raw.replace(/[).,;:!?\]*_]+$/, '');
      if (found.size >= MOST_LINKS || found.has(url) || !URL.canParse(url)) continue;
      const own = line.slice(0, line.indexOf(raw)).replace(/^[\s\d.*\-[\]()]+|[\s:*\-[\]()–—]+$/g, '');
      const before = (lines[index - 1] ?? '').replace(/^[\s\d.*#-]+/, '').trim();
      found.set(url, { url, title: own !== '' ? own : before });
    }
  }
  return [...found.values()];
}

export interface Todo {
  text: string;
  status: 'pending' | 'in_progress' | 'completed';
}

export function todosOf(input: unknown): Todo[] {
  const todos = fieldOf(input, 'todos');
  if (!Array.isArray(todos)) return [];
  return todos.flatMap((each: unknown): Todo[] => {
    const text = textField(each, 'content');
    const status = textField(each, 'status');
    if (text === undefined) return [];
    return [{ text, status: status === 'completed' || status === 'in_progress' ? status : 'pending' }];
  });
}

export function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return Reflect.get(value, name);
}

export function textField(value: unknown, name: string): string | undefined {
  const field = fieldOf(value, name);
  return typeof field === 'string' ? field : undefined;
}

/** `mcp__server__tool` apart; undefined for every other name. */
export function mcpName(name: string): { server: string; tool: string } | undefined {
  const match = /^mcp__(.+?)__(.+)$/s.exec(name);
  return match === null ? undefined : { server: match[1] ?? '', tool: match[2] ?? '' };
}
