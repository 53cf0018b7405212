/** A program in a terminal of its own, as `script` of util-linux gives it one. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeAfterTest } from '../support/cleanup.js';
import { systemProgram } from '../support/system-program.js';

export interface TerminalOptions {
  cwd: string;
  env: Readonly<Record<string, string>>;
}

/** Cursor movements, colours and titles; words that stand apart on the screen may then touch. */
const CONTROLS = /\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[[<>=?]?[0-9;?<>=$ ]*[a-zA-Z~]|[\x00-\x08\x0e-\x1f]/g;

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

export class Terminal {
  readonly exited: Promise<number | null>;
  readonly #child: ChildProcess;
  #output = '';
  #onOutput: () => void = () => {};

  constructor(command: readonly string[], { cwd, env }: TerminalOptions) {
    const child = spawn(systemProgram('script'), ['-qefc', command.map(quoted).join(' '), '/dev/null'], {
      cwd,
      env: { PATH: process.env['PATH'], TERM: 'xterm-256color', COLUMNS: '120', LINES: '40', ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
    });
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#output += text;
        this.#onOutput();
      });
    }
    child.stdin?.on('error', () => {});
    this.exited = once(child, 'close').then(() => child.exitCode);
    closeAfterTest(() => this.kill());
  }

  /** All that was written, without blanks and controls. */
  get written(): string {
    return this.#output.replace(CONTROLS, '').replace(/\s+/g, '');
  }

  type(keys: string): void {
    this.#child.stdin?.write(keys);
  }

  /** Resolves when the screen has shown `text`, so many times; blanks do not count. */
  async shows(text: string, times = 1): Promise<void> {
    const wanted = text.replace(/\s+/g, '');
    const isShown = (): boolean => this.written.split(wanted).length > times;
    while (!isShown()) {
      const output = new Promise<'output'>((done) => {
        this.#onOutput = () => done('output');
      });
      const next = await Promise.race([output, this.exited]);
      if (next !== 'output' && !isShown())
        throw new Error(`It ended with ${next} before it showed ${text}\n${this.written.slice(-2000)}`);
    }
  }

  async kill(): Promise<void> {
    const { pid, exitCode, signalCode } = this.#child;
    if (pid !== undefined && exitCode === null && signalCode === null) process.kill(-pid, 'SIGKILL');
    await this.exited;
  }
}
