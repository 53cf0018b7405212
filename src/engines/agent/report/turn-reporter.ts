/** One turn and its observers: those of the request, and those of all turns. */
import {
  type AgentObserver,
  notifierOf,
  safeObserver,
  type TurnObserver,
  type TurnOutcome,
  type TurnSink,
} from '../../../activity/activity.js';
import type { Block, ConversationRequest, Message, StopReason } from '../../../core/conversation.js';
import type { GatewayError } from '../../../core/errors.js';
import { causeOf, type StopCause } from '../../../core/stopping.js';
import type { Log } from '../../../observability/log.js';
import type { Turn } from '../../../sessions/sessions.js';

interface TurnReporterOptions {
  watcher: TurnObserver | undefined;
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
  /** Tells both; what one of them throws is logged and changes nothing. */
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
  }

  answered(end: { kind: 'handed-back' | 'max-steps' } | { kind: 'done'; reason: StopReason }): void {
    switch (end.kind) {
      case 'handed-back':
        this.#reporter?.end({ end: 'parked', stopReason: 'tool_use' });
        break;
      case 'max-steps':
        this.#reporter?.end({ end: 'complete', stopReason: 'pause_turn' });
        break;
      case 'done':
        this.#reporter?.end({ end: 'complete', stopReason: end.reason });
    }
  }

  failed(error: GatewayError): void {
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
      const { toolUseId: id, content, isError } = block;
      const outcome = isError ? 'failed' : 'done';
      const name = names.get(id) ?? '';
      notify({
        type: 'tool',
        event: { type: 'tool-result', id, name, content, isError, durationMs: 0, outcome },
      });
    }
  }
}
