/**
 * Files, batches and skills, which a provider keeps for an account. All keys of the gateway share that
 * account, so the gateway remembers which key made what, and answers every other key with 404. Only
 * upstreams with `pass_through` have these routes, and only for keys that may call every model: the
 * models that a batch names are not checked.
 */
import type { AccountPass } from '../../../engines/engine.js';
import type { Access } from '../../access/auth.js';
import type { HttpRoute } from '../../http/route-table.js';
import { forgetKeeper, keeperOf } from '../memory/forwarded-owners.js';
import type { ModelApiContext, ModelApiHandler } from '../requests/context.js';
import { notThere } from '../requests/references.js';
import { emptyBody, readAccountBody } from './account-bodies.js';
import { list } from './account-lists.js';
import { checkKey, PLAIN_ID, pass, sendClaimed, upstreamFor } from './account-pass.js';
import { bodyOf, sendPassed } from './pass-through.js';

const CALL: Access = { area: 'models', scope: 'call' };

type Method = AccountPass['method'];

/** Routes after the id of one of them. */
const KINDS: Readonly<Record<string, readonly [Method, string][]>> = {
  '/files': [
    ['GET', ''],
    ['DELETE', ''],
    ['GET', '/content'],
  ],
  '/batches': [
    ['GET', ''],
    ['POST', '/cancel'],
  ],
  '/messages/batches': [
    ['GET', ''],
    ['DELETE', ''],
    ['POST', '/cancel'],
    ['GET', '/results'],
  ],
  '/skills': [
    ['GET', ''],
    ['POST', ''],
    ['DELETE', ''],
    ['GET', '/content'],
    ['GET', '/versions'],
    ['POST', '/versions'],
    ['GET', '/versions/:version'],
    ['DELETE', '/versions/:version'],
  ],
};

export const ACCOUNT_ROUTES: readonly HttpRoute<ModelApiContext>[] = Object.entries(KINDS).flatMap(
  ([kind, asked]) => [
    { method: 'POST' as const, path: `/v1${kind}`, access: CALL, handle: create(kind) },
    { method: 'GET' as const, path: `/v1${kind}`, access: CALL, handle: list(kind) },
    ...asked.map(([method, rest]) => ({
      method,
      path: `/v1${kind}/:id${rest}`,
      access: CALL,
      handle: one(kind, method, rest),
    })),
  ],
);

function create(kind: string): ModelApiHandler {
  return async (exchange, context) => {
    const upstream = upstreamFor(exchange, context, kind);
    const body = await readAccountBody(exchange, context);
    if (body === undefined) throw emptyBody();
    const answer = await pass(exchange, context, upstream, { method: 'POST', path: kind, body });
    await sendClaimed(exchange, context, answer);
  };
}

function one(kind: string, method: Method, rest: string): ModelApiHandler {
  return async (exchange, context, { id = '', version = '' }) => {
    checkKey(exchange);
    const isPlain = PLAIN_ID.test(id) && (version === '' || PLAIN_ID.test(version));
    const upstream = isPlain ? await keeperOf(id, exchange.principal.name, context.answers) : undefined;
    if (upstream === undefined) throw notThere(id);
    const path = `${kind}/${id}${rest.replace(':version', version)}`;
    const body = method === 'POST' ? await readAccountBody(exchange, context) : undefined;
    const answer = await pass(exchange, context, upstream, { method, path, body });
    const isGone = method === 'DELETE' && rest === '' && bodyOf(answer).status < 300;
    // A batch names its results once they are there.
    if (rest === '' || rest === '/cancel') await sendClaimed(exchange, context, answer);
    else await sendPassed(exchange, context, answer);
    if (isGone) await forgetKeeper(id, context.answers);
  };
}
