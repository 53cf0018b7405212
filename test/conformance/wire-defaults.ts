/** The parts of an answer that do not matter to a case, so that a file need not repeat them. */
import { CREATED } from '../support/scripted.js';
import { isRecord, type JsonRecord } from '../support/violation.js';
import type { WireName } from './dialects.js';

export const UPSTREAM_MODEL = 'upstream-model';

const USAGE = { input: 20, output: 10 };

const chatUsage = {
  prompt_tokens: USAGE.input,
  completion_tokens: USAGE.output,
  total_tokens: USAGE.input + USAGE.output,
};
const messagesUsage = { input_tokens: USAGE.input, output_tokens: USAGE.output };
const responsesUsage = {
  input_tokens: USAGE.input,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: USAGE.output,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: USAGE.input + USAGE.output,
};

const chatBase = (object: string): JsonRecord => ({
  id: 'chatcmpl-upstream',
  object,
  created: CREATED,
  model: UPSTREAM_MODEL,
});

const messagesBase = {
  id: 'msg_upstream',
  type: 'message',
  role: 'assistant',
  model: UPSTREAM_MODEL,
  content: [],
  stop_reason: null,
  stop_sequence: null,
};

const responsesBase = {
  id: 'resp_upstream',
  object: 'response',
  created_at: CREATED,
  model: UPSTREAM_MODEL,
  status: 'completed',
  error: null,
  incomplete_details: null,
  output: [],
};

/** A whole body: `{message, finish}` on chat, `{content, stop_reason}` or `{output}` on the others. */
export function completeWhole(wire: WireName, body: JsonRecord): JsonRecord {
  if (wire === 'chat' && isRecord(body['message'])) {
    const { message, finish = 'stop', usage = chatUsage, choice, ...rest } = body;
    const given = isRecord(choice) ? choice : {};
    return {
      ...chatBase('chat.completion'),
      ...rest,
      choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: finish, ...given }],
      ...(usage === null ? {} : { usage }),
    };
  }
  if (wire === 'messages' && Array.isArray(body['content'])) {
    return { ...messagesBase, stop_reason: 'end_turn', usage: messagesUsage, ...body };
  }
  if (wire === 'responses' && Array.isArray(body['output'])) {
    return { ...responsesBase, usage: responsesUsage, ...body };
  }
  return body;
}

/** One event: `{delta, finish}` or `{usage}` on chat, a `message` or `response` with what matters on the others. */
export function completeEvent(wire: WireName, event: JsonRecord, index: number): JsonRecord {
  if (wire === 'chat') return completeChunk(event);
  if (wire === 'messages') return completeMessagesEvent(event);
  return completeResponsesEvent(event, index);
}

function completeChunk(event: JsonRecord): JsonRecord {
  const { delta, finish, choice, chunk, ...rest } = event;
  if (isRecord(chunk)) return chunk;
  const base = chatBase('chat.completion.chunk');
  if (delta === undefined && finish === undefined && choice === undefined) {
    return isRecord(rest['usage']) && !('choices' in rest) ? { ...base, choices: [], ...rest } : event;
  }
  const given = isRecord(choice) ? choice : {};
  return {
    ...base,
    ...rest,
    choices: [{ index: 0, delta: delta ?? {}, finish_reason: finish ?? null, ...given }],
  };
}

function completeMessagesEvent(event: JsonRecord): JsonRecord {
  if (event['type'] === 'message_start') {
    const given = isRecord(event['message']) ? event['message'] : {};
    return {
      ...event,
      message: { ...messagesBase, usage: { ...messagesUsage, output_tokens: 1 }, ...given },
    };
  }
  if (event['type'] === 'message_delta') {
    const delta = isRecord(event['delta']) ? event['delta'] : {};
    return {
      usage: { output_tokens: USAGE.output },
      ...event,
      delta: { stop_reason: 'end_turn', stop_sequence: null, ...delta },
    };
  }
  return event;
}

const STATUS_OF: Readonly<Record<string, string>> = {
  'response.created': 'in_progress',
  'response.in_progress': 'in_progress',
  'response.completed': 'completed',
  'response.incomplete': 'incomplete',
  'response.failed': 'failed',
};

function completeResponsesEvent(event: JsonRecord, index: number): JsonRecord {
  const numbered = { sequence_number: index, ...event };
  const status = STATUS_OF[String(event['type'])];
  if (status === undefined) return numbered;
  const given = isRecord(event['response']) ? event['response'] : {};
  const usage = status === 'in_progress' || status === 'failed' ? null : responsesUsage;
  return { ...numbered, response: { ...responsesBase, status, usage, ...given } };
}
