/** Text from programs and files, made fit for a model and for a screen. */

/** Colours, cursor moves and titles of a terminal: CSI, OSC and the short escapes. */
const TERMINAL_SEQUENCES =
  /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)|[PX^_][^\x1b]{0,4096}\x1b\\|[ -/]+[0-~]|[0-Z\\^-~])/g;

/** All but tab, line feed and carriage return. */
const CONTROL = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/g;

/** A test first: nearly every text has nothing to clean, and is then returned as it is. */
const SUSPECT = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/;

/** Terminal sequences go; any other control character, and half of a pair, is shown as U+FFFD. */
export function cleanText(text: string): string {
  const plain = SUSPECT.test(text) ? text.replace(TERMINAL_SEQUENCES, '').replace(CONTROL, '\ufffd') : text;
  return wellFormed(plain);
}

/** Line ends and other controls, and signs that turn the direction of what follows. */
const UNSEEN = /[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** A name must not look like two, or like another one. */
export function printableName(name: string): string {
  return name.replace(UNSEEN, (char) => {
    const code = char.charCodeAt(0).toString(16);
    return code.length > 2 ? `\\u{${code}}` : `\\x${code.padStart(2, '0')}`;
  });
}

/** With the u flag, only halves of a pair are surrogates. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd');
}

/** The longest start of `text` with at most `chars` units that does not end inside a pair. */
export function headOf(text: string, chars: number): string {
  if (chars >= text.length) return text;
  const end =
    isLowSurrogate(text.charCodeAt(chars)) && isHighSurrogate(text.charCodeAt(chars - 1)) ? chars - 1 : chars;
  return text.slice(0, Math.max(0, end));
}

/** The longest end of `text` with at most `chars` units that does not begin inside a pair. */
export function tailOf(text: string, chars: number): string {
  if (chars >= text.length) return text;
  const start = text.length - chars;
  const inside = isLowSurrogate(text.charCodeAt(start)) && isHighSurrogate(text.charCodeAt(start - 1));
  return text.slice(inside ? start + 1 : start);
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}

/** A cut moves at most `slack` characters back to fall between two lines. */
export function toLineEnd(head: string, slack: number): string {
  const end = head.lastIndexOf('\n') + 1;
  return end > 0 && head.length - end <= slack ? head.slice(0, end) : head;
}

/** The same at the other side of a cut, forward. */
export function toLineStart(tail: string, slack: number): string {
  const start = tail.indexOf('\n') + 1;
  return start > 0 && start <= slack ? tail.slice(start) : tail;
}
