/**
 * A turn of a conversation in any dialect: decode, ask the engines, encode. Opening and answering
 * are functions apart, so that nothing of the request is reachable while its answer streams.
 */
import type { Identity } from '../../../answers/recorded-answer.js';
import { AnswerCollector } from '../../../core/answer-collector.js';
import type { AssistantMessage, DialectName } from '../../../core/conversation.js';
import { GatewayError, toGatewayError } from '../../../core/errors.js';
import type { ModelEvent } from '../../../core/events.js';
import { isObject } from '../../../core/is-object.js';
import { StreamLifecycle } from '../../../core/lifecycle.js';
import { type Loss, LossLog, lossesHeader } from '../../../core/losses.js';
import type { AnswerContext, Dialect, Ingress, StreamEncoder } from '../../../dialects/shared/dialect.js';
import { NotForwardedError } from '../../../engines/demands.js';
import type { Answer, ModelRequest } from '../../../engines/engine.js';
import type { Exchange } from '../../http/exchange.js';
import { TURN_HEADER } from '../../http/forwarding.js';
import { parseJsonBody } from '../../http/json-body.js';
import { checkContentType, clientHeaders, readBody } from '../../http/read-request.js';
import { baseHeaders, sendJson } from '../../http/respond.js';
import type { StreamWriter } from '../../http/sse-writer.js';
import { idempotencyKeyOf, requestDigest } from '../memory/answer-once.js';
import type { SharedAnswer } from '../memory/answer-run.js';
import type { AnswerRecording } from '../memory/recording.js';
import { RecordingEncoder, type ResponseMemory } from '../memory/response-memory.js';
import { type ActivityFeed, feedFor } from './activity-feed.js';
import type { ModelApiContext, ModelApiHandler } from './context.js';
import { followOwner } from './follow-owner.js';
import { keepsThings, mayName, referencesIn, refuseKnown } from './references.js';
import {
  EarlyStream,
  type EventsBody,
  SSE_HEADERS,
  stop,
  streamBytes,
  streamEvents,
} from './stream-answer.js';

/** What ids of answers look like in each dialect. */
const ID_PREFIX: Readonly<Record<DialectName, string>> = {
  'anthropic-messages': 'msg_',
  'openai-chat': 'chatcmpl-',
  'openai-responses': 'resp_',
};

const NO_BYTES = new Uint8Array(0);
/** Longer names are cut where they are only reported. */
const SHOWN_MODEL_LENGTH = 200;
/** A name is repeated in answers and remembered. */
const MODEL_LIMIT = 512;

/** `memory` where clients of the route may go on from an answer by its id. */
export function modelHandler(dialect: Dialect, memory?: ResponseMemory): ModelApiHandler {
  return async (exchange, context) => {
    exchange.traced = true;
    const open = await openTurn(exchange, context, dialect, memory);
    if (open !== undefined) await answerTurn(exchange, context, dialect, open);
  };
}

/** `decode` where the route asks for less than a turn does. */
export function countTokensHandler(dialect: Dialect, decode: Ingress['decodeRequest']): ModelApiHandler {
  return async (exchange, context) => {
    const { call } = await readModelRequest(exchange, context, dialect, decode);
    const count = await exchange.untilAborted(context.dispatcher.countTokens(call));
    sendJson(exchange, 200, { input_tokens: count });
  };
}

type Asked = Answer & Partial<SharedAnswer>;

interface OpenTurn {
  answer: Asked;
  answerContext: AnswerContext;
  lifecycle: StreamLifecycle;
  /** Where the client asked for a stream. */
  encoder: StreamEncoder | undefined;
  /** Where the head had to go out before the engine said anything. */
  writer: StreamWriter | undefined;
  /** Where the answer is to be remembered. */
  record: AnswerRecording | undefined;
  /** Where the client asked for an agent's activities. */
  feed: ActivityFeed | undefined;
}

/** Undefined when the client has its answer: an error after the head was out, or that it is made in the background. */
async function openTurn(
  exchange: Exchange,
  context: ModelApiContext,
  dialect: Dialect,
  memory: ResponseMemory | undefined,
): Promise<OpenTurn | undefined> {
  exchange.recorder = context.sampler?.begin();
  const { call, body, sent } = await readModelRequest(
    exchange,
    context,
    dialect,
    dialect.ingress.decodeRequest,
    memory,
  );
  const { request } = call;
  const form = request.stream ? undefined : dialect.ingress.answerForm?.(request);
  const answerContext: AnswerContext = {
    model: request.model,
    requestId: exchange.id,
    created: Math.floor(Date.now() / 1000),
    ...(form === undefined ? {} : { form }),
  };
  const encoder = request.stream ? dialect.ingress.createStreamEncoder(request, answerContext) : undefined;
  const feed = encoder === undefined ? undefined : feedFor(exchange.headers);
  if (feed !== undefined) call.observe = feed.observe;
  const early = encoder === undefined ? undefined : new EarlyStream(exchange, encoder, feed);
  call.announce = (headers) => {
    exchange.announced = headers;
    noteSession(exchange, headers);
    early?.announce(headers);
  };
  const own = exchange.id.replace(/^req_/, ID_PREFIX[dialect.name]);
  const principal = exchange.principal.name;
  const keep = () => memory?.keep({ principal, id: own, body, request, answer: answerContext }, context);
  const ask = askOf(
    exchange,
    context,
    { call, body, sent },
    { id: own, created: answerContext.created },
    keep,
  );
  const answer = await runEarly(exchange, context, call, early, ask).catch(async (error: unknown) => {
    if (!(error instanceof NotForwardedError) || error.param !== 'background' || !isObject(body)) throw error;
    await context.answerInBackground(exchange, body);
    return undefined;
  });
  if (answer === undefined) return undefined;
  // An engine may hold on to the call; the body has been sent by now.
  call.raw = NO_BYTES;
  if (answer.body.kind === 'bytes' && answer.body.id !== undefined) {
    const { id: theirs } = answer.body;
    await memory?.keepForwarded({ principal, id: theirs, upstream: answer.upstream, body }, context);
  }
  const { id = own, model = request.model, created = answerContext.created } = answer.identity ?? {};
  const shown = { ...answerContext, model, created };
  return {
    answer,
    answerContext: shown,
    lifecycle: new StreamLifecycle({
      id,
      model,
      ...(answer.promptTokens === undefined ? {} : { estimate: { inputTokens: answer.promptTokens } }),
      ...(request.parallelToolCalls === undefined ? {} : { parallelToolCalls: request.parallelToolCalls }),
      ...(exchange.principal.bound === undefined ? {} : { asWritten: true }),
    }),
    encoder:
      encoder === undefined || answer.identity === undefined
        ? encoder
        : dialect.ingress.createStreamEncoder(request, shown),
    writer: early?.writer,
    // The run of a shared answer records it.
    record: answer.body.kind === 'events' && answer.identity === undefined ? keep() : undefined,
    feed,
  };
}

/** Which conversation it is about is known before it is known whether it fails. */
function noteSession(exchange: Exchange, headers: Readonly<Record<string, string>>): void {
  const session = headers['x-session-id'];
  if (session === undefined || session === exchange.facts.session) return;
  exchange.facts.session = session;
  exchange.onSession(session);
}

/** Asks the engines, or for the answer under the client's `Idempotency-Key`. */
function askOf(
  exchange: Exchange,
  context: ModelApiContext,
  { call, body, sent }: ReadRequest,
  identity: Identity,
  keep: () => AnswerRecording | undefined,
): () => Promise<Asked> {
  const { dispatcher, once } = context;
  const { idempotencyKey: key, clientDialect: dialect } = call;
  const announce = (headers: Readonly<Record<string, string>>) => call.announce?.(headers);
  const followed = { body: sent, signal: call.signal, announce };
  // The node that forwarded it answers for the key.
  if (key === undefined || exchange.forwarded?.once === true)
    return () => followOwner(exchange, context, followed, () => dispatcher.run(call));
  const digest = requestDigest(dialect.name, body, call.headers['x-session-id']);
  const ask = (shared: ModelRequest) =>
    followOwner(exchange, context, { ...followed, signal: shared.signal, once: true }, () =>
      dispatcher.run(shared),
    );
  return () =>
    followOwner(exchange, context, followed, () =>
      once.ask({ key, digest, dialect, identity, call, ask, keep }),
    );
}

interface ReadRequest {
  call: ModelRequest;
  /** As it was parsed, and in bytes: `call.raw` may not say all that is asked. */
  body: unknown;
  sent: Uint8Array;
}

export async function readModelRequest(
  exchange: Exchange,
  context: ModelApiContext,
  dialect: Dialect,
  decode: Ingress['decodeRequest'],
  memory?: ResponseMemory,
): Promise<ReadRequest> {
  const { limits } = context;
  const { headers } = exchange;
  checkContentType(headers['content-type']);
  const key = idempotencyKeyOf(headers);
  const raw = await readBody(exchange, limits, limits.bodyBytes);
  const own = clientHeaders(headers);
  exchange.recorder?.inbound(exchange.path, own, raw);
  const body =
    context.known.parse(exchange.principal.name, dialect.ingress.lists, raw) ??
    parseJsonBody(raw, limits.jsonDepth);
  const names = keepsThings(context) && mayName(raw);
  if (names) await refuseKnown(referencesIn(body), exchange, context);
  const recalled =
    memory === undefined ? undefined : await memory.recall(body, exchange.principal.name, context);
  // What was kept may name files that the request itself does not.
  if (recalled !== undefined && keepsThings(context))
    await refuseKnown(referencesIn(recalled.body), exchange, context);
  const request = decode(recalled?.body ?? body);
  if (request.model.length > MODEL_LIMIT) {
    throw new GatewayError(
      'invalid_request',
      `model: expected a name of at most ${MODEL_LIMIT} characters.`,
      {
        param: 'model',
      },
    );
  }
  exchange.facts.model = request.model.slice(0, SHOWN_MODEL_LENGTH);
  exchange.facts.stream = request.stream;
  // A field that stands twice is read in one way: what was checked is what is sent.
  const said = names ? Buffer.from(JSON.stringify(body)) : raw;
  const call: ModelRequest = {
    id: exchange.id,
    clientDialect: dialect,
    request,
    // The client's bytes no longer say what is asked once more was recalled.
    raw: recalled === undefined || recalled.saysRaw ? said : NO_BYTES,
    headers: own,
    ...(key === undefined ? {} : { idempotencyKey: key }),
    ...(exchange.forwarded?.again === true && { again: true }),
    principal: exchange.principal,
    signal: exchange.signal,
    ...(exchange.recorder === undefined ? {} : { trace: exchange.recorder }),
    ...(exchange.span === undefined ? {} : { span: exchange.span }),
  };
  return { call, body, sent: raw };
}

async function runEarly(
  exchange: Exchange,
  context: ModelApiContext,
  call: ModelRequest,
  early: EarlyStream | undefined,
  ask: () => Promise<Asked>,
): Promise<Asked | undefined> {
  if (early === undefined) return run(exchange, ask);
  context.clock.add(early);
  try {
    return await run(exchange, ask);
  } catch (error) {
    const failure = toGatewayError(error);
    const inAnswer = call.clientDialect.ingress.failsInAnswer?.(failure, call.headers) ?? false;
    if (!exchange.clientGone && early.fail(failure, call.request.model, inAnswer)) return undefined;
    throw error;
  } finally {
    context.clock.delete(early);
  }
}

/** An answer that comes after the client has gone is cancelled, not forgotten. */
async function run(exchange: Exchange, ask: () => Promise<Asked>): Promise<Asked> {
  const running = ask();
  try {
    return await exchange.untilAborted(running);
  } catch (error) {
    if (exchange.failure !== undefined) running.then(cancel, () => {});
    throw error;
  }
}

function cancel({ body }: Answer): void {
  const pieces: AsyncIterable<unknown> = body.kind === 'events' ? body.batches : body.chunks;
  stop(pieces[Symbol.asyncIterator]());
}

async function answerTurn(
  exchange: Exchange,
  context: ModelApiContext,
  dialect: Dialect,
  { answer, answerContext, lifecycle, encoder, writer, record, feed }: OpenTurn,
): Promise<void> {
  const { facts } = exchange;
  const { body, upstream, losses, price, waitedMs, counts = () => true } = answer;
  facts.upstream = upstream;
  if (price !== undefined) facts.price = price;
  if (waitedMs !== undefined) facts.waitedMs = waitedMs;
  noteSession(exchange, answer.headers);
  facts.losses = losses;
  const { delivery } = answer;
  if (delivery !== undefined) {
    exchange.onSent((taken) => {
      if (!taken) return;
      if (exchange.forwarded === undefined) delivery.confirm();
      else delivery.passOn();
    });
  }
  if (body.kind === 'bytes') {
    const headers = { ...answerHeaders(exchange, answer, losses), 'content-type': body.contentType };
    const stream = { ...SSE_HEADERS, ...headers };
    const begun = writer ?? exchange.stream(body.status, encoder === undefined ? headers : stream);
    await streamBytes(exchange, context, begun, body, encoder);
    if (!counts()) delete facts.usage;
    return;
  }
  facts.repairs = lifecycle.repairs;
  try {
    if (encoder === undefined) {
      const lossLog = new LossLog();
      const message = await collect(exchange, body, lifecycle).catch((error: unknown) => {
        void record?.drop();
        throw error;
      });
      await record?.finish(message);
      const encoded = dialect.ingress.encodeResponse(message, answerContext, lossLog);
      facts.losses = [...losses, ...lifecycle.losses.list(), ...lossLog.list()];
      sendJson(exchange, 200, encoded, answerHeaders(exchange, answer, facts.losses));
    } else {
      const headers = { ...answerHeaders(exchange, answer, losses), ...SSE_HEADERS };
      const begun = writer ?? exchange.stream(200, headers);
      const recording = record === undefined ? undefined : new RecordingEncoder(encoder, record);
      const events = { ...body, dialect: dialect.name };
      await streamEvents(exchange, context, begun, events, lifecycle, recording ?? encoder, feed);
      recording?.close();
      facts.losses = [...losses, ...lifecycle.losses.list()];
    }
  } finally {
    const { stopReason, usage } = lifecycle;
    if (stopReason !== undefined) facts.stopReason = stopReason;
    if (counts()) {
      facts.usage = usage;
      if (stopReason !== undefined) answer.settle?.(usage);
    }
  }
}

/** Rejects with the error of a stream that fails. */
export async function collect(
  exchange: Exchange,
  { batches }: EventsBody,
  lifecycle: StreamLifecycle,
): Promise<AssistantMessage> {
  const iterator = batches[Symbol.asyncIterator]();
  try {
    return await exchange.untilAborted(collectFrom(iterator, lifecycle));
  } catch (error) {
    stop(iterator);
    throw error;
  }
}

async function collectFrom(
  iterator: AsyncIterator<readonly ModelEvent[]>,
  lifecycle: StreamLifecycle,
): Promise<AssistantMessage> {
  const collector = new AnswerCollector();
  for (;;) {
    const step = await iterator.next();
    if (step.done) break;
    collector.push(lifecycle.push(step.value));
  }
  collector.push(lifecycle.end());
  return collector.finish();
}

function answerHeaders(exchange: Exchange, answer: Answer, losses: readonly Loss[]): Record<string, string> {
  return {
    ...baseHeaders(exchange),
    ...answer.headers,
    ...(exchange.forwarded !== undefined && answer.delivery && { [TURN_HEADER]: answer.delivery.key }),
    'x-toolgate-upstream': answer.upstream,
    ...(losses.length === 0 ? {} : { 'x-toolgate-losses': lossesHeader(losses) }),
  };
}
