/** A session from its first request to its end: transport, server, calls and the state of tools. */

import type { OpenToolSession } from '../../tools/runtime/runtime.js';
import { realTarget } from '../../workspace/real-path.js';
import { openWorkspace, type Workspace } from '../../workspace/workspace.js';
import { EventMemory } from './event-memory.js';
import { RunningCalls } from './running-calls.js';
import type { Server, ServerSdk } from './sdk.js';
import type { ServerMaker, SessionScope, VirtualParts, VirtualPlace } from './session.js';

export interface SessionOptions {
  id: string;
  principal: string;
  place: VirtualPlace;
  make: ServerMaker;
}

/** Of approvals and rules; another prefix than conversations have. */
const PREFIX = 'mcp_';

export class VirtualSession {
  readonly principal: string;
  readonly calls: RunningCalls;
  /** HTTP exchanges that are open. */
  open = 0;
  usedAt: number;
  readonly #scope: SessionScope;
  readonly #server: Server;
  readonly #transport: InstanceType<ServerSdk['Transport']>;
  readonly #tools = new ToolState();
  #closing: Promise<void> | undefined;

  /** `connect` comes next. */
  constructor(
    { id, principal, place, make }: SessionOptions,
    parts: VirtualParts,
    sdk: ServerSdk,
    runtime: SessionScope['runtime'],
  ) {
    this.principal = principal;
    this.usedAt = performance.now();
    this.calls = new RunningCalls(parts.limits.reconnectMs);
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

  respond(request: Request, body: unknown): Promise<Response> {
    return this.#transport.handleRequest(request, body === undefined ? {} : { parsedBody: body });
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
  #session: Promise<OpenToolSession> | undefined;

  async at(root: string, open: () => Promise<OpenToolSession>): Promise<OpenToolSession> {
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

async function end(session: Promise<OpenToolSession> | undefined): Promise<void> {
  const opened = await session?.catch(() => undefined);
  await opened?.close();
}
