/**
 * Tokens of a prompt before the upstream has counted them: an estimate, corrected by what the
 * upstream counted for this model before. The correction is a moving average, so a model's own
 * tokenizer is learned within a few requests.
 */
import type { ConversationRequest } from '../core/conversation.js';
import { estimateRequestTokens } from '../core/estimate-tokens.js';

/** Weight of the newest figure. */
const WEIGHT = 0.3;
/** A count outside these is not a tokenizer's difference but another prompt (a cache, a truncation). */
const LEAST = 0.25;
const MOST = 4;
const MODEL_LIMIT = 1_000;

export class TokenMeter {
  readonly #ratios = new Map<string, number>();

  estimate(model: string, request: ConversationRequest): PromptEstimate {
    const raw = Math.max(1, estimateRequestTokens(request));
    return { raw, tokens: Math.round(raw * (this.#ratios.get(model) ?? 1)) };
  }

  /** `counted` is the whole prompt, cached parts included. */
  observe(model: string, { raw }: PromptEstimate, counted: number): void {
    const ratio = counted / raw;
    if (ratio < LEAST || ratio > MOST) return;
    const known = this.#ratios.get(model);
    // Behind a glob the names come from clients.
    if (known === undefined && this.#ratios.size >= MODEL_LIMIT) this.#ratios.clear();
    this.#ratios.set(model, known === undefined ? ratio : known + WEIGHT * (ratio - known));
  }

  ratio(model: string): number | undefined {
    return this.#ratios.get(model);
  }
}

interface PromptEstimate {
  /** Before the correction. */
  raw: number;
  tokens: number;
}
