/** Requests to the account that all keys share: which upstream is asked, and whose the answer is. */
import type { JsonObject } from '../../../core/conversation.js';
import { GatewayError } from '../../../core/errors.js';
import { isObject } from '../../../core/is-object.js';
import type { AccountPass, Answer, Wire } from '../../../engines/engine.js';
import type { Exchange } from '../../http/exchange.js';
import { parseJsonBody } from '../../http/json-body.js';
import { clientHeaders } from '../../http/read-request.js';
import { keeperOf, keepOwner } from '../memory/forwarded-owners.js';
import type { ModelApiContext } from '../requests/context.js';
import { notThere } from '../requests/references.js';
import type { AccountBody } from './account-bodies.js';
import { bodyOf, passedHeaders, recordedBody, sendPassed, withoutUsage } from './pass-through.js';

/** As long as the provider keeps it, or longer. */
const KEPT_MS = 10 * 365 * 86_400_000;
/** Fields of an answer that name what the provider has made for the key. */
const MADE = ['id', 'output_file_id', 'error_file_id'];
const ANSWER_BYTES = 64 * 1024 * 1024;
export const PLAIN_ID = /^(?!\.+$)[\w.-]{1,200}$/;

/** Throws `forbidden`. */
export function checkKey({ principal }: Exchange): void {
  if (principal.models.includes('*')) return;
  throw new GatewayError(
    'forbidden',
    `The key ${principal.name} may call some models only, and files, batches and skills are for keys that may call all of them.`,
  );
}

/** The upstream that the client names, else the first that speaks its wire. */
export function upstreamFor(exchange: Exchange, { dispatcher }: ModelApiContext, kind: string): string {
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

export function speaksAnthropic({ dispatcher }: ModelApiContext, upstream: string): boolean {
  return dispatcher.passers?.('anthropic').includes(upstream) === true;
}

interface Asked extends Pick<AccountPass, 'method' | 'path'> {
  /** In the place of the client's own. */
  query?: string;
  body?: AccountBody | undefined;
}

export async function pass(
  exchange: Exchange,
  context: ModelApiContext,
  upstream: string,
  { method, path, query = exchange.query, body }: Asked,
): Promise<Answer> {
  const { principal, signal } = exchange;
  if (!exchange.traced) {
    exchange.traced = true;
    exchange.recorder = context.sampler?.begin();
    const own = clientHeaders(exchange.headers);
    exchange.recorder?.inbound(exchange.path, own, recordedBody(body?.bytes, body?.contentType));
  }
  const { recorder } = exchange;
  const asked = context.dispatcher.passTo?.(upstream, {
    ...{ method, query, headers: passedHeaders(exchange), principal, signal },
    path: speaksAnthropic(context, upstream) ? `/v1${path}` : path,
    ...(body === undefined ? {} : { body: body.bytes, contentType: body.contentType }),
    ...(recorder === undefined ? {} : { trace: recorder }),
  });
  if (asked === undefined) throw notThere(path);
  return withoutUsage(await exchange.untilAborted(asked));
}

/** A text where it is no JSON. */
export async function whole(
  answer: Answer,
  { limits }: ModelApiContext,
): Promise<{ status: number; body: unknown }> {
  const { chunks, status } = bodyOf(answer);
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of chunks) {
    size += part.length;
    if (size > ANSWER_BYTES)
      throw new GatewayError('upstream_failed', 'The answer of the upstream is too large.');
    parts.push(part);
  }
  const bytes = Buffer.concat(parts);
  try {
    return { status, body: parseJsonBody(bytes, limits.jsonDepth) };
  } catch {
    return { status, body: bytes.toString('utf8') };
  }
}

/** Stores the owner before the client gets the id. */
export async function sendClaimed(
  exchange: Exchange,
  context: ModelApiContext,
  answer: Answer,
): Promise<void> {
  const { status, body } = await whole(answer, context);
  if (status < 300 && isObject(body)) await claim(body, exchange, context, answer.upstream);
  await sendShown(exchange, context, answer, body);
}

/** Sends `shown` instead of the upstream's body. */
export async function sendShown(
  exchange: Exchange,
  context: ModelApiContext,
  answer: Answer,
  shown: unknown,
): Promise<void> {
  const text = typeof shown === 'string' ? shown : JSON.stringify(shown);
  const body = { ...bodyOf(answer), chunks: once(Buffer.from(text)) };
  await sendPassed(exchange, context, { ...answer, body });
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

export async function claim(
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
