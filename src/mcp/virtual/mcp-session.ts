/** A session of the older era from its first request to its end: transport, server, calls and the state of tools. */
import type { ToolRuntime } from '../../tools/runtime/runtime.js';
import type { Kept } from './kept-by-key.js';
import type { ServerMaker, VirtualParts, VirtualWorkspace } from './mcp-scope.js';
import { RunningToolCalls } from './running-tool-calls.js';
import type { RequestId, Server, ServerSdk } from './sdk.js';
import type { SessionWire } from './session-wires.js';
import { ToolStateHolder } from './tool-state-holder.js';

interface McpSessionOptions {
  id: string;
  principal: string;
  place: VirtualWorkspace;
  make: ServerMaker;
  wire: SessionWire;
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
  readonly #wire: SessionWire;
  readonly #tools: ToolStateHolder;
  /** Requests that are on their way to what answers them. */
  readonly #starting = new Set<RequestId>();
  #closing: Promise<void> | undefined;

  /** `connect` comes next. */
  constructor(
    { id, principal, place, make, wire }: McpSessionOptions,
    parts: VirtualParts,
    sdk: ServerSdk,
    runtime: ToolRuntime,
  ) {
    this.principal = principal;
    this.usedAt = performance.now();
    this.calls = new RunningToolCalls(parts.limits.reconnectMs, (id) => this.#endCancelled(id));
    this.#wire = wire;
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
      span: undefined,
      suspended: undefined,
      tasks: undefined,
      lendState: async (request) => ({
        id: tools.id,
        tools: await tools.at(request.kind === 'folder' ? request.root : undefined),
        isNew: false,
        giveBack() {},
      }),
    });
  }

  connect(): Promise<void> {
    return this.#server.connect(this.#wire.transport);
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
      return await this.#wire.respond(request, body);
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
    this.#wire.transport.send({ jsonrpc: '2.0', id, error }).catch(() => {});
  }

  /** To clients that listen. */
  toolsChanged(): void {
    this.#server.sendToolListChanged().catch(() => {});
  }

  /** See `SessionWire`. */
  get answersInPlace(): boolean {
    return this.#wire.answersInPlace;
  }

  /** The gateway stops: what has its answer on that stream comes first. */
  async endStream(reason: unknown): Promise<void> {
    if (!this.answersInPlace) await this.calls.stop(reason);
    this.#wire.endStream();
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
