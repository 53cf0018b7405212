/**
 * One live connection to a server: its revision agreed on, its tools listed, ready for calls. It ends
 * once and for all; a caller that wants another opens another.
 */
import type { McpServerConfig } from '../../config/schema.js';
import { type Listing, listAll, listTools, NO_TOOLS } from './list-tools.js';
import type { McpToolCallOptions, McpToolCallResult } from './mcp-client.js';
import type { McpOperation } from './operations.js';
import { describeFailure, isClosed, isRefusedQuestion, statusOf } from './problems.js';
import { LostTask, letTasksThrough, TASKS_EXTENSION } from './task-calls.js';
import { ToolCallClock } from './tool-call-clock.js';
import { ToolRequests } from './tool-requests.js';
import { pause, untilAborted } from './waiting.js';
import type { McpLimits } from './wire/limits.js';
import type { McpLog } from './wire/log.js';
import { type Client, loadSdk, type Sdk } from './wire/sdk.js';
import type { Wire, WireContext } from './wire/wire.js';

interface ConnectionOptions {
  name: string;
  version: string;
  config: McpServerConfig;
  limits: McpLimits;
  log: McpLog;
  redact(text: string): string;
  /** What earlier connections have found out about the server. */
  known: KnownEra;
  openWire(context: WireContext, sdk: Sdk): Promise<Wire>;
  /** Once, after `open` has resolved; never after `close`. */
  onLost(problem: string): void;
  onListing(listing: Listing): void;
}

export interface KnownEra {
  /** A program that ends when it is asked what it speaks has to be started twice; once is enough to know. */
  endsWhenAsked: boolean;
  /** How many times `probeMs` it is given: a program that starts slowly may have been taken for an older one. */
  patience: number;
}

const MOST_PATIENCE = 4;

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
  readonly #ended = new AbortController();
  readonly #requests: ToolRequests;
  #client: Client | undefined;
  #wire: Wire | undefined;
  #listing: Listing = NO_TOOLS;
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
    this.#requests = new ToolRequests(sdk, options);
  }

  /** The newest revision first, unless it is known to be of no use. */
  #makeClient(wire: Wire, asksFirst: boolean): Client {
    const { version, limits, log, name, redact, known } = this.#options;
    const client = new this.#sdk.Client(
      { name: 'toolgate', version },
      {
        capabilities: { elicitation: { form: {}, url: {} }, extensions: TASKS_EXTENSION },
        versionNegotiation: {
          mode: asksFirst ? 'auto' : 'legacy',
          probe: { timeoutMs: limits.probeMs * known.patience },
        },
      },
    );
    client.onerror = (error) => {
      log.debug({ server: name, error: redact(error.message.slice(0, 500)) }, 'MCP trouble');
    };
    client.onclose = () => {
      if (this.#wire === wire) this.#lose('the connection was closed');
    };
    this.#requests.answerQuestionsOf(client);
    client.setNotificationHandler('notifications/progress', ({ params }) => {
      const { progress, total, message } = params;
      this.#progress.get(params.progressToken)?.({
        progress,
        ...(total === undefined ? {} : { total }),
        ...(message === undefined ? {} : { message: message.slice(0, limits.problemChars) }),
      });
    });
    client.setNotificationHandler('notifications/tools/list_changed', () => void this.#relist());
    return client;
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
    const info = this.#client?.getServerVersion();
    return info === undefined
      ? undefined
      : { name: info.name.slice(0, 200), version: info.version.slice(0, 100) };
  }

  /** What it has beside tools. */
  get offers(): { resources: boolean; prompts: boolean } {
    const { resources, prompts } = this.#client?.getServerCapabilities() ?? {};
    return { resources: resources !== undefined, prompts: prompts !== undefined };
  }

  /** All pages of a list, as far as the limits go. Rejects as the SDK does. */
  async list(method: string, key: string, signal: AbortSignal): Promise<readonly unknown[]> {
    if (this.#client === undefined) return [];
    return (await listAll(this.#client, { method, key, limits: this.#options.limits, signal })).found;
  }

  /** The revision that both sides speak. */
  get protocol(): string | undefined {
    return this.#client?.getNegotiatedProtocolVersion();
  }

  get #isStateless(): boolean {
    return this.#client?.getProtocolEra() === 'modern';
  }

  async #open(signal: AbortSignal): Promise<void> {
    const { limits, config, redact, known } = this.#options;
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
      const client = await this.#agree(giveUp, stop.signal);
      this.#client = client;
      within(limits.listMs);
      this.#listing = await untilAborted(stop.signal, this.#list(client, stop.signal));
      if (this.#state === 'over') throw new Error(this.#broken ?? 'the connection was closed');
      this.#state = 'open';
      known.patience = 1;
      if (this.#isStateless && client.getServerCapabilities()?.tools?.listChanged === true) {
        void this.#listen(client);
      }
    } catch (error) {
      this.#state = 'over';
      known.patience = Math.min(known.patience * 2, MOST_PATIENCE);
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

  /**
   * A server of the older era answers the question for the newer one with an error. Some end or fail
   * instead; those are connected to once more, without the question.
   */
  async #agree(giveUp: () => void, signal: AbortSignal): Promise<Client> {
    const { config, known } = this.#options;
    const asks = config.type !== 'sse' && !known.endsWhenAsked;
    try {
      return await this.#connect(asks, giveUp, signal);
    } catch (error) {
      // A program that starts slowly may get to the question only after we have stopped waiting for its answer.
      const ended = config.type === 'stdio' && isClosed(error, this.#sdk);
      if (!asks || signal.aborted || !(ended || isRefusedQuestion(error, this.#sdk))) throw error;
      const first = this.#wire;
      this.#wire = undefined;
      await first?.close().catch(() => {});
      this.#broken = undefined;
      const client = await this.#connect(false, giveUp, signal);
      known.endsWhenAsked = config.type === 'stdio';
      return client;
    }
  }

  async #connect(asksFirst: boolean, giveUp: () => void, signal: AbortSignal): Promise<Client> {
    const wire = await this.#options.openWire(this.#wireContext(giveUp), this.#sdk);
    this.#wire = undefined;
    const client = this.#makeClient(wire, asksFirst);
    letTasksThrough(wire.transport);
    try {
      await untilAborted(signal, client.connect(wire.transport, { timeout: NO_TIMEOUT_MS }));
    } finally {
      this.#wire = wire;
    }
    return client;
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
    operation: McpOperation,
    { signal, session, onProgress, onQuestion, meta }: McpToolCallOptions,
    timeoutMs: number,
  ): Promise<CallOutcome> {
    const { name, limits } = this.#options;
    signal.throwIfAborted();
    const client = this.#client;
    if (client === undefined) return { kind: 'not-run', problem: 'it is not connected' };
    const clock = new ToolCallClock(signal, { silentMs: timeoutMs, totalMs: timeoutMs * limits.callTimes });
    this.#lastToken += 1;
    const progressToken = this.#lastToken;
    this.#progress.set(progressToken, (step) => {
      clock.progress();
      onProgress?.(step);
    });
    try {
      const params = {
        ...operation.params,
        ...(this.#listing.asTask.has(operation.tool ?? '') ? { task: {} } : {}),
        _meta: { progressToken, ...(this.#isStateless ? meta : {}) },
      };
      const answer = await this.#requests.call(client, {
        session,
        method: operation.method,
        params,
        clock,
        onQuestion,
        onProgress,
        mirrored: this.#isStateless ? this.#listing.mirrored.get(operation.tool ?? '') : undefined,
        timeout: NO_TIMEOUT_MS,
      });
      return { kind: 'answered', result: operation.decode(answer, limits) };
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
    if (error instanceof LostTask) {
      const outcome = this.#failedCall(error.cause);
      if (outcome.kind === 'answered') return outcome;
      return failed(
        `The MCP server "${name}" has lost the task (${outcome.problem}). Whether the call took effect is not known.`,
      );
    }
    const status = config.type === 'http' ? statusOf(error) : undefined;
    if (status === 404 && !this.#isStateless) {
      this.#lose('it has forgotten the session');
      return { kind: 'not-run', problem: 'it has forgotten the session' };
    }
    if (status === 401) this.#lose('it wants a new sign-in');
    if (error instanceof this.#sdk.ProtocolError) {
      return failed(
        `The MCP server "${name}" answered with an error: ${redact(error.message).slice(0, limits.errorTextChars)}`,
      );
    }
    if (this.#state === 'over' || isClosed(error, this.#sdk)) {
      const why = this.#whyLost('the connection was closed');
      return failed(
        `The MCP server "${name}" went away while the call ran (${redact(why).slice(0, limits.problemChars)}). Whether the call took effect is not known.`,
      );
    }
    void this.#ping();
    const why = describeFailure(error, { config });
    return failed(
      `The call to the MCP server "${name}" failed: ${redact(why).slice(0, limits.errorTextChars)}. Whether it took effect is not known.`,
    );
  }

  /** Ends it, with its process; `onLost` is not called. */
  async close(): Promise<void> {
    this.#state = 'over';
    this.#ended.abort();
    if (this.#client !== undefined) this.#client.onclose = () => {};
    await this.#wire?.close();
    await this.#client?.close().catch(() => {});
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
    void this.#client?.close().catch(() => {});
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
      const options = { timeout: this.#options.limits.pingMs };
      await (this.#isStateless ? this.#client?.discover(options) : this.#client?.ping(options));
    } catch (error) {
      // An error that the server itself sends is an answer.
      if (!(error instanceof this.#sdk.ProtocolError))
        this.#lose(
          `it does not answer any more (${describeFailure(error, { config: this.#options.config })})`,
        );
    } finally {
      this.#doubting = false;
    }
  }

  #list(client: Client, signal: AbortSignal): Promise<Listing> {
    const { name, limits } = this.#options;
    return listTools(client, { server: name, limits, signal });
  }

  /** News of the tools, which a server without sessions sends only to those who listen. */
  async #listen(client: Client): Promise<void> {
    const { limits, log, name } = this.#options;
    const { signal } = this.#ended;
    let missed = false;
    while (!signal.aborted) {
      const started = performance.now();
      try {
        const { closed } = await client.listen(
          { toolsListChanged: true },
          { signal: AbortSignal.any([signal]), timeout: limits.listMs },
        );
        if (missed) void this.#relist();
        missed = true;
        await closed;
      } catch (error) {
        if (signal.aborted) return;
        log.debug({ server: name, err: error }, 'an MCP server does not tell of changed tools');
        if (error instanceof this.#sdk.ProtocolError) return;
      }
      await pause(limits.refreshEveryMs - (performance.now() - started), signal);
      await this.#ping();
    }
  }

  /** Changes that come while the list is read, or too often, are followed by one more reading. */
  async #relist(): Promise<void> {
    if (this.#refresh !== undefined) {
      this.#refresh.again = true;
      return;
    }
    const refresh = { again: false };
    const { limits, log, name, onListing } = this.#options;
    const client = this.#client;
    if (client === undefined) return;
    this.#refresh = refresh;
    do {
      refresh.again = false;
      const started = performance.now();
      try {
        const listing = await this.#list(
          client,
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
