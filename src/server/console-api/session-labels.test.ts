import { expect, it } from 'vitest';
import { cleanTitle } from './session-labels.js';

it.each([
  ['  a \n\t b ', 'a b'],
  ['gnp.exe\u202e\u2066', 'gnp.exe'],
  ['nul\u0000 bell\u0007 esc\u001b[31m', 'nul bell esc[31m'],
  ['half \ud83d', 'half \ufffd'],
  ['👨‍👩‍👧 修复', '👨‍👩‍👧 修复'],
  ['\u200b\ufeff\u{e0041}', ''],
])('a title is one line, as it looks: %j', (given, clean) => {
  expect(cleanTitle(given)).toBe(clean);
});
