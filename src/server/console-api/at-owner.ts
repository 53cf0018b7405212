/** What concerns a running turn is said to the node that runs it, whichever the console is connected to. */
import { PeerSilent } from '../../cluster/peers.js';
import { GatewayError } from '../../core/errors.js';
import type { Session } from '../../store/sessions.js';
import type { Exchange } from '../http/exchange.js';
import { answerFrom } from '../http/forwarding.js';
import { readBody } from '../http/read-request.js';
import type { ConsoleApiContext, ConsoleApiHandler } from './context.js';
import { findSession } from './request.js';

/** The handler of a route of one session, on the node that has the session. */
export function atOwner(handle: ConsoleApiHandler): ConsoleApiHandler {
  return async (exchange, context, parameters) => {
    if (context.peers !== undefined && exchange.forwarded === undefined) {
      const session = await findSession(exchange, context, parameters);
      const { limits } = context;
      const body = () =>
        exchange.method === 'POST' ? readBody(exchange, limits, limits.apiBodyBytes) : undefined;
      if (await forwardToOwner(exchange, context, session, body)) return;
    }
    await handle(exchange, context, parameters);
  };
}

/** False where this node may do it. Rejects with `unavailable` where the other one does not answer. */
export async function forwardToOwner(
  exchange: Exchange,
  { peers, sessions, limits }: ConsoleApiContext,
  session: Session,
  bodyOf: () => Promise<Buffer> | Buffer | undefined,
): Promise<boolean> {
  if (peers === undefined || exchange.forwarded !== undefined) return false;
  const at = await sessions.elsewhere(session);
  const node = at && (await peers.find(at));
  if (node === undefined) return false;
  try {
    await answerFrom(node, exchange, { peers, limits }, await bodyOf());
    return true;
  } catch (error) {
    if (!(error instanceof PeerSilent)) throw error;
    throw new GatewayError(
      'unavailable',
      `The node ${node.name}, which has the session ${session.id}, does not answer. Try again in half a minute.`,
      { retryAfter: 5, retryable: true, detail: 'node_lost', cause: error },
    );
  }
}
