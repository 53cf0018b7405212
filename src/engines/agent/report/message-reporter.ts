/**
 * Tells of one message of a model while it streams. Ids of calls hold only once the message is
 * whole; until then a call has the one that it will most likely have, and is reported again if not.
 */
import type { AgentActivityBody } from '../../../activity/activity.js';
import type { JsonObject, ToolUseBlock } from '../../../core/conversation.js';

type Key = number | string;

/** A call as far as the model has said it. */
interface StreamedToolCall {
  readonly key: Key;
  readonly id: string;
  readonly name: string;
  /** All of its arguments so far. */
  readonly json: string;
}

interface Told {
  id: string;
  name: string;
  whole: boolean;
}

export class MessageReporter {
  readonly #notify: (activity: AgentActivityBody) => void;
  readonly #taken: ReadonlySet<string>;
  readonly #plain: (name: string) => string;
  readonly #told = new Map<Key, Told>();

  /** `taken`: ids that the conversation has already. `plain`: the name that a tool has outside. */
  constructor(
    notify: (activity: AgentActivityBody) => void,
    taken: ReadonlySet<string>,
    plain: (name: string) => string = (name) => name,
  ) {
    this.#notify = notify;
    this.#taken = taken;
    this.#plain = plain;
  }

  said(type: 'text' | 'thinking', text: string): void {
    this.#notify({ type, text });
  }

  /** More is known of a call. It is reported once its name is there; `json` is the new part. */
  called(call: StreamedToolCall, json: string): void {
    const told = this.#told.get(call.key);
    if (told !== undefined) {
      if (json !== '') this.#notify({ type: 'call-input', id: told.id, json });
      return;
    }
    if (call.name === '') return;
    const began: Told = { id: this.#free(call.id), name: this.#plain(call.name), whole: false };
    this.#told.set(call.key, began);
    this.#notify({ type: 'call-began', id: began.id, name: began.name });
    if (call.json !== '') this.#notify({ type: 'call-input', id: began.id, json: call.json });
  }

  /** The model says that it has said all of it. */
  ended({ key }: StreamedToolCall, input: JsonObject): void {
    const told = this.#told.get(key);
    if (told === undefined || told.whole) return;
    told.whole = true;
    this.#notify({ type: 'call-whole', id: told.id, name: told.name, input });
  }

  /** The message is whole, and its calls have the ids and names that they keep. */
  settle(calls: readonly { key?: Key; block: ToolUseBlock }[]): void {
    for (const { key, block } of calls) {
      const told = key === undefined ? undefined : this.#told.get(key);
      if (key !== undefined) this.#told.delete(key);
      const { id, name, input } = block;
      if (told?.whole === true && told.id === id && told.name === name) continue;
      const was = told === undefined || told.id === id ? {} : { was: told.id };
      this.#notify({ type: 'call-whole', id, ...was, name, input });
    }
    this.drop();
  }

  /** Calls that were reported and are not settled will not be made. */
  drop(): void {
    const ids = [...this.#told.values()].map(({ id }) => id);
    this.#told.clear();
    if (ids.length > 0) this.#notify({ type: 'calls-dropped', ids });
  }

  #free(id: string): string {
    const isTaken = (each: string) =>
      this.#taken.has(each) || [...this.#told.values()].some((told) => told.id === each);
    const base = id === '' ? `call_${this.#taken.size + this.#told.size + 1}` : id;
    let free = base;
    for (let copy = 2; isTaken(free); copy += 1) free = `${base}-${copy}`;
    return free;
  }
}
