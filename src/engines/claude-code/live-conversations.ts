/**
 * Conversations whose process is kept between two turns. There are at most so many processes; beyond
 * that the one that was unused longest ends, never one with a turn that runs.
 */
import type { Log } from '../../observability/log.js';
import type { SessionEvent, Sessions } from '../../sessions/sessions.js';
import type { Conversation } from './conversation.js';

export interface LiveConversationsOptions {
  sessions: Pick<Sessions, 'subscribe'>;
  /** Processes at once, those of running turns included. */
  max: number;
  log: Log;
}

export class LiveConversations {
  readonly #options: LiveConversationsOptions;
  /** Between two turns, the one that was unused longest first. */
  readonly #resting = new Map<string, Conversation>();
  readonly #busy = new Set<Conversation>();
  readonly #closing = new Set<Promise<void>>();
  readonly #unsubscribe: () => void;

  constructor(options: LiveConversationsOptions) {
    this.#options = options;
    this.#unsubscribe = options.sessions.subscribe((event) => this.#onEvent(event));
  }

  get size(): number {
    return this.#resting.size + this.#busy.size;
  }

  /** For a turn that begins; it is then the turn's to rest or to close. */
  take(session: string): Conversation | undefined {
    const conversation = this.#resting.get(session);
    this.#resting.delete(session);
    if (conversation !== undefined) this.#busy.add(conversation);
    return conversation;
  }

  add(conversation: Conversation): void {
    this.#busy.add(conversation);
  }

  /** The turn is over, and the next one may go on with it. */
  rest(conversation: Conversation): void {
    this.#busy.delete(conversation);
    const { id } = conversation;
    const other = this.#resting.get(id);
    this.#resting.delete(id);
    if (other !== undefined && other !== conversation) void this.#close(other);
    if (conversation.closed) return;
    this.#resting.set(id, conversation);
    void this.makeRoom(0);
  }

  /** Ends it. Resolves when its process is gone. */
  async drop(conversation: Conversation, steps?: number): Promise<void> {
    this.#busy.delete(conversation);
    if (this.#resting.get(conversation.id) === conversation) this.#resting.delete(conversation.id);
    await this.#close(conversation, steps);
  }

  /** For processes that are about to start. More turns may run than there is room for: then nothing else is kept. */
  async makeRoom(more: number): Promise<void> {
    while (this.size + more > this.#options.max && this.#resting.size > 0) {
      const [[id, oldest] = []] = this.#resting;
      if (id === undefined || oldest === undefined) return;
      this.#resting.delete(id);
      await this.#close(oldest);
    }
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

  async #close(conversation: Conversation, steps?: number): Promise<void> {
    const closing = conversation
      .close(steps)
      .catch((error: unknown) => {
        this.#options.log.warn(
          { err: error, session: conversation.id },
          'a process of Claude Code did not end',
        );
      })
      .finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
    await closing;
  }
}
