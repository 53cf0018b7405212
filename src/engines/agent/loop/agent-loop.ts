/**
 * The loop of an agent: ask the model, run what it calls, give it the results, until it has
 * nothing more to call, a call is the client's to run, or the steps are used up. The transcript
 * grows message by message and is saved after each of them, so that it can be resumed from
 * wherever the loop ends.
 */
import type { AgentActivityBody } from '../../../activity/activity.js';
import type {
  Block,
  ConversationRequest,
  Message,
  TextBlock,
  ToolUseBlock,
} from '../../../core/conversation.js';
import { GatewayError, toGatewayError } from '../../../core/errors.js';
import type { ModelEvent } from '../../../core/events.js';
import { isPause } from '../../../core/stop-reasons.js';
import type { AnswerAssembler, UsageTally } from '../answer-assembler.js';
import type { AnsweredEnd } from '../driver.js';
import { LIMITS } from '../limits.js';
import { type CollectedMessage, isCutInSight, MessageCollector, toolCallIds } from '../message-collector.js';
import { MessageReporter } from '../reporters.js';
import type { ServerToolCalls } from '../server-tool-calls.js';
import { answerToolCalls, type StepLog, stoppedEnd } from '../settle-tool-calls.js';
import type { ToolCallStream } from '../tool-call-stream.js';
import { choiceForStep, NO_TOOLS, type Toolbox } from '../toolbox.js';
import type { ModelStep, OpenModelStep } from './model-step.js';

interface AgentLoopOptions {
  /** Changed in place. */
  transcript: Message[];
  model: ModelStep;
  /** For the model's name and the choice of tools, as the client gave them. */
  request: Pick<ConversationRequest, 'model' | 'toolChoice'>;
  toolbox: Toolbox;
  calls: ServerToolCalls;
  tally: UsageTally;
  maxSteps: number;
  signal: AbortSignal;
  answer: AnswerAssembler;
  /** An id for a call, by which its result will be found. */
  claimId(id: string): string;
  /** Passes on the client's calls as they are written; without it they are sent when they are whole. */
  stream?: ToolCallStream | undefined;
  notify(activity: AgentActivityBody): void;
  /** Of a turn that broke off: how many steps it took. */
  stepsBefore?: number;
  /** Does what it left undone; an end where no model is to be asked. */
  settle?(): Promise<LoopEnd | undefined>;
  /** What people said into the turn since the last step. */
  steering?(): Block[];
  /** Keeps the transcript; a rejection ends the loop. `problems`: why calls of its last message must not run. */
  save?(problems?: ReadonlyMap<string, string>): Promise<void>;
}

export type LoopEnd = AnsweredEnd | { kind: 'failed'; error: GatewayError } | { kind: 'aborted' };

const EMPTY_NUDGE: TextBlock = {
  type: 'text',
  text: 'Your last message was empty. Go on with the task, or say what the result is.',
};

export class AgentLoop {
  readonly #options: AgentLoopOptions;
  /** Messages of the model so far. */
  steps: number;
  #opened: OpenModelStep | undefined;
  /** Of the last message. */
  #reporter: MessageReporter | undefined;
  /** Known before a model is asked. */
  #end: LoopEnd | undefined;
  #nudged = false;

  constructor(options: AgentLoopOptions) {
    this.#options = options;
    this.steps = options.stepsBefore ?? 0;
  }

  /**
   * Does what a break has left undone and opens the first model call: rejects with its error while
   * it can still become a status. Undefined where no model is to be asked.
   */
  async begin(): Promise<OpenModelStep | undefined> {
    const { settle, toolbox, request } = this.#options;
    toolbox.choice(request.toolChoice);
    this.#end = (await settle?.()) ?? this.#paused();
    if (this.#end === undefined) this.#opened = await this.#open();
    else if (this.#end.kind === 'failed') throw this.#end.error;
    return this.#opened;
  }

  /** Yields what the client is to see; never throws for what a model or a tool does. */
  async *run(): AsyncGenerator<readonly ModelEvent[], LoopEnd, void> {
    const { signal, answer } = this.#options;
    const again = answer.repeat();
    if (again.length > 0) yield again;
    while (this.#end === undefined) {
      const message = yield* this.#message();
      if (message instanceof GatewayError) {
        return signal.aborted ? { kind: 'aborted' } : { kind: 'failed', error: message };
      }
      try {
        this.#end = await this.#act(message);
        if (this.#end === undefined) await this.#steer();
      } catch (error) {
        return signal.aborted ? { kind: 'aborted' } : { kind: 'failed', error: toGatewayError(error) };
      }
      if (signal.aborted && this.#end === undefined) return { kind: 'aborted' };
      this.#end ??= this.#paused();
    }
    return this.#end;
  }

  #paused(): LoopEnd | undefined {
    const { steps } = this;
    if (steps < this.#options.maxSteps) return undefined;
    this.#options.notify({ type: 'max-steps', steps: steps });
    return { kind: 'max-steps', steps };
  }

  async #open(): Promise<OpenModelStep> {
    const { model, request, toolbox, transcript, notify } = this.#options;
    notify({ type: 'model-start', step: this.steps + 1, model: request.model });
    return model.open(transcript, toolbox.choice(choiceForStep(request.toolChoice, toolbox, this.steps)));
  }

  /** One message of the model. A stream that broke before anybody saw anything of it is asked for again. */
  async *#message(): AsyncGenerator<readonly ModelEvent[], CollectedMessage | GatewayError, void> {
    for (let retries = 0; ; retries += 1) {
      let open: OpenModelStep;
      try {
        open = this.#opened ?? (await this.#open());
      } catch (error) {
        return toGatewayError(error);
      }
      this.#opened = undefined;
      const taken = toolCallIds(this.#options.transcript);
      const reporter = new MessageReporter(this.#options.notify, taken);
      this.#reporter = reporter;
      const collector = new MessageCollector(taken, reporter, this.#options.stream);
      const message = yield* this.#read(open, collector);
      const usage = open.settle(collector);
      yield [{ type: 'usage', usage: this.#options.tally.total }];
      if (message instanceof GatewayError) {
        reporter.drop();
        const again =
          message.retryable &&
          !collector.visible &&
          retries < LIMITS.brokenStreamRetries &&
          !this.#options.signal.aborted;
        if (again) continue;
        return message;
      }
      this.steps += 1;
      const { stopReason } = message;
      this.#options.notify({ type: 'model-end', step: this.steps, usage, stopReason });
      return message;
    }
  }

  async *#read(
    open: OpenModelStep,
    collector: MessageCollector,
  ): AsyncGenerator<readonly ModelEvent[], CollectedMessage | GatewayError, void> {
    // Those of the first step are the head's.
    const losses = this.steps === (this.#options.stepsBefore ?? 0) ? [] : open.losses;
    if (losses.length > 0) yield losses.map((loss): ModelEvent => ({ type: 'loss', ...loss }));
    for await (const batch of open.batches) {
      const passed = this.#options.answer.speak(collector.push(batch), batch);
      if (passed.length > 0) yield passed;
      if (collector.error !== undefined) break;
    }
    return collector.finish();
  }

  /** Undefined: the model is to be asked again. */
  async #act(message: CollectedMessage): Promise<LoopEnd | undefined> {
    const { transcript, answer } = this.#options;
    const { calls, content, stopReason, stopSequence } = message;
    const spoken = content.filter((block) => block.type !== 'tool_use');
    answer.finish(spoken);
    // What was called in an answer that was refused halfway was not meant to be done.
    const isOver = stopReason === 'refusal' || isCutInSight(message);
    if (calls.length === 0 || isOver) {
      this.#reporter?.drop();
      if (spoken.length > 0) transcript.push({ role: 'assistant', content: spoken });
      if (isPause(stopReason) && spoken.length > 0) {
        await this.#options.save?.();
        return undefined;
      }
      if (spoken.length === 0 && !isOver && this.#nudge()) return undefined;
      const reason = stopReason === 'tool_use' || isPause(stopReason) ? 'end_turn' : stopReason;
      return { kind: 'done', reason, ...(stopSequence === undefined ? {} : { stopSequence }) };
    }
    return this.#runCalls(message);
  }

  /** Undefined: the model has an error result and is asked again. */
  async #runCalls({ calls, content, id }: CollectedMessage): Promise<LoopEnd | undefined> {
    const { transcript, toolbox, request, calls: server, claimId, signal } = this.#options;
    const open: ToolUseBlock[] = [];
    const here: CollectedMessage['calls'] = [];
    const problems = new Map<string, string>();
    for (const call of calls) {
      const { block } = call;
      if (call.shown !== true) block.id = claimId(block.id);
      const problem = request.toolChoice?.type === 'none' ? NO_TOOLS : call.problem;
      if (problem !== undefined) {
        problems.set(block.id, problem);
        here.push({ block, problem });
      } else if (toolbox.isClients(block.name)) open.push(block);
      else here.push(call);
    }
    this.#reporter?.settle(calls);
    transcript.push({ role: 'assistant', content });
    // Before any of them runs: a resumed turn must know them.
    await this.#options.save?.(problems);
    const results = await server.run(here, id);
    if (signal.aborted || server.stopping) return stoppedEnd(signal);
    return answerToolCalls({ calls: calls.map(({ block }) => block), open, results }, this.#log);
  }

  get #log(): StepLog {
    const { transcript, notify, save } = this.#options;
    return { transcript, notify, save: async () => save?.() };
  }

  /** What people said meanwhile comes after the results. */
  async #steer(): Promise<void> {
    const { steering, save } = this.#options;
    const said = steering?.() ?? [];
    if (said.length === 0) return;
    this.#sayToModel(said);
    await save?.();
  }

  #sayToModel(said: readonly Block[]): void {
    const { transcript } = this.#options;
    const last = transcript.at(-1);
    if (last?.role !== 'user') transcript.push({ role: 'user', content: [...said] });
    else transcript[transcript.length - 1] = { ...last, content: [...last.content, ...said] };
  }

  /** Some models say nothing once they have their results. Once, they are asked to go on. */
  #nudge(): boolean {
    const { transcript } = this.#options;
    const last = transcript.at(-1);
    if (this.#nudged || last?.role !== 'user') return false;
    if (!last.content.some((block) => block.type === 'tool_result')) return false;
    this.#nudged = true;
    this.#sayToModel([EMPTY_NUDGE]);
    return true;
  }
}
