/**
 * Files, batches and skills, which a provider keeps for an account. All keys of the gateway share that
 * account, so the gateway remembers which key made what: to every other key it is not there. Only
 * upstreams with `pass_through` have these routes, and only for keys that may call every model: a batch
 * names models in a file that nobody reads on its way.
 */
import type { JsonObject } from '../../core/conversation.js';
import { GatewayError } from '../../core/errors.js';
import { isObject } from '../../core/is-object.js';
import type { AccountPass, Answer, Wire } from '../../engines/engine.js';
import type { Access } from '../access/auth.js';
import type { Exchange } from '../http/exchange.js';
import { clientHeaders, readBody } from '../http/read-request.js';
import type { HttpRoute } from '../http/route-table.js';
import type { ModelApiContext, ModelApiHandler } from './context.js';
import { forgetKeeper, keeperOf, keepOwner, referencesIn, refuseAnothers } from './forwarded-owners.js';
import { recordedBody, sendPassed } from './pass-through.js';

const CALL: Access = { area: 'models', scope: 'call' };

type Method = AccountPass['method'];

/** What may be asked of one of them, behind its id. */
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

/** Until the provider forgets it, or longer. */
const KEPT_MS = 10 * 365 * 86_400_000;
/** Fields of an answer that name what the provider has made for whoever asks. */
const MADE = ['id', 'output_file_id', 'error_file_id'];
const ANSWER_BYTES = 64 * 1024 * 1024;
const PLAIN_ID = /^(?!\.+$)[\w.-]{1,200}$/;

function create(kind: string): ModelApiHandler {
  return async (exchange, context) => {
    const upstream = upstreamFor(exchange, context, kind);
    const body = await readBody(exchange, context.limits, context.limits.bodyBytes);
    await refuseOthers(parsed(body), exchange, context);
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
    const body =
      method === 'POST' ? await readBody(exchange, context.limits, context.limits.bodyBytes) : undefined;
    if (body !== undefined) await refuseOthers(parsed(body), exchange, context);
    const answer = await pass(exchange, context, upstream, {
      method,
      path,
      ...(body === undefined || body.length === 0 ? {} : { body }),
    });
    const isGone = method === 'DELETE' && rest === '' && bodyOf(answer).status < 300;
    // A batch names its results once they are there.
    if (rest === '' || rest === '/cancel') await sendClaimed(exchange, context, answer);
    else await sendPassed(exchange, context, answer);
    if (isGone) await forgetKeeper(id, context.answers);
  };
}

/** The account's list, without what others have made. */
function list(kind: string): ModelApiHandler {
  return async (exchange, context) => {
    const upstream = upstreamFor(exchange, context, kind);
    const answer = await pass(exchange, context, upstream, { method: 'GET', path: kind });
    const { status, body } = await whole(answer);
    if (status >= 300 || !isObject(body) || !Array.isArray(body['data'])) {
      return sendClaimed(exchange, context, answer, body);
    }
    const own: unknown[] = [];
    for (const row of body['data']) {
      const id = isObject(row) ? row['id'] : undefined;
      const keeper =
        typeof id === 'string' ? await keeperOf(id, exchange.principal.name, context.answers) : undefined;
      if (keeper !== upstream) continue;
      if (isObject(row)) await claim(row, exchange, context, upstream);
      own.push(row);
    }
    await sendClaimed(exchange, context, answer, { ...body, data: own });
  };
}

/** Throws `forbidden`. */
function checkKey({ principal }: Exchange): void {
  if (principal.models.includes('*')) return;
  throw new GatewayError(
    'forbidden',
    `The key ${principal.name} may call some models only, and files, batches and skills are for keys that may call all of them.`,
  );
}

/** The one that the client names, else the first that speaks its wire. */
function upstreamFor(exchange: Exchange, { dispatcher }: ModelApiContext, kind: string): string {
  checkKey(exchange);
  const { headers } = exchange;
  const isAnthropic = kind.startsWith('/messages') || headers['anthropic-version'] !== undefined;
  const wire: Wire = isAnthropic ? 'anthropic' : 'openai';
  const open = dispatcher.passers?.(wire) ?? [];
  const named = headers['x-toolgate-upstream'];
  const found = typeof named === 'string' ? open.find((name) => name === named) : open[0];
  if (found !== undefined) return found;
  throw new GatewayError(
    'not_found',
    `No upstream has the routes of ${kind.slice(1)} open. Set pass_through: true for one that speaks the wire of ${wire}, under upstreams in toolgate.yaml.`,
  );
}

function pass(
  exchange: Exchange,
  context: ModelApiContext,
  upstream: string,
  { method, path, body }: Pick<AccountPass, 'method' | 'path' | 'body'>,
): Promise<Answer> {
  exchange.traced = true;
  exchange.recorder = context.sampler?.begin();
  const { headers, principal, signal, query, recorder } = exchange;
  const { dispatcher } = context;
  const own = clientHeaders(headers);
  const contentType = headers['content-type'];
  recorder?.inbound(exchange.path, own, recordedBody(body, contentType));
  const isAnthropic = dispatcher.passers?.('anthropic').includes(upstream) === true;
  const asked = dispatcher.passTo?.(upstream, {
    ...{ method, query, headers: own, principal, signal },
    path: isAnthropic ? `/v1${path}` : path,
    ...(body === undefined ? {} : { body }),
    ...(body === undefined || contentType === undefined ? {} : { contentType }),
    ...(recorder === undefined ? {} : { trace: recorder }),
  });
  if (asked === undefined) throw notThere(path);
  return exchange.untilAborted(asked);
}

function bodyOf({ body }: Answer): Extract<Answer['body'], { kind: 'bytes' }> {
  if (body.kind !== 'bytes') throw new Error('What is passed on is bytes.');
  return body;
}

async function whole(answer: Answer): Promise<{ status: number; body: unknown }> {
  const { chunks, status } = bodyOf(answer);
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of chunks) {
    size += part.length;
    if (size > ANSWER_BYTES)
      throw new GatewayError('upstream_failed', 'The answer of the upstream is too large.');
    parts.push(part);
  }
  return { status, body: parsed(Buffer.concat(parts)) ?? Buffer.concat(parts).toString('utf8') };
}

/** Remembers whose it is before the client hears of it. `shown` in the place of what the upstream said. */
async function sendClaimed(
  exchange: Exchange,
  context: ModelApiContext,
  answer: Answer,
  shown?: unknown,
): Promise<void> {
  const said = shown ?? (await whole(answer)).body;
  if (bodyOf(answer).status < 300 && isObject(said)) await claim(said, exchange, context, answer.upstream);
  const text = typeof said === 'string' ? said : JSON.stringify(said);
  await sendPassed(exchange, context, {
    ...answer,
    body: { ...bodyOf(answer), chunks: once(Buffer.from(text)) },
  });
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

async function claim(
  said: JsonObject,
  { principal }: Exchange,
  { answers }: ModelApiContext,
  upstream: string,
): Promise<void> {
  for (const name of MADE) {
    const id = said[name];
    if (typeof id !== 'string' || !PLAIN_ID.test(id)) continue;
    if ((await keeperOf(id, principal.name, answers)) !== undefined) continue;
    await keepOwner(id, { principal: principal.name, user: undefined, upstream }, answers, KEPT_MS);
  }
}

/** Throws `not_found` for a file in the body that is not the key's own. */
async function refuseOthers(
  body: unknown,
  { principal }: Exchange,
  { answers }: ModelApiContext,
): Promise<void> {
  for (const { id, isFile } of referencesIn(body)) {
    if (isFile && (await keeperOf(id, principal.name, answers)) === undefined) throw notThere(id);
    // Providers have skills of their own, which nobody made here.
    await refuseAnothers({ id, param: 'skill_id' }, { principal: principal.name, user: undefined }, answers);
  }
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** The same for what is unknown and for what is another's. */
function notThere(id: string): GatewayError {
  return new GatewayError(
    'not_found',
    `There is no ${JSON.stringify(id.slice(0, 100))} that this key has made through this gateway.`,
    { param: 'id' },
  );
}
