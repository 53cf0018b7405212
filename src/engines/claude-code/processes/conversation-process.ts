/** A process with its conversation: the SDK talks to it, and one reader gets its messages. */
import type {
  Options,
  Query,
  SDKMessage,
  SDKUserMessage,
  SpawnedProcess,
  SpawnOptions,
} from '@anthropic-ai/claude-agent-sdk';
import { deferred } from '../../../core/deferred.js';
import { GatewayError } from '../../../core/errors.js';
import { untilAborted } from '../../../core/stopping.js';
import type { ClaudeProcess } from './claude-processes.js';
import type { ClaudeSdk } from './load-sdk.js';
import { conversationOptions, type QueryOptions } from './query-options.js';
import type { LaunchedProcess, ProcessEnd } from './start-process.js';

interface ConversationProcess {
  sdk: ClaudeSdk;
  launched: LaunchedProcess;
  fromSpare: boolean;
  /** Those that it was started with. */
  launchOptions: Options;
  queryOptions: QueryOptions;
  signal: AbortSignal;
  /** For coming up. */
  startMs: number;
  /** When it has first said something, or has ended. */
  onBusy: () => void;
}

/** Rejects with GatewayError where it does not come up, or the signal's reason; it is closed then. */
export async function converse(conversation: ConversationProcess): Promise<ClaudeProcess> {
  const { launched, signal, fromSpare, startMs, onBusy } = conversation;
  const input = new MessageInput();
  const query = await start(conversation, input);
  const end = async (): Promise<void> => {
    input.end();
    await launched.close();
    query.close();
  };
  try {
    await comesUp(query, launched, signal, startMs);
  } catch (error) {
    await end();
    throw error;
  }
  let busy = (): void => {
    busy = () => undefined;
    onBusy();
  };
  void launched.exited.then(() => busy());
  return {
    pid: launched.pid,
    credential: launched.credential,
    get alive() {
      return launched.running;
    },
    fromSpare,
    send: (message: SDKUserMessage) => input.send(message),
    messages: readerOf(query, () => busy()),
    exited: launched.exited.then((gone) => {
      input.end();
      query.close();
      return gone;
    }),
    close: end,
  };
}

async function start(conversation: ConversationProcess, prompt: MessageInput): Promise<Query> {
  const { sdk, launched, launchOptions, queryOptions } = conversation;
  const spawnClaudeCodeProcess = ({ args }: SpawnOptions): SpawnedProcess => {
    const expected = launched.command.args;
    if (args.length !== expected.length || args.some((arg, index) => arg !== expected[index])) {
      throw new Error(`Started with ${expected.join(' ')} but wanted with ${args.join(' ')}`);
    }
    return launched.spawned;
  };
  try {
    const options = { ...launchOptions, ...conversationOptions(queryOptions), spawnClaudeCodeProcess };
    return sdk.query({ prompt, options });
  } catch (error) {
    await launched.close();
    throw error;
  }
}

async function comesUp(
  query: Query,
  launched: LaunchedProcess,
  signal: AbortSignal,
  startMs: number,
): Promise<void> {
  const late = deferred<never>();
  const timer = setTimeout(() => late.reject(tooLate(startMs)), startMs);
  const initialized = query.initializationResult();
  // Rejects as well when the process ends first.
  initialized.catch(() => undefined);
  try {
    await untilAborted(Promise.race([initialized, failed(launched.exited), late.promise]), signal);
  } catch (cause) {
    if (signal.aborted) throw signal.reason;
    throw cause instanceof GatewayError ? cause : await notUp(launched, cause);
  } finally {
    clearTimeout(timer);
  }
}

function tooLate(startMs: number): GatewayError {
  return new GatewayError(
    'unavailable',
    `Claude Code did not come up within ${startMs / 1000} seconds. Send the same request again; if it stays so, the machine has too little memory or time for it.`,
    { retryable: true },
  );
}

async function failed(exited: Promise<ProcessEnd>): Promise<never> {
  throw notStarted(await exited);
}

/** The SDK reports it first: its end, with what it wrote to stderr, follows at once. */
async function notUp(launched: LaunchedProcess, cause: unknown): Promise<GatewayError> {
  await launched.close();
  return notStarted(await launched.exited, cause);
}

function notStarted({ code, signal, stderr }: ProcessEnd, cause?: unknown): GatewayError {
  const how = signal === null ? `code ${code}` : signal;
  const said = stderr === '' ? (cause instanceof Error ? cause.message : 'It said nothing.') : stderr;
  return new GatewayError('unavailable', `Claude Code did not start (${how}): ${said}`, { cause });
}

/** Driven by hand: leaving a `for await` over the query itself would end the process. */
function readerOf(query: Query, onMessage: () => void): AsyncIterator<SDKMessage, void> {
  return {
    async next() {
      try {
        const { value, done } = await query.next();
        if (done === true || value === undefined) return { done: true, value: undefined };
        if (value.type === 'stream_event' || value.type === 'result') onMessage();
        return { done: false, value };
      } catch {
        // The process is gone, and `exited` says how.
        return { done: true, value: undefined };
      }
    },
  };
}

/** What is still to be written to a process: an endless prompt for the SDK, filled as turns come. */
export class MessageInput implements AsyncIterable<SDKUserMessage> {
  readonly #waiting: SDKUserMessage[] = [];
  #ended = false;
  #wake: (() => void) | undefined;

  send(message: SDKUserMessage): void {
    if (this.#ended) return;
    this.#waiting.push(message);
    this.#wake?.();
  }

  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<SDKUserMessage, void> {
    for (;;) {
      const message = this.#waiting.shift();
      if (message !== undefined) yield message;
      else if (this.#ended) return;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}
