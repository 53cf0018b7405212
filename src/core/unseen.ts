/** Characters that deceive who reads them. */

/**
 * Control characters, and those that a person does not see or that change the order of what is
 * seen: what was shown would not be what runs.
 */
const UNSEEN_RANGES: readonly (readonly [number, number])[] = [
  [0x00, 0x08],
  [0x0b, 0x1f],
  [0x7f, 0xa0],
  [0xad, 0xad],
  [0x34f, 0x34f],
  [0x61c, 0x61c],
  [0x115f, 0x1160],
  [0x1680, 0x1680],
  [0x17b4, 0x17b5],
  [0x180b, 0x180f],
  [0x2000, 0x200f],
  [0x2028, 0x202f],
  [0x205f, 0x206f],
  [0x2800, 0x2800],
  [0x3000, 0x3000],
  [0x3164, 0x3164],
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff0, 0xffff],
  [0xe0000, 0xe0fff],
];
const escaped = (code: number): string => `\\u{${code.toString(16)}}`;
/** Tabs and new lines are seen. */
export const UNSEEN = new RegExp(
  `[${UNSEEN_RANGES.map(([from, to]) => `${escaped(from)}-${escaped(to)}`).join('')}]`,
  'u',
);
