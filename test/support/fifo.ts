/** Where a command of an agent and a test meet, without either of them waiting a fixed time. */
import { execFileSync } from 'node:child_process';
import { close, constants, open as openFile } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { closeAfterTest } from './cleanup.js';

const open = promisify(openFile);

/**
 * A command that runs `words` says that it is there, and goes on when it is let go. Both are named
 * pipes, which hold whoever comes first until the other side is there.
 */
export class MeetingPoint {
  readonly #here: string;
  readonly #go: string;
  #met: Promise<void> | undefined;

  constructor(folder: string, name: string) {
    this.#here = join(folder, `${name}.here`);
    this.#go = join(folder, `${name}.go`);
    execFileSync('mkfifo', [this.#here, this.#go]);
    closeAfterTest(() => this.giveUp());
  }

  /** For a shell. */
  get words(): string {
    return `echo here > '${this.#here}'; cat '${this.#go}' > /dev/null`;
  }

  /** Resolves when a command has come. */
  get met(): Promise<void> {
    this.#met ??= readFile(this.#here, 'utf8').then((text) => {
      if (text === '') throw new Error('No command came to the meeting point');
    });
    return this.#met;
  }

  /** Lets go whoever waits here; nobody is no error. */
  async letGo(): Promise<void> {
    await poke(this.#go);
  }

  /** Ends the test's own waiting as well. */
  async giveUp(): Promise<void> {
    this.#met?.catch(() => {});
    await poke(this.#here);
    await poke(this.#go);
  }
}

/** Opened for both sides it never blocks; whoever waits for the other side has it for a moment. */
async function poke(path: string): Promise<void> {
  try {
    const fd = await open(path, constants.O_RDWR | constants.O_NONBLOCK);
    // The other side's open has to return before this one is closed again.
    await new Promise<void>((resolve) => setImmediate(resolve));
    await promisify(close)(fd);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
}
