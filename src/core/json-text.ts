/**
 * Follows the JSON text of a tool's arguments as it streams in: says when the object is whole, so
 * that a call can be closed before the upstream says so, and what would complete a text that was cut.
 */
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Deeper, a text can be parsed but not written again: that recurses. */
const MAX_DEPTH = 1_000;

export class JsonObjectScanner {
  #depth = 0;
  #tooDeep = false;
  #inString = false;
  #escaped = false;
  #whole = false;

  get whole(): boolean {
    return this.#whole;
  }

  get tooDeep(): boolean {
    return this.#tooDeep;
  }

  /** How many characters of `text` belong to the object; the rest follows its end. */
  push(text: string): number {
    let at = 0;
    while (at < text.length && !this.#whole) {
      if (this.#inString) {
        at = this.#skipString(text, at);
        continue;
      }
      switch (text.charCodeAt(at)) {
        case QUOTE:
          this.#inString = true;
          break;
        case OPEN_BRACE:
        case OPEN_BRACKET:
          this.#depth += 1;
          if (this.#depth > MAX_DEPTH) this.#tooDeep = true;
          break;
        case CLOSE_BRACE:
        case CLOSE_BRACKET:
          this.#depth -= 1;
          this.#whole = this.#depth <= 0;
          break;
      }
      at += 1;
    }
    return at;
  }

  #skipString(text: string, from: number): number {
    let at = from;
    while (at < text.length) {
      if (this.#escaped) {
        this.#escaped = false;
        at += 1;
        continue;
      }
      const code = text.charCodeAt(at);
      at += 1;
      if (code === BACKSLASH) this.#escaped = true;
      else if (code === QUOTE) {
        this.#inString = false;
        return at;
      }
    }
    return at;
  }
}

/** What to append to a cut JSON text so that it parses; undefined when nothing simple does. */
export function completeJson(text: string): string | undefined {
  const closers: string[] = [];
  let inString = false;
  let escaped = false;
  for (const char of text) {
    if (inString) {
      if (escaped) escaped = false;
      else if (char === '\\') escaped = true;
      else if (char === '"') inString = false;
    } else if (char === '"') inString = true;
    else if (char === '{') closers.push('}');
    else if (char === '[') closers.push(']');
    else if (char === '}' || char === ']') closers.pop();
  }
  const end = closers.reverse().join('');
  // Inside a string: end it (an escape first), perhaps a key that still wants a value.
  // Outside: perhaps a value, a key or the rest of a literal is missing.
  const starts = inString
    ? escaped
      ? ['\\"', '\\":null']
      : ['"', '":null', '0"', '00"', '000"', '0000"']
    : ['', 'null', ':null', '"":null', 'ull', 'll', 'l', 'rue', 'ue', 'e', 'alse', 'lse', 'se', '0'];
  for (const start of starts) {
    if (isJson(text + start + end)) return start + end;
  }
  return undefined;
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Whether a parsed value nests deeper. What writes values again does so by recursion, and its stack
 * has an end. Over the parsed value: a twentieth of the cost of the bytes, for few of them are brackets.
 */
export function isDeeper(value: unknown, left: number): boolean {
  if (Array.isArray(value)) {
    if (left === 0) return true;
    for (const item of value) if (isNested(item) && isDeeper(item, left - 1)) return true;
  } else if (isNested(value)) {
    if (left === 0) return true;
    // A parsed value inherits nothing enumerable, and this way no list of its keys is made.
    for (const key in value) {
      const item = value[key];
      if (isNested(item) && isDeeper(item, left - 1)) return true;
    }
  }
  return false;
}

/** What V8 takes at the most for an object or a list, for a field or an element, and for a character. */
const OBJECT_BYTES = 320;
const FIELD_BYTES = 16;
const CHARACTER_BYTES = 2;

/** About how much memory a parsed value takes, rather more than less. It must not nest without bound. */
export function heapBytesOf(value: unknown): number {
  if (typeof value === 'string') return CHARACTER_BYTES * value.length;
  let bytes = OBJECT_BYTES;
  if (Array.isArray(value)) {
    for (const item of value) bytes += FIELD_BYTES + heapBytesOf(item);
  } else if (isNested(value)) {
    for (const key in value) bytes += FIELD_BYTES + key.length + heapBytesOf(value[key]);
  } else return 0;
  return bytes;
}

/** Most values are none: the cheapest question first. */
function isNested(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
