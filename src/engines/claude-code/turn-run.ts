/**
 * One turn on a live conversation: what Claude Code says becomes the events of the answer, each
 * whole message goes to the transcript before its calls run, and their results before the model is
 * asked again. It ends with Claude Code's own end, with calls for the client, or where the steps are
 * used up; then nothing of it is under way any more.
 */
import type { SDKMessage, SDKPartialAssistantMessage } from '@anthropic-ai/claude-agent-sdk';
import type { AgentActivityBody } from '../../activity/activity.js';
import type { Message, StopReason, ToolUseBlock } from '../../core/conversation.js';
import { GatewayError } from '../../core/errors.js';
import type { ModelEvent } from '../../core/events.js';
import { onAbort } from '../../core/stopping.js';
import type { ToolRuntime } from '../../tools/runtime/runtime.js';
import type { AnswerAssembler, UsageTally } from '../agent/answer-assembler.js';
import type { AnsweredEnd, OpeningTurn, StepsEnd } from '../agent/driver.js';
import { modePrompt } from '../agent/loop/mode-prompt.js';
import { type CollectedMessage, isCutInSight, toolCallIds } from '../agent/message-collector.js';
import type { MessageReporter } from '../agent/reporters.js';
import { inOrder } from '../agent/settle-tool-calls.js';
import { mayStreamToolCalls, type ToolCallStream } from '../agent/tool-call-stream.js';
import { choiceForStep, NO_TOOLS, type Toolbox } from '../agent/toolbox.js';
import type { Admission, ClaudeConversation, Inbound } from './conversation/claude-conversation.js';
import { MainStream, type StreamStep } from './conversation/message-streams.js';
import { shapeRequest } from './conversation/request-shape.js';
import { blocksOf } from './tool-calls/served-tools.js';
import type { KnownToolCall } from './tool-calls/tool-call-table.js';

/** How long a turn waits for its process. */
export const PATIENCE = {
  /** From a message to the first sign of life: a busy machine needs a second or two. */
  heardMs: 30_000,
  /**
   * A built-in after a call of the client may have to wait for it. That it has not begun is seen only
   * by nothing happening for this long.
   */
  quietMs: 250,
  /** What Claude Code says comes before what it asks next; if ever it does not, nothing must hang. */
  stuckMs: 20_000,
} as const;

export type Patience = Readonly<Record<keyof typeof PATIENCE, number>>;

interface TurnRunOptions extends Pick<OpeningTurn<unknown>, 'call' | 'turn' | 'persistence' | 'signal'> {
  conversation: ClaudeConversation;
  runtime: Pick<ToolRuntime, 'gate'>;
  toolbox: Pick<Toolbox, 'hasClients'>;
  maxSteps: number;
  tally: UsageTally;
  /** The turn's, whichever process it is on. */
  answer: AnswerAssembler;
  shown: ToolCallStream;
  /** Steps of the turn before this process had it. */
  stepsBefore: number;
  /** The transcript has the results that Claude Code is about to get. */
  hasResults: boolean;
  patience: Patience;
  notify(activity: AgentActivityBody, agentId?: string): void;
}

export type RunEnd =
  /** `alive`: the process stands there too; not where its model saw something that the client's next request will not have. */
  | (Extract<AnsweredEnd, { kind: 'done' | 'handed-back' }> & { alive?: boolean })
  | Extract<AnsweredEnd, { kind: 'max-steps' }>
  /** `again`: the client has seen nothing of what was lost, so it may be retried once. */
  | (Extract<StepsEnd, { kind: 'failed' }> & { again?: boolean })
  | { kind: 'aborted' };

/** Ends after which Claude Code would continue by itself, unasked. */
const FINAL: ReadonlySet<StopReason> = new Set(['max_tokens', 'refusal', 'context_window_exceeded']);
/** What Claude Code writes there without anything being wrong. */
const NOTICE = /^\[claude-code:/;
/** Of no use to a later turn. */
const OVER: ReadonlySet<Inbound['kind']> = new Set(['admission', 'failure', 'aborted']);

export class TurnRun {
  readonly #options: TurnRunOptions;
  readonly #stream: MainStream;
  steps: number;
  #admission: Admission | undefined;
  /** Calls of the main agent that were let through, and messages that came of them. */
  #granted = 0;
  #received = 0;
  /** The last message's calls are answered in the transcript. */
  #answered = true;
  #open: readonly ToolUseBlock[] = [];
  #last: { reason: StopReason; stopSequence?: string } | undefined;
  #failure: GatewayError | undefined;
  #quiet = false;
  /** Left from before the process got the new messages. */
  #stale: number;
  /** The process has done something since it got the new messages. */
  heard = false;
  /** Claude Code has summed up the conversation for itself, and says so in the user's place. */
  #compacted = false;
  /** A message broke off of which the client has seen nothing. */
  #broken = false;

  constructor(options: TurnRunOptions) {
    this.#options = options;
    const { notify, conversation } = options;
    this.#stream = new MainStream({
      notify: (activity) => notify(activity),
      plain: (name) => conversation.plan.plain(name),
      stream: mayStreamToolCalls(options.call.request) ? options.shown : undefined,
    });
    this.steps = options.stepsBefore;
    this.#stale = conversation.mailbox.size;
    this.#answered = conversation.broker.known.all.length === 0 || options.hasResults;
  }

  /** Yields what the client is to see. Rejects as the session does; never for what Claude Code does. */
  async *run(): AsyncGenerator<readonly ModelEvent[], RunEnd, void> {
    const { mailbox } = this.#options.conversation;
    const { signal } = this.#options;
    const release = onAbort(signal, () => mailbox.push({ kind: 'aborted' }));
    try {
      for (;;) {
        if (signal.aborted) return { kind: 'aborted' };
        const item = await mailbox.next(this.#patience());
        this.#quiet = item === undefined;
        if (item === undefined && this.#isDue()) return this.#silent();
        if (this.#stale > 0) this.#stale -= 1;
        else if (item?.kind !== 'exit') this.heard = true;
        const end = item === undefined ? undefined : yield* this.#onItem(item);
        const settled = end ?? (await this.#advance());
        if (settled !== undefined) return settled;
      }
    } finally {
      release();
      this.#admission?.refuse();
      this.#stream.drop();
      for (const item of mailbox.remove(({ kind }) => OVER.has(kind))) {
        if (item.kind === 'admission') item.admission.refuse();
      }
      // Whatever it was that ended: what sub-agents and broken answers cost is this turn's.
      this.#spent();
    }
  }

  #patience(): number | undefined {
    const { heardMs, quietMs, stuckMs } = this.#options.patience;
    if (this.#isDue()) return heardMs;
    if (this.#open.length > 0) return this.#toBegin().some((call) => !call.blocked) ? stuckMs : quietMs;
    return this.#admission === undefined ? undefined : stuckMs;
  }

  /** A sign of life is. Not while a call is with the gateway or with a person, who may take their time. */
  #isDue(): boolean {
    return !this.heard && this.#others().length === 0;
  }

  #silent(): RunEnd {
    const { heardMs } = this.#options.patience;
    const message = `Claude Code runs, but did nothing for ${heardMs / 1000} seconds after it was told of this request, and was ended. Send the same request again: it goes on where it was.`;
    return { kind: 'failed', error: lost(message), again: true };
  }

  async *#onItem(item: Inbound): AsyncGenerator<readonly ModelEvent[], RunEnd | undefined, void> {
    switch (item.kind) {
      case 'message':
        return yield* this.#onMessage(item.message);
      case 'admission':
        this.#admission = item.admission;
        return undefined;
      case 'failure':
        this.#failure = item.error;
        // Claude Code makes room by itself where it can; where it cannot, it says so.
        if (item.error.code === 'context_overflow') {
          this.#granted = this.#received;
          return undefined;
        }
        return this.#failed(item.error);
      case 'exit':
        return this.#crashed(item.stderr);
      case 'aborted':
        return this.#options.signal.aborted ? { kind: 'aborted' } : undefined;
      case 'calls':
        return undefined;
    }
  }

  #failed(error: GatewayError): RunEnd {
    const broken = this.#stream.isOpen || this.#broken;
    return { kind: 'failed', error, again: error.retryable && broken && !this.#stream.visible };
  }

  #crashed(stderr: string): RunEnd {
    const lines = stderr.split('\n').filter((line) => line.trim() !== '' && !NOTICE.test(line));
    const end = lines.at(-1)?.slice(0, 300) ?? '';
    const said = end === '' ? '' : ` It said last: ${end}`;
    const message = `Claude Code ended in the middle of its answer.${said} Send the same request again: it goes on where it was.`;
    return { kind: 'failed', error: lost(message), again: !this.#stream.visible };
  }

  async *#onMessage(message: SDKMessage): AsyncGenerator<readonly ModelEvent[], RunEnd | undefined, void> {
    switch (message.type) {
      case 'stream_event':
        return message.parent_tool_use_id === null ? yield* this.#onPiece(message) : undefined;
      case 'user':
        if (message.parent_tool_use_id === null) this.#onUser(message.message.content);
        return undefined;
      case 'result':
        return this.#onResult(message);
      case 'system':
        if (message.subtype === 'compact_boundary') {
          const { pre_tokens: before, post_tokens: after = 0 } = message.compact_metadata;
          this.#compacted = true;
          this.#options.notify({ type: 'compacted', before, after });
        }
        return undefined;
      default:
        return undefined;
    }
  }

  async *#onPiece(
    piece: SDKPartialAssistantMessage,
  ): AsyncGenerator<readonly ModelEvent[], RunEnd | undefined, void> {
    this.#compacted = false;
    const step = this.#stream.push(piece, () => toolCallIds(this.#options.turn.transcript));
    if (step.kind === 'broken') {
      // The reason comes with the call itself, perhaps a moment later.
      if (this.#failure !== undefined) return { kind: 'failed', error: this.#failure, again: !step.visible };
      if (step.visible) return { kind: 'failed', error: step.error, again: false };
      this.#broken = true;
      return undefined;
    }
    const events = this.#options.answer.speak(step.events, step.kind === 'events' ? step.raw : []);
    if (events.length > 0) yield events;
    if (step.kind === 'events') return undefined;
    yield [{ type: 'usage', usage: this.#spent() }];
    return this.#onWhole(step);
  }

  #spent() {
    const { tally, conversation } = this.#options;
    tally.add(conversation.proxy.takeUsage());
    return tally.total;
  }

  async #onWhole({
    message,
    reporter,
    ids,
    usage,
  }: Extract<StreamStep, { kind: 'whole' }>): Promise<RunEnd | undefined> {
    const { turn, answer, conversation, notify } = this.#options;
    const { calls, content, stopReason, stopSequence } = message;
    this.steps += 1;
    this.#received += 1;
    this.#granted = Math.max(this.#granted, this.#received);
    if (usage !== undefined) notify({ type: 'model-end', step: this.steps, usage, stopReason });
    const spoken = content.filter(({ type }) => type !== 'tool_use');
    answer.finish(spoken);
    this.#last = { reason: stopReason, ...(stopSequence === undefined ? {} : { stopSequence }) };
    // What was called in an answer that was refused halfway was not meant to be done.
    if (calls.length === 0 || stopReason === 'refusal' || isCutInSight(message)) {
      reporter.drop();
      conversation.broker.announce([]);
      this.#answered = true;
      if (spoken.length > 0) turn.transcript.push({ role: 'assistant', content: spoken });
      return FINAL.has(stopReason) ? this.#done(false) : undefined;
    }
    return this.#onCalls(message, ids, reporter);
  }

  async #onCalls(
    { calls, content }: CollectedMessage,
    ids: readonly string[],
    reporter: MessageReporter,
  ): Promise<undefined> {
    const { turn, conversation, call, persistence, notify } = this.#options;
    const { plan, broker } = conversation;
    const problems = new Map<string, string>();
    const aligned = ids.length === calls.length;
    const known = calls.map(({ block, problem: found, shown }, index): KnownToolCall => {
      const wireId = (aligned ? ids[index] : undefined) ?? block.id;
      const owner = plan.ownerOf(block.name);
      block.name = plan.plain(block.name);
      if (shown !== true) block.id = turn.claimId(block.id);
      const problem = call.request.toolChoice?.type === 'none' ? NO_TOOLS : found;
      if (problem !== undefined) problems.set(block.id, problem);
      return { wireId, block, owner, problem, state: 'new' };
    });
    reporter.settle(calls);
    turn.transcript.push({ role: 'assistant', content });
    this.#answered = false;
    await persistence.save(problems);
    this.#open = known.flatMap(({ block, owner, problem }) =>
      owner === 'client' && problem === undefined ? [block] : [],
    );
    broker.announce(known);
    if (this.#open.length > 0) notify({ type: 'handed-back', ids: this.#open.map(({ id }) => id) });
    return undefined;
  }

  /**
   * What Claude Code adds in the user's name. Results are kept where the calls are, and a
   * summary stands for what the transcript has in full.
   */
  #onUser(content: unknown): void {
    if (this.#compacted) return;
    const { transcript } = this.#options.turn;
    const texts = blocksOf(content).filter((block) => block.type === 'text' && block.text.trim() !== '');
    if (texts.length === 0) return;
    this.#addResults();
    const last = transcript.at(-1);
    if (last?.role === 'user')
      transcript[transcript.length - 1] = { ...last, content: [...last.content, ...texts] };
    else if (last !== undefined && !hasCalls(last)) transcript.push({ role: 'user', content: texts });
  }

  #onResult(result: Extract<SDKMessage, { type: 'result' }>): RunEnd {
    if (result.subtype === 'success' && !result.is_error && this.#last !== undefined) return this.#done(true);
    const error = this.#failure ?? failureOf(result);
    return { kind: 'failed', error, again: false };
  }

  #done(alive: boolean): RunEnd {
    const { reason: last = 'end_turn', stopSequence } = this.#last ?? {};
    const reason = last === 'tool_use' ? 'end_turn' : last;
    return { kind: 'done', reason, alive, ...(stopSequence === undefined ? {} : { stopSequence }) };
  }

  /** What has become possible. */
  async #advance(): Promise<RunEnd | undefined> {
    if (this.#open.length > 0) return this.#handBack();
    this.#addResults();
    if (this.#admission?.signal.aborted) this.#admission = undefined;
    const admission = this.#admission;
    if (admission === undefined) return undefined;
    const isBehind = this.#stream.isOpen || !this.#answered || this.#received < this.#granted;
    if (isBehind && !this.#quiet) return undefined;
    if (!this.#answered) return this.#astray();
    const { maxSteps, call, toolbox, conversation, notify, persistence, runtime, turn } = this.#options;
    if (this.steps >= maxSteps) {
      notify({ type: 'max-steps', steps: this.steps });
      return { kind: 'max-steps', steps: this.steps };
    }
    await persistence.save();
    this.#admission = undefined;
    this.#granted += 1;
    const { request } = call;
    notify({ type: 'model-start', step: this.steps + 1, model: request.model });
    const toolChoice = conversation.plan.choice(choiceForStep(request.toolChoice, toolbox, this.steps));
    const shaped = shapeRequest(admission.request, { wished: request, toolChoice });
    const told = modePrompt(await runtime.gate.modeOf(turn.id));
    admission.grant(told.length === 0 ? shaped : { ...shaped, system: [...shaped.system, ...told] });
    return undefined;
  }

  /** Its model would see something that the transcript does not have. */
  #astray(): RunEnd {
    const message =
      'Claude Code asked its model to go on without saying what came of its calls, and was ended. Send the same request again: it goes on where it was.';
    return { kind: 'failed', error: lost(message), again: !this.#stream.visible };
  }

  /** All results of the last message in the transcript, once they are there. */
  #addResults(): void {
    const { turn, conversation } = this.#options;
    const { known } = conversation.broker;
    if (this.#answered || known.missing().length > 0) return;
    this.#answered = true;
    const calls = known.all.map(({ block }) => block);
    turn.transcript.push({ role: 'user', content: inOrder(calls, known.results) });
  }

  /** The client's calls, once everything beside them that can run has run. */
  #handBack(): RunEnd | undefined {
    const { known } = this.#options.conversation.broker;
    // What Claude Code itself has refused is answered and not run, except for what the client has seen.
    const isRefused = ({ id }: ToolUseBlock) => known.results.has(id);
    this.#open = this.#open.filter((call) => !isRefused(call) || this.#options.shown.has(call.id));
    if (this.#open.length === 0) return undefined;
    if (this.#others().some(({ state }) => state === 'begun')) return undefined;
    if (this.#toBegin().length > 0 && !this.#quiet) return undefined;
    const calls = known.all.map(({ block }) => block);
    const results = new Map([...known.results].filter(([id]) => !this.#open.some((call) => call.id === id)));
    return {
      kind: 'handed-back',
      calls,
      open: this.#open,
      results,
      alive: results.size === known.results.size,
    };
  }

  /** Calls of the last message that are not the client's, and have no result. */
  #others(): KnownToolCall[] {
    const { known } = this.#options.conversation.broker;
    return known.missing().filter(({ owner, problem }) => owner !== 'client' || problem !== undefined);
  }

  /** Those of them that have not begun; `blocked` where the client's may have to come first. */
  #toBegin(): { blocked: boolean }[] {
    const { all } = this.#options.conversation.broker.known;
    const first = all.findIndex(({ block }) => this.#open.includes(block));
    const waiting = this.#others().filter(({ state }) => state === 'new');
    return waiting.map((call) => ({ blocked: all.indexOf(call) > first }));
  }
}

function lost(message: string): GatewayError {
  return new GatewayError('unavailable', message, { retryable: true });
}

function failureOf(result: Extract<SDKMessage, { type: 'result' }>): GatewayError {
  const said = result.subtype === 'success' ? result.result : result.errors.join(' ');
  const why = said === '' ? result.subtype : said.slice(0, 500);
  return new GatewayError('upstream_failed', `Claude Code could not go on: ${why}`, { retryable: true });
}

function hasCalls({ content }: Message): boolean {
  return content.some(({ type }) => type === 'tool_use');
}
