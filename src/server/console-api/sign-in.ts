/** Sign-in of the console: a token or key for a cookie and a secret of the page. */
import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError, toGatewayError } from '../../core/errors.js';
import type { Principal } from '../../engines/engine.js';
import type { Access, Auth } from '../access/auth.js';
import { isUnavailable } from '../access/sign-ins.js';
import type { Exchange } from '../http/exchange.js';
import { readSwitch } from '../http/read-request.js';
import { NO_STORE, sendError, sendJson, sendStatus } from '../http/respond.js';
import type { ConsoleApiContext, ConsoleApiHandler } from './context.js';
import { readJsonBody } from './request.js';
import type { IdentityWire, SignedInWire } from './wire/sign-in.js';

const CONSOLE: Access = { area: 'console' };

interface SignInRequest {
  token: string;
  /** False: an existing sign-in of this browser stays. */
  replace: boolean;
}

export const signIn: ConsoleApiHandler = async (exchange, context) => {
  const { auth } = context;
  const { token, replace } = await readRequest(exchange, context);
  // A key that another process made is in the store alone until its first use.
  await auth.recallKey(token);
  const credential = auth.credentialOf(token);
  if (credential === undefined) {
    throw new GatewayError(
      'unauthenticated',
      'The token is not valid. Open the address that the gateway printed when it last started, or sign in with a key.',
    );
  }
  const { headers } = exchange.request;
  const present = replace ? undefined : await findPresent(headers, auth);
  if (present !== undefined) {
    answerPresent(exchange, present, credential.principal);
    return;
  }
  // The guard has let only our own origin through; its scheme is what the browser sees.
  const secure = headers.origin?.startsWith('https:') ?? false;
  const { setCookie, page } = await auth.signIns.open(credential, secure, headers);
  const answer: SignedInWire = { ...toWire(credential.principal), page };
  sendJson(exchange, 200, answer, { 'set-cookie': setCookie, ...NO_STORE });
};

export const showSignIn: ConsoleApiHandler = (exchange) => {
  sendJson(exchange, 200, toWire(exchange.principal), NO_STORE);
};

/** The browser forgets its cookie in any case; a copy of it is refused from now on. */
export const signOut: ConsoleApiHandler = async (exchange, { auth, limits, notifier }) => {
  const { headers: asked } = exchange.request;
  const everywhere = readSwitch(new URLSearchParams(exchange.query), 'everywhere');
  const headers = {
    'set-cookie': auth.signIns.takenCookie,
    // Images of conversations.
    'clear-site-data': '"cache"',
  };
  try {
    await (everywhere ? closeEverywhere(asked, auth, notifier) : auth.signIns.close(asked));
  } catch (thrown) {
    if (!isUnavailable(thrown)) throw thrown;
    const error = toGatewayError(thrown);
    exchange.facts.error = error;
    sendError(exchange, error, limits.lingerMs, headers);
    return;
  }
  sendStatus(exchange, 204, headers);
};

/** Throws `unauthenticated` without a sign-in, key or token. */
async function closeEverywhere(
  headers: IncomingHttpHeaders,
  auth: Auth,
  { push }: ConsoleApiContext['notifier'],
): Promise<void> {
  const { signIns } = auth;
  if (auth.isStranger(CONSOLE, headers)) {
    await auth.recall(headers).catch(async (error: unknown) => {
      // Nobody can say whose it is now; this one ends at least.
      await signIns.close(headers);
      throw error;
    });
  }
  const principal = auth.admit(CONSOLE, headers);
  await signIns.closeAll(principal);
  await push.removeAll(principal.name);
}

/** The browser's present sign-in. Rejects as the store does: then none is replaced unasked. */
async function findPresent(headers: IncomingHttpHeaders, { signIns }: Auth): Promise<Principal | undefined> {
  await signIns.recall(headers);
  return signIns.find(headers);
}

function answerPresent(exchange: Exchange, present: Principal, offered: Principal): void {
  if (present.name === offered.name) {
    sendJson(exchange, 200, toWire(present), NO_STORE);
    return;
  }
  const error = new GatewayError(
    'conflict',
    `This browser is signed in as "${present.name}". To sign in as "${offered.name}" instead, say "replace": true.`,
    { detail: 'other_sign_in' },
  );
  exchange.facts.error = error;
  const shown = { signed_in: toWire(present), offered: toWire(offered) };
  sendJson(exchange, error.status, { ...exchange.encodeError(error, exchange.id), ...shown }, NO_STORE);
}

async function readRequest(exchange: Exchange, { limits }: ConsoleApiContext): Promise<SignInRequest> {
  const body = await readJsonBody(exchange, limits);
  if (typeof body !== 'object' || body === null || !('token' in body) || typeof body.token !== 'string') {
    throw new GatewayError('invalid_request', 'token: expected a string.', { param: 'token' });
  }
  const replace = 'replace' in body ? body.replace : true;
  if (typeof replace !== 'boolean') {
    throw new GatewayError('invalid_request', 'replace: expected true or false.', { param: 'replace' });
  }
  return { token: body.token, replace };
}

function toWire({ name, scopes, models }: Principal): IdentityWire {
  return { name, scopes, models };
}
