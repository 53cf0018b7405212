/** A client of `GET /api/events`: keeps what comes, and checks that nothing is missing in between. */
import type { ConsoleEvent } from '../../src/server/console-api/wire/events.js';
import { closeAfterTest } from './cleanup.js';
import { parseSseText } from './sse.js';

export interface EventReaderOptions {
  /** A key or the console's token. */
  key?: string;
  lastId?: string;
  headers?: Readonly<Record<string, string>>;
}

export type EventOf<Type extends ConsoleEvent['type']> = Extract<ConsoleEvent, { type: Type }>;

export class EventReader {
  readonly events: ConsoleEvent[] = [];
  readonly status: number;
  readonly headers: Headers;
  /** Resolves when the stream is over, whoever ended it. */
  readonly ended: Promise<void>;
  /** Where `prev` was not what came before. */
  readonly gaps: string[] = [];
  readonly #stop: AbortController;
  #text = '';
  #last: string | null;
  #wake: () => void = () => {};
  #over = false;

  static async open(url: string, options: EventReaderOptions = {}): Promise<EventReader> {
    const stop = new AbortController();
    const { key, lastId, headers } = options;
    const response = await fetch(`${url}/api/events`, {
      headers: {
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...(lastId === undefined ? {} : { 'last-event-id': lastId }),
        ...headers,
      },
      signal: stop.signal,
    });
    return new EventReader(response, stop, lastId ?? null);
  }

  private constructor(response: Response, stop: AbortController, lastId: string | null) {
    this.status = response.status;
    this.headers = response.headers;
    this.#stop = stop;
    this.#last = lastId;
    closeAfterTest(() => this.close());
    this.ended = this.#read(response);
  }

  get last(): string {
    return this.#last ?? '';
  }

  get over(): boolean {
    return this.#over;
  }

  close(): void {
    this.#stop.abort();
  }

  /** The first event of all that `matches`, once it is there. Rejects when the stream ends before. */
  async until<Found extends ConsoleEvent>(matches: (event: ConsoleEvent) => event is Found): Promise<Found>;
  async until(matches: (event: ConsoleEvent) => boolean): Promise<ConsoleEvent>;
  async until(matches: (event: ConsoleEvent) => boolean): Promise<ConsoleEvent> {
    for (;;) {
      const found = this.events.find(matches);
      if (found !== undefined) return found;
      if (this.#over) throw new Error(`The stream is over. It said: ${this.events.map(nameOf).join(', ')}`);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  of<Type extends ConsoleEvent['type']>(type: Type): EventOf<Type>[] {
    return this.events.filter((event): event is EventOf<Type> => event.type === type);
  }

  async #read(response: Response): Promise<void> {
    try {
      for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) this.#take(piece);
    } catch {
      // Aborted here, or cut off there.
    }
    this.#over = true;
    this.#wake();
  }

  #take(piece: string): void {
    const { events, rest } = parseSseText(this.#text + piece);
    this.#text = rest;
    for (const { id, data } of events) {
      const event: ConsoleEvent = JSON.parse(data);
      if (event.id !== id) this.gaps.push(`${event.id} came as ${String(id)}`);
      const isFirst = event.type === 'snapshot' && event.prev === null;
      if (!isFirst && event.prev !== this.#last)
        this.gaps.push(`${event.id} follows ${String(event.prev)}, not ${String(this.#last)}`);
      this.#last = event.id;
      this.events.push(event);
    }
    this.#wake();
  }
}

function nameOf(event: ConsoleEvent): string {
  return 'what' in event ? `${event.type}:${event.what}` : event.type;
}
