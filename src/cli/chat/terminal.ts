/** A person at a terminal, one question at a time. */
import { createInterface, type Interface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { type KeySource, linesOf, PASTE_MARKS, TypedKeys } from './typed-keys.js';

export interface ChatTerminal {
  /** False where the input is a pipe: no person can answer. */
  readonly interactive: boolean;
  readonly color: boolean;
  write(text: string): void;
  /** A line, or several that were pasted or ended with Ctrl-J; undefined when the input has ended or the signal fired. */
  ask(prompt: string, options?: AskOptions): Promise<string | undefined>;
  /** All of the input, where it is a pipe. */
  readAll(): Promise<string>;
  /** Takes back what is typed and not yet sent; false where there is nothing. */
  clearLine(): boolean;
  /** Ctrl-C. The last handler gets it. */
  onInterrupt(handler: () => void): () => void;
  close(): void;
}

export interface AskOptions {
  signal?: AbortSignal;
  /** What was typed before the question stood there is no answer to it. */
  fresh?: boolean;
  /** Put into the line, to be edited. */
  prefill?: string;
  /** Whether the arrow keys bring the line back; true where left out. */
  remember?: boolean;
}

interface TerminalStreams {
  input: Readable & KeySource & { isTTY?: boolean };
  output: Writable;
  color: boolean;
  /** What the arrow keys bring back, the newest last. */
  earlier?: readonly string[];
  onLine?(line: string): void;
}

interface Waiting {
  remember: boolean;
  resolve(line: string | undefined): void;
}

const HISTORY_LINES = 500;

export function openTerminal({
  input,
  output,
  color,
  earlier = [],
  onLine = () => {},
}: TerminalStreams): ChatTerminal {
  const interactive = input.isTTY === true;
  const handlers: (() => void)[] = [];
  let lines: string[] = [];
  let ended = false;
  let waiting: Waiting | undefined;
  let reader: Interface | undefined;

  const interrupt = (): void => handlers.at(-1)?.();

  function open(): Interface {
    if (reader !== undefined) return reader;
    const keys = interactive ? input.pipe(new TypedKeys(input)) : input;
    if (interactive) output.write(PASTE_MARKS.on);
    reader = createInterface({
      input: keys,
      output,
      terminal: interactive,
      historySize: HISTORY_LINES,
      history: earlier.toReversed(),
    });
    // Comes before the line itself.
    reader.on('history', (history: string[]) => {
      if (waiting?.remember === false) history.shift();
      else if (history[0] !== undefined) onLine(history[0]);
    });
    reader.on('line', (typed) => {
      const line = linesOf(typed);
      if (waiting === undefined) lines.push(line);
      else waiting.resolve(line);
    });
    reader.on('SIGINT', interrupt);
    reader.on('close', () => {
      ended = true;
      if (keys !== input) {
        output.write(PASTE_MARKS.off);
        // Nobody reads it any more, and it would keep the process.
        input.unpipe();
        input.pause();
      }
      waiting?.resolve(undefined);
    });
    return reader;
  }

  async function ask(prompt: string, { signal, fresh = false, prefill, remember = true }: AskOptions = {}) {
    const line = open();
    if (signal?.aborted === true) return undefined;
    line.setPrompt(prompt);
    if (fresh) lines = [];
    const early = lines.shift();
    if (early !== undefined) {
      output.write(`${prompt}${early}\n`);
      return early;
    }
    if (ended) return undefined;
    // Taking back what was typed shows the prompt as well.
    if (fresh && interactive) line.write(null, { ctrl: true, name: 'u' });
    else line.prompt();
    if (prefill !== undefined) line.write(prefill);
    return new Promise<string | undefined>((resolve) => {
      const finish = (answer: string | undefined): void => {
        waiting = undefined;
        signal?.removeEventListener('abort', onAbort);
        resolve(answer);
      };
      const onAbort = (): void => {
        output.write('\n');
        finish(undefined);
      };
      waiting = { remember, resolve: finish };
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  return {
    interactive,
    color,
    write: (text) => void output.write(text),
    ask,
    async readAll() {
      let text = '';
      for await (const piece of input.setEncoding('utf8')) text += piece;
      return text;
    },
    clearLine() {
      if (reader === undefined || reader.line === '') return false;
      reader.write(null, { ctrl: true, name: 'e' });
      reader.write(null, { ctrl: true, name: 'u' });
      return true;
    },
    onInterrupt(handler) {
      handlers.push(handler);
      if (interactive) open();
      return () => {
        const at = handlers.lastIndexOf(handler);
        if (at !== -1) handlers.splice(at, 1);
      };
    },
    close() {
      reader?.close();
    },
  };
}
