/** One model request of a sub-agent, reported as it streams: Claude Code itself passes on next to nothing of it. */
import type { AgentActivityBody } from '../../../activity/activity.js';
import type { ConversationRequest, Usage } from '../../../core/conversation.js';
import type { ModelEvent } from '../../../core/events.js';
import { MessageCollector, toolCallIds } from '../../agent/message-collector.js';
import { MessageReporter } from '../../agent/reporters.js';

interface AgentStepOptions {
  request: ConversationRequest;
  /** Which of the sub-agent's calls it is, from 1. */
  number: number;
  notify(activity: AgentActivityBody): void;
  /** The name that a tool has outside of Claude Code. */
  plain(name: string): string;
}

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
