/** One conversation with the agent: what was said, and a turn at a time. */
import { randomUUID } from 'node:crypto';
import type { AgentObserver } from '../../activity/activity.js';
import { type Message, NO_USAGE, type StopReason, type Usage } from '../../core/conversation.js';
import { type GatewayError, toGatewayError } from '../../core/errors.js';
import { anthropicMessages } from '../../dialects/anthropic-messages/index.js';
import type { Answer, Dispatcher, Principal } from '../../engines/engine.js';

interface TerminalConversationOptions {
  dispatcher: Pick<Dispatcher, 'run'>;
  model: string;
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
  #history: Message[] = [];
  #session: string | undefined;

  constructor(options: TerminalConversationOptions) {
    this.#options = options;
  }

  get session(): string | undefined {
    return this.#session;
  }

  /** Never rejects: what went wrong is in the end of the turn. */
  async say(text: string, signal: AbortSignal): Promise<TerminalTurnEnd> {
    const question: Message = { role: 'user', content: [{ type: 'text', text }] };
    const end: TerminalTurnEnd = { usage: { ...NO_USAGE }, stopped: false };
    let said = '';
    try {
      const answer = await this.#ask([...this.#history, question], signal);
      this.#session = answer.headers['x-session-id'] ?? this.#session;
      said = await this.#listen(answer, end);
    } catch (error) {
      if (!signal.aborted) end.error = toGatewayError(error);
    }
    end.stopped = signal.aborted;
    // A question that got no word of an answer is not part of what was said: it can be asked again.
    if (said !== '' || end.error === undefined) {
      this.#history.push(question);
      if (said !== '') this.#history.push({ role: 'assistant', content: [{ type: 'text', text: said }] });
    }
    return end;
  }

  #ask(messages: Message[], signal: AbortSignal): Promise<Answer> {
    const { dispatcher, model, principal, observe } = this.#options;
    return dispatcher.run({
      id: `chat_${randomUUID()}`,
      clientDialect: anthropicMessages,
      request: {
        model,
        system: [],
        messages,
        tools: [],
        serverTools: [],
        stopSequences: [],
        stream: true,
        extensions: {},
      },
      raw: new Uint8Array(0),
      headers: this.#session === undefined ? {} : { 'x-session-id': this.#session },
      principal,
      signal,
      observe,
    });
  }

  /** What was said. */
  async #listen(answer: Answer, end: TerminalTurnEnd): Promise<string> {
    if (answer.body.kind !== 'events') throw new Error('An agent answered with bytes');
    let said = '';
    for await (const batch of answer.body.batches) {
      for (const event of batch) {
        if (event.type === 'text') {
          said += event.text;
          this.#options.onText(event.text);
        } else if (event.type === 'thinking') this.#options.onThinking(event.text);
        else if (event.type === 'usage') end.usage = { ...end.usage, ...event.usage };
        else if (event.type === 'stop') end.stopReason = event.reason;
        else if (event.type === 'error') end.error = event.error;
      }
    }
    return said;
  }
}
