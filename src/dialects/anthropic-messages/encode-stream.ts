/**
 * The event stream for the client. Events are put together as text: of a delta only its own text
 * needs to be escaped, and a stream is thousands of them.
 */
import type { Extensions, JsonObject } from '../../core/conversation.js';
import type { AnswerEvent, BlockDelta, BlockStart } from '../../core/events.js';
import type { AnswerContext, StreamEncoder } from '../shared/dialect.js';
import { encodeUsage } from './encode-response.js';
import { encodeError } from './errors.js';
import { DIALECT, fitId, STOP_REASONS } from './wire.js';

const START = 'event: content_block_start\ndata: {"type":"content_block_start","index":';
const DELTA = 'event: content_block_delta\ndata: {"type":"content_block_delta","index":';
const STOP = 'event: content_block_stop\ndata: {"type":"content_block_stop","index":';
const MESSAGE_STOP = 'event: message_stop\ndata: {"type":"message_stop"}\n\n';
const PING = 'event: ping\ndata: {"type": "ping"}\n\n';

/** Blocks whose input the API streams, so that clients read it from deltas only. */
const STREAMED_INPUT: ReadonlySet<string> = new Set(['server_tool_use', 'mcp_tool_use']);

export function createStreamEncoder(answer: AnswerContext): StreamEncoder {
  return new AnthropicStreamEncoder(answer.model, answer.requestId);
}

class AnthropicStreamEncoder implements StreamEncoder {
  readonly #model: string;
  readonly #requestId: string;
  /** Blocks of other dialects left out so far: later ones move up. */
  #left = 0;
  #leaving = false;

  constructor(model: string, requestId: string) {
    this.#model = model;
    this.#requestId = requestId;
  }

  encode(events: readonly AnswerEvent[]): string {
    let text = '';
    for (const event of events) text += this.#encode(event);
    return text;
  }

  #encode(event: AnswerEvent): string {
    switch (event.type) {
      case 'block-delta':
        if (this.#leaving) return '';
        return `${DELTA}${event.index - this.#left},"delta":${delta(event.delta)}}\n\n`;
      case 'block-start':
        return this.#blockStart(event.index, event.block);
      case 'block-stop':
        return this.#blockStop(event.index);
      case 'message-start':
        return messageStart(event, this.#model);
      case 'message-delta':
        return messageDelta(event);
      case 'message-stop':
        return MESSAGE_STOP;
      case 'ping':
        return PING;
      case 'error':
        return `event: error\ndata: ${JSON.stringify(encodeError(event.error, this.#requestId))}\n\n`;
    }
  }

  #blockStart(index: number, block: BlockStart): string {
    this.#leaving = block.type === 'opaque' && block.dialect !== DIALECT;
    if (this.#leaving) return '';
    const at = index - this.#left;
    if (block.type === 'opaque' && STREAMED_INPUT.has(block.kind)) {
      const { input, ...rest } = block.value;
      const head = `${START}${at},"content_block":${JSON.stringify({ ...rest, input: {} })}}\n\n`;
      return `${head}${DELTA}${at},"delta":${delta({ type: 'input', json: JSON.stringify(input ?? {}) })}}\n\n`;
    }
    if (block.type === 'opaque' && block.kind === 'compaction') {
      const { head, piece } = compactionPieces(block.value);
      return `${START}${at},"content_block":${JSON.stringify(head)}}\n\n${DELTA}${at},"delta":${JSON.stringify(piece)}}\n\n`;
    }
    return `${START}${at},"content_block":${blockHead(block)}}\n\n`;
  }

  #blockStop(index: number): string {
    if (!this.#leaving) return `${STOP}${index - this.#left}}\n\n`;
    this.#leaving = false;
    this.#left += 1;
    return '';
  }
}

/** The API says what a compaction holds in a delta. */
function compactionPieces(value: JsonObject): { head: JsonObject; piece: JsonObject } {
  const head = { ...value };
  const piece: JsonObject = { type: 'compaction_delta' };
  for (const key of ['content', 'encrypted_content']) {
    if (!(key in value)) continue;
    head[key] = null;
    piece[key] = value[key];
  }
  return { head, piece };
}

function blockHead(block: BlockStart): string {
  switch (block.type) {
    case 'text':
      return '{"type":"text","text":""}';
    case 'thinking':
      return '{"type":"thinking","thinking":"","signature":""}';
    case 'tool_use': {
      const { id, name } = block;
      return JSON.stringify({
        type: 'tool_use',
        id: fitId(id),
        name,
        input: {},
        ...block.extensions?.[DIALECT],
      });
    }
    case 'redacted_thinking':
      return `{"type":"redacted_thinking","data":${JSON.stringify(block.data)}}`;
    case 'opaque':
      return JSON.stringify(block.value);
  }
}

function delta(piece: BlockDelta): string {
  switch (piece.type) {
    case 'text':
      return `{"type":"text_delta","text":${JSON.stringify(piece.text)}}`;
    case 'input':
      return `{"type":"input_json_delta","partial_json":${JSON.stringify(piece.json)}}`;
    case 'thinking':
      return `{"type":"thinking_delta","thinking":${JSON.stringify(piece.text)}}`;
    case 'signature':
      return `{"type":"signature_delta","signature":${JSON.stringify(piece.signature)}}`;
  }
}

/** What the head of a message says; everything else about it comes at its end. */
const OF_THE_HEAD: ReadonlySet<string> = new Set(['diagnostics']);

function ownFields(extensions: Extensions | undefined, ofTheHead: boolean): JsonObject {
  const own = Object.entries(extensions?.[DIALECT] ?? {});
  return Object.fromEntries(own.filter(([key]) => OF_THE_HEAD.has(key) === ofTheHead));
}

function messageStart(event: AnswerEvent & { type: 'message-start' }, model: string): string {
  const { id, usage, extensions } = event;
  const message = {
    id,
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    usage: encodeUsage(usage),
    ...ownFields(extensions, true),
  };
  return `event: message_start\ndata: ${JSON.stringify({ type: 'message_start', message })}\n\n`;
}

function messageDelta(event: AnswerEvent & { type: 'message-delta' }): string {
  const { stopReason, stopSequence, usage, extensions } = event;
  const wire = {
    type: 'message_delta',
    delta: {
      stop_reason: STOP_REASONS[stopReason],
      stop_sequence: stopSequence ?? null,
      stop_details: null,
    },
    usage: encodeUsage(usage),
    ...ownFields(extensions, false),
  };
  return `event: message_delta\ndata: ${JSON.stringify(wire)}\n\n`;
}
