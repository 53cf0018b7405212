/**
 * The loop of an agent: ask the model, run what it calls, tell it what came of it, until it has
 * nothing more to call, a call is the client's to run, or the turns are used up. The transcript
 * grows message by message and is saved after each of them, so that it can be gone on with from
 * wherever the loop ends.
 */
import type { AgentActivityBody } from '../../../activity/activity.js';
import { eventsOfBlocks } from '../../../core/block-events.js';
import type {
  Block,
  Message,
  TextBlock,
  ToolChoice,
  ToolResultBlock,
  ToolUseBlock,
} from '../../../core/conversation.js';
import { GatewayError, toGatewayError } from '../../../core/errors.js';
import type { ModelEvent } from '../../../core/events.js';
import { spokenBehind } from '../answers.js';
import { LIMITS } from '../limits.js';
import { type CollectedMessage, isCutInSight, MessageCollector } from '../message-collector.js';
import { MessageReporter } from '../report/message-reporter.js';
import type { ServerToolCalls } from '../server-tool-calls.js';
import { inOrder, type SettledToolCalls } from '../settle-tool-calls.js';
import type { ToolCallStream } from '../tool-call-stream.js';
import type { Toolbox } from '../toolbox.js';
import type { AnsweredEnd } from '../turn-end.js';
import type { UsageTally } from '../usage-tally.js';
import type { ModelStep, OpenModelStep } from './model-step.js';

export interface AgentLoopOptions {
  /** Changed in place. */
  transcript: Message[];
  model: ModelStep;
  /** As the client named it. */
  modelName: string;
  toolbox: Toolbox;
  calls: ServerToolCalls;
  tally: UsageTally;
  maxTurns: number;
  toolChoice?: ToolChoice | undefined;
  signal: AbortSignal;
  /** Between the texts of two messages, on a wire that has one text for the whole answer. */
  textSeparator: string;
  /** An id for a call, by which its result will be found. */
  claimId(id: string): string;
  /** Passes on the client's calls as they are written; without it they are told when they are whole. */
  stream?: ToolCallStream | undefined;
  notify(activity: AgentActivityBody): void;
  /** Where the turn broke off before: what was said, how many messages it took, and the calls that are left of it. */
  before?: BrokenOffTurn;
  /** Keeps the transcript; a rejection ends the loop. `problems`: why calls of its last message must not run. */
  save?(problems: ReadonlyMap<string, string>): Promise<void>;
}

export interface BrokenOffTurn {
  said: readonly Block[];
  turns: number;
  outstanding?: { calls: readonly ToolUseBlock[]; settle(): Promise<SettledToolCalls> } | undefined;
}

export type LoopEnd = AnsweredEnd | { kind: 'failed'; error: GatewayError } | { kind: 'aborted' };

const EMPTY_NUDGE: TextBlock = {
  type: 'text',
  text: 'Your last message was empty. Go on with the task, or say what the result is.',
};
const NO_TOOLS = 'Not run: the user wants an answer without tools. Give it now.';
const NO_PROBLEMS: ReadonlyMap<string, string> = new Map();

export class AgentLoop {
  readonly #options: AgentLoopOptions;
  /** What the client has been told, calls apart. */
  readonly said: Block[];
  turns: number;
  #opened: OpenModelStep | undefined;
  /** Of the last message. */
  #teller: MessageReporter | undefined;
  /** Known before a model is asked. */
  #end: LoopEnd | undefined;
  #breakDue: boolean;
  #nudged = false;

  constructor(options: AgentLoopOptions) {
    this.#options = options;
    this.said = [...(options.before?.said ?? [])];
    this.turns = options.before?.turns ?? 0;
    this.#breakDue = this.said.length > 0;
  }

  /**
   * Does what a break has left undone and opens the first model call: rejects with its error while
   * it can still become a status. Undefined where no model is to be asked.
   */
  async begin(): Promise<OpenModelStep | undefined> {
    const { before, maxTurns, signal, toolbox, toolChoice } = this.#options;
    toolbox.choice(toolChoice);
    const outstanding = before?.outstanding;
    if (outstanding !== undefined) {
      const { open, results, whole } = await outstanding.settle();
      // What calls answer that were stopped is no answer: whoever goes on with the turn runs them.
      const isSettled = whole && !signal.aborted;
      this.#end = isSettled ? await this.#tell(outstanding.calls, open, results) : this.#stopped();
    }
    if (this.#end === undefined && this.turns >= maxTurns) this.#end = this.#paused();
    if (this.#end === undefined) this.#opened = await this.#open();
    else if (this.#end.kind === 'failed') throw this.#end.error;
    return this.#opened;
  }

  /** Yields what the client is to see; never throws for what a model or a tool does. */
  async *run(): AsyncGenerator<readonly ModelEvent[], LoopEnd, void> {
    const { maxTurns, signal } = this.#options;
    if (this.said.length > 0) yield eventsOfBlocks(this.said);
    while (this.#end === undefined) {
      const message = yield* this.#message();
      if (message instanceof GatewayError) {
        return signal.aborted ? { kind: 'aborted' } : { kind: 'failed', error: message };
      }
      try {
        this.#end = await this.#act(message);
      } catch (error) {
        return signal.aborted ? { kind: 'aborted' } : { kind: 'failed', error: toGatewayError(error) };
      }
      if (signal.aborted && this.#end === undefined) return { kind: 'aborted' };
      if (this.#end === undefined && this.turns >= maxTurns) this.#end = this.#paused();
    }
    return this.#end;
  }

  #paused(): LoopEnd {
    this.#options.notify({ type: 'max-steps', steps: this.turns });
    return { kind: 'max-turns', turns: this.turns };
  }

  /** Calls were stopped: what they are to be answered with is not known, so nothing goes on from here. */
  #stopped(): LoopEnd {
    if (this.#options.signal.aborted) return { kind: 'aborted' };
    const message = 'The gateway is stopping. Send the same request again: it goes on where it was.';
    return { kind: 'failed', error: new GatewayError('unavailable', message, { retryable: true }) };
  }

  async #open(): Promise<OpenModelStep> {
    const { model, modelName, transcript, notify } = this.#options;
    notify({ type: 'model-start', step: this.turns + 1, model: modelName });
    return model.open(transcript, this.#choice());
  }

  /**
   * What has to be called holds until it was: a tool for the first message, and any tool of the
   * client's own until one of them is called, whatever the agent does on its way there.
   */
  #choice(): ToolChoice | undefined {
    const { toolbox, toolChoice } = this.#options;
    const holds = toolChoice?.type === 'none' || (toolChoice?.type === 'any' && toolbox.hasClients);
    return holds || this.turns === 0 ? toolbox.choice(toolChoice) : undefined;
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
      const taken = idsIn(this.#options.transcript);
      const teller = new MessageReporter(this.#options.notify, taken);
      this.#teller = teller;
      const collector = new MessageCollector(taken, teller, this.#options.stream);
      const message = yield* this.#read(open, collector);
      const usage = open.settle(collector);
      yield [{ type: 'usage', usage: this.#options.tally.total }];
      if (message instanceof GatewayError) {
        teller.drop();
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
      this.#options.notify({ type: 'model-end', step: this.turns, usage, stopReason });
      return message;
    }
  }

  async *#read(
    open: OpenModelStep,
    collector: MessageCollector,
  ): AsyncGenerator<readonly ModelEvent[], CollectedMessage | GatewayError, void> {
    const isFirst = this.turns === (this.#options.before?.turns ?? 0);
    let textDue = this.#breakDue && this.said.some((block) => block.type === 'text');
    if (!isFirst) {
      const losses = open.losses.map((loss): ModelEvent => ({ type: 'loss', ...loss }));
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
      const start = isFirst ? batch.find((event) => event.type === 'start') : undefined;
      if (start?.type === 'start' && start.usage !== undefined)
        passed.unshift({ type: 'start', usage: start.usage });
      if (passed.length > 0) yield passed;
      if (collector.error !== undefined) break;
    }
    return collector.finish();
  }

  /** Undefined: the model is to be asked again. */
  async #act(message: CollectedMessage): Promise<LoopEnd | undefined> {
    const { transcript, textSeparator } = this.#options;
    const { calls, content, stopReason, stopSequence } = message;
    const spoken = content.filter((block) => block.type !== 'tool_use');
    this.said.push(...spokenBehind(this.said, spoken, textSeparator));
    // What was called in an answer that was refused halfway was not meant to be done.
    const isOver = stopReason === 'refusal' || isCutInSight(message);
    if (calls.length === 0 || isOver) {
      this.#teller?.drop();
      if (spoken.length > 0) transcript.push({ role: 'assistant', content: spoken });
      if (stopReason === 'pause_turn' && spoken.length > 0) {
        await this.#save();
        return undefined;
      }
      if (spoken.length === 0 && !isOver && this.#nudge()) return undefined;
      const reason = stopReason === 'tool_use' || stopReason === 'pause_turn' ? 'end_turn' : stopReason;
      return { kind: 'done', reason, ...(stopSequence === undefined ? {} : { stopSequence }) };
    }
    return this.#runCalls(message);
  }

  async #runCalls({ calls, content, id }: CollectedMessage): Promise<LoopEnd | undefined> {
    const { transcript, toolbox, toolChoice, calls: server, claimId, signal } = this.#options;
    const open: ToolUseBlock[] = [];
    const here: CollectedMessage['calls'] = [];
    const problems = new Map<string, string>();
    for (const call of calls) {
      const { block } = call;
      if (call.shown !== true) block.id = claimId(block.id);
      const problem = toolChoice?.type === 'none' ? NO_TOOLS : call.problem;
      if (problem !== undefined) {
        problems.set(block.id, problem);
        here.push({ block, problem });
      } else if (toolbox.isClients(block.name)) open.push(block);
      else here.push(call);
    }
    this.#teller?.settle(calls);
    transcript.push({ role: 'assistant', content });
    // Before any of them runs: who goes on with the turn must know of them.
    await this.#save(problems);
    const results = await server.run(here, id);
    if (signal.aborted || server.stopping) return this.#stopped();
    return this.#tell(
      calls.map(({ block }) => block),
      open,
      results,
    );
  }

  /** Undefined: the model has been told, and is to be asked again. */
  async #tell(
    calls: readonly ToolUseBlock[],
    open: ToolUseBlock[],
    results: ReadonlyMap<string, ToolResultBlock>,
  ): Promise<LoopEnd | undefined> {
    if (open.length > 0) {
      this.#options.notify({ type: 'handed-back', ids: open.map(({ id }) => id) });
      return { kind: 'handed-back', calls, open, results };
    }
    this.#options.transcript.push({ role: 'user', content: inOrder(calls, results) });
    await this.#save();
    return undefined;
  }

  async #save(problems = NO_PROBLEMS): Promise<void> {
    await this.#options.save?.(problems);
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
