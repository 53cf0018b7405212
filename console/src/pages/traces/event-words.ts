/** What an event of a stream is about, in any of the three dialects. */

/** Kinds of events that the gateway repairs. */
export type EventRole = 'start' | 'text' | 'call' | 'arguments' | 'stop' | 'end' | 'error' | 'other';

interface EventWords {
  type: string;
  detail: string;
  role: EventRole;
}

const DETAIL_LENGTH = 200;

const ROLES: readonly (readonly [RegExp, EventRole])[] = [
  [/^(message_start|response\.created)$/, 'start'],
  [/^(message_delta|response\.(completed|incomplete))$/, 'stop'],
  [/^message_stop$/, 'end'],
  [/function_call_arguments\.|custom_tool_call_input\./, 'arguments'],
  [/(^|\.)(error|failed)$/, 'error'],
  [/\.delta$/, 'text'],
];

export function describeEvent(event: string, data: string): EventWords {
  if (data.trim() === '[DONE]') return { type: '[DONE]', detail: '', role: 'end' };
  const value = parse(data);
  if (value === undefined)
    return { type: event === '' ? 'text' : event, detail: oneLine(data), role: 'other' };
  if ('choices' in value) return describeChunk(value);
  const type = text(value['type']) ?? (event === '' ? 'data' : event);
  if ('error' in value && type !== 'error' && !type.startsWith('response.')) {
    return { type: 'error', detail: oneLine(errorText(value['error'])), role: 'error' };
  }
  return { type, detail: oneLine(detailOf(value)), role: roleOf(type, value) };
}

function roleOf(type: string, value: Fields): EventRole {
  const block = fields(value['content_block']) ?? fields(value['item']);
  if (/^(content_block_start|response\.output_item\.added)$/.test(type)) {
    return /tool_use|call/.test(text(block?.['type']) ?? '') ? 'call' : 'other';
  }
  if (type === 'content_block_delta') {
    return text(fields(value['delta'])?.['type']) === 'input_json_delta' ? 'arguments' : 'text';
  }
  return ROLES.find(([pattern]) => pattern.test(type))?.[1] ?? 'other';
}

/** Of Messages and Responses. */
function detailOf(value: Fields): string {
  const delta = fields(value['delta']);
  const block = fields(value['content_block']) ?? fields(value['item']) ?? fields(value['part']);
  if (delta !== undefined) {
    const said =
      text(delta['text']) ??
      text(delta['partial_json']) ??
      text(delta['thinking']) ??
      text(delta['stop_reason']);
    return said ?? '';
  }
  if (value['error'] !== undefined && value['error'] !== null) return errorText(value['error']);
  const plain =
    text(value['delta']) ?? text(value['arguments']) ?? text(value['text']) ?? text(value['message']);
  if (plain !== undefined) return plain;
  if (block !== undefined) return [text(block['type']), text(block['name'])].filter(Boolean).join(' ');
  const response = fields(value['response']);
  return text(response?.['status']) ?? text(fields(value['message'])?.['model']) ?? '';
}

/** Of Chat Completions, whose chunks have no type. */
function describeChunk(value: Fields): EventWords {
  const [choice] = Array.isArray(value['choices']) ? value['choices'] : [];
  const first = fields(choice);
  const finish = text(first?.['finish_reason']);
  const delta = fields(first?.['delta']) ?? fields(first?.['message']);
  const [call] = Array.isArray(delta?.['tool_calls']) ? delta['tool_calls'] : [];
  const named = fields(fields(call)?.['function']);
  if (finish !== undefined) return { type: 'finish_reason', detail: finish, role: 'stop' };
  if (named !== undefined) {
    const name = text(named['name']);
    const given = text(named['arguments']) ?? '';
    return {
      type: 'delta.tool_calls',
      detail: oneLine([name, given].filter(Boolean).join(' ')),
      role: name === undefined ? 'arguments' : 'call',
    };
  }
  for (const key of ['content', 'reasoning_content', 'reasoning', 'refusal']) {
    const said = text(delta?.[key]);
    if (said !== undefined && said !== '')
      return { type: `delta.${key}`, detail: oneLine(said), role: 'text' };
  }
  if (first === undefined && fields(value['usage']) !== undefined) {
    return { type: 'usage', detail: oneLine(JSON.stringify(value['usage'])), role: 'other' };
  }
  const role = text(delta?.['role']);
  return { type: 'delta', detail: role ?? '', role: role === undefined ? 'other' : 'start' };
}

type Fields = Record<string, unknown>;

function parse(data: string): Fields | undefined {
  try {
    return fields(JSON.parse(data));
  } catch {
    return undefined;
  }
}

function fields(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function errorText(error: unknown): string {
  return text(error) ?? text(fields(error)?.['message']) ?? JSON.stringify(error);
}

function oneLine(said: string): string {
  return said.slice(0, DETAIL_LENGTH).replaceAll('\n', '⏎');
}
