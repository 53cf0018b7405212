/**
 * `/v1/responses` beside its turns: stored answers, shown, listed and deleted, and what an upstream of the
 * same dialect answers itself.
 */
import type { JsonObject } from '../../../core/conversation.js';
import { GatewayError } from '../../../core/errors.js';
import { isObject } from '../../../core/is-object.js';
import { openaiResponses } from '../../../dialects/openai-responses/index.js';
import type { SideAnswer } from '../../../engines/engine.js';
import type { SideRequest } from '../../../upstreams/upstream.js';
import type { Exchange } from '../../http/exchange.js';
import { clientHeaders, readInteger } from '../../http/read-request.js';
import { baseHeaders, sendJson } from '../../http/respond.js';
import { SseWriter } from '../../http/sse-writer.js';
import { forgetKeeper, keeperOf } from '../memory/forwarded-owners.js';
import { withoutEncrypted } from '../memory/response-items.js';
import {
  chainOf,
  findEvents,
  findStoredResponse,
  forgetStoredResponse,
  resolveOwn,
  responseMemory,
  type StoredResponse,
} from '../memory/response-memory.js';
import type { BackgroundAnswer, ModelApiContext, ModelApiHandler } from '../requests/context.js';
import { readModelRequest } from '../requests/endpoint.js';
import { forwardRun } from '../requests/follow-owner.js';
import { SSE_HEADERS, streamBytes } from '../requests/stream-answer.js';
import { eventsGone } from './background-run.js';
import { pageOf, wantsEncrypted } from './item-pages.js';

export const getResponse: ModelApiHandler = async (exchange, context, { id = '' }) => {
  if (await forwardRun(exchange, context, id)) return;
  const query = new URLSearchParams(exchange.query);
  const after = query.get('stream') === 'true' ? afterIn(query) : undefined;
  if (await sendOwn(exchange, context, id, { after, encrypted: wantsEncrypted(query) })) return;
  await sendKept(exchange, context, id, 'GET');
};

/**
 * An answer of this key that is made in the background or kept here: its events after `after`, or the
 * whole. False where there is none.
 */
export async function sendOwn(
  exchange: Exchange,
  context: ModelApiContext,
  id: string,
  { after, encrypted = false }: { after: number | undefined; encrypted?: boolean },
): Promise<boolean> {
  const principal = exchange.principal.name;
  const running = await context.background.find(id, principal);
  if (running !== undefined) {
    if (after === undefined) sendJson(exchange, 200, running.response);
    else await sendEvents(exchange, context, running, after);
    return true;
  }
  const turn = await findStoredResponse(id, principal, context.answers);
  if (turn === undefined) return false;
  if (after === undefined) {
    sendJson(exchange, 200, shown(turn, turn.encrypted || encrypted));
    return true;
  }
  const events = await findEvents(id, principal, after, context.answers);
  if (events === undefined) throw notStreamed();
  await sendEventText(exchange, context, once(Buffer.from(events.join(''))));
  return true;
}

export const deleteResponse: ModelApiHandler = async (exchange, context, { id = '' }) => {
  if (await forwardRun(exchange, context, id)) return;
  const { answers, background } = context;
  const principal = exchange.principal.name;
  if ((await background.find(id, principal)) !== undefined) await background.cancel(id);
  if (await forgetStoredResponse(id, principal, answers)) {
    sendJson(exchange, 200, { id, object: 'response', deleted: true });
    return;
  }
  await sendKept(exchange, context, id, 'DELETE');
  await forgetKeeper(id, answers);
};

export const cancelResponse: ModelApiHandler = async (exchange, context, { id = '' }) => {
  if (await forwardRun(exchange, context, id)) return;
  const { answers, background } = context;
  const principal = exchange.principal.name;
  const isRunning = (await background.find(id, principal)) !== undefined;
  if (isRunning) await background.cancel(id);
  const turn = await findStoredResponse(id, principal, answers);
  if (turn === undefined) return sendKept(exchange, context, id, 'POST', '/cancel');
  // An answer that has ended is not changed, and is sent again.
  if (isRunning || turn.response['background'] === true)
    return sendJson(exchange, 200, shown(turn, turn.encrypted));
  throw new GatewayError(
    'invalid_request',
    'Only an answer in the background can be cancelled. End the request instead.',
  );
};

/** The events after the last one that the client has read. */
const afterIn = (query: URLSearchParams): number =>
  readInteger(query, 'starting_after', { default: -1, min: -1, max: Number.MAX_SAFE_INTEGER });

function notStreamed(): GatewayError {
  return new GatewayError(
    'invalid_request',
    'stream: the events of this response were not kept, for it was not asked for with background and stream. Leave stream out to get the whole.',
    { param: 'stream' },
  );
}

/** Answers the request that began the run, or a later one. */
async function sendEvents(
  exchange: Exchange,
  context: ModelApiContext,
  answer: BackgroundAnswer,
  after: number,
): Promise<void> {
  if (!answer.streams) throw notStreamed();
  if (!answer.holds(after)) throw eventsGone();
  return sendEventText(exchange, context, answer.read(after));
}

async function sendEventText(
  exchange: Exchange,
  context: ModelApiContext,
  chunks: AsyncIterable<Uint8Array>,
): Promise<void> {
  const writer = exchange.stream(200, { ...baseHeaders(exchange), ...SSE_HEADERS });
  const contentType = 'text/event-stream';
  const body = { kind: 'bytes', status: 200, contentType, chunks, usage: () => undefined } as const;
  await streamBytes(exchange, context, writer, body, undefined);
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** Everything that the answer was made from, the turns before it included. */
export const listInputItems: ModelApiHandler = async (exchange, context, { id = '' }) => {
  if ((await keeperOf(id, exchange.principal.name, context.answers)) !== undefined) {
    return sendKept(exchange, context, id, 'GET', '/input_items');
  }
  const items = await inputOf(exchange, context, id);
  sendJson(exchange, 200, pageOf(items, new URLSearchParams(exchange.query)));
};

/** An answer that an upstream keeps is that upstream's to show, to the key that asked for it. */
async function sendKept(
  exchange: Exchange,
  context: ModelApiContext,
  id: string,
  method: SideRequest['method'],
  suffix = '',
): Promise<void> {
  const upstream = await keeperOf(id, exchange.principal.name, context.answers);
  const call: SideRequest = {
    method,
    path: `/responses/${encodeURIComponent(id)}${suffix}`,
    query: exchange.query,
    headers: clientHeaders(exchange.request.headers),
    signal: exchange.signal,
  };
  const asked = upstream === undefined ? undefined : context.dispatcher.askKeeper?.(upstream, call);
  const answer = asked === undefined ? undefined : await exchange.untilAborted(asked);
  if (answer === undefined) throw unknownResponse(id);
  // It was counted when it was made.
  await sendForwarded(exchange, context, { ...answer, usage: () => undefined });
}

async function inputOf(exchange: Exchange, context: ModelApiContext, id: string): Promise<JsonObject[]> {
  const { turns } = await chainOf(id, exchange.principal.name, context.answers);
  const last = turns.at(-1);
  if (last === undefined) throw unknownResponse(id);
  const encrypted = last.encrypted || wantsEncrypted(new URLSearchParams(exchange.query));
  const items: JsonObject[] = [];
  for (const turn of turns) {
    const input = (await resolveOwn(turn.input, exchange.principal.name, context.answers)) ?? turn.input;
    for (const [index, item] of input.filter(isObject).entries()) {
      items.push(typeof item['id'] === 'string' ? item : { id: inputItemId(turn.id, index), ...item });
    }
    const { output } = shown(turn, encrypted);
    if (turn !== last && Array.isArray(output)) items.push(...output.filter(isObject));
  }
  return items;
}

const inputItemId = (id: string, index: number): string => `msg_${id.replace(/^resp_/, '')}_in${index}`;

/** The response without what is kept for the gateway's own use. */
function shown({ response }: StoredResponse, encrypted: boolean): JsonObject {
  const { output } = response;
  if (encrypted || !Array.isArray(output)) return response;
  return { ...response, output: output.filter(isObject).map(withoutEncrypted) };
}

function unknownResponse(id: string): GatewayError {
  return new GatewayError(
    'not_found',
    `There is no stored response ${JSON.stringify(id.slice(0, 100))}. It may have expired, been deleted, or been made with store: false.`,
    { param: 'id', detail: 'response_not_found' },
  );
}

/** An upstream that does not have the route says so with one of these. */
export const NOT_THERE: ReadonlySet<number> = new Set([404, 405, 501]);

/** The upstream's own words, whole or as a stream. */
export async function sendForwarded(
  exchange: Exchange,
  context: ModelApiContext,
  { upstream, contentType, status, price, ...answer }: SideAnswer,
): Promise<void> {
  exchange.facts.upstream = upstream;
  if (price !== undefined) exchange.facts.price = price;
  const stream = contentType.includes('text/event-stream') ? SSE_HEADERS : { 'content-type': contentType };
  const headers = { ...baseHeaders(exchange), 'x-toolgate-upstream': upstream, ...stream };
  const writer = new SseWriter(exchange.response, status, headers);
  await streamBytes(exchange, context, writer, { kind: 'bytes', ...answer, status, contentType }, undefined);
}

const { decodeRequest } = openaiResponses.ingress;

/** `POST /v1/responses/input_tokens`: the upstream's own figure, or the one that `count_tokens` gives. */
export const countInputTokens: ModelApiHandler = async (exchange, context) => {
  const { call } = await readModelRequest(exchange, context, openaiResponses, decodeRequest, responseMemory);
  const { dispatcher } = context;
  const own = dispatcher.ask?.(call, '/responses/input_tokens').catch((error: unknown) => {
    const isMissing = error instanceof GatewayError && NOT_THERE.has(error.status);
    // What only the upstream keeps cannot be counted here.
    if (!isMissing || call.request.continues !== undefined) throw error;
    return undefined;
  });
  const answer = own === undefined ? undefined : await exchange.untilAborted(own);
  if (answer !== undefined) return sendForwarded(exchange, context, answer);
  const tokens = await exchange.untilAborted(dispatcher.countTokens(call));
  sendJson(exchange, 200, { object: 'response.input_tokens', input_tokens: tokens });
};
