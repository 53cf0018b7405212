/**
 * A turn from its session to its answer: on the process that still stands where the session stands,
 * or on a new one that begins with the transcript. What a break has left undone is done first.
 */
import { type AgentActivityBody, notifierOf } from '../../activity/activity.js';
import type { Block, Message, ToolResultBlock, Usage } from '../../core/conversation.js';
import type { ModelEvent } from '../../core/events.js';
import type { Loss } from '../../core/losses.js';
import type { Log } from '../../observability/log.js';
import { errorResult } from '../../sessions/history/repair-history.js';
import { toolCallsIn } from '../../sessions/history/visible-history.js';
import type { OutstandingToolCalls, Turn } from '../../sessions/sessions.js';
import type { AgentTask } from '../../tools/runtime/context.js';
import type { ToolRuntime } from '../../tools/runtime/runtime.js';
import type { Workspace } from '../../workspace/workspace.js';
import { AnswerAssembler, UsageTally } from '../agent/answer-assembler.js';
import type { AskedModel, DriverTurn, OpeningTurn } from '../agent/driver.js';
import type { HeldToolState, HeldToolStates } from '../agent/held-tool-states.js';
import { LIMITS } from '../agent/limits.js';
import { runSubAgent, type TurnParts } from '../agent/loop/sub-agent.js';
import type { CollectedToolCall } from '../agent/message-collector.js';
import { RunOnceLog } from '../agent/run-once-log.js';
import { ServerToolCalls, toolOptions } from '../agent/server-tool-calls.js';
import { settleBrokenTurn } from '../agent/settle-tool-calls.js';
import { ToolCallStream } from '../agent/tool-call-stream.js';
import type { Toolbox } from '../agent/toolbox.js';
import type { CountingEngine } from '../engine.js';
import type { PrivateKeys } from '../private-keys.js';
import { ClaudeConversation } from './conversation/claude-conversation.js';
import { type LiveConversations, warmStart } from './conversation/live-conversations.js';
import { compatibilityKey, profileOf, systemOf } from './conversation/profile.js';
import { lostWishes } from './conversation/request-shape.js';
import type { ClaudeProcesses } from './processes/claude-processes.js';
import { incomingMessage } from './processes/transcript-entries.js';
import { planTools, type ToolPlan } from './tool-calls/tool-plan.js';
import { type Patience, type RunEnd, TurnRun } from './turn-run.js';

interface ClaudeTurnOptions extends OpeningTurn<Workspace> {
  processes: ClaudeProcesses;
  keys: PrivateKeys;
  relay: CountingEngine;
  runtime: ToolRuntime;
  log: Log;
  live: LiveConversations;
  tools: HeldToolStates;
  toolbox: Toolbox;
  baseUrl: string;
  /** Commands run in the gateway's sandbox or not at all. */
  walled: boolean;
  patience: Patience;
}

const NOT_RUN =
  'Not run: the conversation was taken up again by another process before this call began. Make it again if it is still needed.';
const GO_ON: Message = { role: 'user', content: [{ type: 'text', text: 'Continue.' }] };
/** Processes that may be lost before a turn is given up. */
const RESTARTS = 1;

export class ClaudeTurn implements DriverTurn {
  readonly losses: readonly Loss[];
  readonly shown: ToolCallStream;
  readonly #options: ClaudeTurnOptions;
  readonly #turn: Turn;
  readonly #tally = new UsageTally();
  readonly #plan: ToolPlan;
  #held: HeldToolState;
  readonly #runOnce: RunOnceLog;
  readonly #notify: (activity: AgentActivityBody, agentId?: string) => void;
  readonly #answer: AnswerAssembler;
  #conversation: ClaudeConversation | undefined;
  /** `#held` belongs to the conversation. */
  #handedOver: boolean;
  /** What a process that was lost had done. */
  #lost: ClaudeConversation | undefined;
  #run: TurnRun | undefined;
  readonly #events = this.#runs();
  #first: IteratorResult<readonly ModelEvent[], RunEnd> | undefined;
  /** The process stands where the turn ended. */
  #alive = false;
  #over = false;

  /** Rejects before anything of the turn is under way. */
  static async open(options: ClaudeTurnOptions): Promise<ClaudeTurn> {
    const { turn, tools, workspace, live, toolbox, call } = options;
    toolbox.choice(call.request.toolChoice);
    const plan = planTools(toolbox, options);
    const kept = live.take(turn.id);
    const conversation = kept?.compatibility === compatibilityKey(options, plan) ? kept : undefined;
    if (kept !== undefined && conversation === undefined) await live.drop(kept);
    const held = conversation?.tools ?? (await tools.holdFor(turn, workspace));
    return new ClaudeTurn(options, plan, held, conversation);
  }

  private constructor(
    options: ClaudeTurnOptions,
    plan: ToolPlan,
    held: HeldToolState,
    conversation: ClaudeConversation | undefined,
  ) {
    const { turn, call, observe, toolbox, persistence } = options;
    this.#turn = turn;
    this.losses = [...(toolbox.losses ?? []), ...lostWishes(call.request)];
    this.#options = options;
    this.#plan = plan;
    this.#held = held;
    this.#conversation = conversation;
    this.#handedOver = conversation !== undefined;
    this.shown = new ToolCallStream({
      isClients: (name) => plan.ownerOf(name) === 'client',
      plain: (name) => plan.plain(name),
      claimId: (id) => turn.claimId(id),
      single: call.request.parallelToolCalls === false,
    });
    this.#answer = new AnswerAssembler(turn.spoken, call.clientDialect.name);
    // They go with the process, which may outlive the turn.
    persistence.keepTools({ toolState: held.toolState, release: () => {} });
    this.#runOnce = new RunOnceLog(turn);
    const main = notifierOf(observe, turn.id);
    this.#notify = (activity, agentId) => {
      const conversation = this.#conversation;
      if (agentId === undefined) main(activity);
      else
        conversation?.agents.whenKnown(agentId, () =>
          notifierOf(observe, turn.id, conversation.agentOf(agentId))(activity),
        );
    };
  }

  get said(): readonly Block[] {
    return this.#answer.said;
  }

  get usage(): Usage {
    return this.#tally.total;
  }

  /** Until there is something to say: while nothing is out, an error is the status of the answer. */
  async begin(): Promise<AskedModel | undefined> {
    const first = await this.#events.next();
    if (first.done === true && first.value.kind === 'failed') throw first.value.error;
    if (first.done === true && first.value.kind === 'aborted') this.#turn.signal.throwIfAborted();
    this.#first = first;
    return this.#conversation?.lastOpened;
  }

  /** Rejects as the session does and as opening does. */
  async *steps(): AsyncGenerator<readonly ModelEvent[], RunEnd, void> {
    const first = this.#first ?? (await this.#events.next());
    if (first.done === true) return first.value;
    yield first.value;
    return yield* this.#events;
  }

  /** On one process, and on another where that is lost before anybody saw what it was about. */
  async *#runs(): AsyncGenerator<readonly ModelEvent[], RunEnd, void> {
    for (let restarts = 0; ; ) {
      const kept = this.#conversation;
      const early = await this.#prepare();
      if (early !== undefined) {
        const again = early.kind === 'failed' || early.kind === 'aborted' ? [] : this.#answer.repeat();
        if (again.length > 0) yield again;
        return early;
      }
      if (this.#run === undefined) throw new Error('The turn has no process');
      const end = yield* this.#run.run();
      const again = end.kind === 'failed' && end.again === true && restarts < RESTARTS;
      if (!again || this.#options.signal.aborted) {
        this.#alive = (end.kind === 'done' || end.kind === 'handed-back') && end.alive === true;
        return end;
      }
      this.#options.log.warn(
        { err: end.error, session: this.#turn.id },
        'Claude Code is started again in the middle of a turn',
      );
      // A process that was dying before it got the new messages does not count as a restart of this turn.
      const diedBefore = kept === this.#conversation && kept?.alive === false && this.#run?.heard === false;
      if (!diedBefore) restarts += 1;
      await this.#lose();
    }
  }

  /** The process may wait for the next turn. */
  completed(): void {
    const conversation = this.#conversation;
    if (!this.#alive || conversation === undefined) return;
    this.#over = true;
    conversation.rest({ steps: this.#turn.steps(), messages: this.#turn.transcript.length });
    this.#options.live.rest(conversation);
  }

  async close(): Promise<void> {
    if (this.#over) return;
    this.#over = true;
    const conversation = this.#conversation;
    if (conversation === undefined) this.#letGo();
    else await this.#options.live.drop(conversation, this.#turn.steps());
  }

  #letGo(): void {
    if (!this.#handedOver) this.#held.release(this.#turn.steps());
  }

  #stepsBefore(): number {
    const { transcript, began } = this.#turn;
    return transcript.slice(began).filter(({ role }) => role === 'assistant').length;
  }

  /** A process that has the new messages; an end where no model is to be asked. */
  async #prepare(): Promise<RunEnd | undefined> {
    const turn = this.#turn;
    const kept = this.#conversation;
    if (kept !== undefined) {
      const start = warmStart(kept, turn);
      if (start !== undefined) {
        this.#begin(kept, start.hasResults);
        start.go();
        return undefined;
      }
      await this.#lose();
    }
    const settled = await this.#settle();
    if (settled !== undefined) return settled;
    const steps = this.#stepsBefore();
    if (steps >= this.#maxSteps()) {
      this.#notify({ type: 'max-steps', steps: steps });
      return { kind: 'max-steps', steps };
    }
    try {
      await this.#openCold();
    } catch (error) {
      if (this.#options.signal.aborted) return { kind: 'aborted' };
      throw error;
    }
    return undefined;
  }

  #maxSteps(): number {
    return this.#options.route.rule.maxSteps ?? LIMITS.maxSteps;
  }

  #begin(conversation: ClaudeConversation, hasResults: boolean): void {
    const notify = this.#notify;
    this.#run = new TurnRun({
      ...this.#options,
      conversation,
      maxSteps: this.#maxSteps(),
      tally: this.#tally,
      answer: this.#answer,
      shown: this.shown,
      stepsBefore: this.#stepsBefore(),
      hasResults,
      notify,
    });
    const options = toolOptions(this.#parts());
    conversation.proxy.traced = this.#options.call;
    conversation.begin({ runOnce: this.#runOnce, options, runAgent: this.#runAgent, notify });
  }

  /** For tools of the gateway that start one; Claude Code starts its own for its own. */
  readonly #runAgent = (task: AgentTask) => runSubAgent(this.#parts(), task);

  #parts(): TurnParts {
    const { call, observe } = this.#options;
    return {
      ...this.#options,
      request: call.request,
      now: Date.now,
      routeOf: () => undefined,
      toolState: this.#held.toolState,
      forkNumber: this.#turn.forkNumber,
      tally: this.#tally,
      runOnce: this.#runOnce,
      notify: observe,
    };
  }

  /** The process is no more; what it has done is known from it, what it has begun from the turn. */
  async #lose(): Promise<void> {
    const lost = this.#conversation;
    this.#conversation = undefined;
    this.#run = undefined;
    if (lost === undefined) return;
    this.#lost = lost;
    const { id, principal, user } = this.#turn;
    const { tools, workspace, live } = this.#options;
    const steps = this.#turn.steps();
    // Before it lets go: the session of the tools stays the same one.
    this.#held = await tools.hold({ id, principal, user, workspace, restore: undefined, before: steps });
    this.#handedOver = false;
    await live.drop(lost, steps);
  }

  async #openCold(): Promise<void> {
    const { live, signal } = this.#options;
    const { id, principal, transcript } = this.#turn;
    const split = transcript.findLastIndex(({ role }) => role === 'assistant') + 1;
    const rest = transcript.slice(split);
    const conversation = await live.open(
      () =>
        ClaudeConversation.open({
          ...this.#options,
          id,
          principal,
          plan: this.#plan,
          tools: this.#held,
          profile: profileOf(this.#options, this.#plan),
          system: systemOf(this.#options),
          history: transcript.slice(0, split),
          compatibility: compatibilityKey(this.#options, this.#plan),
        }),
      signal,
    );
    this.#conversation = conversation;
    this.#handedOver = true;
    this.#begin(conversation, false);
    conversation.send(incomingMessage(rest.length === 0 ? [GO_ON] : rest).message);
  }

  /** Calls of the last message that have no result yet, where a turn or a process broke off. */
  async #settle(): Promise<RunEnd | undefined> {
    const outstanding = this.#outstanding();
    if (outstanding === undefined) return undefined;
    const { toolbox, signal, persistence } = this.#options;
    const { transcript } = this.#turn;
    const notify = (activity: AgentActivityBody) => this.#notify(activity);
    const settling = {
      outstanding,
      turn: this.#turn,
      isClients: ({ name }: { name: string }) => toolbox.isClients(name),
      problems: persistence.problems,
      run: (calls: readonly CollectedToolCall[]) => this.#runHere(calls),
      notify,
    };
    return settleBrokenTurn(settling, { transcript, save: () => persistence.save(), notify }, signal);
  }

  #outstanding(): OutstandingToolCalls | undefined {
    const lost = this.#lost;
    const calls = toolCallsIn(this.#turn.transcript.at(-1));
    if (calls.length === 0) return undefined;
    const given = this.#turn.outstanding;
    const isSame =
      given?.calls.length === calls.length && given.calls.every(({ id }, at) => calls[at]?.id === id);
    const known = isSame ? given : undefined;
    return {
      calls,
      results: new Map(
        [...(known?.results ?? []), ...(lost?.broker.known.results ?? [])].filter(([id]) =>
          calls.some((call) => call.id === id),
        ),
      ),
      started: new Set([...(known?.started ?? []), ...this.#runOnce.unfinished]),
    };
  }

  /** Claude Code's tools have their like here; only a sub-agent needs the process. */
  async #runHere(calls: readonly CollectedToolCall[]): Promise<Map<string, ToolResultBlock>> {
    const { runtime, toolbox, signal, log } = this.#options;
    const server = new ServerToolCalls({
      runtime,
      toolbox,
      toolState: this.#held.toolState,
      options: toolOptions(this.#parts()),
      signal,
      runOnce: this.#runOnce,
      runAgent: this.#runAgent,
      notify: (activity) => this.#notify(activity),
      onBug: (error) => log.error({ err: error, session: this.#turn.id }, 'bug while tools ran'),
    });
    const isAgent = ({ block, problem }: CollectedToolCall) => problem === undefined && block.name === 'Task';
    const results = await server.run(
      calls.filter((each) => !isAgent(each)),
      undefined,
    );
    for (const { block } of calls.filter(isAgent)) results.set(block.id, errorResult(block.id, NOT_RUN));
    return results;
  }
}
