/** Sign-in of the console: a token or key for a cookie. */
import { GatewayError } from '../../core/errors.js';
import type { Principal } from '../../engines/engine.js';
import { checkContentType, readBody } from '../body.js';
import type { Handler, ServerContext } from '../context.js';
import type { Exchange } from '../exchange.js';
import { parseJsonBody } from '../json-body.js';
import { sendJson, sendStatus } from '../respond.js';

export const openSession: Handler = async (exchange, context) => {
  const principal = context.auth.owner(await readToken(exchange, context));
  if (principal === undefined) {
    throw new GatewayError(
      'unauthenticated',
      'The token is not valid. Open the address that the gateway printed when it last started, or sign in with a key.',
    );
  }
  // The guard has let only our own origin through; its scheme is what the browser sees.
  const secure = exchange.request.headers.origin?.startsWith('https:') ?? false;
  sendJson(exchange, 200, toWire(principal), {
    'set-cookie': context.auth.sessions.open(principal, secure),
    'cache-control': 'no-store',
  });
};

export const showSession: Handler = (exchange) => {
  sendJson(exchange, 200, toWire(exchange.principal), { 'cache-control': 'no-store' });
};

export const closeSession: Handler = (exchange, { auth }) => {
  sendStatus(exchange, 204, {
    'set-cookie': auth.sessions.close(exchange.request.headers.cookie),
    // Images of conversations.
    'clear-site-data': '"cache"',
  });
};

async function readToken(exchange: Exchange, { limits }: ServerContext): Promise<string> {
  checkContentType(exchange.request.headers['content-type']);
  const body = parseJsonBody(await readBody(exchange, limits, limits.apiBodyBytes), limits.jsonDepth);
  if (typeof body === 'object' && body !== null && 'token' in body && typeof body.token === 'string') {
    return body.token;
  }
  throw new GatewayError('invalid_request', 'token: expected a string.', { param: 'token' });
}

function toWire({ name, scopes, models }: Principal): object {
  return { name, scopes, models };
}
