/** A session of the older era from its first request to its end: transport, server, calls and the state of tools. */
import type { ToolRuntime } from '../../tools/runtime/runtime.js';
import type { Kept } from './kept-by-key.js';
import type { VirtualLimits } from './limits.js';
import type { ServerMaker, VirtualParts, VirtualWorkspace } from './mcp-scope.js';
import { RunningToolCalls } from './running-tool-calls.js';
import type { JSONRPCMessage, RequestId, Server, ServerSdk } from './sdk.js';
import { ToolStateHolder } from './tool-state-holder.js';

/**
 * Messages of one session that a client may have missed, for when it comes back with the id of the
 * last one it has. Bounded: the oldest go first, and a client that needs those starts anew.
 */
interface Stored {
  stream: string;
  message: JSONRPCMessage;
  chars: number;
}

/** Of the SDK's transport: the first event of a stream has an empty message, and is not sent again. */
export class EventMemory {
  readonly #events = new Map<string, Stored>();
  readonly #limits: Pick<VirtualLimits, 'storedEvents' | 'storedChars'>;
  #chars = 0;
  #count = 0;

  constructor(limits: Pick<VirtualLimits, 'storedEvents' | 'storedChars'>) {
    this.#limits = limits;
  }

  async storeEvent(stream: string, message: JSONRPCMessage): Promise<string> {
    this.#count += 1;
    const id = `${this.#count}`;
    const chars = JSON.stringify(message).length;
    this.#events.set(id, { stream, message, chars });
    this.#chars += chars;
    for (const [oldest, stored] of this.#events) {
      if (this.#events.size <= this.#limits.storedEvents && this.#chars <= this.#limits.storedChars) break;
      if (oldest === id) break;
      this.#events.delete(oldest);
      this.#chars -= stored.chars;
    }
    return id;
  }

  async getStreamIdForEventId(id: string): Promise<string | undefined> {
    return this.#events.get(id)?.stream;
  }

  async replayEventsAfter(
    last: string,
    { send }: { send: (id: string, message: JSONRPCMessage) => Promise<void> },
  ): Promise<string> {
    const stream = this.#events.get(last)?.stream;
    if (stream === undefined) throw new Error('the event is not known any more');
    const missed = [...this.#events].filter(
      ([id, stored]) => stored.stream === stream && Number(id) > Number(last),
    );
    for (const [id, { message }] of missed) {
      if (Object.keys(message).length > 0) await send(id, message);
    }
    return stream;
  }
}

interface McpSessionOptions {
  id: string;
  principal: string;
  place: VirtualWorkspace;
  make: ServerMaker;
}

/** As the Language Server Protocol has it; MCP names none. */
const REQUEST_CANCELLED = -32_800;

export class McpSession implements Kept {
  readonly principal: string;
  readonly calls: RunningToolCalls;
  /** HTTP exchanges that are open. */
  open = 0;
  usedAt: number;
  readonly #server: Server;
  readonly #transport: InstanceType<ServerSdk['Transport']>;
  readonly #tools: ToolStateHolder;
  /** Requests that are on their way to what answers them. */
  readonly #starting = new Set<RequestId>();
  #closing: Promise<void> | undefined;

  /** `connect` comes next. */
  constructor(
    { id, principal, place, make }: McpSessionOptions,
    parts: VirtualParts,
    sdk: ServerSdk,
    runtime: ToolRuntime,
  ) {
    this.principal = principal;
    this.usedAt = performance.now();
    this.calls = new RunningToolCalls(parts.limits.reconnectMs, (id) => this.#endCancelled(id));
    this.#transport = new sdk.Transport({
      sessionIdGenerator: () => id,
      eventStore: new EventMemory(parts.limits),
      // The writer of the stream does that, with one timer for all of them.
      keepAliveMs: 0,
    });
    this.#transport.onerror = (error) => parts.log.debug({ err: error }, 'an MCP client was refused');
    const tools = new ToolStateHolder({ id, principal, place, runtime, home: parts.home });
    this.#tools = tools;
    this.#server = make({
      session: tools.id,
      principal,
      place,
      parts,
      sdk,
      runtime,
      calls: this.calls,
      suspended: undefined,
      lendState: async (request) => ({
        id: tools.id,
        tools: await tools.at(request.kind === 'folder' ? request.root : undefined),
        isNew: false,
        giveBack() {},
      }),
    });
  }

  connect(): Promise<void> {
    return this.#server.connect(this.#transport);
  }

  get isIdle(): boolean {
    return this.open === 0 && this.calls.size === 0;
  }

  /** A request with this id is not answered yet. */
  isInUse(id: RequestId): boolean {
    return this.#starting.has(id) || this.calls.has(id);
  }

  /** `ids`: of the requests in the body, none of them in use. */
  async respond(request: Request, body: unknown, ids: readonly RequestId[]): Promise<Response> {
    for (const id of ids) this.#starting.add(id);
    try {
      return await this.#transport.handleRequest(request, body === undefined ? {} : { parsedBody: body });
    } finally {
      for (const id of ids) this.#starting.delete(id);
    }
  }

  /**
   * The SDK answers nothing to what was cancelled, and so the stream of that request would stay open.
   * A client passes over an answer to what it cancelled.
   */
  #endCancelled(id: RequestId): void {
    const error = { code: REQUEST_CANCELLED, message: 'The client cancelled this request.' };
    this.#transport.send({ jsonrpc: '2.0', id, error }).catch(() => {});
  }

  /** To clients that listen. */
  toolsChanged(): void {
    this.#server.sendToolListChanged().catch(() => {});
  }

  endStandaloneStream(): void {
    this.#transport.closeStandaloneSSEStream();
  }

  /** `reason` is the abort reason of running calls. */
  close(reason: unknown): Promise<void> {
    this.#closing ??= this.#close(reason);
    return this.#closing;
  }

  async #close(reason: unknown): Promise<void> {
    await this.calls.stop(reason);
    await this.#server.close();
    await this.#tools.close();
  }
}
