/** The tokens of one model request while its answer streams. */
import { type ConversationRequest, NO_USAGE, type Usage } from '../../../core/conversation.js';
import type { GatewayError } from '../../../core/errors.js';
import { estimateRequestTokens } from '../../../core/estimate-tokens.js';
import type { ModelEvent } from '../../../core/events.js';
import { CHARS_PER_TOKEN } from '../../../core/lifecycle.js';

/** Tokens since the last call of it. */
export type Meter = () => Usage;

export function sinceLast(total: () => Usage): Meter {
  let before: Usage = NO_USAGE;
  return () => {
    const now = total();
    const fresh: Usage = {
      inputTokens: now.inputTokens - before.inputTokens,
      outputTokens: now.outputTokens - before.outputTokens,
      cacheReadTokens: now.cacheReadTokens - before.cacheReadTokens,
      cacheWriteTokens: now.cacheWriteTokens - before.cacheWriteTokens,
      ...(now.reasoningTokens === undefined
        ? {}
        : { reasoningTokens: now.reasoningTokens - (before.reasoningTokens ?? 0) }),
    };
    before = now;
    return fresh;
  };
}

/** What the events of one answer say about its tokens, estimated where they say nothing. */
export class EventCounter {
  readonly #prompt: number;
  #usage: Partial<Usage> = {};
  #chars = 0;
  error: GatewayError | undefined;

  constructor(promptTokens: number | undefined, request: ConversationRequest) {
    this.#prompt = promptTokens ?? estimateRequestTokens(request);
  }

  push(batch: readonly ModelEvent[]): void {
    for (const event of batch) {
      if (event.type === 'text' || event.type === 'thinking') this.#chars += event.text.length;
      else if (event.type === 'tool-input') this.#chars += event.json.length;
      else if (event.type === 'error') this.error = event.error;
      else if ((event.type === 'start' || event.type === 'usage') && event.usage !== undefined) {
        this.#usage = { ...this.#usage, ...event.usage };
      }
    }
  }

  get usage(): Usage {
    const { inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens } = this.#usage;
    const prompt = (inputTokens ?? 0) + (cacheReadTokens ?? 0) + (cacheWriteTokens ?? 0);
    return {
      ...NO_USAGE,
      ...this.#usage,
      ...(prompt > 0 ? {} : { inputTokens: this.#prompt }),
      ...(outputTokens === undefined ? { outputTokens: Math.ceil(this.#chars / CHARS_PER_TOKEN) } : {}),
    };
  }
}
