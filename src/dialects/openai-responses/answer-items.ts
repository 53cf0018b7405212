/** What has come of one item of an answer, so that nothing is said twice and nothing is missed. */
import type { JsonObject } from '../../core/conversation.js';

export interface ItemState {
  /** Names a call in the neutral events. */
  readonly key: number;
  type: string;
  id: string;
  callId: string;
  /** Parts whose text has been said, by index. */
  readonly said: Set<number>;
  /** Of reasoning: the field that brings the text; the same in another one is a copy. */
  source: 'summary' | 'content' | undefined;
  /** Of reasoning: the part that is being said. */
  part: number;
  /** Of a call: its head has been passed on. */
  announced: boolean;
  hasInput: boolean;
  done: boolean;
}

const CALLS: ReadonlySet<string> = new Set(['function_call', 'custom_tool_call']);

export class AnswerItems {
  readonly #items: ItemState[] = [];
  readonly #byIndex = new Map<number, ItemState>();
  #latest: ItemState | undefined;

  open(): readonly ItemState[] {
    return this.#items.filter(({ done }) => !done);
  }

  /** The item that an event inside of it belongs to; `type` where its beginning got lost. */
  of(event: JsonObject, type: string): ItemState {
    const { output_index: index, item_id: id } = event;
    const known =
      (typeof index === 'number' ? this.#byIndex.get(index) : undefined) ??
      (typeof id === 'string' && id !== '' ? this.#items.find((each) => each.id === id) : undefined) ??
      (typeof index === 'number' || this.#latest?.type !== type ? undefined : this.#latest);
    if (known !== undefined) return known;
    return this.#add({ type, id }, index);
  }

  /** The item that begins or ends with this event. */
  begin(item: JsonObject, index: unknown): ItemState {
    const known = typeof index === 'number' ? this.#byIndex.get(index) : this.#same(item);
    if (known === undefined) return this.#add(item, index);
    note(known, item);
    return known;
  }

  /**
   * The items of the final list: each with the state of what was streamed, or a new one. Servers
   * count and name items in that list as they like, so without a common id the first of a type is
   * the first of that type.
   */
  finals(items: readonly JsonObject[]): { item: JsonObject; state: ItemState }[] {
    const states = items.map((item) => this.#same(item));
    const left = new Set(this.#items);
    for (const state of states) if (state !== undefined) left.delete(state);
    return items.map((item, index) => {
      const known = states[index];
      if (known !== undefined) return { item, state: known };
      for (const state of left) {
        if (state.type !== item['type'] || isAnotherCall(state, item)) continue;
        left.delete(state);
        return { item, state };
      }
      return { item, state: this.#add(item, undefined) };
    });
  }

  #same({ id, call_id: callId }: JsonObject): ItemState | undefined {
    return this.#items.find(
      (each) => (each.id !== '' && each.id === id) || (each.callId !== '' && each.callId === callId),
    );
  }

  #add(item: JsonObject, index: unknown): ItemState {
    const state: ItemState = {
      key: this.#items.length,
      type: '',
      id: '',
      callId: '',
      said: new Set(),
      source: undefined,
      part: 0,
      announced: false,
      hasInput: false,
      done: false,
    };
    note(state, item);
    this.#items.push(state);
    if (typeof index === 'number') this.#byIndex.set(index, state);
    this.#latest = state;
    return state;
  }
}

function isAnotherCall(state: ItemState, { call_id: callId }: JsonObject): boolean {
  return CALLS.has(state.type) && state.callId !== '' && typeof callId === 'string' && callId !== '';
}

function note(state: ItemState, { type, id, call_id: callId }: JsonObject): void {
  if (typeof type === 'string') state.type = type;
  if (state.id === '' && typeof id === 'string') state.id = id;
  if (state.callId === '' && typeof callId === 'string') state.callId = callId;
}
