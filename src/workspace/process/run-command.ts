/**
 * One command as a process of its own: in a session and group of its own, with nothing to read from,
 * its output bounded, and ended with everything that it started.
 */
import { execFile, spawn } from 'node:child_process';
import { closeSync, constants, openSync, readSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import {
  COMMAND_ID_VARIABLE,
  createCommandId,
  createProcessTree,
  gone,
  type Started,
} from './end-processes.js';
import { createLogFile, createOutputBuffer, type LogFile, type OutputBuffer } from './output-buffer.js';
import { type ProcessMark, readProcess } from './process-list.js';

/** What one command may take of the gateway's memory, disk and patience. */
const COMMAND_LIMITS = {
  /** Of its output, kept in memory: the first and the last so many bytes. */
  headBytes: 64 * 1024,
  tailBytes: 64 * 1024,
  /** A command that prints no more than this leaves no file behind. */
  logAfterBytes: 30_000,
  logBytes: 64 * 1024 * 1024,
  /** Output that waits for the disk; beyond it the command is made to wait. */
  logPendingBytes: 1024 * 1024,
  /** Between asking to end and ending. */
  graceMs: 3000,
  /** How long output may still come once the command itself is gone. */
  drainMs: 150,
  /** What the command can say on the extra descriptor. */
  captureBytes: 64 * 1024,
  /** How long the kernel may take to end a namespace: it waits for a process that waits for a disk. */
  namespaceMs: 30_000,
} as const;

type CommandLimits = { [K in keyof typeof COMMAND_LIMITS]: number };

/** Where bubblewrap says who is the first in the namespace, as JSON. The command does not get it. */
const STATUS_FD = 5;

/**
 * A real pipe for a command's output. Node gives children sockets, and on a socket `> /dev/stdout`
 * fails, and two descriptors would lose the order between them: so a FIFO is made, opened at both
 * ends and unlinked again.
 */
interface OutputPipe {
  /** For the child's stdout and stderr. */
  readonly writeFd: number;
  readonly stream: Socket;
  /** What /proc shows for a descriptor of it. */
  readonly path: string;
  /** Once the child has it. */
  closeWriteEnd(): void;
}

/** Rejects where no FIFO can be made. */
async function openOutputPipe(path: string): Promise<OutputPipe> {
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

export interface CommandOptions {
  file: string;
  args: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** A private folder, for the log and for what is needed while it runs. */
  folder: string;
  /** Keep the whole output in a file from the first byte; by default only of long outputs. */
  logAlways?: boolean;
  /** The file is bubblewrap, with a pid namespace of its own: what it starts ends with it. */
  isolated?: boolean;
  /** A text that it can read from descriptor 4. */
  given?: string;
  limits?: Partial<CommandLimits>;
}

export interface RunningCommand {
  readonly id: string;
  readonly output: OutputBuffer;
  /** A file with the whole output, as far as the limit goes; none for short ones. */
  readonly log: LogFile | undefined;
  /** Resolves once, when the command and everything that it started is gone. Never rejects. */
  readonly ended: Promise<CommandEnd>;
  /** Calls `listener` after output, and after the end. */
  onChange(listener: () => void): void;
  /** SIGTERM, and SIGKILL after a while. Resolves when all is gone; may be called at any time. */
  stop(): Promise<void>;
  /** Without the while. */
  kill(): Promise<void>;
}

export type CommandEnd = {
  /** What it wrote to descriptor 3. */
  captured: string;
  /** Processes that it had left behind were ended. */
  leftovers: boolean;
} & (
  | { kind: 'exited'; code: number }
  | { kind: 'killed'; signal: string }
  /** It could not be started. */
  | { kind: 'failed'; message: string }
);

/** Rejects only where the private folder cannot be used. */
export async function runCommand(options: CommandOptions): Promise<RunningCommand> {
  const limits: CommandLimits = { ...COMMAND_LIMITS, ...options.limits };
  const id = createCommandId();
  const pipe = await openOutputPipe(join(options.folder, `output-${id}`));
  const files = openFiles(options, id, pipe);
  const mark: ProcessMark = { variable: `${COMMAND_ID_VARIABLE}=${id}`, output: pipe.path };
  const output = createOutputBuffer(limits);
  const listeners: (() => void)[] = [];
  const notify = (): void => {
    for (const listener of listeners) listener();
  };

  let log: LogFile | undefined;
  const startLog = (): LogFile => {
    const { before, after } = output.since(0);
    const name = id.slice(id.lastIndexOf('.') + 1);
    log = createLogFile(join(options.folder, `command-${name}.log`), limits.logBytes);
    if (before.length + after.length > 0) log.write(Buffer.concat([before, after]));
    return log;
  };
  const take = (chunk: Buffer): void => {
    if (log === undefined && output.total + chunk.length > limits.logAfterBytes) startLog();
    output.push(chunk);
    log?.write(chunk);
    if (log !== undefined && log.pending > limits.logPendingBytes) {
      pipe.stream.pause();
      void log.drained().then(() => pipe.stream.resume());
    }
    notify();
  };
  if (options.logAlways === true) startLog();

  pipe.stream.on('data', take);
  const drained = new Promise<void>((resolve) => {
    pipe.stream.once('close', resolve);
    pipe.stream.once('error', () => pipe.stream.destroy());
  });

  const child = start(options, id, pipe, files);
  const tree = createProcessTree(child, mark, options.isolated === true);
  /** Of what is left when the command itself has ended. */
  let graceMs = limits.graceMs;
  let stopping: Promise<boolean> | undefined;

  const clearUp = async (): Promise<boolean> => {
    await within(limits.drainMs, drained);
    // Nothing outlives a pid namespace, and with the end of the output nobody is left to be asked.
    const isEnding = options.isolated === true && pipe.stream.destroyed;
    const leftovers = isEnding ? false : await (stopping ?? tree.end(graceMs));
    await within(limits.drainMs, drained);
    pipe.stream.destroy();
    return leftovers;
  };

  /** The wrapper exits with the command, while the kernel still ends what the command has left. */
  const namespaceEnd = async (): Promise<void> => {
    if (files.statusFd === undefined) return;
    const [, pid] = /"child-pid": (\d+)/.exec(readUnnamed(files.statusFd, limits.captureBytes)) ?? [];
    const first = pid === undefined ? undefined : readProcess(Number(pid));
    if (first !== undefined) await gone([first], limits.namespaceMs);
  };

  const finish = async (): Promise<CommandEnd> => {
    const ending = await child.exited;
    if (ending.kind === 'failed') pipe.stream.destroy();
    const leftovers = ending.kind === 'failed' ? false : await clearUp();
    await namespaceEnd();
    await log?.close();
    return { ...ending, captured: readUnnamed(files.captureFd, limits.captureBytes), leftovers };
  };

  const ended = finish();
  void ended.then(notify);

  const endBy = async (ms: number): Promise<void> => {
    graceMs = Math.min(graceMs, ms);
    if (stopping === undefined || ms === 0) stopping = tree.end(ms);
    await ended;
  };

  return {
    id,
    output,
    get log() {
      return log;
    },
    ended,
    onChange: (listener) => void listeners.push(listener),
    stop: () => endBy(limits.graceMs),
    kill: () => endBy(0),
  };
}

function start(
  options: CommandOptions,
  id: string,
  pipe: OutputPipe,
  { captureFd, givenFd, statusFd }: OpenFiles,
): Started {
  const given = givenFd === undefined && statusFd === undefined ? [] : [givenFd ?? ('ignore' as const)];
  const status = statusFd === undefined ? [] : [statusFd];
  const statusArguments = statusFd === undefined ? [] : ['--json-status-fd', String(STATUS_FD)];
  try {
    const child = spawn(options.file, [...statusArguments, ...options.args], {
      cwd: options.cwd,
      env: { ...options.env, [COMMAND_ID_VARIABLE]: id },
      // A session of its own: no terminal to read from, and a group that can be ended whole.
      detached: true,
      stdio: ['ignore', pipe.writeFd, pipe.writeFd, captureFd, ...given, ...status],
    });
    return {
      process: child,
      exited: new Promise((resolve) => {
        child.once('error', (error) => {
          if (child.pid === undefined) resolve({ kind: 'failed', message: error.message });
        });
        child.once('exit', (code, signal) => {
          resolve(signal === null ? { kind: 'exited', code: code ?? 0 } : { kind: 'killed', signal });
        });
      }),
    };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { process: undefined, exited: Promise.resolve({ kind: 'failed', message }) };
  } finally {
    pipe.closeWriteEnd();
    if (givenFd !== undefined) closeSync(givenFd);
  }
}

interface OpenFiles {
  captureFd: number;
  givenFd: number | undefined;
  statusFd: number | undefined;
}

function openFiles({ folder, given, isolated }: CommandOptions, id: string, pipe: OutputPipe): OpenFiles {
  const opened: number[] = [];
  const open = (fd: number): number => {
    opened.push(fd);
    return fd;
  };
  try {
    return {
      captureFd: open(openUnnamed(join(folder, `capture-${id}`))),
      statusFd: isolated === true ? open(openUnnamed(join(folder, `status-${id}`))) : undefined,
      givenFd: given === undefined ? undefined : open(openGiven(join(folder, `given-${id}`), given)),
    };
  } catch (error) {
    for (const fd of opened) closeSync(fd);
    pipe.closeWriteEnd();
    pipe.stream.destroy();
    throw error;
  }
}

/** An unlinked file, which needs no removal. */
function openUnnamed(path: string): number {
  const flags = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const fd = openSync(path, flags, 0o600);
  unlinkSync(path);
  return fd;
}

/** From its beginning, and to be read alone. */
function openGiven(path: string, text: string): number {
  try {
    writeFileSync(path, text, { mode: 0o600, flag: 'wx' });
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } finally {
    rmSync(path, { force: true });
  }
}

/** Closes it. */
function readUnnamed(fd: number, maxBytes: number): string {
  try {
    const bytes = Buffer.alloc(maxBytes);
    return bytes.subarray(0, readSync(fd, bytes, 0, maxBytes, 0)).toString('utf8');
  } finally {
    closeSync(fd);
  }
}

async function within(ms: number, done: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    // What came while the process was held up is read before its time is over.
    timer = setTimeout(() => setImmediate(resolve), ms);
  });
  await Promise.race([done, late]);
  clearTimeout(timer);
}
