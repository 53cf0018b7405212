/** What a plain model has said so far, also where it is stopped in the middle. */
import type { Block, Message, StopReason, ToolDefinition, Usage } from '../../core/conversation.js';
import { GatewayError } from '../../core/errors.js';
import type { AnswerEvent, ModelEvent } from '../../core/events.js';
import { StreamLifecycle } from '../../core/lifecycle.js';
import { LIMITS } from '../agent/limits.js';

type Said = Extract<Block, { type: 'text' | 'thinking' }>;

export class PlainAnswer {
  readonly #lifecycle: StreamLifecycle;
  readonly #blocks: Block[] = [];
  readonly #mostChars: number;
  #chars = 0;
  #open: Said | undefined;
  #end: { reason: StopReason; stopSequence?: string; usage: Usage } | undefined;
  #error: GatewayError | undefined;

  constructor(model: string, mostChars: number = LIMITS.message.chars) {
    this.#lifecycle = new StreamLifecycle({ id: '', model });
    this.#mostChars = mostChars;
  }

  /** Returns what there is to tell of them. */
  push(events: readonly ModelEvent[]): { type: 'text' | 'thinking'; text: string }[] {
    return this.#take(this.#lifecycle.push(events));
  }

  /** Nothing more comes. */
  finish(): void {
    this.#take(this.#lifecycle.end());
  }

  get error(): GatewayError | undefined {
    return this.#error;
  }

  get end(): { reason: StopReason; stopSequence?: string; usage: Usage } | undefined {
    return this.#end;
  }

  /** Calls are left out: there is nobody who could make them. */
  get blocks(): Block[] {
    return [...this.#blocks, ...(this.#open === undefined ? [] : [this.#open])].filter(isWorthKeeping);
  }

  #take(events: readonly AnswerEvent[]): { type: 'text' | 'thinking'; text: string }[] {
    const told: { type: 'text' | 'thinking'; text: string }[] = [];
    for (const event of events) {
      switch (event.type) {
        case 'block-start': {
          const { block } = event;
          if (block.type === 'text') this.#open = { type: 'text', text: '' };
          else if (block.type === 'thinking') this.#open = { type: 'thinking', thinking: '' };
          else if (block.type !== 'tool_use') this.#blocks.push(block);
          break;
        }
        case 'block-delta': {
          const { delta } = event;
          if (delta.type === 'text' || delta.type === 'thinking') {
            this.#count(delta.text);
            told.push(delta);
          }
          this.#add(delta);
          break;
        }
        case 'block-stop':
          if (this.#open !== undefined) this.#blocks.push(this.#open);
          this.#open = undefined;
          break;
        case 'message-delta': {
          const { stopReason: reason, stopSequence, usage } = event;
          this.#end = { reason, usage, ...(stopSequence === undefined ? {} : { stopSequence }) };
          break;
        }
        case 'error':
          this.#error = event.error;
      }
    }
    return told;
  }

  /** All of it is held until it is over. */
  #count(text: string): void {
    this.#chars += text.length;
    if (this.#chars <= this.#mostChars) return;
    this.#error ??= new GatewayError('upstream_failed', 'The upstream sent a message that is too large.');
  }

  #add(delta: Extract<AnswerEvent, { type: 'block-delta' }>['delta']): void {
    const open = this.#open;
    if (open?.type === 'text' && delta.type === 'text') open.text += delta.text;
    else if (open?.type !== 'thinking') return;
    else if (delta.type === 'thinking') open.thinking += delta.text;
    else if (delta.type === 'signature') open.signature = (open.signature ?? '') + delta.signature;
  }
}

function isWorthKeeping(block: Block): boolean {
  return block.type !== 'text' || block.text !== '';
}

/**
 * Some servers refuse calls in a history whose request knows no tools. They are named, and none may
 * be called.
 */
export function toolsOfHistory(messages: readonly Message[]): ToolDefinition[] {
  const names = new Set<string>();
  for (const { content } of messages) {
    for (const block of content) if (block.type === 'tool_use') names.add(block.name);
  }
  return [...names].map((name) => ({ name, inputSchema: { type: 'object', properties: {} } }));
}
