/** How long a turn has waited for people: while at least one of its calls waited for a decision. */
import type { AgentActivity } from '../../activity/activity.js';

export class PersonWait {
  readonly #waiting = new Set<string>();
  readonly #now: () => number;
  #since = 0;
  #before = 0;

  constructor(now = () => performance.now()) {
    this.#now = now;
  }

  /** Milliseconds, up to now. */
  get ms(): number {
    return this.#before + (this.#waiting.size === 0 ? 0 : this.#now() - this.#since);
  }

  observe(activity: AgentActivity): void {
    if (activity.type !== 'tool') return;
    const { event, agent } = activity;
    const call = `${agent?.id ?? ''}\n${event.id}`;
    if (event.type === 'tool-waiting') {
      if (this.#waiting.size === 0) this.#since = this.#now();
      this.#waiting.add(call);
      return;
    }
    // Whatever else is heard of it, it does not wait any more.
    if (!this.#waiting.delete(call) || this.#waiting.size > 0) return;
    this.#before += this.#now() - this.#since;
  }
}
