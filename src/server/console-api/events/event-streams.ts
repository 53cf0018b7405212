/**
 * The connections that read events. One that takes too little is cut off and comes back; one whose
 * sign-in ends is ended with it. A publisher never waits for them.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '../../../core/errors.js';
import type { Principal } from '../../../engines/engine.js';
import type { ApprovalCoordinator } from '../../../permissions/approvals.js';
import type { Exchange } from '../../http/exchange.js';
import { NO_STORE, sendJson } from '../../http/respond.js';
import type { Handler } from '../../http/route-table.js';
import { EventStream, viewerOf } from './event-stream.js';
import type { EventHub } from './hub.js';

interface EventStreamsOptions {
  hub: EventHub;
  approvals: Pick<ApprovalCoordinator, 'attend' | 'seen'>;
  /** Whether what the request came with still lets it in. */
  isStill(principal: Principal, headers: IncomingHttpHeaders): boolean;
  /** Milliseconds from any beginning. */
  now?: () => number;
}

/** How often it is looked after stalled readers while one of them may be. */
const LOOKS_A_STALL = 4;

export class EventStreams {
  readonly #options: EventStreamsOptions;
  readonly #streams = new Set<EventStream>();
  readonly #byKey = new Map<string, number>();
  readonly #now: () => number;
  #timers: NodeJS.Timeout[] = [];
  #closed = false;

  constructor(options: EventStreamsOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  get size(): number {
    return this.#streams.size;
  }

  /** Resolves when the stream is over. Throws `rate_limited` while there is no room for one more. */
  async serve(exchange: Exchange, lastId: string | undefined): Promise<void> {
    const { hub } = this.#options;
    const { name } = exchange.principal;
    this.#checkRoom(name);
    const stream = new EventStream(exchange, { behindBytes: hub.limits.readerBytes, now: this.#now });
    this.#add(stream, name);
    const depart = this.#attend(exchange.principal);
    try {
      await hub.open(stream, lastId, stream.signal);
      stream.start(hub.limits.retryMs);
      this.relieve();
      await stream.over;
    } finally {
      hub.leave(stream);
      this.#remove(stream, name);
      depart(stream.isLost);
      stream.end();
    }
  }

  /** A sign-in has ended, or a key has other rights: so do the streams that stood on it. */
  check(): void {
    for (const stream of [...this.#streams]) {
      if (!this.#options.isStill(stream.principal, stream.headers)) stream.finish();
    }
  }

  /**
   * Cuts off who takes nothing: all that have not for too long, and where too much waits as a whole,
   * those first that have not for the longest.
   */
  relieve(): void {
    const { stallMs, waitingBytes } = this.#options.hub.limits;
    const overdue = this.#now() - stallMs;
    const stalled: { stream: EventStream; since: number }[] = [];
    const firsts = new Map<Buffer, number>();
    let waiting = 0;
    for (const stream of [...this.#streams]) {
      const { stalledSince: since, firstWaiting: first } = stream;
      if (since === undefined) continue;
      if (since <= overdue) {
        stream.cutOff();
        continue;
      }
      stalled.push({ stream, since });
      waiting += stream.behind;
      if (first === undefined) continue;
      const holders = firsts.get(first) ?? 0;
      if (holders === 0) waiting += first.length;
      firsts.set(first, holders + 1);
    }
    if (waiting <= waitingBytes) return;
    for (const { stream } of stalled.sort((a, b) => a.since - b.since)) {
      if (waiting <= waitingBytes) return;
      const { behind, firstWaiting: first } = stream;
      stream.cutOff();
      waiting -= behind;
      if (first === undefined) continue;
      const holders = (firsts.get(first) ?? 1) - 1;
      firsts.set(first, holders);
      if (holders === 0) waiting -= first.length;
    }
  }

  /** Ends all of them, and takes no more. */
  close(): void {
    this.#closed = true;
    this.#stopTimers();
    for (const stream of [...this.#streams]) stream.finish();
  }

  #checkRoom(name: string): void {
    const { limits } = this.#options.hub;
    if (this.#closed) throw new GatewayError('unavailable', 'The gateway is shutting down.');
    const own = this.#byKey.get(name) ?? 0;
    if (own < limits.readersOfKey && this.#streams.size < limits.readers) return;
    const most = own < limits.readersOfKey ? limits.readers : limits.readersOfKey;
    throw new GatewayError(
      'rate_limited',
      `${most} readers of events are connected ${own < limits.readersOfKey ? 'here' : `with the key "${name}"`} already, the most there may be. Close pages of the console that are not needed, and try again.`,
      { retryAfter: 5, retryable: true },
    );
  }

  #add(stream: EventStream, name: string): void {
    this.#streams.add(stream);
    this.#byKey.set(name, (this.#byKey.get(name) ?? 0) + 1);
    if (this.#timers.length > 0) return;
    const { hub } = this.#options;
    const ping = () => {
      this.check();
      hub.ping();
    };
    this.#timers = [
      setInterval(ping, hub.limits.pingMs).unref(),
      setInterval(() => this.relieve(), hub.limits.stallMs / LOOKS_A_STALL).unref(),
    ];
  }

  #remove(stream: EventStream, name: string): void {
    this.#streams.delete(stream);
    const left = (this.#byKey.get(name) ?? 1) - 1;
    if (left > 0) this.#byKey.set(name, left);
    else this.#byKey.delete(name);
    if (this.#streams.size === 0) this.#stopTimers();
  }

  #stopTimers(): void {
    for (const timer of this.#timers.splice(0)) clearInterval(timer);
  }

  /** A reader that may answer is present; a connection that is lost is usually back in a moment. */
  #attend({ name, scopes }: Principal): (mayComeBack: boolean) => void {
    if (!scopes.includes('approve')) return () => {};
    const { approvals } = this.#options;
    const whose = scopes.includes('admin') ? undefined : name;
    const depart = approvals.attend(whose);
    return (mayComeBack) => {
      if (mayComeBack) approvals.seen(whose);
      depart();
    };
  }
}

/**
 * `GET /api/events`: everything that the console shows, as it happens. See wire/events.ts. With
 * `?once=1` it is the snapshot alone, as JSON.
 */
export const readEvents: Handler<{ events: EventHub; streams: EventStreams }> = async (
  exchange,
  { events, streams },
) => {
  const query = new URLSearchParams(exchange.query);
  if (query.get('once') === '1') {
    const { id, snapshot } = await events.snapshot(viewerOf(exchange.principal));
    sendJson(exchange, 200, { id, prev: null, ...snapshot }, NO_STORE);
    return;
  }
  const header = exchange.request.headers['last-event-id'];
  const last = typeof header === 'string' && header !== '' ? header : query.get('last_event_id');
  await streams.serve(exchange, last ?? undefined);
};
