/**
 * Requests between nodes. Who receives one answers it itself, and says what goes wrong as it is: the node that
 * the client is connected to says it in the client's dialect.
 */
import * as z from 'zod';
import { type ForwardClaim, PROOF_HEADER } from '../../cluster/forward-claim.js';
import type { PeerRequest, Peers } from '../../cluster/peers.js';
import { type ErrorCode, GatewayError, isErrorCode } from '../../core/errors.js';
import type { WireHeaders } from '../../dialects/shared/dialect.js';
import type { ClusterNode } from '../../store/nodes.js';
import { readAll } from '../../transport/http-client/http-client.js';
import type { HttpResponse } from '../../transport/http-client/types.js';
import type { EncodeError, Exchange } from './exchange.js';
import type { Limits } from './limits.js';
import { clientHeaders } from './read-request.js';
import { baseHeaders } from './respond.js';

/** Says which node answered. */
const NODE_HEADER = 'x-toolgate-node';
/** The turn that an answer is of: the node that forwards it confirms that the client has it. */
export const TURN_HEADER = 'x-toolgate-turn';

/** What is about the connection between the nodes, or this node's own to say. */
const NOT_PASSED: ReadonlySet<string> = new Set([
  ...['connection', 'keep-alive', 'transfer-encoding', 'content-length', 'content-type', 'date'],
  ...['request-id', 'x-request-id', 'x-content-type-options', 'set-cookie', PROOF_HEADER, TURN_HEADER],
]);

const ERROR_BYTES = 64 * 1024;

const peerError = z.object({
  toolgate_error: z.object({
    code: z.custom<ErrorCode>(isErrorCode),
    message: z.string(),
    status: z.int(),
    retryable: z.boolean(),
    retryAfter: z.number().optional(),
    resetAt: z.number().optional(),
    param: z.string().optional(),
    detail: z.string().optional(),
  }),
});

export const encodePeerError: EncodeError = ({
  code,
  message,
  status,
  retryable,
  retryAfter,
  resetAt,
  param,
  detail,
}) => ({
  toolgate_error: { code, message, status, retryable, retryAfter, resetAt, param, detail },
});

/** Another node has it, as this one was told that it is here: the node that forwarded looks again. */
export const MOVED = 'moved_to_another_node';

export function moved(): GatewayError {
  return new GatewayError(
    'conflict',
    'What this is about has moved to another node. Send the request again.',
    { detail: MOVED, retryable: true },
  );
}

/**
 * Rejects with the GatewayError that the node answers with, with PeerSilent where it gives no answer, and with
 * the reason of the exchange's end.
 */
export async function forwardTo(
  node: ClusterNode,
  peers: Peers,
  exchange: Exchange,
  options: Forwarding,
): Promise<HttpResponse> {
  const response = await send(node, peers, exchange, options);
  if (response.status < 400) return response;
  const { status } = response;
  throw (
    errorIn(await readAll(response.body, ERROR_BYTES)) ??
    new GatewayError('upstream_failed', `The node ${node.name} answered with ${status} and no reason.`)
  );
}

/** The same where answers with an error status may be whole answers of the protocol: those are passed on. */
export async function forwardAny(
  node: ClusterNode,
  peers: Peers,
  exchange: Exchange,
  options: Forwarding,
): Promise<{ status: number; headers: HttpResponse['headers']; body: HttpResponse['body'] | Buffer }> {
  const response = await send(node, peers, exchange, options);
  if (response.status < 400) return response;
  const body = await readAll(response.body, ERROR_BYTES);
  const error = errorIn(body);
  if (error !== undefined) throw error;
  return { ...response, body };
}

type Forwarding = Pick<PeerRequest, 'body' | 'once' | 'again'> & { signal?: AbortSignal };

function send(
  node: ClusterNode,
  peers: Peers,
  exchange: Exchange,
  { body, once, again, signal = exchange.signal }: Forwarding,
): Promise<HttpResponse> {
  const { id, method, path, query, principal } = exchange;
  return peers.send(node, {
    ...{ id, principal: principal.name, method: methodOf(method), body, once, again, signal },
    path: query === '' ? path : `${path}?${query}`,
    headers: definedHeaders(clientHeaders(exchange.headers)),
  });
}

/** Gives the client the answer of that node. Rejects as `forwardTo` does, before anything is written. */
export async function answerFrom(
  node: ClusterNode,
  exchange: Exchange,
  { peers, limits }: { peers: Peers; limits: Pick<Limits, 'bodyBytes'> },
  body?: Buffer,
): Promise<void> {
  const answer = await forwardTo(node, peers, exchange, { body });
  const whole = await readAll(answer.body, limits.bodyBytes);
  const { 'content-type': contentType } = answer.headers;
  exchange.response.writeHead(answer.status, {
    ...baseHeaders(exchange),
    ...passedHeaders(answer.headers, node.name),
    ...(contentType === undefined ? {} : { 'content-type': contentType, 'content-length': whole.length }),
  });
  exchange.response.end(whole);
}

/** Undefined where it is not said as nodes say it. */
function errorIn(body: Buffer): GatewayError | undefined {
  const parsed = peerError.safeParse(parsedJson(body.toString('utf8')));
  if (!parsed.success) return undefined;
  const {
    code,
    message,
    status: own,
    retryable,
    retryAfter,
    resetAt,
    param,
    detail,
  } = parsed.data.toolgate_error;
  return new GatewayError(code, message, {
    ...{ status: own, retryable },
    ...(retryAfter !== undefined && { retryAfter }),
    ...(resetAt !== undefined && { resetAt }),
    ...(param !== undefined && { param }),
    ...(detail !== undefined && { detail }),
  });
}

/** Of the answer of a node, for the client. */
export function passedHeaders(
  headers: Readonly<Record<string, string>>,
  node: string,
): Record<string, string> {
  const passed: Record<string, string> = { [NODE_HEADER]: node };
  for (const [name, value] of Object.entries(headers)) if (!NOT_PASSED.has(name)) passed[name] = value;
  return passed;
}

/** What came from another node, and is answered with a proof. */
export interface Forwarded extends ForwardClaim {
  proof: string;
}

function methodOf(method: string): PeerRequest['method'] {
  switch (method) {
    case 'GET':
    case 'HEAD':
    case 'POST':
    case 'PUT':
    case 'DELETE':
      return method;
    default:
      throw new Error(`${method} is no method of a route.`);
  }
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function definedHeaders(headers: WireHeaders): Record<string, string> {
  const defined: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) defined[name] = value;
  return defined;
}
