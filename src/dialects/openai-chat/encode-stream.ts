/**
 * The chunks for the client. A chunk is put together as text: of a delta only its own text needs to
 * be escaped, and a stream is thousands of them.
 */
import { parseInput } from '../../core/answer-collector.js';
import type {
  Block,
  ConversationRequest,
  JsonObject,
  OpaqueBlock,
  StopReason,
  Usage,
} from '../../core/conversation.js';
import type { AnswerEvent, BlockDelta, BlockStart } from '../../core/events.js';
import { isObject } from '../../core/is-object.js';
import type { AnswerContext, StreamEncoder } from '../shared/dialect.js';
import { type AnswerForm, answerForm, isCustomToolCall, readForm } from './answer-form.js';
import {
  completionId,
  extraContent,
  finishReason,
  freeText,
  REFUSED,
  toolCallId,
} from './encode-response.js';
import { encodeError } from './errors.js';
import { encodeDetails } from './reasoning.js';
import { DIALECT, encodeUsage } from './wire.js';

const DONE = 'data: [DONE]\n\n';
const PING = ': ping\n\n';

export function createStreamEncoder(request: ConversationRequest, answer: AnswerContext): StreamEncoder {
  const options = request.extensions[DIALECT]?.['stream_options'];
  const withUsage = isObject(options) && options['include_usage'] === true;
  return new ChunkEncoder(answer, readForm(answerForm(request)), withUsage);
}

type Open =
  | { type: 'text' | 'call' | 'skipped' }
  | { type: 'thinking'; text: string; signature: string }
  /** Free text is inside a JSON string, so it can be read only when that is whole. */
  | { type: 'custom'; json: string };

class ChunkEncoder implements StreamEncoder {
  readonly #answer: AnswerContext;
  readonly #form: AnswerForm;
  readonly #withUsage: boolean;
  /** Everything of a chunk before and after its delta. */
  #head = '';
  #tail = '';
  #open: Open = { type: 'skipped' };
  #calls = 0;
  #details = 0;
  #saidText = false;

  constructor(answer: AnswerContext, form: AnswerForm, withUsage: boolean) {
    const { model, requestId, created } = answer;
    this.#answer = { model, requestId, created };
    this.#form = form;
    this.#withUsage = withUsage;
  }

  encode(events: readonly AnswerEvent[]): string {
    let text = '';
    for (const event of events) text += this.#encode(event);
    return text;
  }

  #encode(event: AnswerEvent): string {
    switch (event.type) {
      case 'block-delta':
        return this.#delta(event.delta);
      case 'block-start':
        return this.#start(event.block);
      case 'block-stop':
        return this.#stop();
      case 'message-start':
        return this.#begin(event.id);
      case 'message-delta':
        return this.#finish(event.stopReason, event.stopSequence, event.usage);
      case 'message-stop':
        return DONE;
      case 'ping':
        return PING;
      case 'error':
        return `data: ${JSON.stringify(encodeError(event.error))}\n\n`;
    }
  }

  #begin(id: string): string {
    const { model, requestId, created } = this.#answer;
    const envelope = JSON.stringify({
      id: completionId(id, requestId),
      object: 'chat.completion.chunk',
      created,
      model,
    });
    this.#head = `data: ${envelope.slice(0, -1)},"choices":[{"index":0,"delta":`;
    this.#tail = this.#withUsage ? '}],"usage":null}\n\n' : '}]}\n\n';
    return this.#chunk('{"role":"assistant","content":""}');
  }

  #chunk(delta: string): string {
    return `${this.#head}${delta},"finish_reason":null${this.#tail}`;
  }

  #start(block: BlockStart): string {
    this.#open = { type: 'skipped' };
    switch (block.type) {
      case 'text':
        this.#open = { type: 'text' };
        return '';
      case 'thinking':
        this.#open = { type: 'thinking', text: '', signature: '' };
        return '';
      case 'redacted_thinking':
        return this.#detailChunk(block);
      case 'tool_use':
        return this.#startCall(block);
      case 'opaque':
        return block.dialect === DIALECT ? this.#ownBlock(block) : '';
    }
  }

  #ownBlock({ kind, value }: OpaqueBlock): string {
    if (kind !== 'logprobs') return this.#chunk(JSON.stringify(value));
    return this.#chunk(`{},"logprobs":${JSON.stringify(value['logprobs'])}`);
  }

  #startCall(block: Extract<BlockStart, { type: 'tool_use' }>): string {
    const index = this.#calls;
    const { name } = block;
    if (this.#form.legacy) {
      // This form has room for one call only.
      if (index > 0) return '';
      this.#calls += 1;
      this.#open = { type: 'call' };
      return this.#chunk(JSON.stringify({ function_call: { name, arguments: '' } }));
    }
    this.#calls += 1;
    const id = toolCallId(block.id, this.#answer.requestId, index);
    const custom = isCustomToolCall(block, this.#form);
    this.#open = custom ? { type: 'custom', json: '' } : { type: 'call' };
    const call: JsonObject = custom
      ? { index, id, type: 'custom', custom: { name, input: '' } }
      : { index, id, type: 'function', function: { name, arguments: '' } };
    return this.#chunk(JSON.stringify({ tool_calls: [{ ...call, ...extraContent(block) }] }));
  }

  #delta(delta: BlockDelta): string {
    const open = this.#open;
    switch (delta.type) {
      case 'text':
        if (open.type !== 'text') return '';
        this.#saidText = true;
        return this.#chunk(`{"content":${JSON.stringify(delta.text)}}`);
      case 'thinking':
        if (open.type !== 'thinking') return '';
        open.text += delta.text;
        return this.#chunk(`{"reasoning_content":${JSON.stringify(delta.text)}}`);
      case 'signature':
        if (open.type === 'thinking') open.signature += delta.signature;
        return '';
      case 'input':
        if (open.type === 'custom') open.json += delta.json;
        if (open.type !== 'call') return '';
        return this.#arguments(delta.json);
    }
  }

  #arguments(json: string): string {
    const text = JSON.stringify(json);
    if (this.#form.legacy) return this.#chunk(`{"function_call":{"arguments":${text}}}`);
    return this.#chunk(`{"tool_calls":[{"index":${this.#calls - 1},"function":{"arguments":${text}}}]}`);
  }

  #stop(): string {
    const open = this.#open;
    this.#open = { type: 'skipped' };
    switch (open.type) {
      case 'custom': {
        const input = JSON.stringify(freeText(parseInput(open.json)));
        return this.#chunk(`{"tool_calls":[{"index":${this.#calls - 1},"custom":{"input":${input}}}]}`);
      }
      case 'thinking': {
        const { text: thinking, signature } = open;
        if (signature === '') return '';
        return this.#detailChunk({ type: 'thinking', thinking, signature });
      }
      default:
        return '';
    }
  }

  /** Whole, and once: a client that merges chunks would join or replace pieces as it sees fit. */
  #detailChunk(block: Block): string {
    const details = encodeDetails([block], 'client', this.#details);
    this.#details += details.length;
    return this.#chunk(JSON.stringify({ reasoning_details: details }));
  }

  #finish(reason: StopReason, stopSequence: string | undefined, usage: Usage): string {
    const refusal =
      reason === 'refusal' && !this.#saidText ? this.#chunk(JSON.stringify({ refusal: REFUSED })) : '';
    const sequence = stopSequence === undefined ? '' : `,"stop_reason":${JSON.stringify(stopSequence)}`;
    const word = JSON.stringify(finishReason(reason, this.#form));
    const last = `${refusal}${this.#head}{}${sequence},"finish_reason":${word}${this.#tail}`;
    if (!this.#withUsage) return last;
    const envelope = this.#head.slice(0, this.#head.indexOf(',"choices":['));
    return `${last}${envelope},"choices":[],"usage":${JSON.stringify(encodeUsage(usage))}}\n\n`;
  }
}
