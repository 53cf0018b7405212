/** What observers get of one turn, those of its request and those of all turns, and of each message while it streams. */
import {
  type AgentActivityBody,
  type AgentObserver,
  notifierOf,
  safeObserver,
  type TurnOutcome,
  type TurnSink,
  type TurnWatcher,
} from '../../activity/activity.js';
import type { ActivityRecord } from '../../activity/wire.js';
import type {
  Block,
  ConversationRequest,
  JsonObject,
  Message,
  StopReason,
  ToolResultBlock,
  ToolUseBlock,
} from '../../core/conversation.js';
import type { GatewayError } from '../../core/errors.js';
import { causeOf, type StopCause } from '../../core/stopping.js';
import type { Log } from '../../observability/log.js';
import type { Turn } from '../../sessions/sessions.js';
import type { ToolRunResult } from '../../tools/runtime/runtime.js';

interface TurnReporterOptions {
  watcher: TurnWatcher | undefined;
  call: { id: string; request: Pick<ConversationRequest, 'model' | 'messages'>; signal: AbortSignal };
  turn: Pick<Turn, 'id' | 'principal' | 'transcript' | 'began' | 'signal'>;
  /** Of those who wait for the answer. */
  observe: AgentObserver;
  /** The engine stops. */
  isClosing(): boolean;
  log: Log;
}

export class TurnReporter {
  readonly #options: TurnReporterOptions;
  readonly #reporter: TurnSink | undefined;
  #coming: TurnOutcome | undefined;
  /** Notifies both; what one of them throws is logged and changes nothing. */
  readonly observe: AgentObserver;

  constructor(options: TurnReporterOptions) {
    const { watcher, call, turn, log } = options;
    this.#options = options;
    this.#reporter = watcher?.begin({
      id: call.id,
      session: turn.id,
      principal: turn.principal,
      model: call.request.model,
      message: newBlocks(call.request.messages),
    });
    const waiting = safeObserver(options.observe, log);
    if (this.#reporter === undefined) {
      this.observe = waiting;
      return;
    }
    const watching = safeObserver(this.#reporter.observe, log);
    this.observe = (activity) => {
      watching(activity);
      waiting(activity);
    };
    tellAgain(turn.transcript.slice(turn.began), notifierOf(watching, turn.id));
    // The record has it already, as it was the first time.
    this.#reporter.takeRecord();
  }

  /** What people were shown since the last call and the transcript does not say. */
  takeRecord(): ActivityRecord | undefined {
    return this.#reporter?.takeRecord(this.#coming);
  }

  /** It will be answered so, once that is written. */
  answers(end: AnsweredBy): void {
    this.#coming = outcomeOf(end);
  }

  answered(end: AnsweredBy): void {
    this.#reporter?.end(outcomeOf(end));
  }

  failed(error: GatewayError): void {
    this.#coming = undefined;
    const given = this.#givenUp();
    this.#reporter?.end(given?.end === 'stopped' ? given : { end: given?.end ?? 'failed', error });
  }

  /** However it ended. Says nothing where that was said before. */
  over(): void {
    this.#reporter?.end(this.#givenUp() ?? { end: 'stopped' });
  }

  /** Undefined while it is wanted. */
  #givenUp(): TurnOutcome | undefined {
    const { call, turn, isClosing } = this.#options;
    if (turn.signal.aborted) return { end: endBy(causeOf(turn.signal) ?? 'session-lost') };
    if (isClosing()) return { end: 'broken' };
    return call.signal.aborted ? { end: endBy(causeOf(call.signal) ?? 'client-gone') } : undefined;
  }
}

type AnsweredBy = { kind: 'handed-back' | 'max-steps' } | { kind: 'done'; reason: StopReason };

function outcomeOf(end: AnsweredBy): TurnOutcome {
  switch (end.kind) {
    case 'handed-back':
      return { end: 'parked', stopReason: 'tool_use' };
    case 'max-steps':
      return { end: 'complete', stopReason: 'pause_turn' };
    case 'done':
      return { end: 'complete', stopReason: end.reason };
  }
}

function endBy(cause: StopCause): 'stopped' | 'broken' {
  switch (cause) {
    case 'person-stopped':
    case 'client-gone':
    case 'request-broken':
      return 'stopped';
    case 'gateway-stops':
    case 'session-lost':
    case 'session-ended':
      return 'broken';
  }
}

/** What the user says after the last answer. */
export function newBlocks(messages: readonly Message[]): Block[] {
  const last = messages.findLastIndex(({ role }) => role === 'assistant');
  return messages.slice(last + 1).flatMap(({ role, content }) => (role === 'user' ? content : []));
}

/** A broken turn is resumed: observers get it from its beginning. */
function tellAgain(messages: readonly Message[], notify: ReturnType<typeof notifierOf>): void {
  const names = new Map<string, string>();
  for (const block of messages.flatMap(({ content }) => content)) {
    if (block.type === 'text') notify({ type: 'text', text: block.text });
    else if (block.type === 'thinking') notify({ type: 'thinking', text: block.thinking });
    else if (block.type === 'tool_use') {
      const { id, name, input } = block;
      names.set(id, name);
      notify({ type: 'call-whole', id, name, input });
    } else if (block.type === 'tool_result') {
      notify(givenResult(names.get(block.toolUseId) ?? '', block));
    }
  }
}

/** A result that is there without a run now. */
export function givenResult(
  name: string,
  { toolUseId: id, content, isError }: ToolResultBlock,
  outcome: ToolRunResult['outcome'] = isError ? 'failed' : 'done',
): AgentActivityBody {
  return {
    type: 'tool',
    event: { type: 'tool-result', id, name, content, isError, durationMs: 0, outcome },
  };
}

type Key = number | string;

/** A call as far as the model has said it. */
interface StreamedToolCall {
  readonly key: Key;
  readonly id: string;
  readonly name: string;
  /** All of its arguments so far. */
  readonly json: string;
}

interface ReportedToolCall {
  id: string;
  name: string;
  whole: boolean;
}

/**
 * Reports one message of a model while it streams. Ids of calls hold only once the message is
 * whole; until then a call has the one that it will most likely have, and is reported again if not.
 */
export class MessageReporter {
  readonly #notify: (activity: AgentActivityBody) => void;
  readonly #taken: ReadonlySet<string>;
  readonly #plain: (name: string) => string;
  readonly #reported = new Map<Key, ReportedToolCall>();

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
    const reported = this.#reported.get(call.key);
    if (reported !== undefined) {
      if (json !== '') this.#notify({ type: 'call-input', id: reported.id, json });
      return;
    }
    if (call.name === '') return;
    const began: ReportedToolCall = { id: this.#free(call.id), name: this.#plain(call.name), whole: false };
    this.#reported.set(call.key, began);
    this.#notify({ type: 'call-began', id: began.id, name: began.name });
    if (call.json !== '') this.#notify({ type: 'call-input', id: began.id, json: call.json });
  }

  /** The model says that it has said all of it. */
  ended({ key }: StreamedToolCall, input: JsonObject): void {
    const reported = this.#reported.get(key);
    if (reported === undefined || reported.whole) return;
    reported.whole = true;
    this.#notify({ type: 'call-whole', id: reported.id, name: reported.name, input });
  }

  /** The message is whole, and its calls have the ids and names that they keep. */
  settle(calls: readonly { key?: Key; block: ToolUseBlock }[]): void {
    for (const { key, block } of calls) {
      const reported = key === undefined ? undefined : this.#reported.get(key);
      if (key !== undefined) this.#reported.delete(key);
      const { id, name, input } = block;
      if (reported?.whole === true && reported.id === id && reported.name === name) continue;
      const was = reported === undefined || reported.id === id ? {} : { was: reported.id };
      this.#notify({ type: 'call-whole', id, ...was, name, input });
    }
    this.drop();
  }

  /** Calls that were reported and are not settled will not be made. */
  drop(): void {
    const ids = [...this.#reported.values()].map(({ id }) => id);
    this.#reported.clear();
    if (ids.length > 0) this.#notify({ type: 'calls-dropped', ids });
  }

  #free(id: string): string {
    const isTaken = (each: string) =>
      this.#taken.has(each) || [...this.#reported.values()].some((reported) => reported.id === each);
    const base = id === '' ? `call_${this.#taken.size + this.#reported.size + 1}` : id;
    let free = base;
    for (let copy = 2; isTaken(free); copy += 1) free = `${base}-${copy}`;
    return free;
  }
}
