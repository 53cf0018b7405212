/** One question to the person at the terminal, before a command does what it is for. */
import { createInterface } from 'node:readline';
import { isatty } from 'node:tty';

/** Undefined where nobody could read the question or type an answer. The input is left paused for who reads it next. */
export function askInTerminal(
  process: Pick<NodeJS.Process, 'stdin' | 'stderr'>,
): ((question: string) => Promise<string>) | undefined {
  if (!isatty(0) || !isatty(2)) return undefined;
  return (question) =>
    new Promise((resolve) => {
      // The terminal itself echoes and edits the line: nothing has to be set back when this ends.
      const reader = createInterface({ input: process.stdin, terminal: false });
      let answer = '';
      reader.once('line', (line) => {
        answer = line;
        reader.close();
      });
      reader.once('close', () => resolve(answer));
      process.stderr.write(question);
    });
}
