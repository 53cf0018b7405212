/**
 * A turn whose session another node has is that node's to answer. Where that node is gone, the request waits
 * until this one may take the session over.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { PeerSilent } from '../../../cluster/peers.js';
import { HeldElsewhere } from '../../../core/elsewhere.js';
import { GatewayError } from '../../../core/errors.js';
import type { Answer } from '../../../engines/engine.js';
import type { ClusterNode } from '../../../store/nodes.js';
import type { Exchange } from '../../http/exchange.js';
import { forwardTo, MOVED, moved, passedHeaders, TURN_HEADER } from '../../http/forwarding.js';
import { baseHeaders } from '../../http/respond.js';
import type { ModelApiContext } from './context.js';
import { streamBytes } from './stream-answer.js';

/** A lease that nobody renews ends within half a minute. */
const WAIT_MS = 40_000;
const LOOK_MS = 500;

interface Followed {
  /** As the client sent it. */
  body: Uint8Array;
  /** This node answers for the `Idempotency-Key`. */
  once?: true;
  /** Fires when nobody waits for the answer any more. */
  signal: AbortSignal;
  announce(headers: Readonly<Record<string, string>>): void;
}

/** Rejects with whatever asking rejects with, here or there. */
export async function followOwner<Given extends Answer>(
  exchange: Exchange,
  { owners }: Pick<ModelApiContext, 'owners'>,
  request: Followed,
  ask: () => Promise<Given>,
): Promise<Given | Answer> {
  const until = performance.now() + WAIT_MS;
  const isOver = () => performance.now() > until;
  let again = false;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (owners === undefined) throw error;
      if (error instanceof HeldElsewhere) {
        // One hop: whoever forwarded it looks again.
        if (exchange.forwarded !== undefined) throw moved();
        const node = await owners.peers.find(error.at);
        const answer = node && (await askNode(exchange, owners, node, { ...request, again }, error));
        if (typeof answer === 'object') return answer;
        if (answer === 'silent') again = true;
        if ('node' in error.at || !isOfNode(error.at.owner)) throw error;
        if (isOver()) throw gone(error);
      } else if (!hasMoved(error) || exchange.forwarded !== undefined || isOver()) {
        // Where it has moved, this client shares an answer that another node had forwarded for.
        throw error;
      }
    }
    await delay(LOOK_MS, undefined, { signal: request.signal }).catch(() => {});
    request.signal.throwIfAborted();
  }
}

/** `moved`: the node has done nothing for it. `silent`: what it has done is not known. */
async function askNode(
  exchange: Exchange,
  { peers, delivered }: NonNullable<ModelApiContext['owners']>,
  node: ClusterNode,
  { body, once, again, signal, announce }: Followed & { again: boolean },
  { session }: HeldElsewhere,
): Promise<Answer | 'moved' | 'silent'> {
  if (session !== undefined) announce({ 'x-session-id': session });
  try {
    const response = await forwardTo(node, peers, exchange, { body, signal, again, ...(once && { once }) });
    // The node that answers counts it and keeps its trace.
    exchange.traced = false;
    const { headers } = response;
    const key = headers[TURN_HEADER];
    const of = headers['x-session-id'];
    return {
      upstream: headers['x-toolgate-upstream'] ?? node.name,
      losses: [],
      headers: passedHeaders(headers, node.name),
      ...(key !== undefined &&
        of !== undefined && {
          delivery: { key, confirm: () => delivered(of, key), passOn: () => {} },
        }),
      body: {
        kind: 'bytes',
        status: response.status,
        contentType: headers['content-type'] ?? 'application/json',
        chunks: response.body,
        usage: () => undefined,
      },
    };
  } catch (error) {
    if (error instanceof PeerSilent) return 'silent';
    if (hasMoved(error) || isDraining(error)) return 'moved';
    // Said by the node, which has counted it.
    if (!signal.aborted) exchange.traced = false;
    throw error;
  }
}

const hasMoved = (error: unknown): boolean => error instanceof GatewayError && error.detail === MOVED;

const isDraining = (error: unknown): boolean =>
  error instanceof GatewayError && error.code === 'unavailable' && error.detail === 'gateway_stops';

/** Of a gateway that is no node nothing is known. */
const isOfNode = (owner: string): boolean => owner.split('/').length > 3;

function gone({ message }: HeldElsewhere): GatewayError {
  return new GatewayError('unavailable', message, { retryAfter: 5, retryable: true, detail: 'session_busy' });
}

/** What another node makes in the background is that node's to show. False where there is none, or it is gone. */
export async function forwardRun(exchange: Exchange, context: ModelApiContext, id: string): Promise<boolean> {
  const { owners, background } = context;
  if (owners === undefined || exchange.forwarded !== undefined) return false;
  const owner = await background.ownerOf(id, exchange.principal.name);
  const node = owner === undefined ? undefined : await owners.peers.find({ owner });
  if (node === undefined) return false;
  try {
    const { status, headers, body: chunks } = await forwardTo(node, owners.peers, exchange, {});
    const contentType = headers['content-type'] ?? 'application/json';
    const head = {
      ...baseHeaders(exchange),
      ...passedHeaders(headers, node.name),
      'content-type': contentType,
    };
    const body = { kind: 'bytes', status, contentType, chunks, usage: () => undefined } as const;
    await streamBytes(exchange, context, exchange.stream(status, head), body, undefined);
    return true;
  } catch (error) {
    if (!(error instanceof PeerSilent)) throw error;
    throw new GatewayError(
      'unavailable',
      `The node ${node.name}, which makes this answer, does not answer. Try again in half a minute.`,
      { retryAfter: 5, retryable: true, detail: 'node_lost', cause: error },
    );
  }
}
