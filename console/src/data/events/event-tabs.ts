/**
 * One connection for all tabs of a browser: a browser opens six HTTP/1.1 connections to one address,
 * and a stream in each of ten tabs would block everything. The leader is the tab that holds a lock: it
 * has the stream and broadcasts the events to the others. When it closes, the next tab gets the lock
 * and resumes after the last event that it knows. A new tab requests a snapshot once.
 */
import type { ConsoleEvent } from '../../../../src/server/console-api/wire/events.js';
import { eventPosition, isKnown } from '../reducer/event-ids.js';
import { EVENTS_PATH, EventStream, eventOf, type StreamListener, type StreamStatus } from './event-stream.js';
import type { StreamPorts } from './ports.js';
import type { SharedPorts, TabMessage } from './tab-messages.js';

export const TAB_TIMES = {
  /** How long a follower waits without a message of the leader. */
  aloneMs: 500,
  /** The leader's heartbeat. */
  heartbeatMs: 15_000,
  /** A silent leader is pinged, then its lock is stolen: it may be frozen. */
  askMs: 45_000,
  takeMs: 60_000,
  retryMs: 2_000,
} as const;

export interface TabsPorts extends StreamPorts {
  /** Undefined where the browser has no locks or channels: every tab has its own connection. */
  shared: SharedPorts | undefined;
}

export class EventTabs {
  readonly #ports: TabsPorts;
  readonly #listener: StreamListener;
  #stream: EventStream | undefined;
  #lastId: string | null = null;
  #status: StreamStatus = 'connecting';
  #leaderStatus: StreamStatus = 'connecting';
  /** A snapshot is being fetched: events are queued. */
  #sync: AbortController | undefined;
  #waiting: ConsoleEvent[] = [];
  /** The last event of the leader: a snapshot has to be of its node, whose events follow. */
  #leaderId: string | undefined;
  #heardAt = 0;
  #asked = false;
  #ended: AbortController | undefined;
  /** Releases the lock. */
  #release: () => void = () => {};
  readonly #cancels = new Map<string, () => void>();

  constructor(ports: TabsPorts, listener: StreamListener) {
    this.#ports = ports;
    this.#listener = listener;
  }

  get leads(): boolean {
    return this.#stream !== undefined;
  }

  start(): void {
    if (this.#ended !== undefined) return;
    const ended = new AbortController();
    this.#ended = ended;
    const { shared } = this.#ports;
    if (shared === undefined) {
      this.#lead();
      return;
    }
    const silence = shared.channel.listen((message) => this.#onMessage(message));
    ended.signal.addEventListener('abort', silence, { once: true });
    this.#heardAt = this.#ports.now();
    this.#want(false);
    shared.channel.post({ kind: 'hello' });
    this.#after('alone', TAB_TIMES.aloneMs, () => this.#resync());
    this.#watch();
  }

  stop(): void {
    this.#ended?.abort();
    this.#ended = undefined;
    this.#sync?.abort();
    this.#sync = undefined;
    this.#follow();
    for (const cancel of this.#cancels.values()) cancel();
    this.#cancels.clear();
  }

  /** The person asks, or has signed in. */
  reconnect(): void {
    if (this.#stream !== undefined) this.#stream.reconnect();
    else {
      this.#ports.shared?.channel.post({ kind: 'reconnect' });
      this.#resync();
    }
  }

  /** The tab is looked at again, or the network is back. */
  check(): void {
    if (this.#stream !== undefined) this.#stream.check();
    else {
      this.#ports.shared?.channel.post({ kind: 'check' });
      if (this.#lastId === null) this.#resync();
    }
  }

  #want(steal: boolean): void {
    const { shared } = this.#ports;
    const ended = this.#ended;
    if (shared === undefined || ended === undefined) return;
    const held = (): Promise<void> =>
      new Promise((release) => {
        // It may be queued twice.
        if (ended.signal.aborted || this.#stream !== undefined) return release();
        this.#release = release;
        this.#lead();
      });
    shared.lock.request(held, { steal, signal: ended.signal }).catch(() => {
      if (ended.signal.aborted) return;
      // Another tab stole the lock while this one was asleep: it queues again.
      this.#follow();
      this.#heardAt = this.#ports.now();
      this.#want(false);
    });
  }

  #lead(): void {
    this.#sync?.abort();
    this.#sync = undefined;
    this.#waiting = [];
    this.#cancels.get('alone')?.();
    const stream = new EventStream(
      this.#ports,
      {
        onEvents: (events) => {
          this.#ports.shared?.channel.post({ kind: 'events', events });
          this.#give(events);
        },
        onStatus: (status) => {
          this.#post(status);
          this.#say(status);
        },
      },
      this.#lastId,
    );
    this.#stream = stream;
    this.#post(stream.status);
    this.#beat();
    stream.start();
  }

  #follow(): void {
    this.#stream?.stop();
    this.#stream = undefined;
    this.#cancels.get('beat')?.();
    this.#release();
    this.#release = () => {};
  }

  #onMessage(message: TabMessage): void {
    if (this.#stream !== undefined) {
      if (message.kind === 'hello') this.#post(this.#stream.status);
      else if (message.kind === 'reconnect') this.#stream.reconnect();
      else if (message.kind === 'check') {
        this.#post(this.#stream.status);
        this.#stream.check();
      }
      return;
    }
    if (message.kind !== 'events' && message.kind !== 'status') return;
    this.#heardAt = this.#ports.now();
    this.#asked = false;
    if (message.kind === 'events') this.#onEvents(message.events);
    else this.#onLeaderStatus(message.status);
  }

  #onLeaderStatus(status: StreamStatus): void {
    this.#leaderStatus = status;
    if (status === 'signed-out') this.#say(status);
    else if (this.#lastId === null) this.#resync();
    else if (this.#sync === undefined) this.#say(status);
  }

  #onEvents(events: readonly ConsoleEvent[]): void {
    this.#leaderId = events.at(-1)?.id ?? this.#leaderId;
    if (this.#sync !== undefined) {
      this.#waiting.push(...events);
      return;
    }
    const good: ConsoleEvent[] = [];
    let [last, whole] = [this.#lastId, true];
    for (const event of events) {
      if (event.type === 'snapshot' ? isKnown(event.id, last) : eventPosition(last, event) === 'repeat')
        continue;
      if (event.type !== 'snapshot' && eventPosition(last, event) !== 'next') {
        whole = false;
        break;
      }
      last = event.id;
      good.push(event);
    }
    if (good.length > 0) {
      this.#give(good);
      this.#leaderStatus = 'live';
      this.#say('live');
    }
    if (!whole) this.#resync();
  }

  /** Requests a snapshot; events that arrive in the meantime are applied after it. */
  #resync(): void {
    if (this.#sync !== undefined || this.#stream !== undefined || this.#ended === undefined) return;
    this.#cancels.get('alone')?.();
    this.#cancels.get('retry')?.();
    const abort = new AbortController();
    this.#sync = abort;
    void this.#fetchOnce(abort.signal).then(
      (found) => {
        if (this.#sync !== abort) return;
        this.#sync = undefined;
        if (found === 'signed-out') this.#say(found);
        else if (found === undefined) this.#syncLater();
        else {
          this.#give([found]);
          this.#say(this.#leaderStatus === 'lost' ? 'lost' : 'live');
          this.#onEvents(this.#waiting.splice(0));
        }
      },
      () => {
        if (this.#sync !== abort) return;
        this.#sync = undefined;
        this.#syncLater();
      },
    );
  }

  #syncLater(): void {
    this.#waiting = [];
    this.#say('lost');
    this.#after('retry', TAB_TIMES.retryMs * (0.5 + this.#ports.random()), () => this.#resync());
  }

  async #fetchOnce(signal: AbortSignal): Promise<ConsoleEvent | 'signed-out' | undefined> {
    const of = this.#leaderId === undefined ? '' : `&last_event_id=${encodeURIComponent(this.#leaderId)}`;
    const answer = await this.#ports.fetch(`${EVENTS_PATH}?once=1${of}`, { signal });
    if (answer.status === 401 || answer.status === 403) return 'signed-out';
    if (!answer.ok) return undefined;
    const event = eventOf(await answer.text());
    return event?.type === 'snapshot' ? event : undefined;
  }

  #give(events: readonly ConsoleEvent[]): void {
    const last = events.at(-1);
    if (last !== undefined) this.#lastId = last.id;
    this.#listener.onEvents(events);
  }

  #say(status: StreamStatus): void {
    if (status === this.#status) return;
    this.#status = status;
    this.#listener.onStatus(status);
  }

  #post(status: StreamStatus): void {
    this.#ports.shared?.channel.post({ kind: 'status', status });
  }

  #beat(): void {
    if (this.#ports.shared === undefined) return;
    this.#after('beat', TAB_TIMES.heartbeatMs, () => {
      if (this.#stream === undefined) return;
      this.#post(this.#stream.status);
      this.#beat();
    });
  }

  /** Timers of hidden tabs are late, messages are not: a living leader answers a ping. */
  #watch(): void {
    this.#after('watch', TAB_TIMES.heartbeatMs / 3, () => {
      const silent = this.#ports.now() - this.#heardAt;
      const { shared } = this.#ports;
      if (this.#stream === undefined && shared?.visible() === true) {
        if (silent > TAB_TIMES.takeMs && this.#asked) {
          this.#asked = false;
          this.#heardAt = this.#ports.now();
          this.#want(true);
        } else if (silent > TAB_TIMES.askMs) {
          // After a sleep of the whole machine the silence says nothing about the leader.
          if (!this.#asked) this.#heardAt = this.#ports.now() - TAB_TIMES.askMs;
          this.#asked = true;
          shared.channel.post({ kind: 'check' });
        }
      }
      this.#watch();
    });
  }

  #after(name: string, ms: number, run: () => void): void {
    this.#cancels.get(name)?.();
    const cancel = this.#ports.after(ms, () => {
      this.#cancels.delete(name);
      run();
    });
    this.#cancels.set(name, () => {
      this.#cancels.delete(name);
      cancel();
    });
  }
}
