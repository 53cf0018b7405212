/** From an upstream's bytes to a client's stream, without sockets: reader, decoder, lifecycle, encoder. */

import { AnswerCollector } from '../../src/core/answer-collector.js';
import type { AssistantMessage, ConversationRequest, JsonObject } from '../../src/core/conversation.js';
import { GatewayError } from '../../src/core/errors.js';
import type { ModelEvent } from '../../src/core/events.js';
import { StreamLifecycle } from '../../src/core/lifecycle.js';
import { LossLog } from '../../src/core/losses.js';
import type { ServerSentEvent } from '../../src/core/server-sent-event.js';
import type { AnswerContext, Dialect } from '../../src/dialects/shared/dialect.js';
import { STANDARD_QUIRKS } from '../../src/dialects/shared/quirks.js';
import type { ToolNames } from '../../src/dialects/shared/tool-names.js';
import { SseReader } from '../../src/transport/sse-reader.js';

type Batches = readonly (readonly ModelEvent[])[];

/** The names that an upstream of this dialect would have been told of. */
export function namesFor({ egress }: Dialect, request: ConversationRequest): ToolNames {
  return egress.encodeRequest(request, { model: 'm', quirks: STANDARD_QUIRKS, losses: new LossLog() }).names;
}

/** One batch for each read, as an upstream over HTTP gives them. */
export function decodeStream(dialect: Dialect, names: ToolNames, reads: Iterable<Buffer>): ModelEvent[][] {
  const decoder = dialect.egress.createStreamDecoder(names);
  const reader = new SseReader();
  const batches: ModelEvent[][] = [];
  const decode = (events: readonly ServerSentEvent[], batch: ModelEvent[]): void => {
    for (const event of events) decoder.push(event, batch);
    if (batch.length > 0) batches.push(batch);
  };
  for (const read of reads) {
    const events: ServerSentEvent[] = [];
    reader.push(read, events);
    decode(events, []);
    if (decoder.done) return batches;
  }
  const events: ServerSentEvent[] = [];
  reader.end(events);
  const batch: ModelEvent[] = [];
  for (const event of events) decoder.push(event, batch);
  decoder.end(batch);
  if (batch.length > 0) batches.push(batch);
  return batches;
}

const ANSWER_ID = 'msg_0123456789abcdef';

function lifecycleFor(request: ConversationRequest): StreamLifecycle {
  const { parallelToolCalls } = request;
  return new StreamLifecycle({
    id: ANSWER_ID,
    model: request.model,
    estimate: { inputTokens: 11 },
    ...(parallelToolCalls === undefined ? {} : { parallelToolCalls }),
  });
}

function answerTo(dialect: Dialect, request: ConversationRequest): AnswerContext {
  const form = dialect.ingress.answerForm?.(request);
  const answer = { model: request.model, requestId: 'req_1', created: 1_760_000_000 };
  return form === undefined ? answer : { ...answer, form };
}

/** The text of the event stream that the client of `request` would get. */
export function encodeStream(dialect: Dialect, request: ConversationRequest, batches: Batches): string {
  const encoder = dialect.ingress.createStreamEncoder(request, answerTo(dialect, request));
  const lifecycle = lifecycleFor(request);
  let text = '';
  for (const batch of batches) {
    text += encoder.encode(lifecycle.push(batch));
    if (lifecycle.finished) return text;
  }
  return text + encoder.encode(lifecycle.end());
}

/** The whole answer that a client who asked for no stream would get, or the error. */
export function encodeWhole(
  dialect: Dialect,
  request: ConversationRequest,
  batches: Batches,
): JsonObject | GatewayError {
  const turn = collect(request, batches);
  if (turn instanceof GatewayError) return turn;
  return dialect.ingress.encodeResponse(turn, answerTo(dialect, request), new LossLog());
}

export function collect(request: ConversationRequest, batches: Batches): AssistantMessage | GatewayError {
  const lifecycle = lifecycleFor(request);
  const collector = new AnswerCollector();
  try {
    for (const batch of batches) {
      collector.push(lifecycle.push(batch));
      if (lifecycle.finished) break;
    }
    collector.push(lifecycle.end());
    return collector.finish();
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
}
