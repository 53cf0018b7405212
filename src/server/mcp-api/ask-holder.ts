/**
 * What a client of `/mcp` goes on with is in one process alone: its requests are forwarded there, whichever node
 * they come to.
 */
import { PeerSilent, type Peers } from '../../cluster/peers.js';
import { GatewayError, toGatewayError } from '../../core/errors.js';
import { isObject } from '../../core/is-object.js';
import { heldIdsOf } from '../../mcp/virtual/held-ids.js';
import type { VirtualAnswer, VirtualRequest } from '../../mcp/virtual/virtual-request.js';
import type { ClusterNode } from '../../store/nodes.js';
import type { Exchange } from '../http/exchange.js';
import { forwardAny, passedHeaders } from '../http/forwarding.js';

/** Undefined where this node has it, or nobody: then this one says so. */
export async function askHolder(
  exchange: Exchange,
  peers: Peers | undefined,
  request: VirtualRequest,
  bytes: Buffer | undefined,
): Promise<VirtualAnswer | undefined> {
  // One hop: who was asked has it, or it is gone.
  if (peers === undefined || exchange.forwarded !== undefined) return undefined;
  const node = await holderOf(peers, request);
  if (node === undefined) return undefined;
  // A session is ended also where its client has left meanwhile.
  const signal = request.method === 'DELETE' ? new AbortController().signal : exchange.signal;
  try {
    const { status, headers, body } = await forwardAny(node, peers, exchange, { body: bytes, signal });
    const passed = passedHeaders(headers, node.name);
    const { 'content-type': contentType = '' } = headers;
    if (contentType !== '') passed['content-type'] = contentType;
    const isStream = contentType.startsWith('text/event-stream');
    const chunks = isStream && !Buffer.isBuffer(body) ? endingInWords(body, request, exchange) : body;
    // An answer without a body is not to have one, not even an empty one.
    if (status === 204 || status === 202) {
      if (!Buffer.isBuffer(body)) await discard(body);
      return { response: new Response(null, { status, headers: passed }), end() {} };
    }
    const stream = ReadableStream.from(asChunks(chunks));
    return { response: new Response(stream, { status, headers: passed }), end() {} };
  } catch (error) {
    if (!(error instanceof PeerSilent)) throw error;
    throw new GatewayError(
      'unavailable',
      `The node ${node.name}, which has what this request goes on with, does not answer. Whether it was carried out is not known; look before it is sent again.`,
      { retryAfter: 5, retryable: true, detail: 'node_lost', cause: error },
    );
  }
}

async function holderOf(peers: Peers, request: VirtualRequest): Promise<ClusterNode | undefined> {
  for (const id of heldIdsOf(request)) {
    const holder = await peers.holderOf(id, request.principal);
    if (holder !== 'unknown') return typeof holder === 'object' ? holder : undefined;
  }
  return undefined;
}

/** What is not read would count as under way for as long as that node is there. */
async function discard(body: AsyncIterable<Buffer>): Promise<void> {
  const chunks = body[Symbol.asyncIterator]();
  await chunks.next();
  await chunks.return?.();
}

async function* asChunks(body: Buffer | AsyncIterable<Buffer>): AsyncGenerator<Uint8Array> {
  if (Buffer.isBuffer(body)) yield body;
  else yield* body;
}

/** A client that waits for an answer gets one, also where the node that was making it is gone. */
async function* endingInWords(
  chunks: AsyncIterable<Buffer>,
  { body }: VirtualRequest,
  exchange: Exchange,
): AsyncGenerator<Buffer> {
  let isBetweenEvents = true;
  try {
    for await (const chunk of chunks) {
      isBetweenEvents = chunk.subarray(-2).equals(EVENT_END);
      yield chunk;
    }
  } catch (error) {
    const id = isObject(body) ? body['id'] : undefined;
    const isAsked = typeof id === 'string' || typeof id === 'number';
    // What broke off in the middle of an event cannot be taken back: only the connection can say so.
    if (exchange.clientGone || !isAsked || !isBetweenEvents) throw error;
    const { message } = toGatewayError(error);
    const said = `${message} Whether this one was carried out is not known; look first.`;
    const answer = { jsonrpc: '2.0', id, error: { code: INTERNAL_ERROR, message: said } };
    yield Buffer.from(`event: message\ndata: ${JSON.stringify(answer)}\n\n`);
  }
}

const EVENT_END = Buffer.from('\n\n');
const INTERNAL_ERROR = -32_603;
