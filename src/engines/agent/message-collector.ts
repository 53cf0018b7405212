/**
 * One message of a model, collected from the loose events of its stream: text and thinking are for
 * the client at once, and so are calls of its own tools where they may be streamed; other calls are
 * kept until the message is whole.
 */
import {
  type Block,
  type Message,
  NO_USAGE,
  type OpaqueBlock,
  type RedactedThinkingBlock,
  type StopReason,
  type ToolUseBlock,
  type Usage,
} from '../../core/conversation.js';
import { GatewayError } from '../../core/errors.js';
import type { ModelEvent, ToolExtensions } from '../../core/events.js';
import { CUT_OFF } from '../../core/stop-reasons.js';
import { brokenArguments } from '../../core/tool-call-state.js';
import { LIMITS } from './limits.js';
import type { MessageReporter } from './reporters.js';
import { type ParsedToolArguments, parseToolArguments } from './tool-call-arguments.js';
import type { ToolCallStream } from './tool-call-stream.js';

const OF_ONE_CALL = 'said of one model call, and an agent answers with several';

export interface CollectedToolCall {
  block: ToolUseBlock;
  /** How the stream named it. */
  key?: Key;
  /** Why it must not run, as a sentence for the model. */
  problem?: string;
  /** The client has seen it under the id of the block. */
  shown?: boolean;
}

export interface CollectedMessage {
  id: string | undefined;
  /** In the order in which the model said it; calls that must not run included. */
  content: Block[];
  calls: CollectedToolCall[];
  stopReason: StopReason;
  stopSequence?: string;
}

/** Ids of the tool calls in a conversation. */
export function toolCallIds(messages: readonly Message[]): Set<string> {
  const ids = new Set<string>();
  for (const { content } of messages) {
    for (const block of content) if (block.type === 'tool_use') ids.add(block.id);
  }
  return ids;
}

/** The client has seen a call that the answer's limit cut off: there is nothing to continue. */
export function isCutInSight({ calls }: CollectedMessage): boolean {
  return calls.some(({ shown, problem }) => shown === true && problem !== undefined);
}

type Key = number | string;

interface CallPart {
  type: 'call';
  key: Key;
  id: string;
  name: string;
  json: string;
  ended: boolean;
  /** As they stood when the model said that they were whole. */
  parsed: ParsedToolArguments | undefined;
  extensions: ToolExtensions | undefined;
}

type Part =
  | { type: 'text'; text: string }
  | { type: 'thinking'; text: string; signature: string }
  | { type: 'block'; block: RedactedThinkingBlock | OpaqueBlock }
  | CallPart;

const tooMuch = (message: string) => new GatewayError('upstream_failed', message);

export class MessageCollector {
  readonly #parts: Part[] = [];
  readonly #calls = new Map<Key, CallPart>();
  readonly #taken: ReadonlySet<string>;
  readonly #reporter: MessageReporter | undefined;
  readonly #stream: ToolCallStream | undefined;
  #open: Extract<Part, { type: 'text' | 'thinking' }> | undefined;
  #chars = 0;
  #id: string | undefined;
  #usage: Partial<Usage> = {};
  #stop: { reason: StopReason; stopSequence?: string } | undefined;
  #error: GatewayError | undefined;
  #visible = false;

  /**
   * `taken`: ids of calls that the conversation has already. `reporter`: receives it as it comes.
   * `stream`: without it no call is passed on.
   */
  constructor(taken: ReadonlySet<string>, reporter?: MessageReporter, stream?: ToolCallStream) {
    this.#taken = taken;
    this.#reporter = reporter;
    this.#stream = stream;
    stream?.next();
  }

  /** The stream failed, or was more than can be held. Nothing more is taken. */
  get error(): GatewayError | undefined {
    return this.#error;
  }

  /** The client has been given something of this message. */
  get visible(): boolean {
    return this.#visible;
  }

  /** What the upstream counted; undefined where it did not. */
  get usage(): Usage | undefined {
    const { inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens } = this.#usage;
    const prompt = (inputTokens ?? 0) + (cacheReadTokens ?? 0) + (cacheWriteTokens ?? 0);
    if (prompt === 0 && (outputTokens ?? 0) === 0) return undefined;
    return { ...NO_USAGE, ...this.#usage };
  }

  /** Characters of the message, to estimate what was not counted. */
  get chars(): number {
    return this.#chars;
  }

  /** Takes a batch; returns what of it the client is to see. */
  push(batch: readonly ModelEvent[]): ModelEvent[] {
    const passed: ModelEvent[] = [];
    for (const event of batch) {
      if (this.#error !== undefined) break;
      const seen = this.#take(event);
      if (seen === true) passed.push(event);
      else if (seen !== false && seen.length > 0) {
        this.#visible = true;
        passed.push(...seen);
      }
    }
    return passed;
  }

  /** The stream is over. */
  finish(): CollectedMessage | GatewayError {
    if (this.#error !== undefined) return this.#error;
    if (this.#stop === undefined) {
      return new GatewayError(
        'upstream_failed',
        'The upstream ended its answer before it was complete. Retry the request.',
        { retryable: true },
      );
    }
    const { reason, stopSequence } = this.#stop;
    const cutOff = CUT_OFF.has(reason);
    const lastCall = this.#parts.findLast((part) => part.type === 'call');
    const calls: CollectedToolCall[] = [];
    const content: Block[] = [];
    const ids = new Set(this.#taken);
    for (const part of this.#parts) {
      if (part.type !== 'call') {
        const block = blockOf(part);
        if (block !== undefined) content.push(block);
        continue;
      }
      const call = finishCall(part, cutOff && part === lastCall, ids, this.#stream?.idOf(part.key));
      if (call === undefined) continue;
      if (call.shown === true && call.problem !== undefined && !cutOff)
        return brokenArguments(this.#stream?.nameOf(part.name) ?? part.name);
      content.push(call.block);
      calls.push(call);
    }
    return {
      id: this.#id,
      content,
      calls,
      stopReason: reason,
      ...(stopSequence === undefined ? {} : { stopSequence }),
    };
  }

  /** True for what is passed on as it is; otherwise what is to be seen in its place. */
  #take(event: ModelEvent): boolean | ModelEvent[] {
    switch (event.type) {
      case 'text':
      case 'thinking':
        return this.#onText(event.type, event.text);
      case 'signature':
        return this.#onSignature(event.signature);
      case 'block':
        this.#open = undefined;
        this.#parts.push({ type: 'block', block: event.block });
        this.#visible = true;
        return true;
      case 'break':
        this.#open = undefined;
        return true;
      case 'tool':
        return this.#onTool(event);
      case 'tool-input':
        return this.#onToolInput(event.key, event.json);
      case 'tool-end':
        this.#onToolEnd(event.key);
        return false;
      case 'start':
        this.#id ??= event.id;
        if (event.usage !== undefined) this.#usage = { ...this.#usage, ...event.usage };
        return false;
      case 'usage':
        this.#usage = { ...this.#usage, ...event.usage };
        return false;
      case 'stop':
        this.#onStop(event);
        return false;
      case 'error':
        this.#error = event.error;
        return false;
      case 'extensions':
        return Object.values(event.extensions).flatMap((fields) =>
          Object.keys(fields).map((path) => ({ type: 'loss', path, reason: OF_ONE_CALL })),
        );
      case 'loss':
      case 'ping':
        return true;
    }
  }

  #onText(type: 'text' | 'thinking', text: string): boolean {
    if (text === '') return false;
    this.#count(text);
    // A signature is of what came before it: later thinking is a block of its own.
    const signed = this.#open?.type === 'thinking' && this.#open.signature !== '';
    if (this.#open === undefined || this.#open.type !== type || signed) {
      this.#open = type === 'text' ? { type, text: '' } : { type, text: '', signature: '' };
      this.#parts.push(this.#open);
    }
    this.#open.text += text;
    this.#visible = true;
    this.#reporter?.said(type, text);
    return true;
  }

  #onSignature(signature: string): boolean {
    if (signature === '') return false;
    if (this.#open?.type !== 'thinking') {
      this.#open = { type: 'thinking', text: '', signature: '' };
      this.#parts.push(this.#open);
    }
    this.#open.signature += signature;
    this.#visible = true;
    return true;
  }

  #onTool(event: Extract<ModelEvent, { type: 'tool' }>): ModelEvent[] {
    const call = this.#call(event.key);
    if (call.id === '' && event.id) call.id = event.id;
    if (call.name === '' && event.name) call.name = event.name;
    call.extensions ??= event.extensions;
    this.#reporter?.called(call, '');
    return this.#shownOf(call, call.json);
  }

  #onToolInput(key: Key, json: string): ModelEvent[] {
    const call = this.#call(key);
    this.#count(json);
    if (call.ended) return [];
    call.json += json;
    this.#reporter?.called(call, json);
    return this.#shownOf(call, call.json, json);
  }

  /** `json`: all of its arguments; `fresh`: what is new of them. */
  #shownOf(call: CallPart, json: string, fresh = ''): ModelEvent[] {
    if (this.#stream === undefined) return [];
    return this.#stream.called(call, this.#stream.idOf(call.key) === undefined ? json : fresh);
  }

  #onToolEnd(key: Key): void {
    const call = this.#calls.get(key);
    if (call === undefined || call.ended) return;
    call.ended = true;
    this.#stream?.ended(key);
    if (this.#reporter === undefined) return;
    call.parsed = parseToolArguments(call.json, false);
    if (call.parsed.ok) this.#reporter.ended(call, call.parsed.input);
  }

  #call(key: Key): CallPart {
    const known = this.#calls.get(key);
    if (known !== undefined) return known;
    const call: CallPart = {
      type: 'call',
      key,
      id: '',
      name: '',
      json: '',
      ended: false,
      parsed: undefined,
      extensions: undefined,
    };
    this.#open = undefined;
    this.#calls.set(key, call);
    this.#parts.push(call);
    if (this.#calls.size > LIMITS.message.calls) {
      this.#error = tooMuch(`The model made more than ${LIMITS.message.calls} tool calls in one message.`);
    }
    return call;
  }

  #count(text: string): void {
    this.#chars += text.length;
    if (this.#chars > LIMITS.message.chars)
      this.#error = tooMuch('The upstream sent a message that is too large.');
  }

  #onStop({ reason, stopSequence }: Extract<ModelEvent, { type: 'stop' }>): void {
    const before = this.#stop?.reason;
    if (before !== undefined && before !== 'end_turn' && before !== 'tool_use') return;
    this.#stop = stopSequence === undefined ? { reason } : { reason, stopSequence };
  }
}

function blockOf(part: Exclude<Part, CallPart>): Block | undefined {
  switch (part.type) {
    case 'text':
      return part.text.trim() === '' ? undefined : { type: 'text', text: part.text };
    case 'thinking': {
      const { text: thinking, signature } = part;
      return { type: 'thinking', thinking, ...(signature === '' ? {} : { signature }) };
    }
    case 'block':
      return part.block;
  }
}

/** `seen`: the id under which the client has seen it. Undefined for a call of which nothing ever came. */
function finishCall(
  part: CallPart,
  cutOff: boolean,
  ids: Set<string>,
  seen: string | undefined,
): CollectedToolCall | undefined {
  if (part.id === '' && part.name === '' && part.json === '') return undefined;
  const parsed = cutOff
    ? parseToolArguments(part.json, cutOff)
    : (part.parsed ?? parseToolArguments(part.json, false));
  const id = seen ?? freshId(part.id === '' ? `call_${ids.size + 1}` : part.id, ids);
  ids.add(id);
  const { extensions, key } = part;
  const shown = seen === undefined ? {} : { shown: true };
  const block: ToolUseBlock = {
    type: 'tool_use',
    id,
    name: part.name === '' ? 'unknown_tool' : part.name,
    input: parsed.ok ? parsed.input : {},
    ...(extensions === undefined ? {} : { extensions }),
  };
  if (parsed.ok) return { block, key, ...shown };
  return { block, key, ...shown, problem: parsed.cut ? CUT : notJson(part.json) };
}

const CUT =
  'The call was cut off before its arguments were complete, so it was not run. Make it again; if it is long, in smaller pieces.';

function notJson(text: string): string {
  const { shownArguments } = LIMITS.message;
  const shown = text.length > shownArguments ? `${text.slice(0, shownArguments)} […]` : text;
  return `The arguments were not valid JSON, so the call was not run. Make it again with one JSON object. They were: ${shown}`;
}

/** Servers that count their calls use the same ids in every answer. */
function freshId(id: string, ids: Set<string>): string {
  let fresh = id;
  for (let copy = 2; ids.has(fresh); copy += 1) fresh = `${id}-${copy}`;
  ids.add(fresh);
  return fresh;
}
