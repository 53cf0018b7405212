/**
 * One connection to the gateway's events. It delivers every event once and in order: at a gap it
 * reconnects after the last good event, and the gateway replays the rest or sends a snapshot.
 *
 * An EventSource would not do: it cannot tell a 401 from a lost network, and does not report a dead
 * connection.
 */
import type { ConsoleEvent } from '../../../../src/server/console-api/wire/events.js';
import { eventPosition, isKnown } from '../reducer/event-ids.js';
import type { StreamPorts } from './ports.js';
import { SseParser } from './sse.js';

export const EVENTS_PATH = '/api/events';

export const STREAM_TIMES = {
  /** The gateway says something every 15 s. */
  silenceMs: 40_000,
  /** Until the answer begins. */
  answerMs: 15_000,
  firstRetryMs: 300,
  longestRetryMs: 10_000,
  /** Silence after which a page that becomes visible again reconnects. */
  doubtMs: 20_000,
} as const;

/** Consecutive gaps after which a snapshot is requested. */
const MOST_GAPS = 3;

export type StreamStatus = 'connecting' | 'live' | 'lost' | 'signed-out';

export interface StreamListener {
  /** In order and without gaps; one call for each chunk of the stream. */
  onEvents(events: readonly ConsoleEvent[]): void;
  onStatus(status: StreamStatus): void;
}

export class EventStream {
  readonly #ports: StreamPorts;
  readonly #listener: StreamListener;
  #lastId: string | null;
  #status: StreamStatus = 'connecting';
  /** Of the current connection; events of an older one are ignored. */
  #current: AbortController | undefined;
  #cancelRetry: (() => void) | undefined;
  #cancelWatch: (() => void) | undefined;
  #heardAt = 0;
  #failures = 0;
  #gaps = 0;
  #stopped = true;

  constructor(ports: StreamPorts, listener: StreamListener, lastId: string | null = null) {
    this.#ports = ports;
    this.#listener = listener;
    this.#lastId = lastId;
  }

  get lastId(): string | null {
    return this.#lastId;
  }

  get status(): StreamStatus {
    return this.#status;
  }

  start(): void {
    if (!this.#stopped) return;
    this.#stopped = false;
    void this.#connect();
  }

  stop(): void {
    this.#stopped = true;
    this.#drop();
  }

  /** Reconnects at once: a person asks for it, or the network is back. */
  reconnect(): void {
    if (this.#stopped) return;
    this.#failures = 0;
    this.#drop();
    void this.#connect();
  }

  /** The page is visible again, perhaps after a sleep: reconnects only after a long silence. */
  check(): void {
    if (this.#stopped || this.#status === 'signed-out') return;
    const waits = this.#cancelRetry !== undefined;
    if (waits || this.#ports.now() - this.#heardAt > STREAM_TIMES.doubtMs) this.reconnect();
  }

  async #connect(): Promise<void> {
    const abort = new AbortController();
    this.#current = abort;
    this.#heard(STREAM_TIMES.answerMs);
    try {
      const answer = await this.#ports.fetch(EVENTS_PATH, {
        headers: {
          accept: 'text/event-stream',
          ...(this.#lastId === null ? {} : { 'last-event-id': this.#lastId }),
        },
        signal: abort.signal,
      });
      if (this.#current !== abort) return;
      if (answer.status === 401 || answer.status === 403) return this.#signedOut();
      if (!answer.ok || answer.body === null) throw new Error(`The gateway answered with ${answer.status}.`);
      await this.#read(answer.body, abort);
    } catch {
      // Whatever the error was, the next connection resumes after the last known event.
    }
    if (this.#current === abort) this.#again();
  }

  async #read(body: ReadableStream<Uint8Array>, abort: AbortController): Promise<void> {
    const parser = new SseParser();
    const reader = body.getReader();
    try {
      while (this.#current === abort) {
        const { done, value } = await reader.read();
        if (done || this.#current !== abort) return;
        this.#heard(STREAM_TIMES.silenceMs);
        const events = parser.push(value).flatMap(({ data }) => eventOf(data) ?? []);
        if (!this.#take(events)) return;
      }
    } finally {
      // A body that failed cannot be cancelled any more.
      void reader.cancel().catch(() => {});
    }
  }

  /** False where an event is missing: none after it may be delivered. */
  #take(events: readonly ConsoleEvent[]): boolean {
    const good: ConsoleEvent[] = [];
    let whole = true;
    for (const event of events) {
      const position = event.type === 'snapshot' ? 'next' : eventPosition(this.#lastId, event);
      if (position === 'repeat') continue;
      if (event.type === 'snapshot' && isKnown(event.id, this.#lastId)) continue;
      if (position !== 'next') {
        whole = false;
        break;
      }
      this.#lastId = event.id;
      good.push(event);
    }
    if (good.length > 0) {
      this.#failures = 0;
      this.#gaps = 0;
    }
    if (this.#lastId !== null && whole) this.#say('live');
    if (good.length > 0) this.#listener.onEvents(good);
    if (whole) return true;
    this.#gaps += 1;
    if (this.#gaps >= MOST_GAPS) this.#lastId = null;
    return false;
  }

  #signedOut(): void {
    this.#drop();
    this.#say('signed-out');
  }

  /** Back-off with jitter. */
  #again(): void {
    this.#drop();
    if (this.#stopped) return;
    // Connections end now and then, and the next one opens at once: that is not reported.
    this.#say(this.#failures === 0 ? 'connecting' : 'lost');
    const { firstRetryMs, longestRetryMs } = STREAM_TIMES;
    const longest = Math.min(longestRetryMs, firstRetryMs * 2 ** this.#failures);
    this.#failures += 1;
    this.#cancelRetry = this.#ports.after(longest * (0.5 + this.#ports.random() / 2), () => {
      this.#cancelRetry = undefined;
      void this.#connect();
    });
  }

  #drop(): void {
    const current = this.#current;
    this.#current = undefined;
    this.#cancelRetry?.();
    this.#cancelRetry = undefined;
    this.#cancelWatch?.();
    this.#cancelWatch = undefined;
    current?.abort();
  }

  #heard(patienceMs: number): void {
    this.#heardAt = this.#ports.now();
    this.#cancelWatch?.();
    this.#cancelWatch = this.#ports.after(patienceMs, () => {
      this.#cancelWatch = undefined;
      this.#again();
    });
  }

  #say(status: StreamStatus): void {
    if (this.#stopped || status === this.#status) return;
    this.#status = status;
    this.#listener.onStatus(status);
  }
}

/** Undefined for what is no event: a newer gateway may say other things as well. */
export function eventOf(data: string): ConsoleEvent | undefined {
  try {
    const event: unknown = JSON.parse(data);
    return isEvent(event) ? event : undefined;
  } catch {
    return undefined;
  }
}

function isEvent(value: unknown): value is ConsoleEvent {
  if (typeof value !== 'object' || value === null) return false;
  return 'type' in value && typeof value.type === 'string' && 'id' in value && typeof value.id === 'string';
}
