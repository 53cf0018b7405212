/** Answers of `/v1/responses`, held to what strict clients accept. */
import { parseSse, validateResponsesStream } from '../support/sse.js';
import { isRecord, type JsonRecord, Place, parseArguments } from '../support/violation.js';
import type { Received, ReceivedBlock, ReceivedUsage } from './received.js';

const records = (value: unknown): JsonRecord[] => (Array.isArray(value) ? value.filter(isRecord) : []);

export function readResponsesStream(text: string): Received {
  const result = validateResponsesStream(parseSse(text), { error: 'allowed' });
  const { error, response, output } = result;
  return {
    model: result.model,
    blocks: output.flatMap(toBlocks),
    stop: error !== undefined || response === undefined ? undefined : stopOf(response),
    stopSequence: null,
    usage: usageOf(response?.['usage']),
    ...(error === undefined
      ? {}
      : { error: { type: String(error['code']), message: String(error['message']) } }),
    echo: output,
  };
}

export function readResponsesWhole(body: unknown): Received {
  const at = new Place(0, undefined);
  const response = at.object(body, 'the answer');
  at.check(response['object'] === 'response', 'object is not "response"');
  at.filled(response['id'], 'id');
  at.count(response['created_at'], 'created_at');
  at.check(response['error'] === null, 'error is not null');
  const output = at.array(response['output'], 'output').map((item) => at.object(item, 'output[]'));
  at.check(output.length > 0, 'output is empty');
  const ids = output.map(({ id }) => at.filled(id, 'output[].id'));
  at.check(new Set(ids).size === ids.length, 'an id is used twice');
  for (const item of output.filter(({ type }) => type === 'function_call')) {
    at.filled(item['call_id'], 'call_id');
    at.filled(item['name'], 'name');
    at.string(item['arguments'], 'arguments');
  }
  const usage = at.object(response['usage'], 'usage');
  const input = at.count(usage['input_tokens'], 'usage.input_tokens');
  const answer = at.count(usage['output_tokens'], 'usage.output_tokens');
  at.check(usage['total_tokens'] === input + answer, 'usage.total_tokens is not the sum');
  return {
    model: at.filled(response['model'], 'model'),
    blocks: output.flatMap(toBlocks),
    stop: stopOf(response),
    stopSequence: null,
    usage: usageOf(usage),
    echo: output,
  };
}

function stopOf({ status, incomplete_details: details }: JsonRecord): string {
  return isRecord(details) ? `${status}: ${details['reason']}` : String(status);
}

function toBlocks(item: JsonRecord): ReceivedBlock[] {
  switch (item['type']) {
    case 'message':
      return records(item['content']).map((part) => ({
        type: 'text',
        text: String(part['text'] ?? part['refusal']),
      }));
    case 'reasoning': {
      const text = records(item['summary'])
        .map((part) => String(part['text']))
        .join('\n\n');
      return [{ type: 'thinking', text, signature: String(item['encrypted_content'] ?? '') }];
    }
    case 'function_call': {
      const { call_id: id, name, arguments: json } = item;
      return [
        { type: 'call', id: String(id), name: String(name), input: parseArguments(String(json)) ?? json },
      ];
    }
    case 'shell_call':
    case 'local_shell_call':
    case 'apply_patch_call': {
      const { call_id: id, type, action, operation } = item;
      return [{ type: 'call', id: String(id), name: String(type), input: action ?? operation }];
    }
    default:
      return [];
  }
}

const count = (value: unknown): number => (typeof value === 'number' ? value : 0);

function usageOf(value: unknown): ReceivedUsage | undefined {
  if (!isRecord(value)) return undefined;
  const details = isRecord(value['input_tokens_details']) ? value['input_tokens_details'] : {};
  const read = count(details['cached_tokens']);
  const written = count(details['cache_write_tokens']);
  return {
    input: count(value['input_tokens']) - read - written,
    output: count(value['output_tokens']),
    cache_read: read,
    cache_write: written,
    reasoning: count(
      isRecord(value['output_tokens_details']) ? value['output_tokens_details']['reasoning_tokens'] : 0,
    ),
  };
}
