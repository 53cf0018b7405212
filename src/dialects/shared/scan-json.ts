/** Where the values of a JSON text end, found over its bytes and without parsing them. */
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** `[` and `{` differ in this bit alone, and so do `]` and `}`. */
const BRACE_BIT = 0x20;
const OPEN = 0x7b;
const CLOSE = 0x7d;

/** Most strings end within these; a longer one is searched by the runtime. */
const SHORT_STRING = 48;

/** After the quote that ends the string begun before `from`; -1 when none does. */
export function endOfString(bytes: Buffer, from: number): number {
  const near = Math.min(bytes.length, from + SHORT_STRING);
  let at = from;
  while (at < near) {
    const byte = bytes[at];
    if (byte === QUOTE) return at + 1;
    at += byte === BACKSLASH ? 2 : 1;
  }
  const rest = at;
  for (;;) {
    at = bytes.indexOf(QUOTE, at);
    if (at < 0) return -1;
    let before = at - 1;
    while (before >= rest && bytes[before] === BACKSLASH) before -= 1;
    at += 1;
    // An even run of backslashes escapes itself, not the quote.
    if ((at - 2 - before) % 2 === 0) return at;
  }
}

/** Whether more than `maxDepth` brackets are open at once. What is no JSON is for the parser to say. */
export function nestsDeeper(bytes: Buffer, maxDepth: number): boolean {
  return walk(bytes, 0, maxDepth) === TOO_DEEP;
}

/** After the bracket that closes the one at `from`; -1 when none does, or when it nests too deep. */
export function endOfNested(bytes: Buffer, from: number, maxDepth: number): number {
  const end = walk(bytes, from, maxDepth);
  return end === TOO_DEEP ? -1 : end;
}

const TOO_DEEP = -2;

/** To where as many brackets are closed as were opened: they are counted, the parser says which do not match. */
function walk(bytes: Buffer, from: number, maxDepth: number): number {
  let depth = 0;
  let at = from;
  while (at < bytes.length) {
    const byte = bytes[at++] ?? 0;
    if (byte === QUOTE) {
      at = endOfString(bytes, at);
      if (at < 0) return -1;
    } else if ((byte | BRACE_BIT) === OPEN) {
      depth += 1;
      if (depth > maxDepth) return TOO_DEEP;
    } else if ((byte | BRACE_BIT) === CLOSE) {
      depth -= 1;
      if (depth === 0) return at;
    }
  }
  return -1;
}
