/** Where values stand in a JSON text that was parsed already, so that one can be changed and no other. */

export interface JsonRange {
  start: number;
  /** Exclusive. */
  end: number;
}

interface JsonMember extends JsonRange {
  key: string;
}

/** `at` is where the `{` stands. The ranges are those of the values. */
export function objectMembers(text: string, at: number): JsonMember[] {
  const members: JsonMember[] = [];
  let position = skipBlanks(text, at + 1);
  while (text[position] === '"') {
    const keyEnd = stringEnd(text, position);
    const key = String(JSON.parse(text.slice(position, keyEnd)));
    const start = skipBlanks(text, skipBlanks(text, keyEnd) + 1);
    const end = valueEnd(text, start);
    members.push({ key, start, end });
    position = afterComma(text, end);
  }
  return members;
}

/** `at` is where the `[` stands. */
export function arrayElements(text: string, at: number): JsonRange[] {
  const elements: JsonRange[] = [];
  let start = skipBlanks(text, at + 1);
  while (start < text.length && text[start] !== ']') {
    const end = valueEnd(text, start);
    elements.push({ start, end });
    start = afterComma(text, end);
  }
  return elements;
}

export function skipBlanks(text: string, at: number): number {
  let position = at;
  while (/[ \t\r\n]/.test(text[position] ?? '')) position += 1;
  return position;
}

function afterComma(text: string, at: number): number {
  const next = skipBlanks(text, at);
  return text[next] === ',' ? skipBlanks(text, next + 1) : next;
}

function valueEnd(text: string, at: number): number {
  const first = text[at];
  if (first === '"') return stringEnd(text, at);
  if (first !== '{' && first !== '[') {
    const match = /[^\s,}\]]*/y;
    match.lastIndex = at;
    match.test(text);
    return match.lastIndex;
  }
  const marks = /["{}[\]]/g;
  marks.lastIndex = at;
  let depth = 0;
  for (let found = marks.exec(text); found !== null; found = marks.exec(text)) {
    if (found[0] === '"') marks.lastIndex = stringEnd(text, found.index);
    else if (found[0] === '{' || found[0] === '[') depth += 1;
    else if (--depth === 0) return found.index + 1;
  }
  return text.length;
}

function stringEnd(text: string, at: number): number {
  for (let quote = text.indexOf('"', at + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let escapes = 0;
    while (text[quote - 1 - escapes] === '\\') escapes += 1;
    if (escapes % 2 === 0) return quote + 1;
  }
  return text.length;
}
