/** All of the data layer but React: one for each page; tests have several in one process. */
import type { ApprovalWire } from '../../../src/server/console-api/wire/approvals.js';
import type { ConsoleEvent } from '../../../src/server/console-api/wire/events.js';
import { ApiError, type Request, requestOf } from './api.js';
import { EventTabs, type TabsPorts } from './events/event-tabs.js';
import { Decisions } from './pending-decisions.js';
import { applyEvent, noteApproval } from './reducer/apply-event.js';
import { type ConsoleState, StateStore } from './reducer/console-state.js';

interface ClientPorts extends TabsPorts {
  /** When the next change may be shown. */
  schedule(run: () => void): void;
}

/** Between two attempts to fetch the outcome of an approval. */
const AGAIN_MS = 3_000;

export class ConsoleClient {
  readonly store: StateStore;
  readonly request: Request;
  readonly tabs: EventTabs;
  readonly decisions: Decisions;
  readonly #ports: ClientPorts;
  readonly #batch: EventBatch;
  /** Approvals that were pending before a snapshot and are not in it: their outcome is fetched. */
  readonly #lost = new Set<string>();
  #before: ConsoleState;
  #stop: () => void = () => {};
  #cancelRetry: (() => void) | undefined;

  constructor(ports: ClientPorts, store: StateStore = new StateStore(), request?: Request) {
    this.#ports = ports;
    this.store = store;
    this.request = request ?? requestOf(ports.fetch);
    this.#before = store.get();
    this.#batch = new EventBatch(store, ports.schedule, ports.now);
    this.tabs = new EventTabs(ports, {
      onEvents: (events) => this.#batch.add(events),
      onStatus: (connection) => {
        // Events received before the change count as known.
        this.#batch.flush();
        store.update((state) => (state.connection === connection ? state : { ...state, connection }));
      },
    });
    this.decisions = new Decisions({ ...ports, request: this.request, store });
  }

  start(): void {
    this.#before = this.store.get();
    const unsubscribe = this.store.subscribe(() => this.#onState());
    this.#stop = () => {
      unsubscribe();
      this.#cancelRetry?.();
      this.tabs.stop();
    };
    this.tabs.start();
  }

  stop(): void {
    this.#stop();
    this.#stop = () => {};
  }

  /** A snapshot has only pending approvals: the outcome of the others is fetched for their cards. */
  #onState(): void {
    const before = this.#before;
    const now = this.store.get();
    this.#before = now;
    if (before.approvals === now.approvals) return;
    for (const [id, { state }] of before.approvals)
      if (state === 'pending' && !now.approvals.has(id)) {
        this.#lost.add(id);
        void this.#find(id);
      }
  }

  async #find(id: string): Promise<void> {
    try {
      const approval = await this.request<ApprovalWire>('GET', `/api/approvals/${encodeURIComponent(id)}`);
      this.#lost.delete(id);
      this.store.update((state) => noteApproval(state, approval));
    } catch (error) {
      // Deleted, or of another key.
      if (error instanceof ApiError && error.status < 500) this.#lost.delete(id);
      else this.#findLater();
    }
  }

  #findLater(): void {
    this.#cancelRetry ??= this.#ports.after(AGAIN_MS, () => {
      this.#cancelRetry = undefined;
      for (const id of this.#lost) void this.#find(id);
    });
  }
}

/** Events become one change of the state for each frame that is drawn. */
class EventBatch {
  readonly #store: StateStore;
  readonly #schedule: (run: () => void) => void;
  readonly #now: () => number;
  #waiting: { event: ConsoleEvent; at: number }[] = [];
  #scheduled = false;

  constructor(store: StateStore, schedule: (run: () => void) => void, now: () => number) {
    this.#store = store;
    this.#schedule = schedule;
    this.#now = now;
  }

  add(events: readonly ConsoleEvent[]): void {
    const at = this.#now();
    for (const event of events) this.#waiting.push({ event, at });
    if (this.#scheduled || this.#waiting.length === 0) return;
    this.#scheduled = true;
    this.#schedule(() => this.flush());
  }

  flush(): void {
    this.#scheduled = false;
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#store.update((state) =>
      waiting.reduce((next, { event, at }) => applyEvent(next, event, at), state),
    );
  }
}
