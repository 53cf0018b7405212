/**
 * The loop of an agent: ask the model, run what it calls, tell it what came of it, until it has
 * nothing more to call, a call is the client's to run, or the turns are used up. The transcript
 * grows message by message and is whole after each of them, so that it can be gone on with from
 * wherever the loop ends.
 */
import type {
  Block,
  Message,
  StopReason,
  TextBlock,
  ToolChoice,
  ToolResultBlock,
  ToolUseBlock,
} from '../../core/conversation.js';
import { GatewayError, toGatewayError } from '../../core/errors.js';
import type { TurnEvent } from '../../core/events.js';
import { LIMITS } from '../agent/limits.js';
import { type CollectedMessage, MessageCollector } from '../agent/message-collector.js';
import type { AgentActivityBody } from '../agent/observer.js';
import { interrupted, type ServerCalls } from '../agent/server-calls.js';
import type { Toolbox } from '../agent/toolbox.js';
import type { UsageTally } from '../agent/usage-tally.js';
import type { ModelCaller, OpenModelCall } from './model-caller.js';

export interface AgentLoopOptions {
  /** Changed in place. */
  transcript: Message[];
  model: ModelCaller;
  /** As the client named it. */
  modelName: string;
  toolbox: Toolbox;
  calls: ServerCalls;
  tally: UsageTally;
  maxTurns: number;
  /** For the first model call. */
  toolChoice?: ToolChoice | undefined;
  signal: AbortSignal;
  /** Between the texts of two messages, on a wire that has one text for the whole answer. */
  textSeparator: string;
  /** An id for a call that is handed back, by which the client's result will be found. */
  claimId(id: string): string;
  notify(activity: AgentActivityBody): void;
}

export type LoopEnd =
  | { kind: 'done'; reason: StopReason; stopSequence?: string }
  /** The last message has calls that only the client can run; `results` are those of the others. */
  | { kind: 'handed-back'; open: ToolUseBlock[]; results: Map<string, ToolResultBlock> }
  | { kind: 'max-turns'; turns: number }
  | { kind: 'failed'; error: GatewayError }
  | { kind: 'aborted' };

const EMPTY_NUDGE: TextBlock = {
  type: 'text',
  text: 'Your last message was empty. Go on with the task, or say what the result is.',
};

export class AgentLoop {
  readonly #options: AgentLoopOptions;
  /** What the client has been told, calls apart. */
  readonly said: Block[] = [];
  turns = 0;
  #opened: OpenModelCall | undefined;
  #breakDue = false;
  #nudged = false;

  constructor(options: AgentLoopOptions) {
    this.#options = options;
  }

  /** Opens the first model call: rejects with its error while it can still become a status. */
  async begin(): Promise<OpenModelCall> {
    this.#opened = await this.#open();
    return this.#opened;
  }

  /** Yields what the client is to see; never throws for what a model or a tool does. */
  async *run(): AsyncGenerator<readonly TurnEvent[], LoopEnd, void> {
    const { maxTurns, signal, notify } = this.#options;
    for (;;) {
      const message = yield* this.#message();
      if (message instanceof GatewayError) {
        return signal.aborted ? { kind: 'aborted' } : { kind: 'failed', error: message };
      }
      const end = await this.#act(message);
      if (end !== undefined) return end;
      if (signal.aborted) return { kind: 'aborted' };
      if (this.turns >= maxTurns) {
        notify({ type: 'max-turns', turns: this.turns });
        return { kind: 'max-turns', turns: this.turns };
      }
    }
  }

  async #open(): Promise<OpenModelCall> {
    const { model, modelName, transcript, toolbox, toolChoice, notify } = this.#options;
    notify({ type: 'model-start', turn: this.turns + 1, model: modelName });
    return model.open(transcript, this.turns === 0 ? toolbox.choice(toolChoice) : undefined);
  }

  /** One message of the model. A stream that broke before anybody saw anything of it is asked for again. */
  async *#message(): AsyncGenerator<readonly TurnEvent[], CollectedMessage | GatewayError, void> {
    for (let retries = 0; ; retries += 1) {
      let open: OpenModelCall;
      try {
        open = this.#opened ?? (await this.#open());
      } catch (error) {
        return toGatewayError(error);
      }
      this.#opened = undefined;
      const collector = new MessageCollector(idsIn(this.#options.transcript));
      const message = yield* this.#read(open, collector);
      const usage = open.settle(collector);
      yield [{ type: 'usage', usage: this.#options.tally.total }];
      if (message instanceof GatewayError) {
        const again =
          message.retryable &&
          !collector.visible &&
          retries < LIMITS.brokenStreamRetries &&
          !this.#options.signal.aborted;
        if (again) continue;
        return message;
      }
      this.turns += 1;
      this.#breakDue = true;
      const { stopReason } = message;
      this.#options.notify({ type: 'model-end', turn: this.turns, usage, stopReason });
      return message;
    }
  }

  async *#read(
    open: OpenModelCall,
    collector: MessageCollector,
  ): AsyncGenerator<readonly TurnEvent[], CollectedMessage | GatewayError, void> {
    let textDue = this.#breakDue && this.said.some((block) => block.type === 'text');
    if (this.turns > 0) {
      const losses = open.losses.map((loss): TurnEvent => ({ type: 'loss', ...loss }));
      if (losses.length > 0) yield losses;
    }
    for await (const batch of open.batches) {
      const passed = collector.push(batch);
      const visible = passed.some((event) => event.type !== 'loss' && event.type !== 'ping');
      if (this.#breakDue && visible) {
        this.#breakDue = false;
        passed.unshift({ type: 'break' });
      }
      if (textDue) {
        const first = passed.findIndex((event) => event.type === 'text');
        if (first >= 0) textDue = false;
        const { textSeparator } = this.#options;
        if (first >= 0 && textSeparator !== '')
          passed.splice(first, 0, { type: 'text', text: textSeparator });
      }
      // The prompt's tokens belong to the head of the answer, which is the first message's.
      const start = this.turns === 0 ? batch.find((event) => event.type === 'start') : undefined;
      if (start?.type === 'start' && start.usage !== undefined)
        passed.unshift({ type: 'start', usage: start.usage });
      if (passed.length > 0) yield passed;
      if (collector.error !== undefined) break;
    }
    return collector.finish();
  }

  /** Undefined: the model is to be asked again. */
  async #act(message: CollectedMessage): Promise<LoopEnd | undefined> {
    const { transcript } = this.#options;
    const { calls, content, stopReason, stopSequence } = message;
    const spoken = content.filter((block) => block.type !== 'tool_use');
    this.said.push(...spoken);
    // What was called in an answer that was refused halfway was not meant to be done.
    if (calls.length === 0 || stopReason === 'refusal') {
      if (spoken.length > 0) transcript.push({ role: 'assistant', content: spoken });
      if (stopReason === 'pause_turn' && spoken.length > 0) return undefined;
      if (spoken.length === 0 && stopReason !== 'refusal' && this.#nudge()) return undefined;
      const reason = stopReason === 'tool_use' || stopReason === 'pause_turn' ? 'end_turn' : stopReason;
      return { kind: 'done', reason, ...(stopSequence === undefined ? {} : { stopSequence }) };
    }
    return this.#runCalls(message);
  }

  async #runCalls(message: CollectedMessage): Promise<LoopEnd | undefined> {
    const { transcript, toolbox, calls: server, signal, claimId, notify } = this.#options;
    const open: ToolUseBlock[] = [];
    const here: CollectedMessage['calls'] = [];
    for (const call of message.calls) {
      if (call.problem !== undefined || !toolbox.isClients(call.block.name)) {
        here.push(call);
        continue;
      }
      call.block.id = claimId(call.block.id);
      open.push(call.block);
    }
    transcript.push({ role: 'assistant', content: message.content });
    const results = await server.run(here, message.id);
    if (open.length > 0 && !signal.aborted) {
      notify({ type: 'handed-back', ids: open.map(({ id }) => id) });
      return { kind: 'handed-back', open, results };
    }
    const answers = message.calls.map(({ block }) => results.get(block.id) ?? interrupted(block.id));
    transcript.push({ role: 'user', content: answers });
    return undefined;
  }

  /** Some models say nothing once they have their results. Once, they are asked to go on. */
  #nudge(): boolean {
    const { transcript } = this.#options;
    const last = transcript.at(-1);
    if (this.#nudged || last?.role !== 'user') return false;
    if (!last.content.some((block) => block.type === 'tool_result')) return false;
    this.#nudged = true;
    transcript[transcript.length - 1] = { ...last, content: [...last.content, EMPTY_NUDGE] };
    return true;
  }
}

function idsIn(messages: readonly Message[]): Set<string> {
  const ids = new Set<string>();
  for (const { content } of messages) {
    for (const block of content) if (block.type === 'tool_use') ids.add(block.id);
  }
  return ids;
}
