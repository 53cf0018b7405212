/**
 * Which call a piece of `tool_calls` belongs to. The documented key is `index`; servers leave it
 * out, give every call the same one, or send a new id with every piece.
 */
import type { JsonObject } from '../../core/conversation.js';
import type { ModelEvent } from '../../core/events.js';
import { isObject } from '../../core/is-object.js';
import type { ToolNames } from '../shared/tool-names.js';
import { DIALECT } from './wire.js';

interface Slot {
  key: number;
  id: string;
  /** The name as far as it has come. */
  name: string;
  /** The name has been passed on, so later pieces of it are repeats. */
  named: boolean;
  hasInput: boolean;
  /** A custom tool's input is free text, passed on as the JSON string `input`. */
  custom: boolean;
  extra: JsonObject | undefined;
}

export class ToolSlots {
  readonly #names: ToolNames;
  readonly #slots: Slot[] = [];
  readonly #byIndex = new Map<number, Slot>();
  readonly #byId = new Map<string, Slot>();
  /** Calls that something came for since the last one was opened: an answer may hold very many. */
  readonly #touched = new Set<Slot>();
  /** Calls that an element of the list being read has named. */
  readonly #inList = new Set<Slot>();

  constructor(names: ToolNames) {
    this.#names = names;
  }

  get used(): boolean {
    return this.#slots.length > 0;
  }

  /** One element of `tool_calls`; `position` is its place in that array, `count` the array's length. */
  push(call: JsonObject, position: number, count: number, out: ModelEvent[]): void {
    const body = bodyOf(call);
    if (this.#passOn(call, body, out)) return;
    const id = typeof call['id'] === 'string' ? call['id'] : '';
    const name = typeof body?.['name'] === 'string' ? body['name'] : '';
    const index = typeof call['index'] === 'number' ? call['index'] : undefined;
    if (position === 0) this.#inList.clear();
    const slot = this.#find(index, id, name, count > 1 ? position : undefined) ?? this.#open(index, out);
    this.#touched.add(slot);
    if (count > 1) this.#inList.add(slot);
    if (id !== '') this.#byId.set(id, slot);
    if (call['type'] === 'custom' || isObject(call['custom'])) slot.custom = true;
    if (isObject(call['extra_content'])) slot.extra ??= { extra_content: call['extra_content'] };
    const input = slot.custom ? body?.['input'] : body?.['arguments'];
    this.#identify(slot, id, name, input, out);
  }

  /** The hot path: a piece of arguments for a call that is known and named. */
  #passOn(call: JsonObject, body: JsonObject | undefined, out: ModelEvent[]): boolean {
    const { index } = call;
    const slot = typeof index === 'number' ? this.#byIndex.get(index) : undefined;
    const json = body?.['arguments'];
    if (slot === undefined || !slot.named || slot.custom || slot.id === '' || typeof json !== 'string')
      return false;
    if (call['id'] || body?.['name'] || call['extra_content']) return false;
    if (json === '') return true;
    slot.hasInput = true;
    out.push({ type: 'tool-input', key: slot.key, json });
    return true;
  }

  /** The answer is over: names and inputs that waited for more are whole. */
  flush(out: ModelEvent[]): void {
    for (const slot of this.#slots) this.#settle(slot, out);
  }

  #find(index: number | undefined, id: string, name: string, position: number | undefined): Slot | undefined {
    if (index !== undefined) {
      const slot = this.#byIndex.get(index);
      return slot !== undefined && isAnother(slot, id, name) ? this.#byId.get(id) : slot;
    }
    if (id !== '') {
      const slot = this.#byId.get(id);
      // Elements of one list are calls of their own, also where a server gives them all one id.
      if (slot !== undefined) return this.#inList.has(slot) ? undefined : slot;
    }
    const slot = position === undefined ? this.#slots.at(-1) : this.#slots[position];
    if (slot === undefined) return undefined;
    // A name where the call has one and its arguments too begins the next call.
    const begins = name !== '' && (isAnother(slot, id, name) || (slot.name !== '' && slot.hasInput));
    return begins ? undefined : slot;
  }

  #open(index: number | undefined, out: ModelEvent[]): Slot {
    for (const slot of this.#touched) this.#settle(slot, out);
    this.#touched.clear();
    const slot: Slot = {
      key: this.#slots.length,
      id: '',
      name: '',
      named: false,
      hasInput: false,
      custom: false,
      extra: undefined,
    };
    this.#slots.push(slot);
    if (index !== undefined) this.#byIndex.set(index, slot);
    return slot;
  }

  #identify(slot: Slot, id: string, name: string, input: unknown, out: ModelEvent[]): void {
    const newId = id !== '' && slot.id === '';
    if (newId) slot.id = id;
    if (name !== '' && !slot.named) slot.name = joinName(slot.name, name);
    const json = slot.custom ? textAsJson(slot, input) : argumentsText(input);
    if (slot.name !== '' && !slot.named && (json !== '' || this.#names.isWhole(slot.name))) {
      this.#announce(slot, out);
    } else if (newId && slot.named) out.push({ type: 'tool', key: slot.key, id });
    if (json === '') return;
    slot.hasInput = true;
    out.push({ type: 'tool-input', key: slot.key, json });
  }

  #announce(slot: Slot, out: ModelEvent[]): void {
    const { key, id, name, custom, extra } = slot;
    slot.named = true;
    const extensions = custom ? { ...extra, type: 'custom' } : extra;
    out.push({
      type: 'tool',
      key,
      ...(id === '' ? {} : { id }),
      name: this.#names.decode(name),
      ...(extensions === undefined ? {} : { extensions: { [DIALECT]: extensions } }),
    });
  }

  #settle(slot: Slot, out: ModelEvent[]): void {
    if (!slot.named && slot.name !== '') this.#announce(slot, out);
    else if (!slot.named && slot.id !== '') {
      slot.named = true;
      out.push({ type: 'tool', key: slot.key, id: slot.id });
    }
    if (!slot.custom) return;
    out.push({ type: 'tool-input', key: slot.key, json: slot.hasInput ? '"}' : '{"input":""}' });
    slot.custom = false;
  }
}

function bodyOf(call: JsonObject): JsonObject | undefined {
  if (isObject(call['function'])) return call['function'];
  return isObject(call['custom']) ? call['custom'] : undefined;
}

/** The same index for every call (Gemini): a new id with a name of its own is another call. */
function isAnother(slot: Slot, id: string, name: string): boolean {
  return id !== '' && slot.id !== '' && id !== slot.id && name !== '';
}

/** A name comes whole; a few servers send it in pieces, or all of it again with every piece. */
function joinName(before: string, piece: string): string {
  if (piece === before) return before;
  return piece.startsWith(before) ? piece : before + piece;
}

function argumentsText(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : JSON.stringify(value);
}

function textAsJson(slot: Slot, value: unknown): string {
  if (typeof value !== 'string' || value === '') return '';
  const text = JSON.stringify(value).slice(1, -1);
  return slot.hasInput ? text : `{"input":"${text}`;
}
