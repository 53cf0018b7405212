/** Starts, kills and starts again the process whose approvals are decided meanwhile. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { ChildCall, ChildLine, Order } from './approval-lines.js';

export interface CoreOptions {
  script: string;
  path: string;
  journal: string;
  timeoutMs: number;
}

export type Ended = Extract<ChildLine, { kind: 'ended' }>;

export class ApprovalCore {
  readonly #options: CoreOptions;
  #child: ChildProcess | undefined;
  #closed: Promise<unknown> = Promise.resolve();
  #number = 0;
  #ready = false;
  #dead = true;
  #waiting: (() => void)[] = [];
  readonly #done = new Set<number>();
  /** Calls that the process which lives now has asked about, and under which id. */
  readonly asked = new Map<string, string>();
  /** The verdict that each call got, in whichever life. */
  readonly ended = new Map<string, Ended[]>();
  readonly decisions: Extract<ChildLine, { kind: 'decided' }>[] = [];
  readonly problems: string[] = [];
  deaths = 0;

  constructor(options: CoreOptions) {
    this.#options = options;
  }

  async start(at: number): Promise<void> {
    const { script, path, journal, timeoutMs } = this.#options;
    this.asked.clear();
    this.#ready = false;
    this.#dead = false;
    const args = [script, path, journal, String(at), String(timeoutMs)];
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#child = child;
    if (child.stdout === null || child.stdin === null) throw new Error('no pipes');
    // Commands to one that was just killed go nowhere.
    child.stdin.on('error', () => {});
    const lines = createInterface({ input: child.stdout });
    lines.on('line', (line) => this.#hear(JSON.parse(line)));
    // The last lines count: what it said before it died, it had done.
    this.#closed = Promise.all([once(child, 'exit'), once(lines, 'close')]).then(() => {
      this.deaths += 1;
      this.#dead = true;
      this.#wakeAll();
    });
    if (!(await this.until(() => this.#ready))) throw new Error('it did not start');
  }

  async kill(): Promise<void> {
    this.#child?.kill('SIGKILL');
    await this.#closed;
  }

  async stop(): Promise<void> {
    this.#child?.stdin?.end();
    await this.#closed;
  }

  /** True when it is done, false when it died. */
  order(order: Order): Promise<boolean> {
    const number = this.send(order);
    return this.until(() => this.#done.has(number));
  }

  /** Does not wait: it may be killed before it hears of it. */
  send(order: Order): number {
    this.#number += 1;
    this.#child?.stdin?.write(`${JSON.stringify({ ...order, number: this.#number })}\n`);
    return this.#number;
  }

  /** True when each is asked about or has its verdict, false when it died. */
  async run(calls: readonly ChildCall[]): Promise<boolean> {
    await this.order({ do: 'run', calls });
    return this.until(() => calls.every(({ id }) => this.asked.has(id) || this.ended.has(id)));
  }

  /** False when it died before. */
  async until(condition: () => boolean): Promise<boolean> {
    while (!condition()) {
      if (this.#dead) return false;
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
      });
    }
    return true;
  }

  #wakeAll(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }

  #hear(line: ChildLine): void {
    switch (line.kind) {
      case 'ready':
        this.#ready = true;
        break;
      case 'done':
        this.#done.add(line.number);
        break;
      case 'asked':
        this.asked.set(line.call, line.approval);
        break;
      case 'decided':
        this.decisions.push(line);
        break;
      case 'ended':
        this.ended.set(line.call, [...(this.ended.get(line.call) ?? []), line]);
        break;
      case 'problem':
        this.problems.push(line.message);
        break;
    }
    this.#wakeAll();
  }
}
