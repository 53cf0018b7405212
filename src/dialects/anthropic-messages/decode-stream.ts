/** The event stream of an upstream. Bad data never throws: it is skipped, or it ends the answer with an error. */
import type { JsonObject, Usage } from '../../core/conversation.js';
import { GatewayError } from '../../core/errors.js';
import type { ModelEvent } from '../../core/events.js';
import { isObject } from '../../core/is-object.js';
import type { ServerSentEvent } from '../../core/server-sent-event.js';
import type { StreamDecoder } from '../shared/dialect.js';
import type { ToolNames } from '../shared/tool-names.js';
import {
  CITATIONS_LOST,
  decodeStart,
  decodeStop,
  decodeToolStart,
  inputText,
  opaque,
  ownFields,
} from './decode-response.js';
import { decodeUsage } from './decode-usage.js';
import { decodeErrorBody, errorObject } from './errors.js';

type OpenBlock =
  | { kind: 'text' }
  /** `input` is what the start gave: used only where no deltas follow. */
  | { kind: 'tool'; key: number; input: unknown; streamed: boolean }
  /** A block that the neutral events carry whole; `json` is its input so far. */
  | { kind: 'opaque'; value: JsonObject; json: string };

const TEXT: OpenBlock = { kind: 'text' };

export function createStreamDecoder(names: ToolNames): StreamDecoder {
  return new AnthropicStreamDecoder(names);
}

class AnthropicStreamDecoder implements StreamDecoder {
  readonly #names: ToolNames;
  readonly #open = new Map<number, OpenBlock>();
  #started = false;
  #stopped = false;
  #finished = false;
  #blocks = 0;
  /** The block that a delta without an index belongs to. */
  #latest = 0;
  #usage: Partial<Usage> = {};

  constructor(names: ToolNames) {
    this.#names = names;
  }

  get done(): boolean {
    return this.#finished;
  }

  push({ event, data }: ServerSentEvent, out: ModelEvent[]): void {
    if (this.#finished || data === '') return;
    let value: unknown;
    try {
      value = JSON.parse(data);
    } catch {
      // Some servers end every stream as OpenAI does.
      if (data.trim() !== '[DONE]') this.#onMalformed(event, out);
      else if (this.#stopped) this.end(out);
      return;
    }
    if (isObject(value)) this.#onEvent(value, event, out);
  }

  end(out: ModelEvent[]): void {
    if (this.#finished) return;
    this.#finished = true;
    if (this.#stopped) {
      this.#closeAll(out);
      return;
    }
    const what = this.#started
      ? 'closed its stream before the answer was complete'
      : 'closed its stream without an answer';
    out.push({
      type: 'error',
      error: new GatewayError('upstream_failed', `The upstream ${what}. Retry the request.`, {
        retryable: true,
      }),
    });
  }

  #onEvent(value: JsonObject, event: string, out: ModelEvent[]): void {
    switch (value['type'] ?? event) {
      case 'content_block_delta':
        this.#onDelta(value, out);
        return;
      case 'content_block_start':
        this.#onStart(value, out);
        return;
      case 'content_block_stop':
        this.#close(this.#indexOf(value), out);
        return;
      case 'message_start':
        this.#onMessageStart(value, out);
        return;
      case 'message_delta':
        this.#onMessageDelta(value, out);
        return;
      case 'message_stop':
        this.#onMessageStop(out);
        return;
      case 'ping':
        out.push({ type: 'ping' });
        return;
      case 'error':
        this.#fail(decodeErrorBody(value), out);
        return;
      default:
        // Events still to come are not errors; `{error}` without a type is one, from servers like this.
        if (value['type'] === undefined && errorObject(value) !== undefined)
          this.#fail(decodeErrorBody(value), out);
    }
  }

  #onMalformed(event: string, out: ModelEvent[]): void {
    const what = event === '' ? 'an event' : `a ${event} event`;
    this.#fail(
      new GatewayError('upstream_failed', `The upstream sent ${what} that is not JSON. Retry the request.`, {
        retryable: true,
      }),
      out,
    );
  }

  #fail(error: GatewayError, out: ModelEvent[]): void {
    this.#finished = true;
    out.push({ type: 'error', error });
  }

  #onMessageStart(value: JsonObject, out: ModelEvent[]): void {
    const message = isObject(value['message']) ? value['message'] : {};
    this.#mergeUsage(message['usage']);
    if (this.#started) {
      out.push({ type: 'usage', usage: { ...this.#usage } });
      return;
    }
    this.#started = true;
    out.push(...ownFields(message), decodeStart(message));
  }

  #indexOf({ index }: JsonObject): number {
    return typeof index === 'number' ? index : this.#latest;
  }

  #onStart(value: JsonObject, out: ModelEvent[]): void {
    this.#started = true;
    const block = value['content_block'];
    const index = typeof value['index'] === 'number' ? value['index'] : this.#blocks;
    this.#close(index, out);
    this.#latest = index;
    const key = this.#blocks;
    this.#blocks += 1;
    if (!isObject(block)) return;
    switch (block['type']) {
      case 'text':
        this.#open.set(index, TEXT);
        if (typeof block['text'] === 'string' && block['text'] !== '')
          out.push({ type: 'text', text: block['text'] });
        return;
      case 'thinking':
        this.#open.set(index, TEXT);
        this.#onThinkingStart(block, out);
        return;
      case 'redacted_thinking':
        if (typeof block['data'] !== 'string' || block['data'] === '') return;
        out.push({ type: 'block', block: { type: 'redacted_thinking', data: block['data'] } });
        return;
      case 'tool_use':
        this.#open.set(index, { kind: 'tool', key, input: block['input'], streamed: false });
        out.push(decodeToolStart(block, key, this.#names));
        return;
      default:
        if (typeof block['type'] === 'string' && block['type'] !== '')
          this.#open.set(index, { kind: 'opaque', value: block, json: '' });
    }
  }

  #onThinkingStart({ thinking, signature }: JsonObject, out: ModelEvent[]): void {
    if (typeof thinking === 'string' && thinking !== '') out.push({ type: 'thinking', text: thinking });
    if (typeof signature === 'string' && signature !== '') out.push({ type: 'signature', signature });
  }

  #onDelta(value: JsonObject, out: ModelEvent[]): void {
    const { delta } = value;
    if (!isObject(delta)) return;
    this.#started = true;
    const index = this.#indexOf(value);
    const block = this.#open.get(index);
    if (block?.kind === 'opaque') {
      addToOpaque(block, delta);
      return;
    }
    switch (delta['type']) {
      case 'text_delta':
        if (typeof delta['text'] === 'string') out.push({ type: 'text', text: delta['text'] });
        break;
      case 'input_json_delta':
        this.#onInput(block, delta['partial_json'], out);
        return;
      case 'thinking_delta':
        if (typeof delta['thinking'] === 'string') out.push({ type: 'thinking', text: delta['thinking'] });
        break;
      case 'signature_delta':
        if (typeof delta['signature'] === 'string')
          out.push({ type: 'signature', signature: delta['signature'] });
        break;
      case 'citations_delta':
        out.push(CITATIONS_LOST);
        return;
      default:
        return;
    }
    // Text says what it is by itself: a start that got lost is no reason to lose it too.
    if (block === undefined) this.#open.set(index, TEXT);
  }

  #onInput(block: OpenBlock | undefined, json: unknown, out: ModelEvent[]): void {
    if (typeof json !== 'string') return;
    if (block?.kind === 'tool') {
      if (json !== '') block.streamed = true;
      out.push({ type: 'tool-input', key: block.key, json });
      return;
    }
    if (json === '') return;
    this.#fail(
      new GatewayError(
        'upstream_failed',
        'The upstream sent arguments for a tool call that it never began.',
        {
          retryable: true,
        },
      ),
      out,
    );
  }

  #close(index: number, out: ModelEvent[]): void {
    const block = this.#open.get(index);
    if (block === undefined) return;
    this.#open.delete(index);
    switch (block.kind) {
      case 'text':
        out.push({ type: 'break' });
        return;
      case 'tool':
        if (!block.streamed) out.push({ type: 'tool-input', key: block.key, json: inputText(block.input) });
        out.push({ type: 'tool-end', key: block.key });
        return;
      case 'opaque':
        out.push({ type: 'block', block: opaque(finishOpaque(block.value, block.json)) });
    }
  }

  #closeAll(out: ModelEvent[]): void {
    for (const index of [...this.#open.keys()]) this.#close(index, out);
  }

  #onMessageDelta(value: JsonObject, out: ModelEvent[]): void {
    this.#started = true;
    if (this.#mergeUsage(value['usage'])) out.push({ type: 'usage', usage: { ...this.#usage } });
    out.push(...ownFields(value));
    const { delta } = value;
    if (this.#stopped || !isObject(delta) || typeof delta['stop_reason'] !== 'string') return;
    this.#closeAll(out);
    this.#stopped = true;
    out.push(decodeStop(delta));
  }

  #onMessageStop(out: ModelEvent[]): void {
    this.#finished = true;
    this.#closeAll(out);
    if (!this.#stopped) out.push({ type: 'stop', reason: 'end_turn' });
  }

  /** A later zero for the prompt is a server that counts it only once, not a prompt of nothing. */
  #mergeUsage(value: unknown): boolean {
    const usage = decodeUsage(value);
    if (usage === undefined) return false;
    if (usage.inputTokens === 0 && this.#usage.inputTokens !== undefined && promptOf(usage) === 0) {
      delete usage.inputTokens;
      delete usage.cacheReadTokens;
      delete usage.cacheWriteTokens;
    }
    this.#usage = { ...this.#usage, ...usage };
    return true;
  }
}

function promptOf({ inputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 }: Partial<Usage>): number {
  return inputTokens + cacheReadTokens + cacheWriteTokens;
}

/** Pieces of a block that is passed on whole. */
function addToOpaque(block: Extract<OpenBlock, { kind: 'opaque' }>, delta: JsonObject): void {
  const { type, ...fields } = delta;
  if (type === 'input_json_delta') {
    if (typeof fields['partial_json'] === 'string') block.json += fields['partial_json'];
    return;
  }
  const value = { ...block.value };
  for (const [key, piece] of Object.entries(fields)) {
    const before = value[key];
    // Text grows; anything else (a compaction's content) comes as its last value.
    const grows = typeof piece === 'string' && typeof before === 'string' && type !== 'compaction_delta';
    value[key] = grows ? before + piece : piece;
  }
  block.value = value;
}

function finishOpaque(value: JsonObject, json: string): JsonObject {
  if (json === '') return value;
  try {
    const input: unknown = JSON.parse(json);
    return { ...value, input };
  } catch {
    return value;
  }
}
