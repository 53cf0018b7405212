/** Where a command of an agent and a test meet, without either of them waiting a fixed time. */
import { execFileSync } from 'node:child_process';
import { close as closeFile, constants, open as openFile, write as writeFile } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { closeAfterTest } from './cleanup.js';

const open = promisify(openFile);
const close = promisify(closeFile);
const write = promisify(writeFile);

/** Commands that may wait at one point, each for a line of its own. */
const MOST = 16;

/**
 * A command that runs `words` says that it is there, and goes on when it is let go. Both are named
 * pipes, which hold whoever comes first until the other side is there.
 */
export class MeetingPoint {
  readonly #here: string;
  readonly #go: string;
  #met: Promise<void> | undefined;
  #open: number | undefined;

  constructor(folder: string, name: string) {
    this.#here = join(folder, `${name}.here`);
    this.#go = join(folder, `${name}.go`);
    execFileSync('mkfifo', [this.#here, this.#go]);
    closeAfterTest(() => this.giveUp());
  }

  /** For a shell. */
  get words(): string {
    return `echo here > '${this.#here}'; read -r _ < '${this.#go}'`;
  }

  /** Resolves when a command has come. */
  get met(): Promise<void> {
    this.#met ??= readFile(this.#here, 'utf8').then((text) => {
      if (text === '') throw new Error('No command came to the meeting point');
    });
    return this.#met;
  }

  /** Lets go whoever waits here or comes later: the words stay in the pipe. */
  async letGo(): Promise<void> {
    this.#open ??= await openBothWays(this.#go);
    if (this.#open !== undefined) await write(this.#open, '\n'.repeat(MOST));
  }

  /** Ends the test's own waiting as well. */
  async giveUp(): Promise<void> {
    this.#met?.catch(() => {});
    const here = await openBothWays(this.#here);
    await this.letGo();
    // The other side's open has to return before these are closed again.
    await new Promise<void>((resolve) => setImmediate(resolve));
    for (const fd of [here, this.#open]) if (fd !== undefined) await close(fd);
  }
}

/** Opened for both sides it never blocks. Undefined where the folder is gone. */
async function openBothWays(path: string): Promise<number | undefined> {
  try {
    return await open(path, constants.O_RDWR | constants.O_NONBLOCK);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
