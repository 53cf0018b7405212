/**
 * A program and everything it starts, as one process group, so that all of it can be ended. A
 * process that leaves the group on purpose (a daemon) is beyond reach.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { COMMAND_ID_VARIABLE, createCommandId } from '../../../workspace/process/end-processes.js';

export interface ProcessOptions {
  command: string;
  args: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
}

interface ProcessEnd {
  code: number | null;
  signal: NodeJS.Signals | null;
}

const HAS_GROUPS = process.platform !== 'win32';

export class ProcessGroup {
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #ended: Promise<ProcessEnd>;
  #end: ProcessEnd | undefined;

  private constructor(child: ChildProcessByStdio<Writable, Readable, Readable>) {
    this.#child = child;
    this.#ended = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        this.#end = { code, signal };
        // Processes that the program left. As long as one lives, the group's number is not reused.
        this.#signal('SIGKILL');
        resolve(this.#end);
      });
    });
  }

  /** Rejects with the error of the system where the program cannot be started. */
  static start({ command, args, cwd, env }: ProcessOptions): Promise<ProcessGroup> {
    return new Promise((resolve, reject) => {
      const child = spawn(command, args, {
        cwd,
        env: { ...env, [COMMAND_ID_VARIABLE]: createCommandId() },
        stdio: ['pipe', 'pipe', 'pipe'],
        detached: HAS_GROUPS,
        windowsHide: true,
      });
      child.once('error', reject);
      child.once('spawn', () => {
        child.off('error', reject);
        child.on('error', () => {});
        resolve(new ProcessGroup(child));
      });
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get stdin(): Writable {
    return this.#child.stdin;
  }

  get stdout(): Readable {
    return this.#child.stdout;
  }

  get stderr(): Readable {
    return this.#child.stderr;
  }

  /** Undefined while it runs. */
  get end(): ProcessEnd | undefined {
    return this.#end;
  }

  get ended(): Promise<ProcessEnd> {
    return this.#ended;
  }

  /** Closed stdin asks, SIGTERM tells, SIGKILL makes it so. Resolves when the program is gone. */
  async stop(graceMs: number): Promise<void> {
    this.stdin.on('error', () => {});
    this.stdin.end();
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      if (await this.#endsWithin(graceMs)) break;
      this.#signal(signal);
    }
    await this.#ended;
    this.stdout.destroy();
    this.stderr.destroy();
  }

  #endsWithin(ms: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), ms);
      void this.#ended.then(() => {
        clearTimeout(timer);
        resolve(true);
      });
    });
  }

  #signal(signal: NodeJS.Signals): void {
    try {
      if (HAS_GROUPS) process.kill(-this.pid, signal);
      else this.#child.kill(signal);
    } catch {
      // Nothing of it is left.
    }
  }
}
