/** Reads usage out of bytes that are forwarded. It may miss something; it never throws. */
import type { Usage } from '../core/conversation.js';
import type { TurnEvent } from '../core/events.js';
import type { ServerSentEvent } from '../core/server-sent-event.js';
import type { Egress } from '../dialects/dialect.js';
import { ToolNames } from '../dialects/shared/tool-names.js';
import { SseReader } from '../transport/sse-reader.js';

/** A whole answer larger than this is forwarded unread. */
const WHOLE_LIMIT = 4 * 1024 * 1024;
const NAMES = new ToolNames({ pattern: /^/, maxLength: 1_000 });

export class UsageObserver {
  readonly #egress: Egress;
  readonly #reader: SseReader | undefined;
  #whole: Uint8Array[] | undefined;
  #wholeBytes = 0;
  #usage: Partial<Usage> | undefined;

  constructor(egress: Egress, contentType: string) {
    this.#egress = egress;
    if (contentType.includes('text/event-stream')) this.#reader = new SseReader();
    else this.#whole = [];
  }

  push(chunk: Buffer): void {
    if (this.#reader === undefined) {
      this.#wholeBytes += chunk.length;
      if (this.#wholeBytes > WHOLE_LIMIT) this.#whole = undefined;
      this.#whole?.push(chunk);
      return;
    }
    try {
      const events: ServerSentEvent[] = [];
      this.#reader.push(chunk, events);
      for (const event of events) this.#read(event);
    } catch {
      // The bytes go on to the client, who will judge them.
    }
  }

  end(): void {
    if (this.#whole === undefined) return;
    try {
      this.#note(this.#egress.decodeResponse(JSON.parse(Buffer.concat(this.#whole).toString('utf8')), NAMES));
    } catch {
      // As above.
    }
    this.#whole = undefined;
  }

  usage(): Partial<Usage> | undefined {
    return this.#usage;
  }

  /** Only the few events that speak of usage are parsed, each by a decoder of its own. */
  #read(event: ServerSentEvent): void {
    if (!event.data.includes('"usage"')) return;
    const out: TurnEvent[] = [];
    this.#egress.createStreamDecoder(NAMES).push(event, out);
    this.#note(out);
  }

  #note(events: readonly TurnEvent[]): void {
    for (const event of events) {
      if ((event.type === 'usage' || event.type === 'start') && event.usage !== undefined) {
        this.#usage = { ...this.#usage, ...event.usage };
      }
    }
  }
}
