/**
 * The one guard between whatever an engine says and what a client sees. Loose events in, strict
 * events out: one start, one terminal event, one open block at a time, dense indices, a tool block
 * only with id and name, `tool_use` exactly when a whole call was emitted and the answer was not
 * cut, nothing after the end. What it had to mend is counted in `repairs`. It never throws.
 */
import { type Extensions, NO_USAGE, type StopReason, type Usage } from './conversation.js';
import { GatewayError } from './errors.js';
import { type AnswerEvent, type BlockStart, type ModelEvent, mergeExtensions } from './events.js';
import { LossLog } from './losses.js';
import { CUT_OFF, finalReason } from './stop-reasons.js';
import { brokenArguments, ToolCallState } from './tool-call-state.js';

export interface LifecycleOptions {
  /** The answer's id, made by the gateway. */
  id: string;
  /** The name that the client asked for. */
  model: string;
  /** Stands in for figures that the upstream has not given. */
  estimate?: Partial<Usage>;
  /** `false`: only the first call is let through. */
  parallelToolCalls?: boolean;
  /** Arguments that break off are left so: the reader is an agent, which must not run half a call. */
  asWritten?: boolean;
}

/** Characters that may be buffered for an unfinished call before the answer is given up. */
const HELD_LIMIT = 64 * 1024 * 1024;
/** Of one answer. Unfinished ones are ordered one after the other, which takes quadratic time. */
const MAX_CALLS = 2_000;
/** Rough characters a token, for an upstream that never reports output. */
export const CHARS_PER_TOKEN = 3.6;

type Key = number | string;

const tooMuch = (message: string) => new GatewayError('upstream_failed', message);

export class StreamLifecycle {
  readonly repairs = new Map<string, number>();
  readonly losses = new LossLog();
  readonly #options: LifecycleOptions;
  readonly #calls = new Map<Key, ToolCallState>();
  readonly #ids = new Set<string>();
  #out: AnswerEvent[] = [];
  #started = false;
  #finished = false;
  #index = 0;
  #open: 'text' | 'thinking' | ToolCallState | undefined;
  /** The open thinking has its signature. */
  #signed = false;
  /** Waits until the open call is whole; deltas of the open call itself pass by. */
  #deferred: ModelEvent[] = [];
  /** Calls among them. */
  readonly #deferredKeys = new Set<Key>();
  #heldChars = 0;
  #emittedChars = 0;
  #wholeCalls = 0;
  /** A call was no JSON, which showed after it had been passed on. */
  #broken: GatewayError | undefined;
  #stop: { reason: StopReason; stopSequence?: string } | undefined;
  #usage: Partial<Usage> = {};
  #told: { extensions?: Extensions } = {};

  constructor(options: LifecycleOptions) {
    this.#options = options;
  }

  /** The terminal event is out; everything later is ignored. */
  get finished(): boolean {
    return this.#finished;
  }

  get stopReason(): StopReason | undefined {
    return this.#finished ? this.#stop?.reason : undefined;
  }

  push(events: readonly ModelEvent[]): AnswerEvent[] {
    for (const event of events) {
      if (this.#finished) {
        this.#repair('after-end');
        break;
      }
      this.#accept(event);
      if (this.#broken !== undefined) this.#fail(this.#broken);
    }
    return this.#take();
  }

  /** The engine has nothing more to say. */
  end(): AnswerEvent[] {
    if (this.#finished) return this.#take();
    if (this.#stop === undefined) {
      const message = 'The upstream ended its answer before it was complete. Retry the request.';
      this.#fail(new GatewayError('upstream_failed', message, { retryable: true }));
      return this.#take();
    }
    this.#start();
    this.#flush();
    if (!this.#finished) this.#close(CUT_OFF.has(this.#stop.reason));
    if (this.#broken !== undefined) this.#fail(this.#broken);
    if (this.#finished) return this.#take();
    if (this.#index === 0) {
      this.#openBlock('text', { type: 'text' });
      this.#close();
    }
    const reason = this.#finalReason(this.#stop.reason);
    this.#stop.reason = reason;
    const { stopSequence } = this.#stop;
    this.#out.push({
      type: 'message-delta',
      stopReason: reason,
      ...(reason === 'stop_sequence' && stopSequence !== undefined ? { stopSequence } : {}),
      usage: this.usage,
      ...this.#told,
    });
    this.#out.push({ type: 'message-stop' });
    this.#finished = true;
    return this.#take();
  }

  #take(): AnswerEvent[] {
    const out = this.#out;
    this.#out = [];
    return out;
  }

  #accept(event: ModelEvent): void {
    switch (event.type) {
      case 'text':
      case 'thinking':
        if (event.text === '') return;
        break;
      case 'signature':
        if (event.signature === '') return;
        break;
      case 'start':
        if (event.usage !== undefined) this.#mergeUsage(event.usage);
        if (this.#started) this.#repair('second-start');
        this.#start();
        return;
      case 'usage':
        this.#mergeUsage(event.usage);
        return;
      case 'extensions':
        this.#told = { extensions: mergeExtensions(this.#told.extensions, event.extensions) };
        return;
      case 'loss':
        this.losses.add(event.path, event.reason);
        return;
      case 'ping':
        this.#start();
        this.#out.push({ type: 'ping' });
        return;
      case 'stop':
        this.#onStop(event);
        return;
      case 'error':
        this.#fail(event.error);
        return;
    }
    this.#start();
    this.#route(event);
  }

  /** Content in order: what does not belong to the open, unfinished call is buffered. */
  #route(event: ModelEvent): void {
    if (this.#deferred.length > 0 && !this.#isForOpenCall(event)) {
      this.#defer(event);
      return;
    }
    this.#place(event);
    if (this.#deferred.length > 0 && this.#open instanceof ToolCallState && this.#open.whole) this.#replay();
  }

  #isForOpenCall(event: ModelEvent): boolean {
    if (event.type !== 'tool' && event.type !== 'tool-input' && event.type !== 'tool-end') return false;
    return this.#open instanceof ToolCallState && this.#calls.get(event.key) === this.#open;
  }

  #defer(event: ModelEvent): void {
    this.#deferred.push(event);
    if ('text' in event) this.#heldChars += event.text.length;
    else if ('json' in event) this.#heldChars += event.json.length;
    if ('key' in event) this.#deferredKeys.add(event.key);
    if (this.#heldChars > HELD_LIMIT || this.#deferredKeys.size > MAX_CALLS) {
      this.#fail(tooMuch('The upstream interleaved more content than can be put in order.'));
    }
  }

  #replay(): void {
    const waiting = this.#deferred;
    this.#deferred = [];
    this.#deferredKeys.clear();
    this.#heldChars = 0;
    for (const event of waiting) if (!this.#finished) this.#route(event);
  }

  /** Everything that waits comes out now, finished or not. */
  #flush(): void {
    while (this.#deferred.length > 0) {
      this.#close();
      this.#replay();
    }
    for (const call of this.#calls.values()) {
      if (!this.#finished && !call.opened && !call.closed) this.#openLate(call);
    }
  }

  #place(event: ModelEvent): void {
    switch (event.type) {
      case 'text':
      case 'thinking':
        if (!this.#makeRoom(event)) return;
        // A signature is of what came before it: later thinking is a block of its own.
        if (this.#open !== event.type || this.#signed) this.#openBlock(event.type, { type: event.type });
        this.#delta({ type: event.type, text: event.text }, event.text.length);
        return;
      case 'signature':
        if (!this.#makeRoom(event)) return;
        if (this.#open !== 'thinking') this.#openBlock('thinking', { type: 'thinking' });
        this.#signed = true;
        this.#delta({ type: 'signature', signature: event.signature }, 0);
        return;
      case 'block':
        if (!this.#makeRoom(event)) return;
        this.#close();
        this.#out.push({ type: 'block-start', index: this.#index, block: event.block });
        this.#out.push({ type: 'block-stop', index: this.#index });
        this.#index += 1;
        return;
      case 'break':
        if (typeof this.#open === 'string') this.#close();
        return;
      case 'tool':
        this.#onTool(event);
        return;
      case 'tool-input':
        this.#onToolInput(event);
        return;
      case 'tool-end':
        this.#onToolEnd(event);
        return;
    }
  }

  /** False when `event` must wait for the open call. Closes a call that is whole. */
  #makeRoom(event: ModelEvent): boolean {
    const open = this.#open;
    if (!(open instanceof ToolCallState)) return true;
    if (open.whole) {
      this.#close();
      return true;
    }
    this.#repair('interleaved');
    this.#defer(event);
    return false;
  }

  #onTool(event: Extract<ModelEvent, { type: 'tool' }>): void {
    const call = this.#call(event.key);
    if (call === undefined) return;
    if (call.closed || call.opened) {
      if (event.extensions !== undefined) call.extensions ??= event.extensions;
      return;
    }
    if (call.id === '' && event.id) call.id = event.id;
    if (call.name === '' && event.name) call.name = event.name;
    if (event.extensions !== undefined) call.extensions ??= event.extensions;
    if (call.id !== '' && call.name !== '') this.#openCall(call, event);
  }

  #onToolInput(event: Extract<ModelEvent, { type: 'tool-input' }>): void {
    if (event.json === '') return;
    const call = this.#call(event.key);
    if (call === undefined) return;
    if (call.closed) {
      this.#repair('input-after-end');
      return;
    }
    // Some servers never send an id: once arguments flow under a name, there is no point in waiting.
    if (!call.opened && call.name !== '' && !this.#openCall(call, event)) return;
    call.add(event.json);
    if (call.length > HELD_LIMIT) {
      this.#fail(tooMuch('The upstream sent tool arguments that are too large.'));
      return;
    }
    this.#pass(call);
  }

  #onToolEnd(event: Extract<ModelEvent, { type: 'tool-end' }>): void {
    const call = this.#calls.get(event.key);
    if (call === undefined || call.closed) return;
    call.ended = true;
    if (!call.opened && (call.name === '' || !this.#openCall(call, event))) return;
    if (this.#open === call) {
      this.#close();
      if (this.#deferred.length > 0) this.#replay();
    }
  }

  /** The call of this key; undefined when only one call was allowed and this is another. */
  #call(key: Key): ToolCallState | undefined {
    const known = this.#calls.get(key);
    if (known !== undefined) return known;
    if (this.#options.parallelToolCalls === false && this.#calls.size > 0) {
      this.#repair('parallel-call-dropped');
      return undefined;
    }
    if (this.#calls.size >= MAX_CALLS) {
      this.#fail(tooMuch('The model made too many tool calls in one answer.'));
      return undefined;
    }
    const call = new ToolCallState();
    this.#calls.set(key, call);
    return call;
  }

  /** False when another unfinished call is open and `event` was buffered. */
  #openCall(call: ToolCallState, event: ModelEvent): boolean {
    if (!this.#makeRoom(event)) return false;
    this.#identify(call);
    const { id, name, extensions } = call;
    const more = extensions === undefined ? {} : { extensions };
    this.#openBlock(call, { type: 'tool_use', id, name, ...more });
    call.opened = true;
    this.#pass(call);
    return true;
  }

  /** A call whose id or name never came: better named than dropped. */
  #openLate(call: ToolCallState): void {
    if (call.id === '' && call.name === '' && !call.hasInput) return;
    this.#close();
    if (call.name === '') {
      call.name = 'unknown_tool';
      this.#repair('missing-name');
    }
    this.#openCall(call, { type: 'break' });
    this.#close();
  }

  #identify(call: ToolCallState): void {
    if (call.id === '') {
      call.id = `call_${this.#options.id.replace(/[^a-zA-Z0-9]/g, '').slice(-20)}_${this.#ids.size}`;
      this.#repair('missing-id');
    }
    if (this.#ids.has(call.id)) {
      // Not `_1`: Claude Code takes that for a copy of the first call, and loses its result.
      call.id = `${call.id}-${this.#ids.size}`;
      this.#repair('duplicate-id');
    }
    this.#ids.add(call.id);
  }

  #pass(call: ToolCallState): void {
    const json = call.take();
    if (json !== '') this.#delta({ type: 'input', json }, json.length);
  }

  #openBlock(open: 'text' | 'thinking' | ToolCallState, block: BlockStart): void {
    this.#close();
    this.#out.push({ type: 'block-start', index: this.#index, block });
    this.#open = open;
  }

  #delta(delta: Extract<AnswerEvent, { type: 'block-delta' }>['delta'], chars: number): void {
    this.#emittedChars += chars;
    this.#out.push({ type: 'block-delta', index: this.#index, delta });
  }

  /** `cut`: the answer ends here, and what is open may be incomplete. */
  #close(cut = false, failed = false): void {
    const open = this.#open;
    if (open === undefined) return;
    const broken = failed && !(open instanceof ToolCallState && open.whole);
    if (open instanceof ToolCallState) this.#closeCall(open, cut);
    this.#out.push({ type: 'block-stop', index: this.#index, ...(broken ? { broken } : {}) });
    this.#index += 1;
    this.#open = undefined;
    this.#signed = false;
  }

  #closeCall(call: ToolCallState, cut: boolean): void {
    const { json, repair } = call.finish(cut || this.#options.asWritten === true);
    if (json !== '') this.#delta({ type: 'input', json }, json.length);
    if (repair !== undefined) this.#repair(`arguments-${repair}`);
    if (repair === 'broken') this.#broken ??= brokenArguments(call.name);
    if (call.trailing) this.#repair('arguments-trailing');
    call.closed = true;
    this.#wholeCalls += 1;
  }

  #start(): void {
    if (this.#started) return;
    this.#started = true;
    const { id, model } = this.#options;
    this.#out.push({ type: 'message-start', id, model, usage: this.#startUsage(), ...this.#told });
  }

  #onStop(event: Extract<ModelEvent, { type: 'stop' }>): void {
    const { reason, stopSequence } = event;
    if (this.#stop !== undefined) this.#repair('second-stop');
    if (this.#stop === undefined || this.#stop.reason === 'end_turn' || this.#stop.reason === 'tool_use') {
      this.#stop = stopSequence === undefined ? { reason } : { reason, stopSequence };
    }
  }

  #finalReason(reason: StopReason): StopReason {
    const final = finalReason(reason, this.#wholeCalls);
    if (final !== reason) this.#repair('stop-reason');
    return final;
  }

  #fail(error: GatewayError): void {
    if (this.#finished) return;
    this.#start();
    this.#close(true, true);
    this.#deferred = [];
    this.#out.push({ type: 'error', error });
    this.#finished = true;
  }

  #mergeUsage(usage: Partial<Usage>): void {
    this.#usage = { ...this.#usage, ...usage };
  }

  #startUsage(): Usage {
    return { ...NO_USAGE, ...(this.#hasPrompt() ? {} : this.#options.estimate), ...this.#usage };
  }

  /** Of an answer that broke off at least what was said: Anthropic's first figure is not its output. */
  get usage(): Usage {
    const usage = this.#startUsage();
    const { outputTokens: counted } = { ...this.#options.estimate, ...this.#usage };
    const said = counted !== undefined && this.#stop ? 0 : Math.ceil(this.#emittedChars / CHARS_PER_TOKEN);
    return { ...usage, outputTokens: Math.max(usage.outputTokens, said) };
  }

  /** The upstream has counted the prompt, so the estimate must not mix with its figures. */
  #hasPrompt(): boolean {
    const { inputTokens, cacheReadTokens, cacheWriteTokens } = this.#usage;
    return (inputTokens ?? 0) + (cacheReadTokens ?? 0) + (cacheWriteTokens ?? 0) > 0;
  }

  #repair(kind: string): void {
    this.repairs.set(kind, (this.repairs.get(kind) ?? 0) + 1);
  }
}
