/** Events become one change of the state for each frame that is drawn. */
import type { ConsoleEvent } from '../../../../src/server/console-api/wire/events.js';
import type { StateStore } from '../console-state.js';
import { applyEvent } from '../reducer/apply-event.js';

export class EventBatch {
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
