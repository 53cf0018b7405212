/** What is still to be written to a process: an endless prompt for the SDK, filled as turns come. */
import type { SDKUserMessage } from '@anthropic-ai/claude-agent-sdk';

export class MessageInput implements AsyncIterable<SDKUserMessage> {
  readonly #waiting: SDKUserMessage[] = [];
  #ended = false;
  #wake: (() => void) | undefined;

  send(message: SDKUserMessage): void {
    if (this.#ended) return;
    this.#waiting.push(message);
    this.#wake?.();
  }

  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<SDKUserMessage, void> {
    for (;;) {
      const message = this.#waiting.shift();
      if (message !== undefined) yield message;
      else if (this.#ended) return;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}
