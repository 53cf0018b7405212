/** A client program as a child process that prints JSON lines. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { closeAfterTest } from '../support/cleanup.js';
import { isRecord, type JsonRecord } from '../support/violation.js';

export interface ClientOptions {
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** Keeps its input open, for `send`; else it is empty. */
  interactive?: boolean;
}

interface Waiter {
  matches: (event: JsonRecord) => boolean;
  found(event: JsonRecord): void;
}

export class ClientProcess {
  readonly events: JsonRecord[] = [];
  /** Lines that are not JSON. */
  readonly words: string[] = [];
  /** Its exit code, once its output is whole; null where a signal ended it. */
  readonly exited: Promise<number | null>;
  readonly #child: ChildProcess;
  #stderr = '';
  #waiters: Waiter[] = [];

  constructor(program: string, args: readonly string[], { cwd, env, interactive = false }: ClientOptions) {
    const child = spawn(program, args, {
      cwd,
      env: { PATH: process.env['PATH'], ...env },
      stdio: [interactive ? 'pipe' : 'ignore', 'pipe', 'pipe'],
      // A group of its own: what it has started ends with it.
      detached: true,
    });
    this.#child = child;
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text;
    });
    child.stdin?.on('error', () => {});
    const lines = child.stdout === null ? undefined : createInterface({ input: child.stdout });
    lines?.on('line', (line) => this.#line(line));
    this.exited = Promise.all([once(child, 'close'), lines === undefined ? [] : once(lines, 'close')]).then(
      () => child.exitCode,
    );
    closeAfterTest(() => this.kill());
  }

  get stderr(): string {
    return this.#stderr;
  }

  send(message: JsonRecord): void {
    this.#child.stdin?.write(`${JSON.stringify(message)}\n`);
  }

  endInput(): void {
    this.#child.stdin?.end();
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  /** Resolves with the first event that matches, also one that came before; rejects when it ends without. */
  async event(matches: (event: JsonRecord) => boolean): Promise<JsonRecord> {
    const known = this.events.find(matches);
    if (known !== undefined) return known;
    const found = new Promise<JsonRecord>((resolve) => {
      this.#waiters.push({ matches, found: resolve });
    });
    const over = this.exited.then((code) => {
      throw new Error(`It ended with ${code} before the event came.\n${this.report()}`);
    });
    return Promise.race([found, over]);
  }

  async kill(): Promise<void> {
    const { pid, exitCode, signalCode } = this.#child;
    if (pid !== undefined && exitCode === null && signalCode === null) process.kill(-pid, 'SIGKILL');
    await this.exited;
  }

  /** What it said, for the message of a failed test. */
  report(): string {
    const events = this.events.slice(-8).map((event) => JSON.stringify(event).slice(0, 1500));
    return [...this.words.slice(-20), ...events, this.#stderr.slice(-3000)].join('\n');
  }

  #line(line: string): void {
    if (line.trim() === '') return;
    const event = parse(line);
    if (event === undefined) {
      this.words.push(line);
      return;
    }
    this.events.push(event);
    const due = this.#waiters.filter(({ matches }) => matches(event));
    this.#waiters = this.#waiters.filter((waiter) => !due.includes(waiter));
    for (const { found } of due) found(event);
  }
}

function parse(line: string): JsonRecord | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
