/**
 * The connection to a server over time: opened, lost, tried again. One explicit state at any
 * moment; whatever comes late from an attempt that was given up changes nothing.
 */
import { ConnectFailure, type McpConnection } from './connection.js';
import type { Listing } from './list-tools.js';
import type { McpLimits } from './wire/limits.js';
import type { McpLog } from './wire/log.js';

export type LinkState =
  /** Not asked for yet: kept for a session that has called nothing. */
  | { kind: 'idle' }
  | { kind: 'connecting' }
  | { kind: 'connected'; connection: McpConnection; at: number }
  | { kind: 'failed'; problem: string; retryAt: number | undefined }
  | { kind: 'needs-auth'; problem: string }
  | { kind: 'closed' };

interface LinkOptions {
  name: string;
  limits: McpLimits;
  log: McpLog;
  now(): number;
  /** From 0 to 1, for the spread of retries. */
  random(): number;
  /** Reconnects by itself; without it only on request. */
  retries: boolean;
  open(events: ConnectionEvents, signal: AbortSignal): Promise<McpConnection>;
  onListing(): void;
  /** After each change of the state. */
  onState?(): void;
}

interface ConnectionEvents {
  onLost(problem: string): void;
  onListing(listing: Listing): void;
}

export class ServerLink {
  readonly #options: LinkOptions;
  #state: LinkState = { kind: 'idle' };
  #attempt: AbortController | undefined;
  #running: Promise<void> = Promise.resolve();
  #failures = 0;
  #retry: NodeJS.Timeout | undefined;
  /** Connections whose processes and sockets are still being ended. */
  readonly #ending = new Set<Promise<void>>();

  constructor(options: LinkOptions) {
    this.#options = options;
  }

  get state(): LinkState {
    return this.#state;
  }

  get connection(): McpConnection | undefined {
    return this.#state.kind === 'connected' ? this.#state.connection : undefined;
  }

  /** Starts an attempt unless one runs or has succeeded. Resolves with its outcome; never rejects. */
  connect(): Promise<void> {
    if (this.#state.kind === 'connected' || this.#state.kind === 'closed') return Promise.resolve();
    if (this.#state.kind !== 'connecting') this.#running = this.#try();
    return this.#running;
  }

  /** Drops what is there, the back-off included, and connects anew. */
  async reconnect(): Promise<void> {
    if (this.#state.kind === 'closed') return;
    this.#attempt?.abort();
    this.#drop();
    this.#failures = 0;
    this.#running = this.#try();
    await this.#running;
  }

  /** Resolves when the attempt that runs is over. */
  async settled(): Promise<void> {
    let seen: Promise<void> | undefined;
    while (seen !== this.#running) {
      seen = this.#running;
      await seen;
    }
  }

  /** Resolves when every process and socket of it is gone. */
  async close(): Promise<void> {
    this.#attempt?.abort();
    this.#drop();
    this.#become({ kind: 'closed' });
    await this.#running;
    await Promise.all(this.#ending);
  }

  #become(state: LinkState): void {
    this.#state = state;
    this.#options.onState?.();
  }

  async #try(): Promise<void> {
    clearTimeout(this.#retry);
    const attempt = new AbortController();
    this.#attempt = attempt;
    this.#become({ kind: 'connecting' });
    const { open, now, log, name, onListing } = this.#options;
    let connection: McpConnection | undefined;
    try {
      connection = await open(
        {
          onLost: (problem) => this.#onLost(connection, problem),
          onListing: ({ tools }) => {
            if (this.connection !== connection) return;
            onListing();
            log.info({ server: name, tools: tools.length }, 'the tools of an MCP server have changed');
          },
        },
        attempt.signal,
      );
    } catch (error) {
      if (attempt.signal.aborted) return;
      this.#onFailure(error);
      return;
    }
    if (attempt.signal.aborted) {
      await connection.close();
      return;
    }
    this.#become({ kind: 'connected', connection, at: now() });
    const { tools, problem } = connection.listing;
    log.info(
      { server: name, tools: tools.length, ...(problem === undefined ? {} : { problem }) },
      'MCP server connected',
    );
    onListing();
  }

  #onFailure(error: unknown): void {
    const { log, name } = this.#options;
    const known = error instanceof ConnectFailure;
    const problem = known ? error.message : 'an internal error; the log of the gateway has more';
    if (known && error.needsAuth) {
      this.#become({ kind: 'needs-auth', problem });
      log.warn({ server: name }, 'MCP server wants a sign-in');
      return;
    }
    if (known) log.warn({ server: name, problem }, 'MCP server is not connected');
    else log.warn({ server: name, err: error }, 'bug: MCP server could not be connected');
    this.#fail(problem);
  }

  #onLost(connection: McpConnection | undefined, problem: string): void {
    if (connection === undefined || this.connection !== connection) return;
    const { log, name, now, limits } = this.#options;
    const held = this.#state.kind === 'connected' ? now() - this.#state.at : 0;
    if (held >= limits.steadyMs) this.#failures = 0;
    this.#end(connection);
    log.warn({ server: name, problem }, 'MCP server was lost');
    this.#fail(problem);
    this.#options.onListing();
  }

  #fail(problem: string): void {
    this.#failures += 1;
    const { retries, now, limits, random } = this.#options;
    if (!retries) {
      this.#become({ kind: 'failed', problem, retryAt: undefined });
      return;
    }
    const wait = retryDelay(this.#failures, limits, random());
    this.#become({ kind: 'failed', problem, retryAt: now() + wait });
    this.#retry = setTimeout(() => void this.connect(), wait).unref();
  }

  #drop(): void {
    clearTimeout(this.#retry);
    if (this.#state.kind === 'connected') this.#end(this.#state.connection);
  }

  #end(connection: McpConnection): void {
    const ending = connection
      .close()
      .catch((error: unknown) =>
        this.#options.log.warn(
          { server: this.#options.name, err: error },
          'an MCP server could not be ended',
        ),
      )
      .finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }
}

/** Doubles from the first to the longest; by up to half shorter, so that many do not come at once. */
export function retryDelay(
  failures: number,
  { retryFirstMs, retryMaxMs }: Pick<McpLimits, 'retryFirstMs' | 'retryMaxMs'>,
  random: number,
): number {
  const full = Math.min(retryMaxMs, retryFirstMs * 2 ** Math.min(failures - 1, 30));
  return Math.max(retryFirstMs, Math.round(full * (1 - random / 2)));
}
