/**
 * What an upstream wants back on its own tool calls and a client's dialect has no place for (the
 * thought signatures of Gemini), remembered by the call's id until the history brings the call again.
 */
import type { ConversationRequest, Extensions, Message } from '../core/conversation.js';
import type { ModelEvent } from '../core/events.js';

/** Calls; a signature has about a kilobyte. */
const CAPACITY = 4_000;

export class ToolExtensionCache {
  readonly #byId = new Map<string, Extensions>();

  remember(events: readonly ModelEvent[]): void {
    for (const event of events) {
      if (event.type !== 'tool' || event.extensions === undefined || !event.id) continue;
      this.#byId.delete(event.id);
      this.#byId.set(event.id, event.extensions);
      if (this.#byId.size > CAPACITY) this.#forgetOldest();
    }
  }

  /** The request itself where nothing is missing. */
  restore(request: ConversationRequest): ConversationRequest {
    if (this.#byId.size === 0) return request;
    let changed = false;
    const messages = request.messages.map((message) => {
      const restored = this.#restoreMessage(message);
      changed ||= restored !== message;
      return restored;
    });
    return changed ? { ...request, messages } : request;
  }

  #restoreMessage(message: Message): Message {
    if (message.role !== 'assistant') return message;
    if (!message.content.some((block) => block.type === 'tool_use' && this.#byId.has(block.id)))
      return message;
    const content = message.content.map((block) => {
      const known = block.type === 'tool_use' ? this.#byId.get(block.id) : undefined;
      if (known === undefined || block.type !== 'tool_use') return block;
      return { ...block, extensions: { ...known, ...block.extensions } };
    });
    return { ...message, content };
  }

  #forgetOldest(): void {
    const [oldest] = this.#byId.keys();
    if (oldest !== undefined) this.#byId.delete(oldest);
  }
}
