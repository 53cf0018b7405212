/** Replaces the top-level `model` of a JSON body without touching another byte. */
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACE = 0x7d;
const CLOSE_BRACKET = 0x5d;
const COLON = 0x3a;

/**
 * `body` must be valid JSON whose `model` is a string. Undefined when the name occurs twice (some
 * servers take the first, some do not tell `Model` from `model`) or is written in an unusual way
 * (escapes in the key): the caller then takes the lane that re-encodes.
 */
export function spliceModel(body: Buffer, model: string): Buffer | undefined {
  const found = findModel(body);
  if (found === undefined) return undefined;
  const [from, to] = found;
  return Buffer.concat([body.subarray(0, from), Buffer.from(JSON.stringify(model)), body.subarray(to)]);
}

/** Start and end of the value, quotes included. */
function findModel(body: Buffer): readonly [number, number] | undefined {
  let found: readonly [number, number] | undefined;
  let depth = 0;
  for (let at = 0; at < body.length; at++) {
    const byte = body[at];
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth += 1;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth -= 1;
    else if (byte === QUOTE) {
      const end = stringEnd(body, at);
      if (depth === 1 && isKey(body, end)) {
        const key = body.toString('latin1', at + 1, end - 1);
        if (key.includes('\\')) return undefined;
        if (key.length === 5 && key.toLowerCase() === 'model') {
          const value = body.indexOf(QUOTE, end);
          if (found !== undefined || value < 0 || key !== 'model') return undefined;
          const valueEnd = stringEnd(body, value);
          found = [value, valueEnd];
          at = valueEnd - 1;
          continue;
        }
      }
      at = end - 1;
    }
  }
  return found;
}

/** The index after the closing quote of the string that opens at `from`. */
function stringEnd(body: Buffer, from: number): number {
  let at = from;
  for (;;) {
    at = body.indexOf(QUOTE, at + 1);
    if (at < 0) return body.length;
    let slashes = 0;
    while (body[at - 1 - slashes] === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return at + 1;
  }
}

function isKey(body: Buffer, end: number): boolean {
  let at = end;
  while (body[at] === 0x20 || body[at] === 0x0a || body[at] === 0x0d || body[at] === 0x09) at += 1;
  return body[at] === COLON;
}
