/** Answers of `/v1/chat/completions`, held to what strict clients accept. */
import { parseSse, validateChatStream } from '../support/sse.js';
import { isRecord, type JsonRecord, Place, parseArguments } from '../support/violation.js';
import type { Received, ReceivedBlock, ReceivedUsage } from './received.js';

const FINISH_REASONS = new Set(['stop', 'length', 'tool_calls', 'content_filter']);

const records = (value: unknown): JsonRecord[] => (Array.isArray(value) ? value.filter(isRecord) : []);

export function readChatStream(text: string): Received {
  const events = parseSse(text);
  const result = validateChatStream(events, { error: 'allowed' });
  const chunks = events.filter(({ data }) => data !== '[DONE]').map(({ data }): unknown => JSON.parse(data));
  const deltas = chunks.filter(isRecord).flatMap(({ choices }) =>
    records(choices)
      .map((choice) => choice['delta'])
      .filter(isRecord),
  );
  const message = joinDeltas(deltas);
  const { error } = result;
  return {
    model: result.model,
    blocks: blocksOf(message, result.refusal),
    stop: result.finishReason,
    stopSequence: null,
    usage: result.usage === undefined ? undefined : usageOf(result.usage),
    ...(error === undefined
      ? {}
      : { error: { type: String(error['type']), message: String(error['message']) } }),
    echo: [message],
  };
}

/** As a client that knows every field puts the pieces together. */
function joinDeltas(deltas: readonly JsonRecord[]): JsonRecord {
  const message: JsonRecord = { role: 'assistant', content: null };
  const calls: JsonRecord[] = [];
  const details: JsonRecord[] = [];
  for (const delta of deltas) {
    for (const field of ['content', 'reasoning_content']) {
      if (typeof delta[field] === 'string' && delta[field] !== '') {
        message[field] = `${typeof message[field] === 'string' ? message[field] : ''}${delta[field]}`;
      }
    }
    details.push(...records(delta['reasoning_details']));
    for (const piece of records(delta['tool_calls'])) joinCall(calls, piece);
  }
  if (details.length > 0) message['reasoning_details'] = details;
  if (calls.length > 0) message['tool_calls'] = calls;
  return message;
}

function joinCall(calls: JsonRecord[], piece: JsonRecord): void {
  const { index, function: body, ...rest } = piece;
  const known = calls[Number(index)];
  const given = isRecord(body) ? body : {};
  if (known === undefined) {
    calls[Number(index)] = { ...rest, function: given };
    return;
  }
  const before = isRecord(known['function']) ? known['function'] : {};
  known['function'] = { ...before, arguments: `${before['arguments'] ?? ''}${given['arguments'] ?? ''}` };
}

export function readChatWhole(body: unknown): Received {
  const at = new Place(0, undefined);
  const completion = at.object(body, 'the answer');
  at.check(completion['object'] === 'chat.completion', 'object is not "chat.completion"');
  at.filled(completion['id'], 'id');
  at.count(completion['created'], 'created');
  const [choice, ...more] = at.array(completion['choices'], 'choices');
  at.check(more.length === 0, 'more than one choice');
  const only = at.object(choice, 'choices.0');
  const message = at.object(only['message'], 'message');
  at.check(message['role'] === 'assistant', 'role is not "assistant"');
  at.check(message['content'] === null || typeof message['content'] === 'string', 'content is no text');
  const finish = at.filled(only['finish_reason'], 'finish_reason');
  at.check(FINISH_REASONS.has(finish), `unknown finish_reason ${finish}`);
  const calls = records(message['tool_calls']);
  at.check(finish !== 'tool_calls' || calls.length > 0, 'finish_reason is tool_calls and there are none');
  at.check(new Set(calls.map(({ id }) => id)).size === calls.length, 'a call id is used twice');
  for (const call of calls) {
    at.filled(call['id'], 'tool_calls[].id');
    const called = at.object(call['function'], 'tool_calls[].function');
    at.filled(called['name'], 'tool_calls[].function.name');
    at.string(called['arguments'], 'tool_calls[].function.arguments');
  }
  const usage = at.object(completion['usage'], 'usage');
  const prompt = at.count(usage['prompt_tokens'], 'usage.prompt_tokens');
  const answer = at.count(usage['completion_tokens'], 'usage.completion_tokens');
  at.check(usage['total_tokens'] === prompt + answer, 'usage.total_tokens is not the sum');
  return {
    model: at.filled(completion['model'], 'model'),
    blocks: blocksOf(message, String(message['refusal'] ?? '')),
    stop: finish,
    stopSequence: null,
    usage: usageOf(usage),
    echo: [message],
  };
}

function blocksOf(message: JsonRecord, refusal: string): ReceivedBlock[] {
  const blocks: ReceivedBlock[] = [];
  const { reasoning_content: thinking, content } = message;
  if (typeof thinking === 'string' && thinking !== '')
    blocks.push({ type: 'thinking', text: thinking, signature: '' });
  const text = `${typeof content === 'string' ? content : ''}${refusal}`;
  if (text !== '') blocks.push({ type: 'text', text });
  for (const { id, function: called } of records(message['tool_calls'])) {
    const { name, arguments: json } = isRecord(called) ? called : {};
    blocks.push({
      type: 'call',
      id: String(id),
      name: String(name),
      input: parseArguments(String(json)) ?? json,
    });
  }
  return blocks;
}

const count = (value: unknown): number => (typeof value === 'number' ? value : 0);

function usageOf(usage: JsonRecord): ReceivedUsage {
  const details = isRecord(usage['prompt_tokens_details']) ? usage['prompt_tokens_details'] : {};
  const read = count(details['cached_tokens']);
  const written = count(details['cache_write_tokens']);
  return {
    input: count(usage['prompt_tokens']) - read - written,
    output: count(usage['completion_tokens']),
    cache_read: read,
    cache_write: written,
    reasoning: count(
      isRecord(usage['completion_tokens_details'])
        ? usage['completion_tokens_details']['reasoning_tokens']
        : 0,
    ),
  };
}
