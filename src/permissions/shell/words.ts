/**
 * What a word of a command may stand for. Read broadly, for rules that deny or ask: quotes and
 * escapes are taken away, `{a,b}` is multiplied out, and what only the shell knows is marked.
 */

export interface Word {
  /** As the program gets it, as far as the text determines it. */
  text: string;
  /** Nothing in it is known only when it runs: no variable, no substitution. */
  literal: boolean;
  /** Has `*`, `?` or `[` outside of quotes: stands for files. */
  glob: boolean;
}

/** `{a,b}{c,d}…` grows fast; beyond this the rest stays as it is written. */
const MAX_ALTERNATIVES = 64;

const ANSI_ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  a: '\x07',
  b: '\b',
  e: '\x1b',
  f: '\f',
  v: '\v',
  '\\': '\\',
  "'": "'",
  '"': '"',
  '?': '?',
};

interface Draft {
  text: string;
  literal: boolean;
  glob: boolean;
  /** Where unquoted `{`, `,` and `}` stand in `text`. */
  braces: { at: number; char: string }[];
}

/** Every word that `raw` (as it stands in the command) may become. */
export function decodeWord(raw: string): Word[] {
  if (/^[A-Za-z0-9_./:@%+,=-]+$/.test(raw)) return [{ text: raw, literal: true, glob: false }];
  const draft = read(raw);
  return [...new Set(multiply(draft))].map((text) => ({ text, literal: draft.literal, glob: draft.glob }));
}

function read(raw: string): Draft {
  const draft: Draft = { text: '', literal: true, glob: false, braces: [] };
  for (let at = 0; at < raw.length; at += 1) {
    const char = raw.charAt(at);
    if (char === "'") {
      const close = raw.indexOf("'", at + 1);
      const end = close === -1 ? raw.length : close;
      draft.text += raw.slice(at + 1, end);
      at = end;
    } else if (char === '"') {
      at = readQuoted(raw, at, draft);
    } else if (char === '$' && raw.charAt(at + 1) === "'") {
      at = readAnsi(raw, at + 2, draft);
    } else if (char === '$' && raw.charAt(at + 1) === '"') {
      at = readQuoted(raw, at + 1, draft);
    } else if (char === '\\') {
      at += 1;
      if (raw.charAt(at) !== '\n') draft.text += raw.charAt(at);
    } else {
      if (char === '$' || char === '`' || ((char === '<' || char === '>') && raw.charAt(at + 1) === '(')) {
        draft.literal = false;
      }
      if (char === '*' || char === '?' || char === '[') draft.glob = true;
      if (char === '{' || char === '}' || char === ',') {
        draft.braces.push({ at: draft.text.length, char });
      }
      draft.text += char;
    }
  }
  return draft;
}

function readQuoted(raw: string, open: number, draft: Draft): number {
  for (let at = open + 1; at < raw.length; at += 1) {
    const char = raw.charAt(at);
    if (char === '"') return at;
    if (char === '\\' && '$`"\\\n'.includes(raw.charAt(at + 1))) {
      at += 1;
      if (raw.charAt(at) !== '\n') draft.text += raw.charAt(at);
      continue;
    }
    if (char === '`' || (char === '$' && /[\w({!@*#?$-]/.test(raw.charAt(at + 1)))) draft.literal = false;
    draft.text += char;
  }
  return raw.length;
}

function readAnsi(raw: string, from: number, draft: Draft): number {
  for (let at = from; at < raw.length; at += 1) {
    const char = raw.charAt(at);
    if (char === "'") return at;
    if (char !== '\\') {
      draft.text += char;
      continue;
    }
    const rest = raw.slice(at + 1);
    const code =
      /^x([0-9A-Fa-f]{1,2})/.exec(rest) ??
      /^u([0-9A-Fa-f]{1,4})/.exec(rest) ??
      /^U([0-9A-Fa-f]{1,8})/.exec(rest);
    const octal = code === null ? /^[0-7]{1,3}/.exec(rest) : null;
    if (code !== null) {
      draft.text += character(Number.parseInt(code[1] ?? '', 16));
      at += code[0].length;
    } else if (octal !== null) {
      draft.text += character(Number.parseInt(octal[0], 8) & 0xff);
      at += octal[0].length;
    } else {
      draft.text += ANSI_ESCAPES[rest.charAt(0)] ?? `\\${rest.charAt(0)}`;
      at += 1;
    }
  }
  return raw.length;
}

const character = (code: number): string => (code > 0x10ffff ? '' : String.fromCodePoint(code));

/** The alternatives of brace expansion, the innermost last; ranges (`{1..3}`) stay as they are. */
function multiply(draft: Draft): string[] {
  if (!draft.braces.some(({ char }) => char === '{')) return [draft.text];
  const marks = new Map(draft.braces.map(({ at, char }) => [at, char]));
  const results: string[] = [];
  const queue: { text: string; marks: Map<number, string> }[] = [{ text: draft.text, marks }];
  while (queue.length > 0 && results.length + queue.length < MAX_ALTERNATIVES) {
    const item = queue.shift();
    if (item === undefined) break;
    const group = innermost(item.text, item.marks);
    if (group === undefined) {
      results.push(item.text);
      continue;
    }
    for (const [from, to] of group.parts) {
      const text =
        item.text.slice(0, group.open) + item.text.slice(from, to) + item.text.slice(group.close + 1);
      queue.push({ text, marks: moved(item.marks, group, from, to) });
    }
  }
  return [...results, ...queue.map(({ text }) => text)];
}

interface Group {
  open: number;
  close: number;
  /** Where each alternative stands in the text. */
  parts: [number, number][];
}

/** The first `{…,…}` with no other one inside. */
function innermost(text: string, marks: ReadonlyMap<number, string>): Group | undefined {
  let open = -1;
  let commas: number[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const mark = marks.get(at);
    if (mark === '{') {
      open = at;
      commas = [];
    } else if (mark === ',' && open !== -1) {
      commas.push(at);
    } else if (mark === '}' && open !== -1) {
      if (commas.length > 0) {
        const edges = [open, ...commas, at];
        const parts = edges.slice(1).map((edge, index): [number, number] => [(edges[index] ?? 0) + 1, edge]);
        return { open, close: at, parts };
      }
      open = -1;
    }
  }
  return undefined;
}

function moved(
  marks: ReadonlyMap<number, string>,
  group: Group,
  from: number,
  to: number,
): Map<number, string> {
  const result = new Map<number, string>();
  for (const [at, char] of marks) {
    if (at < group.open) result.set(at, char);
    else if (at > group.close) result.set(at - (group.close - group.open + 1) + (to - from), char);
    else if (at >= from && at < to) result.set(at - from + group.open, char);
  }
  return result;
}
