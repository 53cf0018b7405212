/** Answers of `/v1/messages`, held to what strict clients accept. */
import { parseSse, validateAnthropicStream } from '../support/sse.js';
import { isRecord, type JsonRecord, Place } from '../support/violation.js';
import type { Received, ReceivedBlock, ReceivedUsage } from './received.js';

const STOP_REASONS = new Set([
  'end_turn',
  'max_tokens',
  'stop_sequence',
  'tool_use',
  'pause_turn',
  'compaction',
  'refusal',
  'model_context_window_exceeded',
]);
const TOOL_ID = /^[a-zA-Z0-9_-]+$/;

export function readMessagesStream(text: string): Received {
  const events = parseSse(text);
  const result = validateAnthropicStream(events, { error: 'allowed' });
  return {
    model: result.model,
    blocks: result.content.flatMap(toBlock),
    stop: result.stopReason,
    stopSequence: result.stopSequence,
    usage: usageOf(result.usage),
    ...startInput(events[0]?.data),
    ...(result.error === undefined ? {} : { error: result.error }),
    echo: [{ role: 'assistant', content: result.content }],
  };
}

export function readMessagesWhole(body: unknown): Received {
  const at = new Place(0, undefined);
  const message = at.object(body, 'the answer');
  at.check(message['type'] === 'message', 'type is not "message"');
  at.check(message['role'] === 'assistant', 'role is not "assistant"');
  at.filled(message['id'], 'id');
  const content = at.array(message['content'], 'content').map((block) => at.object(block, 'content[]'));
  at.check(content.length > 0, 'content is empty');
  const stop = at.filled(message['stop_reason'], 'stop_reason');
  at.check(STOP_REASONS.has(stop), `unknown stop_reason ${stop}`);
  const called = content.filter(({ type }) => type === 'tool_use');
  at.check(stop !== 'tool_use' || called.length > 0, 'stop_reason is tool_use and no tool was called');
  at.check(new Set(called.map(({ id }) => id)).size === called.length, 'a tool id is used twice');
  for (const call of called) {
    at.check(
      TOOL_ID.test(at.filled(call['id'], 'id')),
      `tool id ${call['id']} has characters that are refused`,
    );
    at.object(call['input'], 'input');
  }
  const sequence = message['stop_sequence'];
  if (stop === 'stop_sequence') at.filled(sequence, 'stop_sequence');
  else at.check(sequence === null, 'stop_sequence is not null');
  const usage = at.object(message['usage'], 'usage');
  at.count(usage['input_tokens'], 'usage.input_tokens');
  at.count(usage['output_tokens'], 'usage.output_tokens');
  return {
    model: at.filled(message['model'], 'model'),
    blocks: content.flatMap(toBlock),
    stop,
    stopSequence: typeof sequence === 'string' ? sequence : null,
    usage: usageOf(usage),
    echo: [{ role: 'assistant', content }],
  };
}

function toBlock(block: JsonRecord): ReceivedBlock[] {
  switch (block['type']) {
    case 'text':
      return [{ type: 'text', text: String(block['text']) }];
    case 'thinking':
      return [
        { type: 'thinking', text: String(block['thinking']), signature: String(block['signature'] ?? '') },
      ];
    case 'redacted_thinking':
      return [{ type: 'redacted', data: String(block['data']) }];
    case 'tool_use':
      return [{ type: 'call', id: String(block['id']), name: String(block['name']), input: block['input'] }];
    default:
      return [];
  }
}

const count = (value: unknown): number => (typeof value === 'number' ? value : 0);

function usageOf(usage: JsonRecord): ReceivedUsage {
  const details = isRecord(usage['output_tokens_details']) ? usage['output_tokens_details'] : {};
  return {
    input: count(usage['input_tokens']),
    output: count(usage['output_tokens']),
    cache_read: count(usage['cache_read_input_tokens']),
    cache_write: count(usage['cache_creation_input_tokens']),
    reasoning: count(details['thinking_tokens']),
  };
}

function startInput(data: string | undefined): Pick<Received, 'startInput'> {
  const event: unknown = JSON.parse(data ?? '{}');
  const message = isRecord(event) ? event['message'] : undefined;
  if (!isRecord(message) || !isRecord(message['usage'])) return {};
  const usage = usageOf(message['usage']);
  return { startInput: usage.input + usage.cache_read + usage.cache_write };
}
