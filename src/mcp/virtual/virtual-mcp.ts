/**
 * The MCP servers that the gateway itself is: `gateway` with its tools, `auth` with its permissions.
 * One session a client, found by the id that it was given and only by the key that opened it.
 */
import { randomUUID } from 'node:crypto';
import { GatewayError } from '../../core/errors.js';
import { isObject } from '../../core/is-object.js';
import { StopError } from '../../core/stopping.js';
import { createAuthServer } from './auth-server.js';
import { VIRTUAL_LIMITS, type VirtualLimits } from './limits.js';
import type { ServerMaker, VirtualParts, VirtualWorkspace } from './mcp-session.js';
import { McpSession } from './open-mcp-session.js';
import { loadServerSdk, type RequestId } from './sdk.js';
import { createToolServer } from './tool-server.js';

const SERVERS = { gateway: createToolServer, auth: createAuthServer } as const satisfies Record<
  string,
  ServerMaker
>;

export type VirtualServerName = keyof typeof SERVERS;

export const VIRTUAL_SERVERS: readonly VirtualServerName[] = ['gateway', 'auth'];

export interface VirtualMcp {
  /**
   * Rejects with GatewayError: `invalid_request` without a session id, `not_found` for one that is
   * unknown, ended or another key's, `rate_limited` or `unavailable` where no more sessions fit.
   */
  handle(request: VirtualRequest): Promise<VirtualAnswer>;
  /** The tool list changed: subscribed clients are notified. */
  toolsChanged(): void;
  /** No new sessions; streams that wait for news end, so that nothing waits for them. */
  drain(): void;
  /** Ends every session. What waits for a person stays open in the store. */
  close(): Promise<void>;
}

interface VirtualRequest {
  server: VirtualServerName;
  principal: string;
  method: 'GET' | 'POST' | 'DELETE';
  headers: Headers;
  /** Of a POST, parsed. */
  body?: unknown;
  /** Asked for a new session alone. May throw GatewayError. */
  place(): VirtualWorkspace;
}

export interface VirtualAnswer {
  response: Response;
  /** Must be called once, when the answer is sent or its reader is gone. */
  end(why: AnswerEnd): void;
}

/** `gone`: the connection broke. `stopping`: the gateway ends it. */
export type AnswerEnd = 'whole' | 'gone' | 'stopping';

interface VirtualMcpOptions extends Omit<VirtualParts, 'limits'> {
  limits?: Partial<VirtualLimits>;
}

const SESSION_HEADER = 'mcp-session-id';

export function createVirtualMcp(options: VirtualMcpOptions): VirtualMcp {
  return new VirtualServers({ ...options, limits: { ...VIRTUAL_LIMITS, ...options.limits } });
}

class VirtualServers implements VirtualMcp {
  readonly #parts: VirtualParts;
  readonly #sessions = new Map<string, McpSession>();
  /** Being ended. */
  readonly #ending = new Set<Promise<void>>();
  #sweeper: NodeJS.Timeout | undefined;
  #draining = false;

  constructor(parts: VirtualParts) {
    this.#parts = parts;
  }

  async handle(request: VirtualRequest): Promise<VirtualAnswer> {
    const { method, body } = request;
    if (method === 'POST' && messagesOf(body).some(isInitialize)) return this.#initialise(request);
    const key = this.#keyOf(request);
    const session = this.#sessions.get(key);
    if (session === undefined || session.principal !== request.principal) throw unknownSession();
    const ids = method === 'POST' ? requestIds(body) : [];
    refuseReused(session, ids);
    const resumes = method === 'GET' && request.headers.has('last-event-id');
    const answer = await this.#respond(session, request, ids, resumes);
    if (method === 'DELETE' && answer.response.ok) await this.#end(key, clientLeft());
    return answer;
  }

  toolsChanged(): void {
    for (const [key, session] of this.#sessions) if (serverOf(key) === 'gateway') session.toolsChanged();
  }

  drain(): void {
    this.#draining = true;
    for (const session of this.#sessions.values()) session.endStandaloneStream();
  }

  async close(): Promise<void> {
    this.#draining = true;
    await Promise.all([...this.#sessions.keys()].map((key) => this.#end(key, stopping())));
    await Promise.all(this.#ending);
  }

  async #initialise(request: VirtualRequest): Promise<VirtualAnswer> {
    if (this.#draining) throw stopping();
    const { server, principal } = request;
    const place = request.place();
    const [sdk, runtime] = await Promise.all([loadServerSdk(), this.#parts.tools()]);
    // Nothing is awaited between the look at the bounds and the entry in the table.
    this.#makeRoom(principal);
    const id = randomUUID();
    const key = keyFor(server, id);
    const options = { id, principal, place, make: SERVERS[server] };
    const session = new McpSession(options, this.#parts, sdk, runtime);
    this.#sessions.set(key, session);
    await session.connect();
    this.#sweeper ??= setInterval(() => this.#sweep(), this.#parts.limits.sweepMs).unref();
    const answer = await this.#respond(session, request, [], false);
    if (!answer.response.ok || this.#draining) await this.#end(key, stopping());
    return answer;
  }

  async #respond(
    session: McpSession,
    { method, headers, body, server }: VirtualRequest,
    ids: readonly RequestId[],
    resumes: boolean,
  ): Promise<VirtualAnswer> {
    session.open += 1;
    session.usedAt = performance.now();
    let ended = false;
    let waitsFor = ids;
    const end = (why: AnswerEnd): void => {
      if (ended) return;
      ended = true;
      session.open -= 1;
      session.usedAt = performance.now();
      if (why === 'gone') session.calls.orphan(waitsFor);
      else if (why === 'stopping') session.calls.abort(waitsFor, stopping());
    };
    try {
      const request = new Request(`http://gateway/mcp/${server}`, { method, headers });
      const response = await session.respond(request, body, ids);
      if (resumes && response.ok) waitsFor = session.calls.adopt();
      return { response, end };
    } catch (error) {
      end('whole');
      throw error;
    }
  }

  #keyOf({ server, headers }: VirtualRequest): string {
    const id = headers.get(SESSION_HEADER);
    if (id !== null && id !== '') return keyFor(server, id);
    throw new GatewayError(
      'invalid_request',
      'There is no Mcp-Session-Id header. Send an initialize request first, and the id from its answer with every other one.',
    );
  }

  /** The key's own longest idle session goes before anybody else is refused. */
  #makeRoom(principal: string): void {
    const { sessions, sessionsOfKey } = this.#parts.limits;
    const own = [...this.#sessions].filter(([, session]) => session.principal === principal);
    if (own.length < sessionsOfKey && this.#sessions.size < sessions) return;
    const [oldest] = own
      .filter(([, session]) => session.isIdle)
      .toSorted(([, a], [, b]) => a.usedAt - b.usedAt);
    if (oldest !== undefined) {
      void this.#end(oldest[0], clientLeft());
      return;
    }
    throw new GatewayError(
      own.length >= sessionsOfKey ? 'rate_limited' : 'unavailable',
      `No more MCP sessions fit (${own.length} of this key are in use). End one with DELETE, or try again later.`,
      { retryable: true, retryAfter: 30 },
    );
  }

  #sweep(): void {
    const now = performance.now();
    for (const [key, session] of this.#sessions) {
      if (session.isIdle && now - session.usedAt >= this.#parts.limits.idleMs) {
        void this.#end(key, clientLeft());
      }
    }
  }

  async #end(key: string, reason: unknown): Promise<void> {
    const session = this.#sessions.get(key);
    this.#sessions.delete(key);
    if (this.#sessions.size === 0) {
      clearInterval(this.#sweeper);
      this.#sweeper = undefined;
    }
    if (session === undefined) return;
    const ending = session
      .close(reason)
      .catch((error: unknown) => this.#parts.log.warn({ err: error }, 'an MCP session could not be ended'))
      .finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
    await ending;
  }
}

const keyFor = (server: string, id: string): string => `${server} ${id}`;
const serverOf = (key: string): string => key.slice(0, key.indexOf(' '));

function messagesOf(body: unknown): readonly unknown[] {
  return Array.isArray(body) ? body : [body];
}

function isInitialize(message: unknown): boolean {
  return isObject(message) && message['method'] === 'initialize';
}

function requestIds(body: unknown): RequestId[] {
  return messagesOf(body).flatMap((message) => {
    if (!isObject(message) || !('method' in message)) return [];
    const { id } = message;
    return typeof id === 'string' || typeof id === 'number' ? [id] : [];
  });
}

/** By its id a request is answered and cancelled: with two of one id, the first would be neither. */
function refuseReused(session: McpSession, ids: readonly RequestId[]): void {
  const twice = ids.find((id, at) => session.isInUse(id) || ids.indexOf(id) !== at);
  if (twice === undefined) return;
  throw new GatewayError(
    'invalid_request',
    `The id ${JSON.stringify(twice).slice(0, 100)} is in use by a request that is not answered yet. Send this one with an id of its own.`,
  );
}

function unknownSession(): GatewayError {
  return new GatewayError(
    'not_found',
    'There is no such MCP session: it ended, or the gateway was restarted. Send an initialize request without Mcp-Session-Id, and go on with the id that comes back.',
  );
}

function clientLeft(): DOMException {
  return new DOMException('The client ended its session.', 'AbortError');
}

function stopping(): StopError {
  return new StopError(
    'gateway-stops',
    'unavailable',
    'The gateway is shutting down. Send the request again.',
    {
      retryable: true,
      retryAfter: 5,
    },
  );
}
