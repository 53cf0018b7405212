/**
 * `compaction` of the Messages API on an upstream without it: the model is asked for the summary in words, and
 * the client gets it as a block, which takes the place of the conversation. It is the whole answer, or what the
 * model then answers goes on behind it.
 */
import type { ConversationRequest, OpaqueBlock, Usage } from '../../core/conversation.js';
import { GatewayError, toGatewayError } from '../../core/errors.js';
import { type ModelEvent, stopEvent } from '../../core/events.js';
import { LossLog } from '../../core/losses.js';
import { lastToolChanges } from '../../dialects/anthropic-messages/tool-changes.js';
import { fromCompaction, ownCompaction } from '../../dialects/shared/compaction.js';
import type { UpstreamAnswer } from '../../upstreams/upstream.js';
import { summaryRequest } from '../agent/loop/compaction.js';

/** One call of the model. */
export type Ask = (request: ConversationRequest) => Promise<UpstreamAnswer>;

/** Rejects as `Upstream.call` does, and for a conversation that cannot be summarised at this point. */
export async function writeSummary(request: ConversationRequest, ask: Ask): Promise<UpstreamAnswer> {
  checkCalls(request);
  // An earlier summary stands for what was said before it, here too.
  const messages = [...fromCompaction(request.messages, new LossLog())];
  const answer = await ask(summaryRequest({ ...request, messages }));
  return { ...answer, batches: asCompaction(answer.batches, request) };
}

/** A summary is no place for a call that still waits for its result. */
function checkCalls({ messages }: ConversationRequest): void {
  const last = messages.at(-1);
  if (last?.role !== 'assistant' || !last.content.some(({ type }) => type === 'tool_use')) return;
  throw new GatewayError(
    'invalid_request',
    'compaction: the last message calls tools that have no result yet. Send their results with the request.',
    { param: 'compaction' },
  );
}

/** A summary first, and the answer of the model that has read it in the place of the conversation. */
export async function summariseFirst(
  request: ConversationRequest,
  summary: ConversationRequest['summary'] & {},
  ask: Ask,
): Promise<UpstreamAnswer> {
  const { batches, promptTokens, ...first } = await writeSummary({ ...request, summary }, ask);
  return { ...first, ...(promptTokens === undefined ? {} : { promptTokens }), batches: both() };

  async function* both(): AsyncGenerator<readonly ModelEvent[], void, void> {
    const spent = new SpentUsage();
    let block: OpaqueBlock | undefined;
    for await (const batch of batches) {
      for (const event of batch)
        if (event.type === 'block' && event.block.type === 'opaque') block = event.block;
      yield spent.first(batch.filter((event) => !isEnd(event) && !isEmpty(event)));
      if (batch.some(({ type }) => type === 'error')) return;
    }
    const messages =
      block === undefined || block.value['content'] === null
        ? request.messages
        : [...fromCompaction([{ role: 'assistant', content: [block] }], new LossLog())];
    try {
      const answer = await ask({ ...request, messages });
      yield answer.losses.map((loss): ModelEvent => ({ type: 'loss', ...loss }));
      for await (const batch of answer.batches) yield spent.second(batch);
    } catch (error) {
      yield [{ type: 'error', error: toGatewayError(error) }];
    }
  }
}

const isEnd = ({ type }: ModelEvent): boolean => type === 'stop';
/** There is no summary, and the model reads the whole conversation. */
const isEmpty = (event: ModelEvent): boolean =>
  event.type === 'block' && event.block.type === 'opaque' && event.block.value['content'] === null;

/** The figures of two model calls as one. */
class SpentUsage {
  #first: Partial<Usage> = {};

  first(batch: readonly ModelEvent[]): readonly ModelEvent[] {
    for (const event of batch) {
      if (event.type === 'usage' || event.type === 'start') this.#first = { ...this.#first, ...event.usage };
    }
    return batch;
  }

  second(batch: readonly ModelEvent[]): readonly ModelEvent[] {
    return batch.flatMap((event): ModelEvent[] => {
      if (event.type !== 'usage' && event.type !== 'start') return [event];
      return event.usage === undefined ? [] : [{ type: 'usage', usage: added(this.#first, event.usage) }];
    });
  }
}

const COUNTED = [
  'inputTokens',
  'outputTokens',
  'cacheReadTokens',
  'cacheWriteTokens',
  'reasoningTokens',
] as const;

function added(first: Partial<Usage>, second: Partial<Usage>): Partial<Usage> {
  const sum: Partial<Usage> = {};
  for (const key of COUNTED) {
    if (second[key] !== undefined) sum[key] = second[key] + (first[key] ?? 0);
  }
  return sum;
}

async function* asCompaction(
  batches: UpstreamAnswer['batches'],
  { messages }: ConversationRequest,
): AsyncGenerator<readonly ModelEvent[], void, void> {
  const text: string[] = [];
  for await (const batch of batches) {
    const passed: ModelEvent[] = [];
    for (const event of batch) {
      if (event.type === 'text') text.push(event.text);
      else if (event.type === 'stop') passed.push(...ended(event, text.join('').trim(), messages));
      else if (PASSED.has(event.type)) passed.push(event);
    }
    if (passed.length > 0) yield passed;
  }
}

/** Everything but what the model says. */
const PASSED: ReadonlySet<ModelEvent['type']> = new Set(['start', 'usage', 'error', 'loss', 'ping']);

/** Half a summary would lose the other half of the conversation: null says that there is none, and the client keeps it all. */
function ended(
  { reason }: Extract<ModelEvent, { type: 'stop' }>,
  summary: string,
  messages: ConversationRequest['messages'],
): ModelEvent[] {
  const isWhole = summary !== '' && (reason === 'end_turn' || reason === 'stop_sequence');
  const block = isWhole ? ownCompaction(summary, lastToolChanges(messages)) : ownCompaction(null, []);
  const events: ModelEvent[] = [{ type: 'block', block }, stopEvent('compaction')];
  if (isWhole) return events;
  return [
    { type: 'loss', path: 'compaction', reason: `the model wrote no whole summary (${reason})` },
    ...events,
  ];
}
