/** A request to one of the virtual servers, and what comes of it, whichever era it is of. */
import { isObject } from '../../core/is-object.js';
import type { Span } from '../../core/span.js';
import { StopError } from '../../core/stopping.js';
import { createAuthServer } from './auth-server.js';
import type { ServerMaker, VirtualWorkspace } from './mcp-scope.js';
import { createToolServer } from './tool-server.js';

export const SERVERS = { gateway: createToolServer, auth: createAuthServer } as const satisfies Record<
  string,
  ServerMaker
>;

export type VirtualServerName = keyof typeof SERVERS;

export const VIRTUAL_SERVERS: readonly VirtualServerName[] = ['gateway', 'auth'];

export interface VirtualRequest {
  server: VirtualServerName;
  principal: string;
  /** The key may decide about its own approvals. */
  mayApprove: boolean;
  method: 'GET' | 'POST' | 'DELETE';
  headers: Headers;
  /** In the address, as HTTP with SSE has it. */
  sessionId?: string;
  /** Where the gateway's telemetry is collected: what is asked for in its name continues the trace. */
  span?: Span | undefined;
  /** Of a POST, parsed. */
  body?: unknown;
  /** Asked for a new session and for each request without one. May throw GatewayError. */
  place(): VirtualWorkspace;
}

export interface VirtualAnswer {
  response: Response;
  /** Must be called once, when the answer is sent or its reader is gone. */
  end(why: AnswerEnd): void;
}

/** `gone`: the connection broke. `stopping`: the gateway ends it. */
export type AnswerEnd = 'whole' | 'gone' | 'stopping';

/** The newer era's stream of news. */
export const LISTEN = 'subscriptions/listen';

/** Empty where it is no single message. */
export function methodOf(body: unknown): string {
  const method = isObject(body) ? body['method'] : undefined;
  return typeof method === 'string' ? method : '';
}

export function stopping(): StopError {
  return new StopError(
    'gateway-stops',
    'unavailable',
    'The gateway is shutting down. Send the request again.',
    { retryable: true, retryAfter: 5 },
  );
}
