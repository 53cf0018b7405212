/**
 * One live connection to a server: initialised, its tools listed, ready for calls. It ends once and
 * for all; a caller that wants another opens another.
 */
import type { McpServerConfig } from '../../config/schema.js';
import type { JsonObject } from '../../core/conversation.js';
import { decodeResult, toolCallResultSchema } from './decode-result.js';
import { type Listing, listTools } from './list-tools.js';
import type { McpToolCallOptions, McpToolCallResult } from './mcp-client.js';
import { describeFailure, statusOf } from './problems.js';
import type { McpLimits } from './wire/limits.js';
import type { McpLog } from './wire/log.js';
import { type Client, loadSdk, type Sdk } from './wire/sdk.js';
import type { Wire, WireContext } from './wire/wire.js';

/**
 * The time of one call: it ends when the caller ends it, when the server was silent for too long,
 * or when the whole took too long; progress counts as a sign of life.
 */
const LONGEST_MS = 2_147_483_647;

class CallClock {
  readonly #control = new AbortController();
  readonly #caller: AbortSignal;
  readonly #silentMs: number;
  readonly #total: NodeJS.Timeout;
  #silence: NodeJS.Timeout;
  #expired: number | undefined;

  constructor(caller: AbortSignal, { silentMs, totalMs }: { silentMs: number; totalMs: number }) {
    this.#caller = caller;
    this.#silentMs = Math.min(silentMs, LONGEST_MS);
    this.#total = setTimeout(() => this.#expire(totalMs), Math.min(totalMs, LONGEST_MS));
    this.#silence = this.#startSilence();
    caller.addEventListener('abort', this.#onCaller);
  }

  /** A signal of its own: what listens to it is let go with the call, also where the caller's lives on. */
  get signal(): AbortSignal {
    return this.#control.signal;
  }

  /** The time that was exceeded. */
  get expired(): number | undefined {
    return this.#expired;
  }

  progress(): void {
    if (this.#control.signal.aborted) return;
    clearTimeout(this.#silence);
    this.#silence = this.#startSilence();
  }

  stop(): void {
    clearTimeout(this.#total);
    clearTimeout(this.#silence);
    this.#caller.removeEventListener('abort', this.#onCaller);
  }

  readonly #onCaller = (): void => this.#control.abort('The call was cancelled');

  #startSilence(): NodeJS.Timeout {
    return setTimeout(() => this.#expire(this.#silentMs), this.#silentMs);
  }

  #expire(ms: number): void {
    this.#expired = ms;
    this.#control.abort('The call took too long');
  }
}

interface ConnectionOptions {
  name: string;
  version: string;
  config: McpServerConfig;
  limits: McpLimits;
  log: McpLog;
  redact(text: string): string;
  openWire(context: WireContext, sdk: Sdk): Promise<Wire>;
  /** Once, after `open` has resolved; never after `close`. */
  onLost(problem: string): void;
  onListing(listing: Listing): void;
}

/** Why `open` rejected. */
export class ConnectFailure extends Error {
  readonly needsAuth: boolean;

  constructor(problem: string, options: { needsAuth: boolean; cause?: unknown }) {
    super(problem, { cause: options.cause });
    this.needsAuth = options.needsAuth;
  }
}

type CallOutcome =
  | { kind: 'answered'; result: McpToolCallResult }
  /** The server does not know our session any more, and so has not run the call. */
  | { kind: 'not-run'; problem: string };

const NO_TIMEOUT_MS = 2_147_483_647;

export class McpConnection {
  readonly #options: ConnectionOptions;
  readonly #sdk: Sdk;
  readonly #client: Client;
  readonly #ended = new AbortController();
  #wire: Wire | undefined;
  #listing: Listing = { tools: [], problem: undefined };
  #state: 'opening' | 'open' | 'over' = 'opening';
  #broken: string | undefined;
  /** By token. The SDK's own forgets a call before the last progress that came with its answer. */
  readonly #progress = new Map<string | number, NonNullable<McpToolCallOptions['onProgress']>>();
  #lastToken = 0;
  #refresh: { again: boolean } | undefined;
  #doubting = false;

  private constructor(sdk: Sdk, options: ConnectionOptions) {
    this.#sdk = sdk;
    this.#options = options;
    this.#client = new sdk.Client({ name: 'toolgate', version: options.version }, { capabilities: {} });
    this.#client.onerror = (error) => {
      options.log.debug(
        { server: options.name, error: options.redact(error.message.slice(0, 500)) },
        'MCP trouble',
      );
    };
    this.#client.onclose = () => this.#lose('the connection was closed');
    this.#client.setNotificationHandler(sdk.ProgressNotificationSchema, ({ params }) => {
      const { progress, total, message } = params;
      this.#progress.get(params.progressToken)?.({
        progress,
        ...(total === undefined ? {} : { total }),
        ...(message === undefined ? {} : { message: message.slice(0, options.limits.problemChars) }),
      });
    });
    this.#client.setNotificationHandler(sdk.ToolListChangedNotificationSchema, () => void this.#relist());
  }

  /** Rejects with ConnectFailure; nothing is left open then. */
  static async open(options: ConnectionOptions, signal: AbortSignal): Promise<McpConnection> {
    const connection = new McpConnection(await loadSdk(), options);
    await connection.#open(signal);
    return connection;
  }

  get listing(): Listing {
    return this.#listing;
  }

  get serverInfo(): { name: string; version: string } | undefined {
    const info = this.#client.getServerVersion();
    return info === undefined
      ? undefined
      : { name: info.name.slice(0, 200), version: info.version.slice(0, 100) };
  }

  async #open(signal: AbortSignal): Promise<void> {
    const { limits, config, redact } = this.#options;
    const stop = new AbortController();
    let timedOutMs: number | undefined;
    const giveUp = (): void => stop.abort();
    let timer: NodeJS.Timeout | undefined;
    const within = (ms: number): void => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        timedOutMs = ms;
        giveUp();
      }, ms);
    };
    if (signal.aborted) giveUp();
    signal.addEventListener('abort', giveUp);
    try {
      within(limits.initialiseMs);
      const wire = await this.#options.openWire(this.#wireContext(giveUp), this.#sdk);
      this.#wire = wire;
      await untilAborted(stop.signal, this.#client.connect(wire.transport, { timeout: NO_TIMEOUT_MS }));
      within(limits.listMs);
      this.#listing = await untilAborted(stop.signal, this.#list(stop.signal));
      if (this.#state === 'over') throw new Error(this.#broken ?? 'the connection was closed');
      this.#state = 'open';
    } catch (error) {
      this.#state = 'over';
      this.#ended.abort();
      await this.#wire?.close().catch(() => {});
      const ending = this.#broken ?? this.#wire?.ending();
      const problem = describeFailure(error, {
        config,
        ending,
        lastWords: this.#wire?.lastWords(),
        timedOutMs,
      });
      throw new ConnectFailure(redact(problem).slice(0, limits.problemChars), {
        needsAuth: this.#wire?.refusedCredential() ?? false,
        cause: error,
      });
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', giveUp);
    }
  }

  #wireContext(giveUp: () => void): WireContext {
    const { name, limits, log, redact } = this.#options;
    return {
      name,
      limits,
      log,
      redact,
      onBroken: (problem) => {
        this.#broken ??= problem;
        if (this.#state === 'opening') giveUp();
        else this.#lose(problem);
      },
      onDoubt: () => void this.#ping(),
    };
  }

  /** Rejects only when the caller's signal fires. */
  async call(
    tool: string,
    input: JsonObject,
    { signal, onProgress }: McpToolCallOptions,
    timeoutMs: number,
  ): Promise<CallOutcome> {
    const { name, limits } = this.#options;
    signal.throwIfAborted();
    const clock = new CallClock(signal, { silentMs: timeoutMs, totalMs: timeoutMs * limits.callTimes });
    this.#lastToken += 1;
    const progressToken = this.#lastToken;
    this.#progress.set(progressToken, (step) => {
      clock.progress();
      onProgress?.(step);
    });
    try {
      const answer = await this.#client.request(
        { method: 'tools/call', params: { name: tool, arguments: input, _meta: { progressToken } } },
        toolCallResultSchema,
        { signal: clock.signal, timeout: NO_TIMEOUT_MS },
      );
      return { kind: 'answered', result: decodeResult(answer, limits) };
    } catch (error) {
      signal.throwIfAborted();
      if (clock.expired !== undefined) {
        const seconds = Math.round(clock.expired / 1000);
        return failed(
          `The MCP server "${name}" did not finish the call within ${seconds} s, so it was cancelled. It may have taken effect in part. Try something smaller; the operator can raise mcp_servers.${name}.timeout_s.`,
        );
      }
      return this.#failedCall(error);
    } finally {
      this.#progress.delete(progressToken);
      clock.stop();
    }
  }

  #failedCall(error: unknown): CallOutcome {
    const { name, limits, config, redact } = this.#options;
    const status = config.type === 'http' ? statusOf(error) : undefined;
    if (status === 404) {
      this.#lose('it has forgotten the session');
      return { kind: 'not-run', problem: 'it has forgotten the session' };
    }
    if (status === 401) this.#lose('it wants a new sign-in');
    // The SDK's own code for a closed connection is one that servers use as well.
    const answered =
      error instanceof this.#sdk.McpError &&
      (error.code !== this.#sdk.ErrorCode.ConnectionClosed || this.#state === 'open');
    if (answered) {
      return failed(
        `The MCP server "${name}" answered with an error: ${redact(error.message).slice(0, limits.errorTextChars)}`,
      );
    }
    if (this.#state === 'over' || error instanceof this.#sdk.McpError) {
      const why = this.#whyLost('the connection was closed');
      return failed(
        `The MCP server "${name}" went away while the call ran (${redact(why).slice(0, limits.problemChars)}). Whether the call took effect is not known.`,
      );
    }
    void this.#ping();
    const why = describeFailure(error, { config });
    return failed(
      `The call to the MCP server "${name}" failed: ${redact(why).slice(0, limits.errorTextChars)}`,
    );
  }

  /** Ends it, with its process; `onLost` is not called. */
  async close(): Promise<void> {
    this.#state = 'over';
    this.#ended.abort();
    this.#client.onclose = () => {};
    await this.#wire?.close();
    await this.#client.close().catch(() => {});
  }

  #lose(problem: string): void {
    if (this.#state === 'opening') this.#broken ??= this.#wire?.ending();
    const wasOpen = this.#state === 'open';
    this.#state = 'over';
    this.#ended.abort();
    if (!wasOpen) return;
    const { redact, limits, onLost } = this.#options;
    const why = this.#whyLost(problem);
    void this.#wire?.close().catch(() => {});
    void this.#client.close().catch(() => {});
    onLost(redact(why).slice(0, limits.problemChars));
  }

  #whyLost(otherwise: string): string {
    const how = this.#broken ?? this.#wire?.ending() ?? otherwise;
    const words = this.#wire?.lastWords();
    return words === undefined ? how : `${how}; stderr: ${words}`;
  }

  /** Where the SDK has only a suspicion: one question at a time, and no answer is the end. */
  async #ping(): Promise<void> {
    if (this.#doubting || this.#state !== 'open') return;
    this.#doubting = true;
    try {
      await this.#client.ping({ timeout: this.#options.limits.pingMs });
    } catch (error) {
      // An error that the server itself sends is an answer.
      const alive = error instanceof this.#sdk.McpError && error.code === this.#sdk.ErrorCode.MethodNotFound;
      if (!alive)
        this.#lose(
          `it does not answer any more (${describeFailure(error, { config: this.#options.config })})`,
        );
    } finally {
      this.#doubting = false;
    }
  }

  #list(signal: AbortSignal): Promise<Listing> {
    const { name, limits } = this.#options;
    return listTools(this.#client, { server: name, limits, signal });
  }

  /** Changes that come while the list is read, or too often, are followed by one more reading. */
  async #relist(): Promise<void> {
    if (this.#refresh !== undefined) {
      this.#refresh.again = true;
      return;
    }
    const refresh = { again: false };
    this.#refresh = refresh;
    const { limits, log, name, onListing } = this.#options;
    do {
      refresh.again = false;
      const started = performance.now();
      try {
        const listing = await this.#list(
          AbortSignal.any([this.#ended.signal, AbortSignal.timeout(limits.listMs)]),
        );
        if (this.#state === 'over') break;
        this.#listing = listing;
        if (this.#state === 'open') onListing(listing);
      } catch (error) {
        if (this.#state === 'over') break;
        log.warn({ server: name, err: error }, 'the tools of an MCP server could not be listed again');
      }
      await pause(limits.refreshEveryMs - (performance.now() - started), this.#ended.signal);
    } while (refresh.again && !this.#ended.signal.aborted);
    this.#refresh = undefined;
  }
}

function failed(text: string): CallOutcome {
  return { kind: 'answered', result: { content: [{ type: 'text', text }], isError: true } };
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (ms <= 0 || signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
  });
}

/** `work`, or a rejection as soon as the signal fires. */
function untilAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(new Error('given up'));
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop);
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
