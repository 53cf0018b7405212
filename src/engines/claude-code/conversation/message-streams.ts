/** Messages of the models behind Claude Code as they stream: those of the main agent, and of its sub-agents. */
import type { SDKPartialAssistantMessage } from '@anthropic-ai/claude-agent-sdk';
import type { AgentActivityBody } from '../../../activity/activity.js';
import type { ConversationRequest, Usage } from '../../../core/conversation.js';
import type { GatewayError } from '../../../core/errors.js';
import type { ModelEvent } from '../../../core/events.js';
import { createStreamDecoder } from '../../../dialects/anthropic-messages/decode-stream.js';
import { TOOL_NAME_LIMITS } from '../../../dialects/anthropic-messages/wire.js';
import type { StreamDecoder } from '../../../dialects/shared/dialect.js';
import { ToolNames } from '../../../dialects/shared/tool-names.js';
import { type CollectedMessage, MessageCollector, toolCallIds } from '../../agent/message-collector.js';
import { MessageReporter } from '../../agent/reporters.js';
import type { ToolCallStream } from '../../agent/tool-call-stream.js';

interface OpenMessage {
  decoder: StreamDecoder;
  collector: MessageCollector;
  reporter: MessageReporter;
  /** Ids of its calls in the order in which they began, as Claude Code knows them. */
  ids: Map<number | string, string>;
}

export type StreamStep =
  /** `start`: the first piece of a message. */
  | { kind: 'events'; start: boolean; events: ModelEvent[]; raw: readonly ModelEvent[] }
  | {
      kind: 'whole';
      events: ModelEvent[];
      message: CollectedMessage;
      /** Takes the outcome of its calls. */
      reporter: MessageReporter;
      ids: readonly string[];
      usage: MessageCollector['usage'];
    }
  | { kind: 'broken'; error: GatewayError; visible: boolean };

interface MainStreamOptions {
  notify(activity: AgentActivityBody): void;
  /** The name that a tool has outside of Claude Code. */
  plain(name: string): string;
  /** Passes on the client's calls as they are written; without it they are sent when they are whole. */
  stream?: ToolCallStream | undefined;
}

/** The messages of the main agent's model, as Claude Code passes them on piece by piece. */
export class MainStream {
  readonly #options: MainStreamOptions;
  #open: OpenMessage | undefined;

  constructor(options: MainStreamOptions) {
    this.#options = options;
  }

  /** A message has begun and is not whole. */
  get isOpen(): boolean {
    return this.#open !== undefined;
  }

  /** The client has seen something of the message that is not whole. */
  get visible(): boolean {
    return this.#open?.collector.visible ?? false;
  }

  /** `taken`: ids of calls that the conversation has already. */
  push({ event }: SDKPartialAssistantMessage, taken: () => ReadonlySet<string>): StreamStep {
    const start = this.#open === undefined || event.type === 'message_start';
    if (start) {
      const ids = taken();
      const { notify, plain, stream } = this.#options;
      const reporter = new MessageReporter(notify, ids, plain);
      this.drop();
      this.#open = {
        decoder: createStreamDecoder(new ToolNames(TOOL_NAME_LIMITS)),
        collector: new MessageCollector(ids, reporter, stream),
        reporter,
        ids: new Map(),
      };
    }
    const open = this.#open;
    if (open === undefined) throw new Error('No message is open');
    const raw: ModelEvent[] = [];
    open.decoder.push({ event: event.type, data: JSON.stringify(event) }, raw);
    if (event.type === 'message_stop') open.decoder.end(raw);
    for (const each of raw) {
      if (each.type === 'tool' && each.id !== undefined) open.ids.set(each.key, each.id);
    }
    const events = open.collector.push(raw);
    if (event.type !== 'message_stop') return { kind: 'events', start, events, raw };
    this.#open = undefined;
    const { collector, reporter, ids } = open;
    const message = collector.finish();
    if (!('content' in message)) {
      reporter.drop();
      return { kind: 'broken', error: message, visible: collector.visible };
    }
    return { kind: 'whole', events, message, reporter, ids: [...ids.values()], usage: collector.usage };
  }

  /** It will not be finished. */
  drop(): void {
    this.#open?.reporter.drop();
    this.#open = undefined;
  }
}

interface AgentStepOptions {
  request: ConversationRequest;
  /** Which of the sub-agent's calls it is, from 1. */
  number: number;
  notify(activity: AgentActivityBody): void;
  /** The name that a tool has outside of Claude Code. */
  plain(name: string): string;
}

/** One model request of a sub-agent, reported as it streams: Claude Code itself passes on next to nothing of it. */
export class AgentStep {
  readonly #options: AgentStepOptions;
  readonly #collector: MessageCollector;
  readonly #reporter: MessageReporter;

  constructor(options: AgentStepOptions) {
    const { request, number, notify, plain } = options;
    this.#options = options;
    const taken = toolCallIds(request.messages);
    this.#reporter = new MessageReporter(notify, taken, plain);
    this.#collector = new MessageCollector(taken, this.#reporter);
    notify({ type: 'model-start', step: number, model: request.model });
  }

  push(batch: readonly ModelEvent[]): void {
    this.#collector.push(batch);
  }

  end(usage: Usage): void {
    const message = this.#collector.finish();
    if (!('content' in message)) {
      this.#reporter.drop();
      return;
    }
    const { number, notify, plain } = this.#options;
    const { calls, stopReason } = message;
    notify({ type: 'model-end', step: number, usage, stopReason });
    for (const { block } of calls) block.name = plain(block.name);
    this.#reporter.settle(calls);
  }
}
