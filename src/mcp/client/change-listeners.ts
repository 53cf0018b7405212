/** Listeners for changes to servers. */
import type { McpServerChange } from './mcp-client.js';
import type { McpLog } from './wire/log.js';

export class ChangeListeners {
  readonly #log: McpLog;
  readonly #listeners = new Set<(change: McpServerChange) => void>();

  constructor(log: McpLog) {
    this.#log = log;
  }

  add(listener: (change: McpServerChange) => void): () => void {
    // A function of its own: the same listener may come twice.
    const own = (change: McpServerChange): void => listener(change);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  tell(change: McpServerChange): void {
    for (const listener of this.#listeners) {
      try {
        listener(change);
      } catch (error) {
        this.#log.warn({ err: error, server: change.name }, 'bug in a listener to MCP servers');
      }
    }
  }
}
