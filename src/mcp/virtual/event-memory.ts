/**
 * Messages of one session that a client may have missed, for when it comes back with the id of the
 * last one it has. Bounded: the oldest go first, and a client that needs those starts anew.
 */
import type { VirtualLimits } from './limits.js';
import type { JSONRPCMessage } from './sdk.js';

interface Stored {
  stream: string;
  message: JSONRPCMessage;
  chars: number;
}

/** Of the SDK's transport: the first event of a stream has an empty message, and is not sent again. */
export class EventMemory {
  readonly #events = new Map<string, Stored>();
  readonly #limits: Pick<VirtualLimits, 'storedEvents' | 'storedChars'>;
  #chars = 0;
  #count = 0;

  constructor(limits: Pick<VirtualLimits, 'storedEvents' | 'storedChars'>) {
    this.#limits = limits;
  }

  async storeEvent(stream: string, message: JSONRPCMessage): Promise<string> {
    this.#count += 1;
    const id = `${this.#count}`;
    const chars = JSON.stringify(message).length;
    this.#events.set(id, { stream, message, chars });
    this.#chars += chars;
    for (const [oldest, stored] of this.#events) {
      if (this.#events.size <= this.#limits.storedEvents && this.#chars <= this.#limits.storedChars) break;
      if (oldest === id) break;
      this.#events.delete(oldest);
      this.#chars -= stored.chars;
    }
    return id;
  }

  async getStreamIdForEventId(id: string): Promise<string | undefined> {
    return this.#events.get(id)?.stream;
  }

  async replayEventsAfter(
    last: string,
    { send }: { send: (id: string, message: JSONRPCMessage) => Promise<void> },
  ): Promise<string> {
    const stream = this.#events.get(last)?.stream;
    if (stream === undefined) throw new Error('the event is not known any more');
    const missed = [...this.#events].filter(
      ([id, stored]) => stored.stream === stream && Number(id) > Number(last),
    );
    for (const [id, { message }] of missed) {
      if (Object.keys(message).length > 0) await send(id, message);
    }
    return stream;
  }
}
