/**
 * `POST /v1/responses/compact`: an upstream of the same dialect seals its own; for every other the model writes
 * a summary, and the item that carries it can be read by this gateway alone.
 */
import { randomBytes } from 'node:crypto';
import type { AssistantMessage, JsonObject } from '../../../core/conversation.js';
import { GatewayError } from '../../../core/errors.js';
import { isObject } from '../../../core/is-object.js';
import { StreamLifecycle } from '../../../core/lifecycle.js';
import { LossLog } from '../../../core/losses.js';
import { openaiResponses } from '../../../dialects/openai-responses/index.js';
import { summaryRequest } from '../../../engines/agent/loop/compaction.js';
import type { ModelRequest } from '../../../engines/engine.js';
import type { Exchange } from '../../http/exchange.js';
import { baseHeaders, sendJson } from '../../http/respond.js';
import { itemsOf, sealSummary } from '../memory/response-items.js';
import { responseMemory } from '../memory/response-memory.js';
import type { ModelApiContext, ModelApiHandler } from '../requests/context.js';
import { collect, readModelRequest } from '../requests/endpoint.js';
import { NOT_THERE, sendForwarded } from './responses.js';

const { decodeRequest, encodeResponse } = openaiResponses.ingress;

export const compactResponse: ModelApiHandler = async (exchange, context) => {
  exchange.traced = true;
  const read = await readModelRequest(exchange, context, openaiResponses, decodeRequest, responseMemory);
  const { call, body } = read;
  const own = context.dispatcher.ask?.(call, '/responses/compact').catch((error: unknown) => {
    const isMissing =
      error instanceof GatewayError && NOT_THERE.has(error.status) && error.code !== 'not_implemented';
    // What only the upstream keeps cannot be summarised here.
    if (!isMissing || call.request.continues !== undefined) throw error;
    return undefined;
  });
  const answer = own === undefined ? undefined : await exchange.untilAborted(own);
  if (answer !== undefined) return sendForwarded(exchange, context, answer);
  const message = await summarise(exchange, context, call);
  const summary = message.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
  if (summary.trim() === '') {
    throw new GatewayError(
      'upstream_failed',
      `The model ${call.request.model} wrote no summary. Ask again, or ask another model for one.`,
    );
  }
  const recalled = await responseMemory.recall(body, exchange.principal.name, context);
  const { input } = recalled?.body ?? (isObject(body) ? body : {});
  const { usage } = encodeResponse(message, answerContext(exchange, call), new LossLog());
  sendJson(
    exchange,
    200,
    {
      id: exchange.id.replace(/^req_/, 'resp_'),
      object: 'response.compaction',
      created_at: Math.floor(Date.now() / 1000),
      output: [
        ...itemsOf(input).filter(({ role }) => role === 'user'),
        { id: `cmp_${randomBytes(16).toString('hex')}`, ...sealSummary(summary) },
      ],
      usage,
    } satisfies JsonObject,
    { ...baseHeaders(exchange), 'x-toolgate-upstream': exchange.facts.upstream ?? '' },
  );
};

const answerContext = ({ id }: Exchange, { request }: ModelRequest) => ({
  model: request.model,
  requestId: id,
  created: Math.floor(Date.now() / 1000),
});

/** One model call, which counts as any other does. */
async function summarise(
  exchange: Exchange,
  { dispatcher }: ModelApiContext,
  call: ModelRequest,
): Promise<AssistantMessage> {
  const { facts } = exchange;
  const asked = { ...call, request: summaryRequest(call.request), raw: new Uint8Array(0) };
  const answer = await exchange.untilAborted(dispatcher.run(asked));
  if (answer.body.kind !== 'events') throw new Error('A summary was answered with bytes.');
  facts.upstream = answer.upstream;
  if (answer.price !== undefined) facts.price = answer.price;
  const { promptTokens } = answer;
  const lifecycle = new StreamLifecycle({
    id: exchange.id,
    model: call.request.model,
    ...(promptTokens === undefined ? {} : { estimate: { inputTokens: promptTokens } }),
  });
  try {
    return await collect(exchange, answer.body, lifecycle);
  } finally {
    facts.usage = lifecycle.usage;
    if (lifecycle.stopReason !== undefined) answer.settle?.(lifecycle.usage);
  }
}
