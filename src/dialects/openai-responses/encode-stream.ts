/**
 * The events for the client. A delta is put together as text: only its own text needs to be
 * escaped, and a stream is thousands of them. Finished items are kept as JSON text, for the last
 * event repeats them all.
 */
import {
  type ConversationRequest,
  type JsonObject,
  NO_USAGE,
  type OpaqueBlock,
} from '../../core/conversation.js';
import type { GatewayError } from '../../core/errors.js';
import type { AnswerEvent, BlockDelta, BlockStart } from '../../core/events.js';
import { isObject } from '../../core/is-object.js';
import type { AnswerContext, StreamEncoder } from '../shared/dialect.js';
import { FreeTextReader } from '../shared/free-text.js';
import { type AnswerForm, answerForm, callName, type ResponsesCallName, readForm } from './answer-form.js';
import {
  callItem,
  itemId,
  messageItem,
  ownItem,
  REFUSED,
  reasoningItem,
  refusalContent,
  summaryPart,
  textContent,
} from './encode-items.js';
import { endOf } from './encode-response.js';
import { failureOf, streamError } from './errors.js';
import { type ResponseEnd, type ResponseHead, responseId, responseText } from './response-object.js';
import { DIALECT } from './wire.js';

const PING = ': ping\n\n';

export function createStreamEncoder(request: ConversationRequest, answer: AnswerContext): StreamEncoder {
  return new ResponseEventEncoder(answer, readForm(answerForm(request)));
}

/** The stream of an answer in which nothing is said, and nobody was asked. */
export function encodeSilence(request: ConversationRequest, answer: AnswerContext, id: string): string {
  return new ResponseEventEncoder(answer, readForm(answerForm(request))).silence(id);
}

/** The text of every delta event of an item, before and after the delta itself. */
interface DeltaFrame {
  head: string;
  tail: string;
}

type Open =
  | { type: 'skipped' }
  /** Nothing is written before its first piece: an empty text is no item. */
  | { type: 'text'; id: string; text: string; frame: DeltaFrame | undefined }
  | { type: 'thinking'; id: string; text: string; signature: string; frame: DeltaFrame | undefined }
  /** What a search or a typed tool is called with is an object, and so it comes at the end. */
  | {
      type: 'call';
      id: string;
      callId: string;
      called: ResponsesCallName;
      json: string;
      frame: DeltaFrame | undefined;
    }
  | {
      type: 'custom';
      id: string;
      callId: string;
      called: ResponsesCallName;
      reader: FreeTextReader;
      frame: DeltaFrame;
    };

const SKIPPED: Open = { type: 'skipped' };

class ResponseEventEncoder implements StreamEncoder {
  readonly #model: string;
  readonly #created: number;
  readonly #form: AnswerForm;
  /** Undefined until the answer has begun. */
  #head: ResponseHead | undefined;
  #sequence = 0;
  #open: Open = SKIPPED;
  #items: string[] = [];
  #saidText = false;

  constructor({ model, created }: AnswerContext, form: AnswerForm) {
    this.#model = model;
    this.#created = created;
    this.#form = form;
  }

  encode(events: readonly AnswerEvent[]): string {
    let text = '';
    for (const event of events) text += this.#encode(event);
    return text;
  }

  silence(id: string): string {
    return this.#begin(id) + this.#end({ status: 'completed', usage: NO_USAGE });
  }

  #encode(event: AnswerEvent): string {
    switch (event.type) {
      case 'block-delta':
        return this.#delta(event.delta);
      case 'block-start':
        return this.#start(event.block);
      case 'block-stop':
        return event.broken === true ? this.#breakOff() : this.#stop();
      case 'message-start':
        return this.#begin(event.id);
      case 'message-delta':
        return this.#finish(event);
      case 'message-stop':
        return '';
      case 'ping':
        return PING;
      case 'error':
        return this.#fail(event.error);
    }
  }

  // ── events ──────────────────────────────────────────────────────────────────────────────────

  /** `fields` is the inside of the event's JSON object, without its type and number. */
  #event(type: string, fields: string): string {
    return `event: ${type}\ndata: {"type":"${type}","sequence_number":${this.#sequence++},${fields}}\n\n`;
  }

  /** Every delta of an open part begins and ends alike, but for its number. */
  #deltaFrame(type: string, fields: string, tail = ''): DeltaFrame {
    return {
      head: `event: ${type}\ndata: {"type":"${type}",${fields},"sequence_number":`,
      tail: `${tail}}\n\n`,
    };
  }

  #deltaEvent({ head, tail }: DeltaFrame, delta: string): string {
    return `${head}${this.#sequence++},"delta":${JSON.stringify(delta)}${tail}`;
  }

  #added(item: JsonObject): string {
    return this.#event(
      'response.output_item.added',
      `"output_index":${this.#items.length},"item":${JSON.stringify(item)}`,
    );
  }

  #done(item: JsonObject): string {
    const text = JSON.stringify(item);
    const event = this.#event(
      'response.output_item.done',
      `"output_index":${this.#items.length},"item":${text}`,
    );
    this.#items.push(text);
    return event;
  }

  /** Where inside of the open item something happens. */
  #place(id: string, index = ''): string {
    return `"item_id":${JSON.stringify(id)},"output_index":${this.#items.length}${index}`;
  }

  // ── the answer ──────────────────────────────────────────────────────────────────────────────

  #begin(id: string): string {
    this.#head = { id: responseId(id), model: this.#model, created: this.#created };
    const response = `"response":${responseText(this.#head, { status: 'in_progress' }, [], this.#form)}`;
    return this.#event('response.created', response) + this.#event('response.in_progress', response);
  }

  #finish({ stopReason, usage }: Extract<AnswerEvent, { type: 'message-delta' }>): string {
    const refused = stopReason === 'refusal';
    let last = '';
    if (refused ? !this.#saidText : this.#items.length === 0) {
      last = this.#message(refused ? REFUSED : '', refused);
    }
    return last + this.#end(endOf({ stopReason, usage }));
  }

  #end(end: ResponseEnd): string {
    if (this.#head === undefined) return '';
    const response = responseText(this.#head, end, this.#items, this.#form);
    this.#items = [];
    return this.#event(`response.${end.status}`, `"response":${response}`);
  }

  #fail(error: GatewayError): string {
    // The official SDK throws for this event only: it gives a failed response out as an answer.
    const event = `event: error\ndata: ${JSON.stringify(streamError(error, this.#sequence++))}\n\n`;
    // Without a head the upstream's own bytes went before it: whatever they began, this ends it.
    return event + this.#end({ status: 'failed', error: failureOf(error) });
  }

  // ── blocks ──────────────────────────────────────────────────────────────────────────────────

  #itemId(type: Parameters<typeof itemId>[0]): string {
    return itemId(type, this.#head?.id ?? '', this.#items.length);
  }

  #start(block: BlockStart): string {
    this.#open = SKIPPED;
    switch (block.type) {
      case 'text':
        this.#open = { type: 'text', id: this.#itemId('message'), text: '', frame: undefined };
        return '';
      case 'thinking': {
        const id = this.#itemId('reasoning');
        this.#open = { type: 'thinking', id, text: '', signature: '', frame: undefined };
        return this.#added(reasoningItem(id, undefined, this.#form.encrypted));
      }
      case 'redacted_thinking': {
        if (!this.#form.encrypted) return '';
        const id = this.#itemId('reasoning');
        return this.#added(reasoningItem(id, undefined, true)) + this.#done(reasoningItem(id, block, true));
      }
      case 'tool_use':
        return this.#startCall(block);
      case 'opaque':
        return block.dialect === DIALECT ? this.#own(block) : '';
    }
  }

  #own(block: OpaqueBlock): string {
    const item = ownItem(block, this.#itemId('item'));
    return this.#added(item) + this.#done(item);
  }

  #startCall(block: Extract<BlockStart, { type: 'tool_use' }>): string {
    const called = callName(block, this.#form);
    const id = this.#itemId(called.type);
    const call = { id, callId: block.id, called };
    switch (called.type) {
      case 'custom_tool_call': {
        const frame = this.#deltaFrame('response.custom_tool_call_input.delta', this.#place(id));
        this.#open = { type: 'custom', ...call, reader: new FreeTextReader(), frame };
        break;
      }
      case 'function_call': {
        const frame = this.#deltaFrame('response.function_call_arguments.delta', this.#place(id));
        this.#open = { type: 'call', ...call, json: '', frame };
        break;
      }
      default:
        this.#open = { type: 'call', ...call, json: '', frame: undefined };
    }
    return this.#added(callItem(id, block.id, called, 'in_progress', ''));
  }

  #delta(delta: BlockDelta): string {
    const open = this.#open;
    switch (delta.type) {
      case 'text': {
        if (open.type !== 'text') return '';
        open.text += delta.text;
        if (open.frame !== undefined) return this.#deltaEvent(open.frame, delta.text);
        const head = this.#openMessage(open.id, textContent(''));
        open.frame = this.#deltaFrame(
          'response.output_text.delta',
          this.#place(open.id, ',"content_index":0'),
          ',"logprobs":[]',
        );
        return head + this.#deltaEvent(open.frame, delta.text);
      }
      case 'thinking': {
        if (open.type !== 'thinking') return '';
        open.text += delta.text;
        if (open.frame !== undefined) return this.#deltaEvent(open.frame, delta.text);
        const place = this.#place(open.id, ',"summary_index":0');
        const part = JSON.stringify(summaryPart(''));
        const head = this.#event('response.reasoning_summary_part.added', `${place},"part":${part}`);
        open.frame = this.#deltaFrame('response.reasoning_summary_text.delta', place);
        return head + this.#deltaEvent(open.frame, delta.text);
      }
      case 'signature':
        if (open.type === 'thinking') open.signature += delta.signature;
        return '';
      case 'input': {
        if (open.type === 'call') {
          open.json += delta.json;
          return open.frame === undefined ? '' : this.#deltaEvent(open.frame, delta.json);
        }
        if (open.type !== 'custom') return '';
        const piece = open.reader.push(delta.json);
        return piece === '' ? '' : this.#deltaEvent(open.frame, piece);
      }
    }
  }

  #stop(): string {
    const open = this.#open;
    this.#open = SKIPPED;
    switch (open.type) {
      case 'text':
        return open.frame === undefined ? '' : this.#closeMessage(open.id, open.text, false);
      case 'thinking':
        return this.#closeThinking(open);
      case 'call':
        return this.#closeCall(open);
      case 'custom': {
        const rest = open.reader.end();
        const last = rest === '' ? '' : this.#deltaEvent(open.frame, rest);
        const { text } = open.reader;
        const done = `${this.#place(open.id)},"input":${JSON.stringify(text)}`;
        const item = callItem(open.id, open.callId, open.called, 'completed', text);
        return last + this.#event('response.custom_tool_call_input.done', done) + this.#done(item);
      }
      default:
        return '';
    }
  }

  /**
   * The answer fails inside of a block. Clients run a call as soon as its item is done, whatever its
   * status says, so half a call is never done: it stands in the failed response alone.
   */
  #breakOff(): string {
    const open = this.#open;
    switch (open.type) {
      case 'text':
        this.#open = SKIPPED;
        return open.frame === undefined ? '' : this.#closeMessage(open.id, open.text, false, 'incomplete');
      case 'call':
      case 'custom': {
        this.#open = SKIPPED;
        const { id, callId, called } = open;
        const input = open.type === 'call' ? open.json : open.reader.text;
        this.#items.push(JSON.stringify(callItem(id, callId, called, 'incomplete', input)));
        return '';
      }
      default:
        return this.#stop();
    }
  }

  #openMessage(id: string, content: JsonObject): string {
    const part = `${this.#place(id, ',"content_index":0')},"part":${JSON.stringify(content)}`;
    return this.#added(messageItem(id, undefined)) + this.#event('response.content_part.added', part);
  }

  #closeMessage(
    id: string,
    text: string,
    refused: boolean,
    status: 'completed' | 'incomplete' = 'completed',
  ): string {
    this.#saidText = true;
    const place = this.#place(id, ',"content_index":0');
    const content = refused ? refusalContent(text) : textContent(text);
    const said = JSON.stringify(text);
    const done = refused
      ? this.#event('response.refusal.done', `${place},"refusal":${said}`)
      : this.#event('response.output_text.done', `${place},"text":${said},"logprobs":[]`);
    const part = this.#event('response.content_part.done', `${place},"part":${JSON.stringify(content)}`);
    return done + part + this.#done(messageItem(id, content, status));
  }

  /** A message that was never streamed: there was nothing to say, or no wish to say it. */
  #message(text: string, refused: boolean): string {
    const id = this.#itemId('message');
    const head = this.#openMessage(id, refused ? refusalContent('') : textContent(''));
    const frame = this.#deltaFrame('response.refusal.delta', this.#place(id, ',"content_index":0'));
    const delta = refused ? this.#deltaEvent(frame, text) : '';
    return head + delta + this.#closeMessage(id, text, refused);
  }

  #closeThinking({ id, text, signature, frame }: Extract<Open, { type: 'thinking' }>): string {
    const item = reasoningItem(
      id,
      { type: 'thinking', thinking: text, ...(signature === '' ? {} : { signature }) },
      this.#form.encrypted,
    );
    if (frame === undefined) return this.#done(item);
    const place = this.#place(id, ',"summary_index":0');
    const done = this.#event(
      'response.reasoning_summary_text.done',
      `${place},"text":${JSON.stringify(text)}`,
    );
    const part = JSON.stringify(summaryPart(text));
    return (
      done + this.#event('response.reasoning_summary_part.done', `${place},"part":${part}`) + this.#done(item)
    );
  }

  #closeCall({ id, callId, called, json, frame }: Extract<Open, { type: 'call' }>): string {
    const status = isWhole(json) ? 'completed' : 'incomplete';
    if (frame === undefined) return this.#done(callItem(id, callId, called, status, json));
    const name = `,"name":${JSON.stringify(called.name)}`;
    const done = `${this.#place(id, name)},"arguments":${JSON.stringify(json)}`;
    return (
      this.#event('response.function_call_arguments.done', done) +
      this.#done(callItem(id, callId, called, status, json))
    );
  }
}

/** The lifecycle has made the arguments an object, but for those that the answer's limit cut. */
function isWhole(json: string): boolean {
  try {
    return isObject(JSON.parse(json));
  } catch {
    return false;
  }
}
