/** One conversation with the agent, a turn at a time. What was said is in its session. */
import { randomUUID } from 'node:crypto';
import type { AgentObserver } from '../../activity/activity.js';
import { NO_USAGE, type StopReason, type Usage } from '../../core/conversation.js';
import { type GatewayError, toGatewayError } from '../../core/errors.js';
import { anthropicMessages } from '../../dialects/anthropic-messages/index.js';
import { SESSION_HEADER } from '../../engines/agent/attach-turn.js';
import type { Answer, Dispatcher, ModelRequest, Principal } from '../../engines/engine.js';

interface TerminalConversationOptions {
  dispatcher: Pick<Dispatcher, 'run'>;
  /** Of the next turn. */
  model(): string;
  /** Of a session that is made. */
  newMode(): NonNullable<ModelRequest['kept']>['mode'];
  principal: Principal;
  observe: AgentObserver;
  onText(text: string): void;
  onThinking(text: string): void;
}

export interface TerminalTurnEnd {
  stopReason?: StopReason;
  usage: Usage;
  error?: GatewayError;
  /** The person stopped it. */
  stopped: boolean;
}

export class TerminalConversation {
  readonly #options: TerminalConversationOptions;
  #session: string | undefined;

  /** Without a session it is a new one. */
  constructor(options: TerminalConversationOptions, session?: string) {
    this.#options = options;
    this.#session = session;
  }

  get session(): string | undefined {
    return this.#session;
  }

  /** Never rejects: what went wrong is in the end of the turn. */
  async say(text: string, signal: AbortSignal): Promise<TerminalTurnEnd> {
    const end: TerminalTurnEnd = { usage: { ...NO_USAGE }, stopped: false };
    try {
      const answer = await this.#ask(text, signal);
      await this.#listen(answer, end);
    } catch (error) {
      if (!signal.aborted) end.error = toGatewayError(error);
    }
    end.stopped = signal.aborted;
    return end;
  }

  #ask(text: string, signal: AbortSignal): Promise<Answer> {
    const { dispatcher, model, newMode, principal, observe } = this.#options;
    const mode = this.#session === undefined ? newMode() : undefined;
    return dispatcher.run({
      id: `chat_${randomUUID()}`,
      clientDialect: anthropicMessages,
      request: {
        model: model(),
        system: [],
        messages: [{ role: 'user', content: [{ type: 'text', text }] }],
        tools: [],
        providerTools: [],
        stopSequences: [],
        stream: true,
        extensions: {},
      },
      raw: new Uint8Array(0),
      headers: this.#session === undefined ? {} : { [SESSION_HEADER]: this.#session },
      principal,
      signal,
      observe,
      ...(mode && { kept: { mode } }),
      // A turn that fails before its first word has a session as well.
      announce: (headers) => this.#attach(headers),
    });
  }

  #attach(headers: Readonly<Record<string, string>>): void {
    this.#session = headers[SESSION_HEADER] ?? this.#session;
  }

  async #listen(answer: Answer, end: TerminalTurnEnd): Promise<void> {
    this.#attach(answer.headers);
    if (answer.body.kind !== 'events') throw new Error('An agent answered with bytes');
    for await (const batch of answer.body.batches) {
      for (const event of batch) {
        if (event.type === 'text') this.#options.onText(event.text);
        else if (event.type === 'thinking') this.#options.onThinking(event.text);
        else if (event.type === 'usage') end.usage = { ...end.usage, ...event.usage };
        else if (event.type === 'stop') end.stopReason = event.reason;
        else if (event.type === 'error') end.error = event.error;
      }
    }
  }
}
