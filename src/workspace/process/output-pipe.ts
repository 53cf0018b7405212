/**
 * A real pipe for a command's output. Node gives children sockets, and on a socket `> /dev/stdout`
 * fails, and two descriptors would lose the order between them: so a FIFO is made, opened at both
 * ends and unlinked again.
 */
import { execFile } from 'node:child_process';
import { closeSync, constants, openSync, unlinkSync } from 'node:fs';
import { Socket } from 'node:net';

export interface OutputPipe {
  /** For the child's stdout and stderr. */
  readonly writeFd: number;
  readonly stream: Socket;
  /** What /proc shows for a descriptor of it. */
  readonly path: string;
  /** Once the child has it. */
  closeWriteEnd(): void;
}

/** Rejects where no FIFO can be made. */
export async function openOutputPipe(path: string): Promise<OutputPipe> {
  await new Promise<void>((resolve, reject) => {
    execFile('mkfifo', ['-m', '600', path], { env: { PATH: '/usr/bin:/bin:/usr/local/bin' } }, (error) =>
      error === null ? resolve() : reject(error),
    );
  });
  try {
    // The reader must not wait for a writer, and the writer finds a reader there.
    const readFd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    let writeFd: number;
    try {
      writeFd = openSync(path, constants.O_WRONLY | constants.O_NOFOLLOW);
    } catch (error) {
      closeSync(readFd);
      throw error;
    }
    const stream = new Socket({ fd: readFd, readable: true, writable: false });
    return { writeFd, stream, path, closeWriteEnd: () => closeSync(writeFd) };
  } finally {
    unlinkSync(path);
  }
}
