/** A session from its first request to its end: transport, server, calls and the state of tools. */

import type { OpenToolState } from '../../tools/runtime/runtime.js';
import { realTarget } from '../../workspace/real-path.js';
import { openWorkspace, type Workspace } from '../../workspace/workspace.js';
import { EventMemory } from './event-memory.js';
import type { McpSessionScope, ServerMaker, VirtualParts, VirtualWorkspace } from './mcp-session.js';
import { RunningCalls } from './running-calls.js';
import type { RequestId, Server, ServerSdk } from './sdk.js';

export interface McpSessionOptions {
  id: string;
  principal: string;
  place: VirtualWorkspace;
  make: ServerMaker;
}

/** As the Language Server Protocol has it; MCP names none. */
const REQUEST_CANCELLED = -32_800;

/** Of approvals and rules; another prefix than conversations have. */
const PREFIX = 'mcp_';

export class McpSession {
  readonly principal: string;
  readonly calls: RunningCalls;
  /** HTTP exchanges that are open. */
  open = 0;
  usedAt: number;
  readonly #scope: McpSessionScope;
  readonly #server: Server;
  readonly #transport: InstanceType<ServerSdk['Transport']>;
  readonly #tools = new ToolState();
  /** Requests that are on their way to what answers them. */
  readonly #starting = new Set<RequestId>();
  #closing: Promise<void> | undefined;

  /** `connect` comes next. */
  constructor(
    { id, principal, place, make }: McpSessionOptions,
    parts: VirtualParts,
    sdk: ServerSdk,
    runtime: McpSessionScope['runtime'],
  ) {
    this.principal = principal;
    this.usedAt = performance.now();
    this.calls = new RunningCalls(parts.limits.reconnectMs, (id) => this.#endCancelled(id));
    this.#transport = new sdk.Transport({
      sessionIdGenerator: () => id,
      eventStore: new EventMemory(parts.limits),
      // Whoever writes the stream does that, with one timer for all of them.
      keepAliveMs: 0,
    });
    this.#transport.onerror = (error) => parts.log.debug({ err: error }, 'an MCP client was refused');
    const toolId = `${PREFIX}${id}`;
    this.#scope = {
      id: toolId,
      principal,
      place,
      parts,
      sdk,
      runtime,
      calls: this.calls,
      toolSession: (root) =>
        this.#tools.at(root ?? place.root, () =>
          runtime.openSession({
            id: toolId,
            principal,
            workspace:
              root === undefined ? openWorkspace(place.root, parts.home) : elsewhere(root, parts.home),
          }),
        ),
    };
    this.#server = make(this.#scope);
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

  /** `reason` is what running calls are told. */
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

/** It may lie on another machine: then there is nothing here to open, and its name is all that counts. */
function elsewhere(root: string, home: string): Workspace {
  return { root: realTarget(root), home: realTarget(home) };
}

/** Opened with the first call, and anew where the client moves to another folder. */
class ToolState {
  #root: string | undefined;
  #session: Promise<OpenToolState> | undefined;

  async at(root: string, open: () => Promise<OpenToolState>): Promise<OpenToolState> {
    if (this.#session === undefined || this.#root !== root) {
      const before = this.#session;
      this.#root = root;
      const opening = (async () => {
        await end(before);
        return open();
      })();
      this.#session = opening;
      opening.catch(() => {
        if (this.#session === opening) this.#session = undefined;
      });
    }
    return this.#session;
  }

  close(): Promise<void> {
    const session = this.#session;
    this.#session = undefined;
    return end(session);
  }
}

async function end(session: Promise<OpenToolState> | undefined): Promise<void> {
  const opened = await session?.catch(() => undefined);
  await opened?.close();
}
