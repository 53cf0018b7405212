/**
 * The connections that read events. One that takes too little is cut off and comes back; one whose
 * sign-in ends is ended with it. A publisher never waits for them.
 */
import { PeerSilent, type Peers } from '../../../cluster/peers.js';
import { GatewayError } from '../../../core/errors.js';
import type { Principal } from '../../../engines/engine.js';
import type { ApprovalCoordinator } from '../../../permissions/approvals.js';
import type { Exchange } from '../../http/exchange.js';
import { answerFrom } from '../../http/forwarding.js';
import type { Limits } from '../../http/limits.js';
import { NO_STORE, sendJson } from '../../http/respond.js';
import type { Handler } from '../../http/route-table.js';
import type { Snapshot } from '../wire/events.js';
import { EventStream } from './event-stream.js';
import { type EventHub, epochOf } from './hub.js';
import type { OtherNodes } from './other-nodes.js';
import { viewerOf } from './viewer.js';

interface EventStreamsOptions {
  hub: EventHub;
  approvals: Pick<ApprovalCoordinator, 'attend' | 'seen'>;
  /** Whether what the request came with still lets it in. */
  isStill(stream: Pick<EventStream, 'principal' | 'headers' | 'isOfNode'>): boolean;
  /** Where there are some. */
  others?: Pick<OtherNodes, 'attend'> | undefined;
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
    const { name } = exchange.principal;
    this.#checkRoom(name);
    const present = this.#attend(exchange.principal);
    const others = this.#options.others?.attend(exchange.principal);
    const stream = this.#open(exchange);
    this.#byKey.set(name, (this.#byKey.get(name) ?? 0) + 1);
    try {
      await others?.ready;
      await this.#run(stream, lastId);
    } finally {
      const left = (this.#byKey.get(name) ?? 1) - 1;
      if (left > 0) this.#byKey.set(name, left);
      else this.#byKey.delete(name);
      others?.leave();
      present(stream.isLost);
    }
  }

  /** For another node. Resolves when the stream is over: while the gateway drains, when no turn runs any more. */
  async serveNode(exchange: Exchange, lastId: string | undefined): Promise<void> {
    const stream = this.#open(exchange);
    if (this.#closed) this.#options.hub.onceIdle(() => stream.finish());
    await this.#run(stream, lastId);
  }

  /** As of now, what runs on other nodes included. */
  async snapshot(principal: Principal): Promise<{ id: string; snapshot: Snapshot }> {
    const others = this.#options.others?.attend(principal);
    try {
      await others?.ready;
      return await this.#options.hub.snapshot(viewerOf(principal));
    } finally {
      others?.leave();
    }
  }

  async #run(stream: EventStream, lastId: string | undefined): Promise<void> {
    const { hub } = this.#options;
    try {
      await hub.open(stream, lastId, stream.signal);
      stream.start(hub.limits.retryMs);
      this.relieve();
      await stream.over;
    } finally {
      hub.leave(stream);
      this.#remove(stream);
      stream.end();
    }
  }

  /** A sign-in has ended, or a key has other rights: so do the streams that stood on it. */
  check(): void {
    for (const stream of [...this.#streams]) {
      if (!this.#options.isStill(stream)) stream.finish();
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

  /** Takes no more, and ends all but those of other nodes: they go on while a turn runs. */
  close(): void {
    this.#closed = true;
    for (const stream of [...this.#streams]) if (!stream.isOfNode) stream.finish();
    this.#options.hub.onceIdle(() => {
      for (const stream of [...this.#streams]) stream.finish();
    });
  }

  #checkRoom(name: string): void {
    const { limits } = this.#options.hub;
    if (this.#closed) throw new GatewayError('unavailable', 'The gateway is shutting down.');
    const own = this.#byKey.get(name) ?? 0;
    const pages = [...this.#byKey.values()].reduce((sum, each) => sum + each, 0);
    if (own < limits.readersOfKey && pages < limits.readers) return;
    const most = own < limits.readersOfKey ? limits.readers : limits.readersOfKey;
    throw new GatewayError(
      'rate_limited',
      `${most} readers of events are connected ${own < limits.readersOfKey ? 'here' : `with the key "${name}"`} already, the most there may be. Close pages of the console that are not needed, and try again.`,
      { retryAfter: 5, retryable: true },
    );
  }

  #open(exchange: Exchange): EventStream {
    const { hub } = this.#options;
    const stream = new EventStream(exchange, { behindBytes: hub.limits.readerBytes, now: this.#now });
    this.#streams.add(stream);
    if (this.#timers.length > 0) return stream;
    const ping = () => {
      this.check();
      hub.ping();
    };
    this.#timers = [
      setInterval(ping, hub.limits.pingMs).unref(),
      setInterval(() => this.relieve(), hub.limits.stallMs / LOOKS_A_STALL).unref(),
    ];
    return stream;
  }

  #remove(stream: EventStream): void {
    this.#streams.delete(stream);
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

interface EventsContext {
  streams: EventStreams;
  peers: Peers | undefined;
  limits: Limits;
}

/**
 * `GET /api/events`: everything that the console shows, as it happens. See wire/events.ts. With
 * `?once=1` it is the snapshot alone, as JSON; with the id of an event beside it, that of the node which has said it.
 */
export const readEvents: Handler<EventsContext> = async (exchange, { streams, peers, limits }) => {
  const query = new URLSearchParams(exchange.query);
  const last = lastIdOf(exchange) ?? query.get('last_event_id') ?? undefined;
  if (query.get('once') === '1') {
    const node =
      exchange.forwarded === undefined
        ? peers?.others.find(({ instance }) => isOf(instance, last))
        : undefined;
    if (node !== undefined && peers !== undefined) {
      try {
        return await answerFrom(node, exchange, { peers, limits });
      } catch (error) {
        // What followed there will not come either: its own snapshot is as good.
        if (!(error instanceof PeerSilent)) throw error;
      }
    }
    const { id, snapshot } = await streams.snapshot(exchange.principal);
    sendJson(exchange, 200, { id, prev: null, ...snapshot }, NO_STORE);
    return;
  }
  await streams.serve(exchange, last);
};

/** The event is of that node. */
const isOf = (instance: string, id: string | undefined): boolean => id?.split('.')[0] === epochOf(instance);

/** What happens here, for another node: in the name of who looks there. Clients are told that there is no such thing. */
export const readNodeEvents: Handler<{ streams: EventStreams }> = async (exchange, { streams }) => {
  if (exchange.forwarded === undefined) {
    throw new GatewayError('not_found', 'There is nothing here for clients. Read /api/events.');
  }
  await streams.serveNode(exchange, lastIdOf(exchange));
};

function lastIdOf({ request }: Exchange): string | undefined {
  const header = request.headers['last-event-id'];
  return typeof header === 'string' && header !== '' ? header : undefined;
}
