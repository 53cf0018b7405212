/** A clock and a network for tests, moved by hand. */

import type { Timers } from '../../console/src/data/events/ports.js';
import type { SharedPorts, TabMessage } from '../../console/src/data/events/tab-messages.js';
import type { ConsoleEvent } from '../../src/server/console-api/wire/events.js';

export class ManualClock implements Timers {
  #now = 1_000_000;
  readonly #timers = new Set<{ at: number; run: () => void }>();

  readonly now = (): number => this.#now;
  readonly random = (): number => 0.5;
  readonly after = (ms: number, run: () => void): (() => void) => {
    const timer = { at: this.#now + ms, run };
    this.#timers.add(timer);
    return () => {
      this.#timers.delete(timer);
    };
  };

  get waiting(): number {
    return this.#timers.size;
  }

  /** Time passes, and everything that is due happens in its order. */
  async pass(ms: number): Promise<void> {
    const end = this.#now + ms;
    await settled();
    for (;;) {
      const [next] = [...this.#timers].filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at);
      if (next === undefined) break;
      this.#timers.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.run();
      await settled();
    }
    this.#now = end;
    await settled();
  }
}

/** Whatever was only waiting for promises is over. */
export async function settled(): Promise<void> {
  for (let round = 0; round < 5; round++) await new Promise((resolve) => setImmediate(resolve));
}

/** One stream of events that a client has opened. */
export class OpenStream {
  readonly path: string;
  readonly lastId: string | null;
  readonly #controller: ReadableStreamDefaultController<Uint8Array>;
  readonly #signal: AbortSignal | null | undefined;

  constructor(path: string, init: RequestInit, controller: ReadableStreamDefaultController<Uint8Array>) {
    this.path = path;
    this.lastId = new Headers(init.headers).get('last-event-id');
    this.#controller = controller;
    this.#signal = init.signal;
  }

  get isOpen(): boolean {
    return this.#signal?.aborted !== true;
  }

  async say(...events: readonly ConsoleEvent[]): Promise<void> {
    const text = events.map((event) => `id: ${event.id}\ndata: ${JSON.stringify(event)}\n\n`).join('');
    this.#controller.enqueue(new TextEncoder().encode(text));
    await settled();
  }

  async end(): Promise<void> {
    this.#controller.close();
    await settled();
  }
}

/** A gateway that is there, refuses, or is not there. */
export class ManualGateway {
  readonly streams: OpenStream[] = [];
  status: number | 'gone' = 200;
  /** Paths of those who asked once. */
  readonly asked: string[] = [];
  /** For who asks once. */
  snapshot: ConsoleEvent | undefined;

  readonly fetch = async (path: string, init: RequestInit): Promise<Response> => {
    if (this.status === 'gone') throw new TypeError('fetch failed');
    if (this.status !== 200) return new Response('{}', { status: this.status });
    if (path.includes('once=1')) this.asked.push(path);
    if (path.includes('once=1')) return new Response(JSON.stringify(this.snapshot), { status: 200 });
    let opened: OpenStream | undefined;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        opened = new OpenStream(path, init, controller);
        init.signal?.addEventListener('abort', () => controller.error(new Error('aborted')));
      },
    });
    if (opened !== undefined) this.streams.push(opened);
    return new Response(body, { status: 200 });
  };

  /** The newest. */
  get stream(): OpenStream {
    const stream = this.streams.at(-1);
    if (stream === undefined) throw new Error('Nobody has connected');
    return stream;
  }
}

interface Claim {
  held: () => Promise<void>;
  resolve: () => void;
  reject: (error: Error) => void;
}

/** A browser that tabs share: one lock, one channel. */
export class ManualBrowser {
  readonly #listeners = new Map<object, (message: TabMessage) => void>();
  #holder: Claim | undefined;
  #line: Claim[] = [];

  /** Of one tab. A tab that is frozen hears nothing. */
  tab(isFrozen: () => boolean = () => false): SharedPorts {
    const self = {};
    return {
      visible: () => true,
      channel: {
        post: (message) => {
          if (isFrozen()) return;
          for (const [other, listener] of this.#listeners)
            if (other !== self) setImmediate(() => listener(message));
        },
        listen: (onMessage) => {
          this.#listeners.set(self, (message) => {
            if (!isFrozen()) onMessage(message);
          });
          return () => this.#listeners.delete(self);
        },
      },
      lock: {
        request: (held, { steal, signal }) =>
          new Promise((resolve, reject) => {
            const claim = { held, resolve, reject };
            signal.addEventListener('abort', () => {
              this.#line = this.#line.filter((each) => each !== claim);
            });
            if (steal) {
              this.#holder?.reject(new Error('stolen'));
              this.#grant(claim);
            } else if (this.#holder === undefined) this.#grant(claim);
            else this.#line.push(claim);
          }),
      },
    };
  }

  #grant(claim: Claim): void {
    this.#holder = claim;
    void claim.held().then(() => {
      claim.resolve();
      if (this.#holder !== claim) return;
      this.#holder = undefined;
      const next = this.#line.shift();
      if (next !== undefined) this.#grant(next);
    });
  }
}
