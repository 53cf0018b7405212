/**
 * The era of sessions, up to 2025-11-25: `initialize` opens one, and everything else names it by the
 * id that came back.
 */
import { GatewayError } from '../../core/errors.js';
import { isObject } from '../../core/is-object.js';
import { clientLeft, KeptByKey } from './kept-by-key.js';
import type { VirtualParts } from './mcp-scope.js';
import { McpSession } from './mcp-session.js';
import type { RequestId, ServerSdk } from './sdk.js';
import { type SessionWire, sseWire, streamableWire } from './session-wires.js';
import {
  type AnswerEnd,
  SERVERS,
  stopping,
  type VirtualAnswer,
  type VirtualRequest,
} from './virtual-request.js';

export const SESSION_HEADER = 'mcp-session-id';
/** In the address that a client of HTTP with SSE is given. */
export const SESSION_PARAMETER = 'sessionId';

export class LegacySessions {
  readonly #parts: VirtualParts;
  readonly #sessions: KeptByKey<McpSession>;
  #draining = false;

  constructor(parts: VirtualParts) {
    this.#parts = parts;
    const { limits, log } = parts;
    this.#sessions = new KeptByKey<McpSession>({
      most: limits.sessions,
      mostOfKey: limits.sessionsOfKey,
      idleMs: limits.idleMs,
      sweepMs: limits.sweepMs,
      words: { many: 'MCP sessions', remedy: 'End one with DELETE' },
      log,
    });
  }

  async handle(request: VirtualRequest, sdk: ServerSdk): Promise<VirtualAnswer> {
    const { method, body } = request;
    const isInSession = request.sessionId !== undefined;
    if (method === 'POST' && !isInSession && messagesOf(body).some(isInitialize)) {
      return this.#initialise(request, sdk);
    }
    if (opensStream(request)) return this.#openStream(request, sdk);
    const key = keyOf(request);
    const session = this.#sessions.find(key, request.principal);
    if (session === undefined) throw unknownSession();
    const ids = method === 'POST' ? requestIds(body) : [];
    refuseReused(session, ids);
    const resumes = method === 'GET' && request.headers.has('last-event-id');
    const answer = await this.#respond(session, request, ids, resumes);
    if (method === 'DELETE' && answer.response.ok) await this.#sessions.end(key, clientLeft());
    return answer;
  }

  toolsChanged(): void {
    for (const [key, session] of this.#sessions.entries()) {
      if (serverOf(key) === 'gateway') session.toolsChanged();
    }
  }

  drain(): void {
    this.#draining = true;
    for (const [, session] of this.#sessions.entries()) void session.endStream(stopping());
  }

  async close(): Promise<void> {
    this.#draining = true;
    await this.#sessions.endAll(stopping());
  }

  async #initialise(request: VirtualRequest, sdk: ServerSdk): Promise<VirtualAnswer> {
    const id = this.#parts.newId(request.principal);
    const { key, session } = await this.#open(request, sdk, id, streamableWire(sdk, { id, ...this.#parts }));
    const answer = await this.#respond(session, request, [], false);
    if (!answer.response.ok || this.#draining) await this.#sessions.end(key, stopping());
    return answer;
  }

  /** HTTP with SSE: the session is as long as its stream. */
  async #openStream(request: VirtualRequest, sdk: ServerSdk): Promise<VirtualAnswer> {
    const id = this.#parts.newId(request.principal);
    const endpoint = `/mcp/${request.server}?${SESSION_PARAMETER}=${id}`;
    const wire = sseWire(sdk, endpoint, this.#parts.limits);
    const { key, session } = await this.#open(request, sdk, id, wire);
    const { response, end } = await this.#respond(session, request, [], false);
    return {
      response,
      end: (why) => {
        end(why);
        void this.#sessions.end(key, this.#draining ? stopping() : clientLeft());
      },
    };
  }

  async #open(
    request: VirtualRequest,
    sdk: ServerSdk,
    id: string,
    wire: SessionWire,
  ): Promise<{ key: string; session: McpSession }> {
    if (this.#draining) throw stopping();
    const { server, principal } = request;
    const place = request.place();
    const runtime = await this.#parts.tools();
    const key = keyFor(server, id);
    const options = { id, principal, place, make: SERVERS[server], wire };
    const session = this.#sessions.add(
      key,
      principal,
      () => new McpSession(options, this.#parts, sdk, runtime),
    );
    await session.connect();
    return { key, session };
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
    let waitsFor = session.answersInPlace ? ids : [];
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
}

const keyFor = (server: string, id: string): string => `${server} ${id}`;
const serverOf = (key: string): string => key.slice(0, key.indexOf(' '));

/** A stream without a session: only the transport of 2024-11-05 begins with it. */
function opensStream({ method, headers, sessionId }: VirtualRequest): boolean {
  const accepts = headers.get('accept')?.includes('text/event-stream') ?? false;
  return method === 'GET' && accepts && sessionId === undefined && !headers.has(SESSION_HEADER);
}

function keyOf({ server, headers, sessionId }: VirtualRequest): string {
  const id = headers.get(SESSION_HEADER) ?? sessionId ?? '';
  if (id !== '') return keyFor(server, id);
  throw new GatewayError(
    'invalid_request',
    'There is no Mcp-Session-Id header. Send an initialize request first, and the id from its answer with every other one; or speak 2026-07-28, which has no sessions.',
  );
}

export function messagesOf(body: unknown): readonly unknown[] {
  return Array.isArray(body) ? body : [body];
}

export function isInitialize(message: unknown): boolean {
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
    'There is no such MCP session: it ended, or the gateway that had it was stopped. Send an initialize request without Mcp-Session-Id, and go on with the id that comes back.',
  );
}
