/** One stream of another node's events, for one class of viewers: connected again until that node is gone. */
import { setTimeout as delay } from 'node:timers/promises';
import * as z from 'zod';
import type { PeerRequest, Peers } from '../../../cluster/peers.js';
import { deferred } from '../../../core/deferred.js';
import type { ServerSentEvent } from '../../../core/server-sent-event.js';
import type { Log } from '../../../observability/log.js';
import type { ClusterNode } from '../../../store/nodes.js';
import type { HttpResponse } from '../../../transport/http-client/types.js';
import { SseReader } from '../../../transport/sse-reader.js';
import type { EventHub } from './hub.js';
import type { NodeEvent, TurnMirror } from './turn-mirror.js';

interface NodeFeedOptions {
  node: ClusterNode;
  peers: Pick<Peers, 'send' | 'hasEnded'>;
  hub: EventHub;
  view: string;
  /** Whose request it is, now. */
  request(): Pick<PeerRequest, 'id' | 'principal'>;
  log: Pick<Log, 'warn'>;
  onGone: ((sessions: readonly string[]) => void) | undefined;
}

export const NODE_EVENTS_PATH = '/api/node/events';

const RETRY_MS = { first: 100, longest: 5000 } as const;
/** A node that may not show them anything is asked again now and then: keys change. */
const REFUSED_MS = 15_000;

/** A node of another version may tell more. */
const NODE_EVENTS = new Set([
  ...['snapshot', 'turn', 'request', 'ping', 'text', 'thinking', 'tool_use', 'dropped', 'tool_input_delta'],
  ...['tool_start', 'tool_waiting', 'tool_progress', 'tool_result', 'handed_back', 'model_start', 'usage'],
  ...['agent_start', 'agent_end', 'compacted', 'max_turns'],
]);
const frame = z.looseObject({ id: z.string(), prev: z.string().nullable(), type: z.string() });
const nodeEvent = z.custom<NodeEvent>();

export class NodeFeed {
  readonly #options: NodeFeedOptions;
  readonly #stop = new AbortController();
  readonly #known = deferred();
  readonly #mirror: TurnMirror;
  #lastId: string | undefined;
  #retryMs: number = RETRY_MS.first;
  /** Resolves when what runs there is known, or it cannot be. */
  readonly known = this.#known.promise;
  /** Resolves when the node is gone, or after `close`. */
  readonly over: Promise<void>;

  constructor(options: NodeFeedOptions) {
    this.#options = options;
    this.#mirror = options.hub.mirror(options.view);
    this.over = this.#run();
  }

  close(): Promise<void> {
    this.#stop.abort();
    return this.over;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const waitMs = await this.#connect().catch((error: unknown) => this.#onFailure(error));
      this.#known.resolve();
      if (await this.#hasEnded()) {
        this.#giveUp();
        break;
      }
      await delay(waitMs, undefined, { signal, ref: false }).catch(() => {});
    }
    this.#options.hub.remove(this.#mirror);
  }

  /** Resolves when the stream is over, with how long to wait before the next. */
  async #connect(): Promise<number> {
    const { peers, node, request } = this.#options;
    const response = await peers.send(node, {
      ...{ ...request(), method: 'GET', path: NODE_EVENTS_PATH, signal: this.#stop.signal },
      headers: this.#lastId === undefined ? {} : { 'last-event-id': this.#lastId },
    });
    if (response.status !== 200) {
      await response.body.return();
      this.#lastId = undefined;
      if (this.#mirror.take({ type: 'snapshot', turns: [] })) await this.#resync();
      return REFUSED_MS;
    }
    await this.#read(response.body);
    return RETRY_MS.first;
  }

  async #read(body: HttpResponse['body']): Promise<void> {
    const reader = new SseReader();
    for await (const bytes of body) {
      const events: ServerSentEvent[] = [];
      reader.push(bytes, events);
      for (const { data } of events) await this.#take(data);
    }
  }

  async #take(data: string): Promise<void> {
    const { id, prev, ...rest } = frame.parse(JSON.parse(data));
    if (rest.type !== 'snapshot' && this.#lastId !== undefined && prev !== this.#lastId)
      throw new Error('Events are missing in between.');
    if (NODE_EVENTS.has(rest.type) && this.#mirror.take(nodeEvent.parse(rest))) await this.#resync();
    this.#lastId = id;
    this.#retryMs = RETRY_MS.first;
    this.#known.resolve();
  }

  #resync(): Promise<void> {
    return this.#options.hub.resync(this.#options.view);
  }

  #onFailure(error: unknown): number {
    const waitMs = this.#retryMs;
    this.#retryMs = Math.min(2 * waitMs, RETRY_MS.longest);
    if (this.#stop.signal.aborted || waitMs > RETRY_MS.first) return waitMs;
    const { log, node } = this.#options;
    log.warn({ err: error, node: node.name }, 'what runs on another node is not seen; it is asked again');
    return waitMs;
  }

  async #hasEnded(): Promise<boolean> {
    const { peers, node } = this.#options;
    // While the store is away nobody can say.
    return !this.#stop.signal.aborted && (await peers.hasEnded(node.instance).catch(() => false));
  }
  #giveUp(): void {
    const { node, onGone } = this.#options;
    const sessions = this.#mirror.end(
      `The node ${node.name}, on which this ran, is gone. What was saved is kept: resume it, or say something to go on.`,
    );
    if (sessions.length > 0) onGone?.(sessions);
  }
}
