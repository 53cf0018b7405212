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
