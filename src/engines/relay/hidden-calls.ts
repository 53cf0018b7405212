/** Takes the calls of some tools out of a stream of events. A call is held until its name is known. */
import type { ModelEvent } from '../../core/events.js';

type CallEvent = Extract<ModelEvent, { key: number | string }>;
type State = { hidden: boolean } | { held: CallEvent[] };

export class HiddenCalls {
  readonly #isHidden: (name: string) => boolean;
  readonly #prefix: string;
  readonly #calls = new Map<number | string, State>();

  /** `prefix`: keeps the keys of this message apart from those of messages before it. */
  constructor(isHidden: (name: string) => boolean, prefix: string) {
    this.#isHidden = isHidden;
    this.#prefix = prefix;
  }

  push(batch: readonly ModelEvent[]): ModelEvent[] {
    return batch.flatMap((event) => ('key' in event ? this.#call(event) : [event]));
  }

  #call(event: CallEvent): ModelEvent[] {
    const state = this.#calls.get(event.key) ?? { held: [] };
    if ('hidden' in state) return state.hidden ? [] : [this.#keyed(event)];
    state.held.push(event);
    const name = event.type === 'tool' ? event.name : undefined;
    if (name === undefined || name === '') {
      this.#calls.set(event.key, state);
      return [];
    }
    const hidden = this.#isHidden(name);
    this.#calls.set(event.key, { hidden });
    return hidden ? [] : state.held.map((each) => this.#keyed(each));
  }

  #keyed(event: CallEvent): ModelEvent {
    return this.#prefix === '' ? event : { ...event, key: `${this.#prefix}${event.key}` };
  }
}
