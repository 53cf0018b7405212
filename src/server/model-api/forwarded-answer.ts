/** Requests of the Responses wire beside its turns, which an upstream of the same wire answers itself. */
import { GatewayError } from '../../core/errors.js';
import { openaiResponses } from '../../dialects/openai-responses/index.js';
import type { SideAnswer } from '../../engines/dispatcher.js';
import type { Exchange } from '../http/exchange.js';
import { baseHeaders, sendJson } from '../http/respond.js';
import { SseWriter } from '../http/sse-writer.js';
import type { ModelApiContext, ModelApiHandler } from './context.js';
import { readModelRequest } from './endpoint.js';
import { responseMemory } from './response-memory.js';
import { SSE_HEADERS, streamBytes } from './stream-answer.js';

/** An upstream that does not have the route says so with one of these. */
const NOT_THERE: ReadonlySet<number> = new Set([404, 405, 501]);

/** The upstream's own words, whole or as a stream. */
export async function sendForwarded(
  exchange: Exchange,
  context: ModelApiContext,
  { upstream, contentType, status, ...answer }: SideAnswer,
): Promise<void> {
  exchange.facts.upstream = upstream;
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

/** `POST /v1/responses/compact`: the upstream seals the result, so nothing else can make it. */
export const compactResponse: ModelApiHandler = async (exchange, context) => {
  const { call } = await readModelRequest(exchange, context, openaiResponses, decodeRequest, responseMemory);
  const own = context.dispatcher.ask?.(call, '/responses/compact');
  const answer = own === undefined ? undefined : await exchange.untilAborted(own);
  if (answer !== undefined) return sendForwarded(exchange, context, answer);
  throw new GatewayError(
    'invalid_request',
    `The upstream of ${call.request.model} does not compact conversations. Send a request that asks for a summary, and go on from that.`,
    { param: 'model', detail: 'compact_not_supported' },
  );
};
