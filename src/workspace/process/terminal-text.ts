/** What a terminal would have shown, as plain text for a model. */

const ESCAPES =
  // CSI; OSC up to BEL or ST; DCS, SOS, PM and APC up to ST; two-character escapes.
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[PX^_][^\u001b]*(?:\u001b\\)?|[ -/]*[0-~])|\u009b[0-?]*[ -/]*[@-~]/g;

/** Tab, line feed and what was made visible stay. */
const CONTROLS = /[\u0001-\u0008\u000b-\u001f\u007f-\u009f]/g;

export function plainText(text: string): string {
  if (!/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/.test(text)) return text;
  return text
    .replace(ESCAPES, '')
    .split('\n')
    .map(overwritten)
    .join('\n')
    .replaceAll('\u0000', '\\0')
    .replace(CONTROLS, '');
}

/** A carriage return starts the line again, a backspace takes one character back. */
function overwritten(line: string): string {
  const ended = line.endsWith('\r') ? line.slice(0, line.search(/\r+$/)) : line;
  const last = ended.slice(ended.lastIndexOf('\r') + 1);
  if (!last.includes('\b')) return last;
  let shown = '';
  for (const character of last) shown = character === '\b' ? shown.slice(0, -1) : shown + character;
  return shown;
}

/** A whole code of any kind; those that hold a text, up to its end. */
const WHOLE_CODE =
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[PX^_][^\u001b]*\u001b\\|[ -/]+[0-~]|[0-OQ-WYZ\\`-~])/y;

/** Where a text was cut off: an incomplete code would swallow the text after it. */
export function withoutBegunCode(text: string): string {
  let end = text.length;
  for (;;) {
    const at = end === 0 ? -1 : text.lastIndexOf('\u001b', end - 1);
    if (at === -1 || isWhole(text, at, end)) return text.slice(0, end);
    end = at;
  }
}

/** `tail`, which `text` ends with, without the rest of a code that begins in front of it. */
export function behindCode(text: string, tail: string): string {
  const start = text.length - tail.length;
  const at = start === 0 ? -1 : text.lastIndexOf('\u001b', start - 1);
  if (at === -1) return tail;
  WHOLE_CODE.lastIndex = at;
  return WHOLE_CODE.test(text) && WHOLE_CODE.lastIndex > start ? text.slice(WHOLE_CODE.lastIndex) : tail;
}

/** Text after `text` has none of its colours. */
export function resetBehind(text: string): string {
  return text.includes('\u001b') ? '\u001b[0m' : '';
}

function isWhole(text: string, at: number, end: number): boolean {
  WHOLE_CODE.lastIndex = at;
  return WHOLE_CODE.test(text) && WHOLE_CODE.lastIndex <= end;
}

/** How much of a sample may be unreadable before all of it counts as binary. */
const BINARY_SHARE = 0.1;
const ZERO_SHARE = 0.3;
const SAMPLE = 8192;

export function looksBinary(text: string): boolean {
  const sample = text.slice(0, SAMPLE);
  if (sample.length === 0) return false;
  let odd = 0;
  let zeros = 0;
  for (let index = 0; index < sample.length; index += 1) {
    const code = sample.charCodeAt(index);
    if (code === 0) zeros += 1;
    else if (code === 0xfffd || (code < 32 && !(code >= 7 && code <= 13) && code !== 27)) odd += 1;
  }
  return odd > sample.length * BINARY_SHARE || zeros > Math.max(1, sample.length * ZERO_SHARE);
}
