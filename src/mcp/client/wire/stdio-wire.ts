/** A server that the gateway starts: one message a line on its stdin and stdout, whatever it says to people on stderr. */
import { FloodBrake } from './flood-brake.js';
import { answeredId, type Frame, FrameReader } from './frames.js';
import { ProcessGroup, type ProcessOptions } from './process-group.js';
import type { JSONRPCMessage, Sdk, Transport } from './sdk.js';
import type { Wire, WireContext } from './wire.js';

type Codec = Pick<Sdk, 'deserializeMessage' | 'serializeMessage' | 'ProtocolErrorCode'>;

class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];

  readonly #codec: Codec;
  readonly #options: ProcessOptions;
  readonly #context: WireContext;
  readonly #frames: FrameReader;
  readonly #brake: FloodBrake;
  readonly #stderr: StderrTail;
  #process: ProcessGroup | undefined;
  #starting: Promise<ProcessGroup> | undefined;
  #strayBytes = 0;
  #closing: Promise<void> | undefined;
  #broken: string | undefined;
  /** By us, and not by itself. */
  #ended = false;

  constructor(codec: Codec, options: ProcessOptions, context: WireContext) {
    this.#codec = codec;
    this.#options = options;
    this.#context = context;
    this.#frames = new FrameReader(context.limits.messageBytes);
    this.#brake = new FloodBrake(context.limits);
    this.#stderr = new StderrTail(context);
  }

  /** By `pid` and `stderr` the SDK knows a program, whose silence means the older era. */
  get pid(): number | undefined {
    return this.#process?.pid;
  }

  get stderr(): undefined {
    return undefined;
  }

  async start(): Promise<void> {
    const context = this.#context;
    this.#starting = ProcessGroup.start(this.#options);
    const started = await this.#starting;
    this.#process = started;
    started.stdin.on('error', (error) => this.onerror?.(error));
    started.stdout.on('error', (error) => this.onerror?.(error));
    started.stderr.on('error', () => {});
    started.stdout.on('data', (chunk: Buffer) => this.#read(chunk, started));
    started.stderr.setEncoding('utf8').on('data', (text: string) => this.#stderr.add(text));
    void started.ended.then(async () => {
      await drained(started, context.limits.stopMs);
      this.onclose?.();
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const running = this.#process;
    if (running === undefined || running.end !== undefined || !running.stdin.writable) {
      throw new Error('The program has ended');
    }
    if (running.stdin.writableLength > this.#context.limits.unsentBytes) {
      throw new Error('The program does not read what it is sent');
    }
    running.stdin.write(this.#codec.serializeMessage(message));
  }

  close(): Promise<void> {
    this.#closing ??= this.#stop();
    return this.#closing;
  }

  async #stop(): Promise<void> {
    this.#ended = this.#process?.end === undefined;
    const running = this.#process ?? (await this.#starting?.catch(() => undefined));
    await running?.stop(this.#context.limits.stopMs);
  }

  ending(): string | undefined {
    if (this.#broken !== undefined) return this.#broken;
    const end = this.#process?.end;
    if (end === undefined || this.#ended) return undefined;
    return end.signal !== null ? `it was ended by ${end.signal}` : `it ended with code ${end.code}`;
  }

  lastWords(): string | undefined {
    return this.#stderr.lastWords() || undefined;
  }

  #read(chunk: Buffer, { stdout }: ProcessGroup): void {
    if (this.#broken !== undefined) return;
    for (const frame of this.#frames.push(chunk)) this.#onFrame(frame);
    const { limits } = this.#context;
    if (this.#frames.pending > limits.skippedBytes) {
      this.#break(`it printed ${megabytes(this.#frames.pending)} without a line break`);
    }
    const wait = this.#brake.take(chunk.length);
    if (wait <= 0) return;
    stdout.pause();
    setTimeout(() => stdout.resume(), wait);
  }

  #onFrame(frame: Frame): void {
    if (frame.kind === 'oversized') {
      this.#onOversized(frame);
      return;
    }
    if (frame.text.trim() === '') return;
    let message: JSONRPCMessage;
    try {
      message = this.#codec.deserializeMessage(frame.text);
    } catch {
      this.#onStray(frame);
      return;
    }
    this.#strayBytes = 0;
    this.onmessage?.(message);
  }

  #onStray({ text, bytes }: { text: string; bytes: number }): void {
    const { limits, log, name, redact } = this.#context;
    if (this.#strayBytes === 0) {
      log.debug(
        { server: name, line: redact(text.slice(0, 200)) },
        'an MCP server printed what is not a message',
      );
    }
    this.#strayBytes += bytes + 1;
    if (this.#strayBytes > limits.strayBytes) {
      this.#break('it prints on stdout what is not MCP; such a program must log to stderr');
    }
  }

  #onOversized(frame: Extract<Frame, { kind: 'oversized' }>): void {
    const problem = `it sent a message of ${megabytes(frame.bytes)}, over the limit of ${megabytes(this.#context.limits.messageBytes)}`;
    const id = answeredId(frame);
    if (id === undefined) {
      this.#break(problem);
      return;
    }
    this.#strayBytes = 0;
    this.onmessage?.({
      jsonrpc: '2.0',
      id,
      error: {
        code: this.#codec.ProtocolErrorCode.InternalError,
        message: `The answer was thrown away: ${problem}`,
      },
    });
  }

  #break(problem: string): void {
    if (this.#broken !== undefined) return;
    this.#broken = problem;
    this.#context.onBroken(problem);
  }
}

/** Keeps the end of what was said, and logs it by lines up to a limit. */
class StderrTail {
  readonly #context: WireContext;
  #tail = '';
  #line = '';
  #logged = 0;

  constructor(context: WireContext) {
    this.#context = context;
  }

  add(text: string): void {
    const { lastWordsChars, stderrLineChars } = this.#context.limits;
    this.#tail = (this.#tail + text.slice(-lastWordsChars)).slice(-lastWordsChars);
    const lines = (this.#line + text).split('\n');
    this.#line = (lines.pop() ?? '').slice(0, stderrLineChars);
    for (const line of lines) this.#log(line);
  }

  lastWords(): string {
    return this.#context
      .redact(this.#tail)
      .trim()
      .replace(/\s*\n\s*/g, ' | ');
  }

  #log(line: string): void {
    const { limits, log, name, redact } = this.#context;
    if (line.trim() === '' || this.#logged > limits.stderrLogChars) return;
    this.#logged += line.length;
    const full = this.#logged > limits.stderrLogChars;
    log.debug(
      { server: name, line: redact(line.slice(0, limits.stderrLineChars)) },
      'stderr of an MCP server',
    );
    if (full) log.debug({ server: name }, 'more of its stderr is not logged');
  }
}

/** The last answers of a program that has ended may still be in the pipe, which a daemon of its may hold open. */
function drained({ stdout }: ProcessGroup, ms: number): Promise<void> {
  if (stdout.readableEnded || stdout.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    stdout.once('close', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

export function openStdio(codec: Codec, options: ProcessOptions, context: WireContext): Wire {
  const transport = new StdioTransport(codec, options, context);
  return {
    transport,
    close: () => transport.close(),
    ending: () => transport.ending(),
    lastWords: () => transport.lastWords(),
    refusedCredential: () => false,
  };
}
