/** Tokens of all model requests for one answer, those of sub-agents included. */
import { NO_USAGE, type Usage } from '../../core/conversation.js';

export class UsageTally {
  #total: Usage = { ...NO_USAGE };

  add(usage: Usage): void {
    const { reasoningTokens: before } = this.#total;
    const reasoningTokens =
      before === undefined && usage.reasoningTokens === undefined
        ? undefined
        : (before ?? 0) + (usage.reasoningTokens ?? 0);
    this.#total = {
      inputTokens: this.#total.inputTokens + usage.inputTokens,
      outputTokens: this.#total.outputTokens + usage.outputTokens,
      cacheReadTokens: this.#total.cacheReadTokens + usage.cacheReadTokens,
      cacheWriteTokens: this.#total.cacheWriteTokens + usage.cacheWriteTokens,
      ...(reasoningTokens === undefined ? {} : { reasoningTokens }),
    };
  }

  get total(): Usage {
    return this.#total;
  }
}
