/** Exact bytes of the Anthropic Messages API. */
import { joined, type Part, piecesOf, type Scripted, stopOf, usageOf, type Wire } from './scripted.js';

/** Named events, each `data` a line of JSON: the type is said twice on this wire. */
export const anthropicSse = (events: readonly Wire[]): string =>
  events.map((event) => `event: ${event['type']}\ndata: ${JSON.stringify(event)}\n\n`).join('');

const ID = 'msg_01Scripted';
const MODEL = 'claude-scripted';

const usageWire = (scripted: Scripted): Wire => {
  const usage = usageOf(scripted);
  return {
    input_tokens: usage.input,
    cache_creation_input_tokens: usage.cacheWrite,
    cache_read_input_tokens: usage.cacheRead,
    output_tokens: usage.output,
  };
};

const parseInput = (text: string): unknown => (text === '' ? {} : JSON.parse(text));

function wholeBlock(part: Part): Wire {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: joined(part.text) };
    case 'thinking':
      return { type: 'thinking', thinking: joined(part.text), signature: part.signature ?? '' };
    case 'call':
      return { type: 'tool_use', id: part.id, name: part.name, input: parseInput(joined(part.arguments)) };
  }
}

export const anthropicMessage = (scripted: Scripted): Wire => ({
  id: scripted.id ?? ID,
  type: 'message',
  role: 'assistant',
  model: scripted.model ?? MODEL,
  content: scripted.parts.map(wholeBlock),
  stop_reason: stopOf(scripted),
  stop_sequence: scripted.stopSequence ?? null,
  usage: usageWire(scripted),
});

function openBlock(part: Part): Wire {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: '' };
    case 'thinking':
      return { type: 'thinking', thinking: '', signature: '' };
    case 'call':
      return { type: 'tool_use', id: part.id, name: part.name, input: {} };
  }
}

function deltas(part: Part): Wire[] {
  switch (part.type) {
    case 'text':
      return piecesOf(part.text).map((text) => ({ type: 'text_delta', text }));
    case 'thinking': {
      const thinking: Wire[] = piecesOf(part.text).map((text) => ({
        type: 'thinking_delta',
        thinking: text,
      }));
      if (part.signature !== undefined) thinking.push({ type: 'signature_delta', signature: part.signature });
      return thinking;
    }
    case 'call':
      return piecesOf(part.arguments).map((json) => ({ type: 'input_json_delta', partial_json: json }));
  }
}

/** The events of a whole stream, in order. */
export function anthropicEvents(scripted: Scripted): Wire[] {
  const { output_tokens: output, ...input } = usageWire(scripted);
  const message = { ...anthropicMessage({ ...scripted, parts: [] }), stop_reason: null, stop_sequence: null };
  return [
    { type: 'message_start', message: { ...message, usage: { ...input, output_tokens: 1 } } },
    ...scripted.parts.flatMap((part, index) => [
      { type: 'content_block_start', index, content_block: openBlock(part) },
      ...deltas(part).map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]),
    {
      type: 'message_delta',
      delta: { stop_reason: stopOf(scripted), stop_sequence: scripted.stopSequence ?? null },
      usage: { ...input, output_tokens: output },
    },
    { type: 'message_stop' },
  ];
}

export const anthropicStream = (scripted: Scripted): string => anthropicSse(anthropicEvents(scripted));

/** The body of a failed request, and the data of an `error` event in a stream. */
export const anthropicError = (type: string, message: string): Wire => ({
  type: 'error',
  error: { type, message },
  request_id: 'req_scripted',
});
