/**
 * Conversations that have a process, and whether one of them can continue a turn. There are at most so
 * many, at any time: for one more, the one that was unused longest ends, never one with a turn that
 * runs. Where all of them run, a turn waits.
 */
import type { Message, ToolResultBlock } from '../../../core/conversation.js';
import { onAbort } from '../../../core/stopping.js';
import type { Log } from '../../../observability/log.js';
import type { SessionEvent, Sessions, Turn } from '../../../sessions/sessions.js';
import { incomingMessage } from '../processes/transcript-entries.js';
import type { KnownToolCall } from '../tool-calls/tool-call-table.js';
import type { ClaudeConversation } from './claude-conversation.js';

interface LiveConversationsOptions {
  sessions: Pick<Sessions, 'subscribe'>;
  /** Processes at once, those that are about to come or to go included. */
  max: number;
  log: Log;
}

export class LiveConversations {
  readonly #options: LiveConversationsOptions;
  /** Between two turns, the one that was unused longest first. */
  readonly #resting = new Map<string, ClaudeConversation>();
  readonly #busy = new Set<ClaudeConversation>();
  readonly #closing = new Set<Promise<void>>();
  #opening = 0;
  /** Openings that wait for a free process, one after the other. */
  #line: Promise<void> = Promise.resolve();
  #onChange: () => void = () => {};
  readonly #unsubscribe: () => void;

  constructor(options: LiveConversationsOptions) {
    this.#options = options;
    this.#unsubscribe = options.sessions.subscribe((event) => this.#onEvent(event));
  }

  get size(): number {
    return this.#resting.size + this.#busy.size + this.#opening;
  }

  /** For a turn that begins; it is then the turn's to rest or to close. */
  take(session: string): ClaudeConversation | undefined {
    const conversation = this.#resting.get(session);
    this.#resting.delete(session);
    if (conversation !== undefined) this.#busy.add(conversation);
    return conversation;
  }

  /** A new one, once there is room for it. A turn whose signal fires is not kept waiting. Rejects as `start` does. */
  async open(start: () => Promise<ClaudeConversation>, signal: AbortSignal): Promise<ClaudeConversation> {
    const admitted = this.#line.then(() => this.#makeRoom(signal));
    this.#line = admitted;
    await admitted;
    try {
      const conversation = await start();
      this.#busy.add(conversation);
      void conversation.gone.then(() => this.#onGone(conversation));
      return conversation;
    } finally {
      this.#opening -= 1;
      this.#onChange();
    }
  }

  /** The turn is over, and the next one may continue it. */
  rest(conversation: ClaudeConversation): void {
    this.#busy.delete(conversation);
    const { id } = conversation;
    const other = this.#resting.get(id);
    this.#resting.delete(id);
    if (other !== undefined && other !== conversation) void this.#close(other);
    if (conversation.alive) this.#resting.set(id, conversation);
    else void this.#close(conversation);
    this.#onChange();
  }

  /** Ends it. Resolves when its process is gone. */
  async drop(conversation: ClaudeConversation, steps?: number): Promise<void> {
    this.#busy.delete(conversation);
    if (this.#resting.get(conversation.id) === conversation) this.#resting.delete(conversation.id);
    await this.#close(conversation, steps);
  }

  /** Turns must have ended. */
  async close(): Promise<void> {
    this.#unsubscribe();
    for (const conversation of [...this.#resting.values(), ...this.#busy]) void this.#close(conversation);
    this.#resting.clear();
    this.#busy.clear();
    await Promise.all(this.#closing);
  }

  #onEvent(event: SessionEvent): void {
    if (event.type !== 'hibernated' && event.type !== 'ended') return;
    const conversation = this.#resting.get(event.session);
    if (conversation === undefined) return;
    this.#resting.delete(event.session);
    void this.#close(conversation);
  }

  /** Between two turns nothing else would notice. */
  #onGone(conversation: ClaudeConversation): void {
    if (this.#resting.get(conversation.id) !== conversation) return;
    this.#resting.delete(conversation.id);
    void this.#close(conversation);
  }

  async #makeRoom(signal: AbortSignal): Promise<void> {
    const release = onAbort(signal, () => this.#onChange());
    while (!signal.aborted && this.size + this.#closing.size >= this.#options.max) {
      const changed = new Promise<void>((resolve) => {
        this.#onChange = resolve;
      });
      const [[id, oldest] = []] = this.#resting;
      if (id === undefined || oldest === undefined) await changed;
      else {
        this.#resting.delete(id);
        await this.#close(oldest);
      }
    }
    release();
    // Before anybody else looks.
    this.#opening += 1;
  }

  async #close(conversation: ClaudeConversation, steps?: number): Promise<void> {
    const closing = conversation
      .close(steps)
      .catch((error: unknown) => {
        this.#options.log.warn(
          { err: error, session: conversation.id },
          'a process of Claude Code did not end',
        );
      })
      .finally(() => {
        this.#closing.delete(closing);
        this.#onChange();
      });
    this.#closing.add(closing);
    await closing;
  }
}

interface WarmStart {
  /** The transcript has the results that it gets. */
  hasResults: boolean;
  /** Sends it what is new. */
  go(): void;
}

/** How a waiting process continues a turn. Undefined where it does not stand where the session stands. */
export function warmStart(conversation: ClaudeConversation, turn: Turn): WarmStart | undefined {
  const { stood, alive, broker } = conversation;
  if (!alive || stood === undefined || stood.steps !== turn.before) return undefined;
  const waiting = broker.known.all.filter(({ block }) => !broker.known.results.has(block.id));
  const fresh = turn.transcript.slice(stood.messages);
  return broker.known.all.length > 0
    ? withResults(conversation, turn, fresh, waiting)
    : withMessage(conversation, turn, fresh);
}

function withMessage(
  conversation: ClaudeConversation,
  { outstanding }: Turn,
  fresh: readonly Message[],
): WarmStart | undefined {
  if (outstanding !== undefined || fresh.length === 0) return undefined;
  if (fresh.some(({ role }) => role === 'assistant')) return undefined;
  return { hasResults: false, go: () => conversation.send(incomingMessage(fresh).message) };
}

function withResults(
  { broker }: ClaudeConversation,
  { outstanding }: Turn,
  fresh: readonly Message[],
  waiting: readonly KnownToolCall[],
): WarmStart | undefined {
  const results = new Map<string, ToolResultBlock>(outstanding?.results ?? []);
  const [message, ...others] = fresh;
  if (others.length > 0) return undefined;
  for (const block of message?.content ?? []) {
    // What is said beside results has no place between a call and its answer.
    if (block.type !== 'tool_result') return undefined;
    results.set(block.toolUseId, block);
  }
  const clients = waiting.filter(({ owner, problem }) => owner === 'client' && problem === undefined);
  if (clients.some(({ block }) => !results.has(block.id))) return undefined;
  return {
    hasResults: message !== undefined,
    go() {
      for (const call of clients) {
        const result = results.get(call.block.id);
        if (result !== undefined) broker.deliver(call, result);
      }
    },
  };
}
