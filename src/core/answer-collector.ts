/** Strict events into one whole answer: how a client that did not ask for a stream is served. */
import type { AssistantMessage, Block, JsonObject } from './conversation.js';
import { GatewayError } from './errors.js';
import type { AnswerEvent, BlockStart } from './events.js';
import { isObject } from './is-object.js';
import { completeJson } from './json-text.js';

/** A stream is passed on as it comes; a whole answer has to be held. */
const CHARS_LIMIT = 64 * 1024 * 1024;

interface OpenBlock {
  start: BlockStart;
  text: string;
  signature: string;
}

export class AnswerCollector {
  readonly #content: Block[] = [];
  #open: OpenBlock | undefined;
  #chars = 0;
  #head: { id: string; model: string } | undefined;
  #tail: Pick<AssistantMessage, 'stopReason' | 'stopSequence' | 'usage' | 'extensions'> | undefined;

  /** Throws the error of an `error` event, and for an answer that is too large. */
  push(events: readonly AnswerEvent[]): void {
    for (const event of events) this.#add(event);
  }

  /** The blocks that are whole so far. */
  get content(): readonly Block[] {
    return this.#content;
  }

  /** Call after the lifecycle's `end`. */
  finish(): AssistantMessage {
    if (this.#head === undefined || this.#tail === undefined) {
      throw new Error('The answer was collected before its end.');
    }
    return { ...this.#head, content: this.#content, ...this.#tail };
  }

  #add(event: AnswerEvent): void {
    switch (event.type) {
      case 'message-start':
        this.#head = { id: event.id, model: event.model };
        return;
      case 'block-start':
        this.#open = { start: event.block, text: '', signature: '' };
        return;
      case 'block-delta':
        this.#addDelta(event.delta);
        return;
      case 'block-stop':
        if (this.#open !== undefined) this.#content.push(toBlock(this.#open));
        this.#open = undefined;
        return;
      case 'message-delta': {
        const { stopReason, stopSequence, usage, extensions } = event;
        this.#tail = {
          stopReason,
          usage,
          ...(stopSequence === undefined ? {} : { stopSequence }),
          ...(extensions === undefined ? {} : { extensions }),
        };
        return;
      }
      case 'error':
        throw event.error;
    }
  }

  #addDelta(delta: Extract<AnswerEvent, { type: 'block-delta' }>['delta']): void {
    const open = this.#open;
    if (open === undefined) return;
    if (delta.type === 'signature') {
      open.signature += delta.signature;
      return;
    }
    const text = delta.type === 'input' ? delta.json : delta.text;
    this.#chars += text.length;
    if (this.#chars > CHARS_LIMIT) {
      throw new GatewayError(
        'upstream_failed',
        'The answer is too large to be sent whole. Ask for a stream.',
      );
    }
    open.text += text;
  }
}

function toBlock({ start, text, signature }: OpenBlock): Block {
  switch (start.type) {
    case 'text':
      return { type: 'text', text };
    case 'thinking':
      return { type: 'thinking', thinking: text, ...(signature === '' ? {} : { signature }) };
    case 'tool_use': {
      const { id, name, extensions } = start;
      return { type: 'tool_use', id, name, input: parseInput(text), ...(extensions ? { extensions } : {}) };
    }
    default:
      return start;
  }
}

/** The lifecycle has made the text an object, but for one that the answer's limit cut. */
export function parseInput(text: string): JsonObject {
  if (text === '') return {};
  const value = parse(text) ?? parse(text + (completeJson(text) ?? ''));
  return isObject(value) ? value : {};
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
