/**
 * The answer of an upstream, whole or in events: one state machine for both, so that they say the
 * same. Deltas are passed on as they come; what an item's end, or the end of all, holds beyond them
 * follows then. It never throws.
 */
import type { JsonObject, StopReason } from '../../core/conversation.js';
import { GatewayError } from '../../core/errors.js';
import type { ModelEvent } from '../../core/events.js';
import { isObject } from '../../core/is-object.js';
import { escapeFreeText, FREE_TEXT_CLOSE, FREE_TEXT_OPEN } from '../shared/free-text.js';
import { readEmbeddedError } from '../shared/openai-error-body.js';
import { embeddedError } from '../shared/openai-errors.js';
import type { ToolNames } from '../shared/tool-names.js';
import { AnswerItems, type ItemState } from './answer-items.js';
import { sealProof } from './reasoning.js';
import { isProvidersShell, type TypedCallType, toolOf, typedInput } from './typed-calls.js';
import { DIALECT, decodeUsage, flatName, SEARCH_NAME, stopReasonFrom } from './wire.js';

/** Between parts of reasoning, which are paragraphs with a heading each. */
const PART_BREAK = '\n\n';

export class AnswerDecoder {
  readonly #names: ToolNames;
  readonly #items = new AnswerItems();
  #started = false;
  #failed = false;
  #finished = false;
  #refused = false;
  #called = false;

  constructor(names: ToolNames) {
    this.#names = names;
  }

  /** An error event is out; nothing may follow it. */
  get failed(): boolean {
    return this.#failed;
  }

  /** The upstream has said how the answer ended. */
  get finished(): boolean {
    return this.#finished;
  }

  get started(): boolean {
    return this.#started;
  }

  fail(error: GatewayError, out: ModelEvent[]): void {
    if (this.#failed) return;
    this.#failed = true;
    out.push({ type: 'error', error });
  }

  start(response: JsonObject, out: ModelEvent[]): void {
    if (this.#started) return;
    this.#started = true;
    const { id, model } = response;
    out.push({
      type: 'start',
      ...(typeof id === 'string' && id !== '' ? { id } : {}),
      ...(typeof model === 'string' && model !== '' ? { model } : {}),
    });
  }

  // ── inside an item ──────────────────────────────────────────────────────────────────────────

  text(event: JsonObject, delta: unknown, out: ModelEvent[]): void {
    if (typeof delta !== 'string' || delta === '') return;
    this.#started = true;
    this.#items.of(event, 'message').said.add(indexIn(event, 'content_index'));
    out.push({ type: 'text', text: delta });
  }

  /** The whole text of a part, of which deltas may have come. */
  textDone(event: JsonObject, text: unknown, out: ModelEvent[]): void {
    const item = this.#items.of(event, 'message');
    if (!item.said.has(indexIn(event, 'content_index'))) this.text(event, text, out);
  }

  refusal(event: JsonObject, delta: unknown, out: ModelEvent[]): void {
    this.#refused = true;
    this.text(event, delta, out);
  }

  refusalDone(event: JsonObject, text: unknown, out: ModelEvent[]): void {
    this.#refused = true;
    this.textDone(event, text, out);
  }

  partDone(event: JsonObject, out: ModelEvent[]): void {
    if (this.#items.of(event, 'message').type === 'message') out.push({ type: 'break' });
  }

  thinking(event: JsonObject, source: 'summary' | 'content', delta: unknown, out: ModelEvent[]): void {
    if (typeof delta !== 'string' || delta === '') return;
    const item = this.#items.of(event, 'reasoning');
    item.source ??= source;
    if (item.source !== source) return;
    this.#started = true;
    const part = indexIn(event, source === 'summary' ? 'summary_index' : 'content_index');
    if (item.said.size > 0 && item.part !== part) out.push({ type: 'thinking', text: PART_BREAK });
    item.part = part;
    item.said.add(part);
    out.push({ type: 'thinking', text: delta });
  }

  thinkingDone(event: JsonObject, source: 'summary' | 'content', text: unknown, out: ModelEvent[]): void {
    const item = this.#items.of(event, 'reasoning');
    const part = indexIn(event, source === 'summary' ? 'summary_index' : 'content_index');
    if (!item.said.has(part)) this.thinking(event, source, text, out);
  }

  input(event: JsonObject, delta: unknown, out: ModelEvent[]): void {
    if (typeof delta !== 'string' || delta === '') return;
    this.#input(this.#items.of(event, 'function_call'), delta, out);
  }

  /** The whole arguments, of which deltas may have come. */
  inputDone(event: JsonObject, input: unknown, out: ModelEvent[]): void {
    const item = this.#items.of(event, 'function_call');
    if (!item.announced && typeof event['name'] === 'string') this.#announce(item, event, out);
    this.#inputWhole(item, input, out);
  }

  // ── whole items ─────────────────────────────────────────────────────────────────────────────

  itemAdded(item: JsonObject, index: unknown, out: ModelEvent[]): void {
    this.#started = true;
    const state = this.#items.begin(item, index);
    if (isCall(state)) this.#announce(state, item, out);
  }

  itemDone(item: JsonObject, index: unknown, out: ModelEvent[]): void {
    this.#started = true;
    this.#complete(this.#items.begin(item, index), item, out);
  }

  /** Whatever of the item has not been said, and its end. */
  #complete(state: ItemState, item: JsonObject, out: ModelEvent[]): void {
    if (state.done) return;
    state.done = true;
    switch (item['type']) {
      case 'message':
        this.#completeMessage(state, item, out);
        return;
      case 'reasoning':
        completeReasoning(state, item, out);
        return;
      case 'tool_search_call':
        if (item['execution'] === 'client' && item['call_id']) this.#search(state, item, out);
        else passOn(item, out);
        return;
      case 'shell_call':
      case 'local_shell_call':
      case 'apply_patch_call':
        this.#typedCall(state, item, item['type'], out);
        return;
      case 'function_call':
      case 'custom_tool_call':
        this.#announce(state, item, out);
        this.#inputWhole(state, state.type === 'custom_tool_call' ? item['input'] : item['arguments'], out);
        if (item['status'] !== 'incomplete') this.#closeCall(state, out);
        return;
      default:
        passOn(item, out);
    }
  }

  /** A search that the client does is a call of it. */
  #search(state: ItemState, item: JsonObject, out: ModelEvent[]): void {
    this.#called = true;
    const id = String(item['call_id']);
    const extensions = { [DIALECT]: { $search: true } };
    out.push({ type: 'tool', key: state.key, id, name: SEARCH_NAME, extensions });
    this.#inputWhole(state, item['arguments'], out);
    out.push({ type: 'tool-end', key: state.key });
  }

  /** A call of a tool that was offered by its type; the provider's own is passed on. */
  #typedCall(state: ItemState, item: JsonObject, type: TypedCallType, out: ModelEvent[]): void {
    const name = this.#names.ofType(toolOf(type));
    const id = [item['call_id'], item['id']].find((each) => typeof each === 'string' && each !== '');
    if (name === undefined || typeof id !== 'string' || isProvidersShell(item)) {
      passOn(item, out);
      return;
    }
    this.#called = true;
    out.push({ type: 'tool', key: state.key, id, name, extensions: { [DIALECT]: { $typed: type } } });
    this.#inputWhole(state, typedInput(item, type), out);
    if (item['status'] !== 'incomplete') out.push({ type: 'tool-end', key: state.key });
  }

  #completeMessage(state: ItemState, item: JsonObject, out: ModelEvent[]): void {
    const { content } = item;
    const parts: readonly unknown[] = Array.isArray(content) ? content : [];
    for (const [index, part] of parts.entries()) {
      if (!isObject(part)) continue;
      if (part['type'] === 'refusal') this.#refused = true;
      if (state.said.has(index)) continue;
      const text = part['text'] ?? part['refusal'];
      if (typeof text !== 'string' || text === '') continue;
      state.said.add(index);
      out.push({ type: 'text', text }, { type: 'break' });
    }
    out.push({ type: 'break' });
  }

  #announce(state: ItemState, item: JsonObject, out: ModelEvent[]): void {
    const { call_id: callId, id, name, namespace } = item;
    if (state.announced) return;
    // A server that knows only one id gives it as the item's.
    const called = [callId, id].find((each) => typeof each === 'string' && each !== '');
    if (typeof name !== 'string' || name === '') return;
    state.announced = true;
    this.#called = true;
    const isNamespaced = typeof namespace === 'string' && namespace !== '';
    const notes: JsonObject = {
      ...(isNamespaced ? { $namespace: namespace, $name: name } : {}),
      ...(state.type === 'custom_tool_call' ? { $custom: true } : {}),
    };
    out.push({
      type: 'tool',
      key: state.key,
      ...(typeof called === 'string' ? { id: called } : {}),
      name: isNamespaced ? flatName(namespace, name) : this.#names.decode(name),
      ...(Object.keys(notes).length === 0 ? {} : { extensions: { [DIALECT]: notes } }),
    });
  }

  #input(state: ItemState, piece: string, out: ModelEvent[]): void {
    this.#started = true;
    let json = piece;
    if (state.type === 'custom_tool_call') {
      json = (state.hasInput ? '' : FREE_TEXT_OPEN) + escapeFreeText(piece);
    }
    state.hasInput = true;
    out.push({ type: 'tool-input', key: state.key, json });
  }

  #inputWhole(state: ItemState, input: unknown, out: ModelEvent[]): void {
    if (state.hasInput || input === undefined || input === null || input === '') return;
    // Servers that only resemble this wire give the object itself.
    this.#input(state, typeof input === 'string' ? input : JSON.stringify(input), out);
  }

  /** Not for a call that the answer's limit cut: what is missing of it must not be made up. */
  #closeCall(state: ItemState, out: ModelEvent[]): void {
    if (state.type === 'custom_tool_call') {
      const json = state.hasInput ? FREE_TEXT_CLOSE : FREE_TEXT_OPEN + FREE_TEXT_CLOSE;
      out.push({ type: 'tool-input', key: state.key, json });
    }
    out.push({ type: 'tool-end', key: state.key });
  }

  // ── the end ─────────────────────────────────────────────────────────────────────────────────

  /** `response` as it is when the answer is over, whichever way. */
  finish(response: JsonObject, out: ModelEvent[]): void {
    if (this.#failed || this.#finished) return;
    this.start(response, out);
    this.#finishItems(response, out);
    this.usage(response['usage'], out);
    const { status, error } = response;
    if (isObject(error) || status === 'failed' || status === 'cancelled') {
      this.fail(failureOf(response), out);
      return;
    }
    this.#finished = true;
    out.push({ type: 'stop', reason: this.#stopReason(response) });
  }

  usage(value: unknown, out: ModelEvent[]): void {
    const usage = decodeUsage(value);
    if (usage !== undefined) out.push({ type: 'usage', usage });
  }

  #finishItems({ output, status }: JsonObject, out: ModelEvent[]): void {
    const items: readonly unknown[] = Array.isArray(output) ? output : [];
    for (const { item, state } of this.#items.finals(items.filter(isObject))) {
      this.#complete(state, item, out);
    }
    if (status === 'incomplete') return;
    for (const state of this.#items.open()) {
      if (isCall(state)) this.#closeCall(state, out);
    }
  }

  #stopReason({ status, incomplete_details: details }: JsonObject): StopReason {
    if (status === 'incomplete') return stopReasonFrom(isObject(details) ? details['reason'] : undefined);
    if (this.#refused) return 'refusal';
    return this.#called ? 'tool_use' : 'end_turn';
  }
}

/** An item that only this wire has. */
function passOn(item: JsonObject, out: ModelEvent[]): void {
  const kind = item['type'];
  if (typeof kind !== 'string' || kind === '') return;
  out.push({ type: 'block', block: { type: 'opaque', dialect: DIALECT, kind, value: item } });
}

function isCall({ type }: ItemState): boolean {
  return type === 'function_call' || type === 'custom_tool_call';
}

function completeReasoning(state: ItemState, item: JsonObject, out: ModelEvent[]): void {
  const source = state.source ?? (hasText(item['summary']) ? 'summary' : 'content');
  const parts = item[source];
  for (const [index, part] of (Array.isArray(parts) ? parts : []).entries()) {
    const text: unknown = isObject(part) ? part['text'] : undefined;
    if (typeof text !== 'string' || text === '' || state.said.has(index)) continue;
    if (state.said.size > 0) out.push({ type: 'thinking', text: PART_BREAK });
    state.said.add(index);
    out.push({ type: 'thinking', text });
  }
  const encrypted = item['encrypted_content'];
  if (typeof encrypted === 'string' && encrypted !== '') {
    out.push({ type: 'signature', signature: sealProof({ id: state.id, encrypted }) });
  }
  out.push({ type: 'break' });
}

function hasText(parts: unknown): boolean {
  return Array.isArray(parts) && parts.some((part) => isObject(part) && part['text']);
}

function indexIn(event: JsonObject, field: string): number {
  const index = event[field];
  return typeof index === 'number' ? index : 0;
}

function failureOf(response: JsonObject): GatewayError {
  const error = readEmbeddedError({ error: response['error'] });
  if (error !== undefined) return embeddedError(error);
  const what = response['status'] === 'cancelled' ? 'cancelled its answer' : 'failed without saying why';
  return new GatewayError('upstream_failed', `The upstream ${what}. Retry the request.`, { retryable: true });
}
