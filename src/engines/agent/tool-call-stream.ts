/**
 * Calls of the client's own tools, passed on while the model writes them. That such a call goes to the
 * client is known from its name; that it stands is known only once its message is whole and kept. So
 * the end of the last call waits for that, and a call whose arguments turn out to be no JSON breaks the
 * answer: what a client has seen cannot be taken back.
 */

import type { ConversationRequest, ToolUseBlock } from '../../core/conversation.js';
import { eventsOfToolCall, type ModelEvent, type ToolExtensions } from '../../core/events.js';

/**
 * A client that takes the answer whole sees nothing before its end, and then a call that cannot be read is
 * better written again. A call that is not wanted at all is not the client's either.
 */
export function mayStreamToolCalls({ stream, toolChoice }: ConversationRequest): boolean {
  return stream && toolChoice?.type !== 'none';
}

type Key = number | string;

/** A call as far as the model has said it. */
interface WrittenToolCall {
  readonly key: Key;
  readonly id: string;
  readonly name: string;
  readonly extensions: ToolExtensions | undefined;
}

interface ToolCallStreamOptions {
  /** By the name that the model calls: whatever comes of it, it is the client's to run. */
  isClients(name: string): boolean;
  /** The name that the client knows. */
  plain?(name: string): string;
  /** An id for a call, by which its result will be found. */
  claimId(id: string): string;
  /** At most one call in the answer. */
  single: boolean;
}

interface ShownCall {
  id: string;
  /** Arguments that came before it was known that they are an object; undefined once they stream. */
  held: string | undefined;
  /** The model has said that it is whole. */
  ended: boolean;
  closed: boolean;
}

export class ToolCallStream {
  readonly #options: ToolCallStreamOptions;
  /** Of the message that is being written. */
  readonly #byKey = new Map<Key, ShownCall>();
  readonly #byId = new Map<string, ShownCall>();

  constructor(options: ToolCallStreamOptions) {
    this.#options = options;
  }

  /** Another message begins, whose keys mean other calls. */
  next(): void {
    this.#byKey.clear();
  }

  /** The id under which the client has seen it. */
  idOf(key: Key): string | undefined {
    return this.#byKey.get(key)?.id;
  }

  /** As the client knows it. */
  nameOf(name: string): string {
    return this.#options.plain?.(name) ?? name;
  }

  has(id: string): boolean {
    return this.#byId.has(id);
  }

  /** More is known of a call; `json` is what is new of its arguments. */
  called(call: WrittenToolCall, json: string): ModelEvent[] {
    const known = this.#byKey.get(call.key);
    if (known !== undefined) return pieceOf(known, json);
    if (!this.#isShown(call)) return [];
    const shown: ShownCall = {
      id: this.#options.claimId(call.id),
      held: '',
      ended: false,
      closed: false,
    };
    const before = this.#closeEnded();
    this.#byKey.set(call.key, shown);
    this.#byId.set(shown.id, shown);
    const { id } = shown;
    const name = this.nameOf(call.name);
    const extensions = call.extensions === undefined ? {} : { extensions: call.extensions };
    return [...before, { type: 'tool', key: id, id, name, ...extensions }, ...pieceOf(shown, json)];
  }

  ended(key: Key): void {
    const shown = this.#byKey.get(key);
    if (shown !== undefined) shown.ended = true;
  }

  /** What is left to be said of a call that is kept: all of it where nothing was shown. */
  restOf(call: ToolUseBlock): ModelEvent[] {
    const shown = this.#byId.get(call.id);
    if (shown === undefined) return eventsOfToolCall(call);
    if (shown.closed) return [];
    shown.closed = true;
    const { id: key } = call;
    const whole: ModelEvent = { type: 'tool-input', key, json: JSON.stringify(call.input) };
    return [...(shown.held === undefined ? [] : [whole]), { type: 'tool-end', key }];
  }

  /** In the order in which the client sees them. */
  inOrder(calls: readonly ToolUseBlock[]): ToolUseBlock[] {
    const ids = [...this.#byId.keys()];
    const rank = ({ id }: ToolUseBlock) => (this.#byId.has(id) ? ids.indexOf(id) : ids.length);
    return calls.toSorted((a, b) => rank(a) - rank(b));
  }

  #isShown({ id, name }: WrittenToolCall): boolean {
    if (id === '' || name === '' || !this.#options.isClients(name)) return false;
    return !this.#options.single || this.#byId.size === 0;
  }

  /** Otherwise what follows would wait for them where they have no arguments. */
  #closeEnded(): ModelEvent[] {
    const ended = [...this.#byKey.values()].filter((each) => each.ended && !each.closed && isPlain(each));
    for (const each of ended) each.closed = true;
    return ended.map(({ id }) => ({ type: 'tool-end', key: id }));
  }
}

/** Its arguments need nothing but their end. */
const isPlain = ({ held }: ShownCall): boolean => held === undefined || held.trim() === '';

/** Only an object can be passed on as it is; other arguments are put into one when they are whole. */
function pieceOf(shown: ShownCall, json: string): ModelEvent[] {
  if (json === '') return [];
  const { id: key } = shown;
  if (shown.held === undefined) return [{ type: 'tool-input', key, json }];
  shown.held += json;
  if (!/^\s*\{/.test(shown.held)) return [];
  const all = shown.held;
  shown.held = undefined;
  return [{ type: 'tool-input', key, json: all }];
}
