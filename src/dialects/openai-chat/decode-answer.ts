/**
 * The answer of an upstream, whole or in chunks: one state machine for both, so that they say the
 * same. It maps what came and repairs nothing: order, missing ids and broken arguments are the
 * lifecycle's business. It never throws.
 */
import type { JsonObject, StopReason } from '../../core/conversation.js';
import { GatewayError } from '../../core/errors.js';
import type { ModelEvent } from '../../core/events.js';
import { isObject } from '../../core/is-object.js';
import { readEmbeddedError } from '../shared/openai-error-body.js';
import { embeddedError } from '../shared/openai-errors.js';
import type { ToolNames } from '../shared/tool-names.js';
import { DetailStream } from './reasoning.js';
import { TextToolCalls } from './text-tool-calls.js';
import { ThinkTags } from './think-tags.js';
import { ToolSlots } from './tool-slots.js';
import { DIALECT, decodeUsage, stopReasonFrom } from './wire.js';

/** Fields of a message that no other wire has; each becomes one block at the end of the answer. */
const OWN_FIELDS = ['annotations', 'audio', 'images'] as const;

export class AnswerDecoder {
  readonly #names: ToolNames;
  readonly #tags = new ThinkTags();
  readonly #textCalls: TextToolCalls | undefined;
  #tools: ToolSlots | undefined;
  #details: DetailStream | undefined;
  #started = false;
  #failed = false;
  #finished = false;
  /** Text needs no second look: no tag can come and no call is searched in it. */
  #plain = false;
  /** The field that brings the reasoning; the same text in another one is a copy. */
  #reasoningField: string | undefined;
  #refused = false;
  /** The choice that makes the calls, where it is not the one that says the text. */
  #calling = 0;
  #own: JsonObject | undefined;

  constructor(names: ToolNames) {
    this.#names = names;
    this.#textCalls = names.textCalls ? new TextToolCalls(names) : undefined;
  }

  /** An error event is out; nothing may follow it. */
  get failed(): boolean {
    return this.#failed;
  }

  /** The upstream has said why it stopped. */
  get finished(): boolean {
    return this.#finished;
  }

  /** A chunk of a stream, or a whole answer. */
  push(body: JsonObject, out: ModelEvent[]): void {
    if (this.#failed) return;
    try {
      this.#read(body, out);
    } catch (cause) {
      // Values nested deeper than the stack: nothing else here can throw.
      const message = 'The upstream sent something that cannot be read: it nests too deep.';
      this.#failed = true;
      out.push({
        type: 'error',
        error: new GatewayError('upstream_failed', message, { cause }),
      });
    }
  }

  #read(body: JsonObject, out: ModelEvent[]): void {
    const { choices } = body;
    if (body['error'] || !Array.isArray(choices)) {
      const error = readEmbeddedError(body);
      if (error !== undefined) {
        this.fail(embeddedError(error), out);
        return;
      }
    }
    if (!this.#started) this.#start(body, out);
    const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
    // One answer was asked for; a server that sends more numbers them.
    if (isObject(choice) && !choice['index']) this.#choice(choice, out);
    if (Array.isArray(choices)) this.#callsElsewhere(choices, out);
    if (this.#failed) return;
    const usage = body['usage'] ?? usageElsewhere(body, choice);
    if (usage !== undefined && usage !== null) {
      const decoded = decodeUsage(usage);
      if (decoded !== undefined) out.push({ type: 'usage', usage: decoded });
    }
  }

  fail(error: GatewayError, out: ModelEvent[]): void {
    if (this.#failed) return;
    this.#flush(out);
    this.#failed = true;
    out.push({ type: 'error', error });
  }

  /** The upstream ended properly. Without a reason, what came says what it was. */
  end(out: ModelEvent[]): void {
    if (this.#failed) return;
    this.#flush(out);
    this.#flushOwn(out);
    if (this.#finished) return;
    this.#finished = true;
    out.push({ type: 'stop', reason: this.#tools?.used === true ? 'tool_use' : 'end_turn' });
  }

  #start(body: JsonObject, out: ModelEvent[]): void {
    this.#started = true;
    const { id, model } = body;
    out.push({
      type: 'start',
      ...(typeof id === 'string' && id !== '' ? { id } : {}),
      ...(typeof model === 'string' && model !== '' ? { model } : {}),
    });
  }

  #choice(choice: JsonObject, out: ModelEvent[]): void {
    const delta = choice['delta'] ?? choice['message'];
    if (isObject(delta)) this.#delta(delta, out);
    if (choice['error']) {
      const error = readEmbeddedError(choice);
      if (error !== undefined) this.fail(embeddedError(error), out);
    }
    if (isObject(choice['logprobs'])) this.#collectLogprobs(choice['logprobs']);
    const reason = choice['finish_reason'];
    if (typeof reason === 'string' && reason !== '') this.#finish(reason, choice, out);
  }

  /** Copilot says the text in one choice and makes the calls in the next: they are one answer. */
  #callsElsewhere(choices: readonly unknown[], out: ModelEvent[]): void {
    for (let position = 0; position < choices.length; position += 1) {
      const choice = choices[position];
      if (!isObject(choice)) continue;
      const index = typeof choice['index'] === 'number' ? choice['index'] || position : position;
      const delta = choice['delta'] ?? choice['message'];
      const calls = isObject(delta) ? delta['tool_calls'] : undefined;
      if (index === 0 || !Array.isArray(calls) || calls.length === 0) continue;
      // Calls of two choices are two answers, of which the first counts.
      if (this.#tools !== undefined && this.#calling !== index) continue;
      this.#calling = index;
      this.#calls(calls, out);
    }
  }

  #delta(delta: JsonObject, out: ModelEvent[]): void {
    const { content } = delta;
    const calls = delta['tool_calls'];
    // The hot paths: a piece of text or of arguments, and nothing else that matters.
    if (typeof content === 'string' && content !== '') {
      if (this.#plain && hasOnly(delta, 'content')) {
        out.push({ type: 'text', text: content });
        return;
      }
    } else if (this.#tools !== undefined && hasOnly(delta, 'tool_calls')) {
      if (Array.isArray(calls)) this.#calls(calls, out);
      return;
    }
    this.#reasoning(delta, out);
    if (typeof content === 'string') this.#text(content, out);
    else if (Array.isArray(content)) for (const part of content) this.#part(part, out);
    const { refusal } = delta;
    if (typeof refusal === 'string' && refusal !== '') {
      this.#refused = true;
      this.#text(refusal, out);
    }
    if (Array.isArray(calls)) this.#calls(calls, out);
    const legacy = delta['function_call'];
    if (isObject(legacy)) this.#calls([{ index: 0, function: legacy }], out);
    for (const field of OWN_FIELDS) {
      if (delta[field]) this.#collect(field, delta[field]);
    }
  }

  #reasoning(delta: JsonObject, out: ModelEvent[]): void {
    const text = delta['reasoning_content'];
    if (typeof text === 'string' && text !== '') this.#think('reasoning_content', text, out);
    const other = delta['reasoning'];
    if (typeof other === 'string' && other !== '') this.#think('reasoning', other, out);
    const details = delta['reasoning_details'];
    if (!Array.isArray(details) || details.length === 0) return;
    const visible = this.#reasoningField === undefined || this.#reasoningField === 'reasoning_details';
    if (visible && hasText(details)) {
      this.#reasoningField = 'reasoning_details';
      this.#tags.settle();
    }
    // From now on text closes the reasoning before it, so it is looked at again.
    this.#plain = false;
    this.#details ??= new DetailStream();
    this.#details.push(details, visible, out);
  }

  #think(field: string, text: string, out: ModelEvent[]): void {
    this.#reasoningField ??= field;
    if (this.#reasoningField !== field) return;
    this.#tags.settle();
    out.push({ type: 'thinking', text });
  }

  #text(text: string, out: ModelEvent[]): void {
    if (text === '') return;
    this.#details?.flush(out);
    const said = this.#tags.settled ? text : this.#tags.push(text, out);
    if (said === '') return;
    if (this.#textCalls === undefined) {
      this.#plain = this.#details === undefined;
      out.push({ type: 'text', text: said });
    } else this.#textCalls.push(said, out);
  }

  /** Mistral answers with parts: text, and thinking that is a list of parts again. */
  #part(part: unknown, out: ModelEvent[]): void {
    if (typeof part === 'string') this.#text(part, out);
    if (!isObject(part)) return;
    switch (part['type']) {
      case 'text':
      case 'output_text':
        if (typeof part['text'] === 'string') this.#text(part['text'], out);
        return;
      case 'refusal':
        if (typeof part['refusal'] !== 'string') return;
        this.#refused = true;
        this.#text(part['refusal'], out);
        return;
      case 'thinking':
        this.#think('content', textOfParts(part['thinking']), out);
        return;
      case 'image_url':
        this.#collect('images', [part]);
    }
  }

  #calls(calls: readonly unknown[], out: ModelEvent[]): void {
    this.#flushText(out);
    this.#tags.settle();
    this.#tools ??= new ToolSlots(this.#names);
    for (let position = 0; position < calls.length; position += 1) {
      const call = calls[position];
      if (isObject(call)) this.#tools.push(call, position, calls.length, out);
    }
  }

  #finish(wire: string, choice: JsonObject, out: ModelEvent[]): void {
    const reason = stopReasonFrom(wire);
    if (reason === undefined) {
      const message = `The upstream broke off its answer (${wire}). Retry the request.`;
      this.fail(new GatewayError('upstream_failed', message, { retryable: true, detail: wire }), out);
      return;
    }
    this.#flush(out);
    this.#finished = true;
    // vLLM says which stop sequence it met, or the number of a token.
    const sequence = choice['stop_reason'];
    if (reason === 'end_turn' && typeof sequence === 'string' && sequence !== '') {
      out.push({ type: 'stop', reason: 'stop_sequence', stopSequence: sequence });
    } else out.push({ type: 'stop', reason: this.#refused ? refused(reason) : reason });
  }

  #flush(out: ModelEvent[]): void {
    this.#flushText(out);
    this.#tools?.flush(out);
  }

  #flushText(out: ModelEvent[]): void {
    this.#details?.flush(out);
    if (this.#plain) return;
    const said = this.#tags.settled ? '' : this.#tags.flush(out);
    if (this.#textCalls === undefined) {
      if (said !== '') out.push({ type: 'text', text: said });
      return;
    }
    if (said !== '') this.#textCalls.push(said, out);
    this.#textCalls.flush(out);
  }

  #collect(field: string, value: unknown): void {
    this.#own ??= {};
    this.#own[field] = grown(this.#own[field], value);
  }

  #collectLogprobs(logprobs: JsonObject): void {
    for (const key of ['content', 'refusal']) {
      if (Array.isArray(logprobs[key])) this.#collect('logprobs', { [key]: logprobs[key] });
    }
  }

  #flushOwn(out: ModelEvent[]): void {
    for (const kind in this.#own) {
      const value = { [kind]: this.#own[kind] };
      out.push({ type: 'block', block: { type: 'opaque', dialect: DIALECT, kind, value } });
    }
    this.#own = undefined;
  }
}

/** Nothing but `field` has a value; the role is no news. */
function hasOnly(delta: JsonObject, field: string): boolean {
  for (const key in delta) {
    if (key === field || key === 'role') continue;
    const value = delta[key];
    if (value !== null && value !== undefined && value !== '') return false;
  }
  return true;
}

function hasText(details: readonly unknown[]): boolean {
  return details.some((detail) => isObject(detail) && (detail['text'] || detail['summary']));
}

/** A refusal keeps the reasons that say more. */
function refused(reason: StopReason): StopReason {
  return reason === 'end_turn' ? 'refusal' : reason;
}

/** Moonshot counts inside the choice, Groq in a field of its own. */
function usageElsewhere(body: JsonObject, choice: unknown): unknown {
  const groq = body['x_groq'];
  if (isObject(groq)) return groq['usage'];
  return isObject(choice) ? choice['usage'] : undefined;
}

function textOfParts(value: unknown): string {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return '';
  return value
    .map((part) => (isObject(part) && typeof part['text'] === 'string' ? part['text'] : ''))
    .join('');
}

/** Pieces put together: text and lists grow, objects grow field by field, the rest is replaced. */
function grown(before: unknown, piece: unknown): unknown {
  if (typeof before === 'string' && typeof piece === 'string') return before + piece;
  if (Array.isArray(before) && Array.isArray(piece)) return [...before, ...piece];
  if (!isObject(before) || !isObject(piece)) return piece;
  const out: JsonObject = { ...before };
  for (const key in piece) out[key] = key === 'id' ? piece[key] : grown(before[key], piece[key]);
  return out;
}
