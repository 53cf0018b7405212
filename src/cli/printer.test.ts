import { expect, it } from 'vitest';
import { createPrinter } from './main.js';

function printed(line: string): string {
  let text = '';
  const { out } = createPrinter(
    {},
    (piece) => {
      text += piece;
    },
    () => {},
  );
  out(line);
  return text;
}

it('shows what would act on the terminal instead of sending it there', () => {
  expect(printed('a\u001b[2Jb\u001b]0;t\u0007\r\u009b1m\u202e')).toBe(
    'a\\u001b[2Jb\\u001b]0;t\\u0007\\u000d\\u009b1m\\u202e\n',
  );
});

it('keeps colours, tabs and lines', () => {
  expect(printed('\u001b[31mFAIL\u001b[0m\ta\nb é中')).toBe('\u001b[31mFAIL\u001b[0m\ta\nb é中\n');
});
