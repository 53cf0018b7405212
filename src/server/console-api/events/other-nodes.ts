/**
 * What runs on other nodes, for people who look here. While somebody does, each other node is asked for what it
 * shows to them: one signed stream a node and class of viewers, which the other node fills as it would fill
 * theirs. What they may not see does not come here.
 */
import { randomUUID } from 'node:crypto';
import type { Peers } from '../../../cluster/peers.js';
import { atMost } from '../../../core/deferred.js';
import type { Principal } from '../../../engines/engine.js';
import type { Log } from '../../../observability/log.js';
import type { EventHub } from './hub.js';
import { NodeFeed } from './node-feed.js';
import { classOf, viewerOf } from './viewer.js';

interface OtherNodesOptions {
  peers: Peers;
  hub: EventHub;
  log: Pick<Log, 'warn'>;
  /** The turns of these sessions ended with their node. */
  onGone: ((sessions: readonly string[]) => void) | undefined;
}

interface View {
  /** Names of the keys that look, with how many times each. */
  names: Map<string, number>;
  /** One of them: whose request it is that the others are sent. */
  name: string;
  /** By instance. */
  feeds: Map<string, NodeFeed>;
  linger: NodeJS.Timeout | undefined;
}

interface Watch {
  /** Resolves when what runs on the others is known, or one of them takes too long. */
  ready: Promise<void>;
  leave(): void;
}

/** A node that does not answer at once is shown when it does. */
const READY_MS = 1000;

export class OtherNodes {
  readonly #options: OtherNodesOptions;
  readonly #views = new Map<string, View>();
  readonly #unlisten: () => void;
  #closed = false;

  constructor(options: OtherNodesOptions) {
    this.#options = options;
    this.#unlisten = options.peers.onLook(() => {
      for (const [id, view] of this.#views) this.#follow(id, view);
    });
  }

  /** Somebody looks, until they leave. */
  attend(principal: Principal): Watch {
    const id = classOf(viewerOf(principal));
    const { name } = principal;
    const view = this.#views.get(id) ?? { names: new Map(), name, feeds: new Map(), linger: undefined };
    this.#views.set(id, view);
    clearTimeout(view.linger);
    view.names.set(name, (view.names.get(name) ?? 0) + 1);
    view.name = name;
    this.#follow(id, view);
    return { ready: atMost(READY_MS, this.#known(view)), leave: () => this.#leave(id, view, name) };
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#unlisten();
    const views = [...this.#views];
    this.#views.clear();
    await Promise.all(views.map(([, view]) => this.#end(view)));
  }

  async #known({ feeds }: View): Promise<void> {
    // While the store is away, those that were known before.
    await this.#options.peers.look().catch(() => {});
    await Promise.all([...feeds.values()].map(({ known }) => known));
  }

  #leave(id: string, view: View, name: string): void {
    const left = (view.names.get(name) ?? 1) - 1;
    if (left > 0) view.names.set(name, left);
    else view.names.delete(name);
    view.name = [...view.names.keys()].at(-1) ?? name;
    if (view.names.size > 0 || this.#views.get(id) !== view) return;
    // As long as events are kept for one who comes back.
    view.linger = setTimeout(() => {
      this.#views.delete(id);
      void this.#end(view);
    }, this.#options.hub.limits.keepMs).unref();
  }

  /** Asks the nodes that it does not ask yet. One that is gone finds out by itself. */
  #follow(id: string, view: View): void {
    const { peers, hub, log, onGone } = this.#options;
    if (this.#closed) return;
    for (const node of peers.others) {
      if (view.feeds.has(node.instance)) continue;
      const feed = new NodeFeed({
        ...{ node, peers, hub, log, view: id, onGone },
        request: () => ({ id: `req_${randomUUID().replaceAll('-', '')}`, principal: view.name }),
      });
      view.feeds.set(node.instance, feed);
      void feed.over.then(() => view.feeds.delete(node.instance));
    }
  }

  async #end(view: View): Promise<void> {
    clearTimeout(view.linger);
    await Promise.all([...view.feeds.values()].map((feed) => feed.close()));
  }
}
