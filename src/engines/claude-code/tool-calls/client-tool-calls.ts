/** Calls that the client runs: Claude Code waits for each of them, by its id. */
import type { ToolResultBlock } from '../../../core/conversation.js';

export class ClientToolCalls {
  readonly #waiting = new Map<string, (result: ToolResultBlock | undefined) => void>();
  /** Results that came before Claude Code asked: it runs some calls only after others. */
  readonly #early = new Map<string, ToolResultBlock>();
  #closed = false;

  /** Undefined when no result will come any more. */
  async wait(wireId: string, signal: AbortSignal): Promise<ToolResultBlock | undefined> {
    const early = this.#early.get(wireId);
    if (early !== undefined) {
      this.#early.delete(wireId);
      return early;
    }
    if (this.#closed || signal.aborted) return undefined;
    return new Promise((resolve) => {
      const onAbort = () => this.#settle(wireId, undefined);
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting.set(wireId, (result) => {
        signal.removeEventListener('abort', onAbort);
        resolve(result);
      });
    });
  }

  deliver(wireId: string, result: ToolResultBlock): void {
    if (!this.#settle(wireId, result)) this.#early.set(wireId, result);
  }

  close(): void {
    this.#closed = true;
    for (const wireId of [...this.#waiting.keys()]) this.#settle(wireId, undefined);
    this.#early.clear();
  }

  #settle(wireId: string, result: ToolResultBlock | undefined): boolean {
    const resolve = this.#waiting.get(wireId);
    this.#waiting.delete(wireId);
    resolve?.(result);
    return resolve !== undefined;
  }
}
