/**
 * A turn from its session to its answer: on the process that still stands where the session stands,
 * or on a new one that begins with the transcript. What a break has left undone is done first.
 */
import {
  type AgentActivityBody,
  type AgentObserver,
  notifierOf,
  safeObserver,
} from '../../activity/activity.js';
import type { Block, Message, ToolResultBlock } from '../../core/conversation.js';
import { GatewayError } from '../../core/errors.js';
import type { ModelEvent } from '../../core/events.js';
import type { Loss } from '../../core/losses.js';
import type { Log } from '../../observability/log.js';
import type { ModelRoute } from '../../routing/model-router.js';
import type { OutstandingToolCalls, Turn } from '../../sessions/sessions.js';
import type { AgentTask } from '../../tools/runtime/context.js';
import type { ToolRuntime } from '../../tools/runtime/runtime.js';
import type { Workspace } from '../../workspace/workspace.js';
import { AnswerAssembler } from '../agent/answer-assembler.js';
import { spokenIn } from '../agent/answers.js';
import { errorResult } from '../agent/error-result.js';
import type { HeldToolState, HeldToolStates } from '../agent/held-tool-states.js';
import { LIMITS } from '../agent/limits.js';
import { runSubAgent } from '../agent/loop/sub-agent.js';
import { toolOptions } from '../agent/loop/turn-parts.js';
import type { CollectedToolCall } from '../agent/message-collector.js';
import { RunOnceLog } from '../agent/run-once-log.js';
import { ServerToolCalls } from '../agent/server-tool-calls.js';
import { inOrder, settleToolCalls } from '../agent/settle-tool-calls.js';
import { ToolCallStream } from '../agent/tool-call-stream.js';
import type { Toolbox } from '../agent/toolbox.js';
import { TurnPersistence } from '../agent/turn-persistence.js';
import { decodeTurnState } from '../agent/turn-state.js';
import { UsageTally } from '../agent/usage-tally.js';
import type { ModelRequest } from '../engine.js';
import type { PrivateKeys } from '../private-keys.js';
import { ClaudeConversation } from './conversation/claude-conversation.js';
import { hotStart } from './conversation/hot-start.js';
import type { LiveConversations } from './conversation/live-conversations.js';
import { fingerprintOf, profileOf, systemOf } from './conversation/profile.js';
import type { Patience } from './limits.js';
import type { ModelProxyOptions } from './model-proxy/model-proxy.js';
import type { ClaudeProcesses } from './processes/claude-processes.js';
import { incomingMessage } from './processes/transcript-entries.js';
import { planTools, type ToolPlan } from './tool-calls/tool-plan.js';
import { type RunEnd, TurnRun } from './turn-run.js';

export interface ClaudeTurnOptions {
  processes: ClaudeProcesses;
  keys: PrivateKeys;
  relay: ModelProxyOptions['relay'];
  runtime: ToolRuntime;
  log: Log;
  live: LiveConversations;
  tools: HeldToolStates;
  call: ModelRequest;
  route: ModelRoute;
  workspace: Workspace;
  turn: Turn;
  toolbox: Toolbox;
  baseUrl: string;
  /** Commands run in the gateway's sandbox or not at all. */
  walled: boolean;
  patience: Patience;
  signal: AbortSignal;
  observe: AgentObserver;
}

const NOT_RUN =
  'Not run: the conversation was taken up again by another process before this call began. Make it again if it is still needed.';
const GO_ON: Message = { role: 'user', content: [{ type: 'text', text: 'Continue.' }] };
const STOPPING = 'The gateway is stopping. Send the same request again: it goes on where it was.';
/** Processes that may be lost before a turn is given up. */
const RESTARTS = 1;

export class ClaudeTurn {
  readonly keeper: TurnPersistence;
  readonly tally = new UsageTally();
  readonly turn: Turn;
  readonly shown: ToolCallStream;
  readonly #options: ClaudeTurnOptions;
  readonly #plan: ToolPlan;
  #held: HeldToolState;
  readonly #ledger: RunOnceLog;
  /** Calls of this turn that have begun and have no result. */
  readonly #started = new Set<string>();
  readonly #tell: AgentObserver;
  readonly #notify: (activity: AgentActivityBody, agentId?: string) => void;
  readonly #voice: AnswerAssembler;
  #conversation: ClaudeConversation | undefined;
  /** `#held` belongs to the conversation. */
  #handedOver: boolean;
  /** What a process that was lost had done. */
  #lost: ClaudeConversation | undefined;
  #run: TurnRun | undefined;
  #over = false;

  /** Rejects before anything of the turn is under way. */
  static async open(options: ClaudeTurnOptions): Promise<ClaudeTurn> {
    const { turn, tools, workspace, live, toolbox, call } = options;
    toolbox.choice(call.request.toolChoice);
    const plan = planTools(toolbox, options);
    const kept = live.take(turn.id);
    const conversation = kept?.fingerprint === fingerprintOf(options, plan) ? kept : undefined;
    if (kept !== undefined && conversation === undefined) await live.drop(kept);
    const { id, principal, user, before } = turn;
    const held =
      conversation?.tools ??
      (await tools.hold({ id, principal, user, workspace, restore: decodeTurnState(turn).tools, before }));
    return new ClaudeTurn(options, plan, held, conversation);
  }

  private constructor(
    options: ClaudeTurnOptions,
    plan: ToolPlan,
    held: HeldToolState,
    conversation: ClaudeConversation | undefined,
  ) {
    const { turn, call, log, observe } = options;
    this.turn = turn;
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
    // That wire has one text for the whole answer.
    const separator = call.clientDialect.name === 'openai-chat' ? '\n\n' : '';
    this.#voice = new AnswerAssembler(spokenIn(turn.transcript.slice(turn.began), separator), separator);
    const { session } = held;
    this.keeper = new TurnPersistence({
      turn,
      tools: { session, release: () => {} },
      onProblem: (error) =>
        log.warn({ err: error, session: turn.id }, 'a turn could not be given up cleanly'),
    });
    this.#ledger = new RunOnceLog({
      start: async (each) => {
        const started = await turn.start(each);
        if (started) this.#started.add(each.id);
        return started;
      },
      finish: async (result) => {
        await turn.finish(result);
        this.#started.delete(result.toolUseId);
      },
    });
    const tell = safeObserver(observe, log);
    this.#tell = tell;
    const main = notifierOf(tell, turn.id);
    this.#notify = (activity, agentId) => {
      const conversation = this.#conversation;
      if (agentId === undefined) main(activity);
      else
        conversation?.agents.whenKnown(agentId, () =>
          notifierOf(tell, turn.id, conversation.agentOf(agentId))(activity),
        );
    };
  }

  /** What the client has been told, calls apart. */
  get said(): readonly Block[] {
    return this.#voice.said;
  }

  /** Of the request's tools. */
  get losses(): readonly Loss[] {
    return this.#options.toolbox.losses ?? [];
  }

  get opened() {
    return this.#conversation?.lastOpened;
  }

  /** Yields what the client is to see. Rejects as the session does and as opening does. */
  async *events(): AsyncGenerator<readonly ModelEvent[], RunEnd, void> {
    for (let restarts = 0; ; ) {
      const kept = this.#conversation;
      const early = await this.#prepare();
      if (early !== undefined) {
        if (early.kind === 'handed-back' || early.kind === 'max-turns') yield this.#voice.repeat();
        return early;
      }
      const end = yield* this.#attempt();
      const again = end.kind === 'failed' && end.again && restarts < RESTARTS;
      if (!again || this.#options.signal.aborted) return end;
      this.#options.log.warn(
        { err: end.error, session: this.turn.id },
        'Claude Code is started again in the middle of a turn',
      );
      // One that was dying already when it was told what is new is no loss of this turn.
      const diedBefore = kept === this.#conversation && kept?.alive === false && this.#run?.heard === false;
      if (!diedBefore) restarts += 1;
      await this.#lose();
    }
  }

  /** The turn came to its end in the session: the process may wait for the next one. */
  rest(): void {
    this.#over = true;
    const conversation = this.#conversation;
    const stood = { steps: this.turn.steps(), messages: this.turn.transcript.length };
    if (conversation === undefined) {
      this.#letGo();
      return;
    }
    conversation.rest(stood);
    this.#options.live.rest(conversation);
  }

  /** However the turn ended: what does not rest is ended. Does nothing the second time. */
  async close(): Promise<void> {
    if (this.#over) return;
    this.#over = true;
    const conversation = this.#conversation;
    if (conversation === undefined) this.#letGo();
    else await this.#options.live.drop(conversation, this.turn.steps());
  }

  #letGo(): void {
    if (!this.#handedOver) this.#held.release(this.turn.steps());
  }

  #turnsBefore(): number {
    const { transcript, began } = this.turn;
    return transcript.slice(began).filter(({ role }) => role === 'assistant').length;
  }

  /** A process that has been told what is new; an end where no model is to be asked. */
  async #prepare(): Promise<RunEnd | undefined> {
    const { turn } = this;
    const kept = this.#conversation;
    if (kept !== undefined) {
      const start = hotStart(kept, turn);
      if (start !== undefined) {
        this.#begin(kept, start.told);
        start.go();
        return undefined;
      }
      await this.#lose();
    }
    const settled = await this.#settle();
    if (settled !== undefined) return settled;
    const turns = this.#turnsBefore();
    if (turns >= this.#maxTurns()) {
      this.#notify({ type: 'max-steps', steps: turns });
      return { kind: 'max-turns', turns };
    }
    try {
      await this.#openCold();
    } catch (error) {
      if (this.#options.signal.aborted) return { kind: 'aborted' };
      throw error;
    }
    return undefined;
  }

  #maxTurns(): number {
    return this.#options.route.rule.maxTurns ?? LIMITS.maxTurns;
  }

  async *#attempt(): AsyncGenerator<readonly ModelEvent[], RunEnd, void> {
    if (this.#run === undefined) throw new Error('The turn has no process');
    return yield* this.#run.run();
  }

  #begin(conversation: ClaudeConversation, told: ReadonlySet<string>): void {
    const { call, toolbox, signal } = this.#options;
    const { turn } = this;
    const { request } = call;
    const options = toolOptions({ request, session: this.#held.session, forkNumber: turn.forkNumber });
    this.#run = new TurnRun({
      conversation,
      transcript: turn.transcript,
      request,
      hasClients: toolbox.hasClients,
      maxTurns: this.#maxTurns(),
      tally: this.tally,
      voice: this.#voice,
      shown: this.shown,
      turnsBefore: this.#turnsBefore(),
      told,
      patience: this.#options.patience,
      signal,
      claimId: (id) => turn.claimId(id),
      save: (problems) => {
        this.keeper.setProblems(problems);
        return this.keeper.save();
      },
      notify: this.#notify,
    });
    const runAgent = this.#runAgent;
    conversation.begin({ ledger: this.#ledger, options, runAgent, notify: this.#notify });
  }

  /** For tools of the gateway that start one; Claude Code starts its own for its own. */
  readonly #runAgent = (task: AgentTask) => {
    const { relay, runtime, log, call, route, toolbox, signal } = this.#options;
    const parts = { relay, runtime, log, call, route, toolbox, signal, request: call.request };
    const { forkNumber } = this.turn;
    return runSubAgent(
      {
        ...parts,
        now: Date.now,
        routeOf: () => undefined,
        session: this.#held.session,
        forkNumber,
        tally: this.tally,
        ledger: this.#ledger,
        notify: this.#tell,
      },
      task,
    );
  };

  /** The process is no more; what it has done is known from it, what it has begun from the turn. */
  async #lose(): Promise<void> {
    const lost = this.#conversation;
    this.#conversation = undefined;
    this.#run = undefined;
    if (lost === undefined) return;
    this.#lost = lost;
    const { id, principal, user } = this.turn;
    const { tools, workspace, live } = this.#options;
    const steps = this.turn.steps();
    // Before it lets go: the session of the tools stays the same one.
    this.#held = await tools.hold({ id, principal, user, workspace, restore: undefined, before: steps });
    this.#handedOver = false;
    await live.drop(lost, steps);
  }

  async #openCold(): Promise<void> {
    const { processes, keys, relay, runtime, log, live, route, toolbox, signal } = this.#options;
    const { turn } = this;
    const { transcript } = turn;
    const split = transcript.findLastIndex(({ role }) => role === 'assistant') + 1;
    const rest = transcript.slice(split);
    const conversation = await live.open(
      () =>
        ClaudeConversation.open({
          processes,
          keys,
          relay,
          runtime,
          log,
          id: turn.id,
          principal: turn.principal,
          route,
          plan: this.#plan,
          toolbox,
          tools: this.#held,
          profile: profileOf(this.#options, this.#plan),
          system: systemOf(this.#options),
          history: transcript.slice(0, split),
          fingerprint: fingerprintOf(this.#options, this.#plan),
          signal,
        }),
      signal,
    );
    this.#conversation = conversation;
    this.#handedOver = true;
    this.#begin(conversation, new Set());
    conversation.send(incomingMessage(rest.length === 0 ? [GO_ON] : rest).message);
  }

  /** Calls of the last message that have no result yet, where a turn or a process broke off. */
  async #settle(): Promise<RunEnd | undefined> {
    const outstanding = this.#outstanding();
    if (outstanding === undefined) return undefined;
    const { turn } = this;
    const { toolbox, signal } = this.#options;
    const { open, results, whole } = await settleToolCalls({
      outstanding,
      turn,
      isClients: ({ name }) => toolbox.isClients(name),
      problems: this.keeper.problems,
      run: (calls) => this.#runHere(calls),
      notify: (activity) => this.#notify(activity),
    });
    // What calls answer that were stopped is no answer: whoever goes on with the turn runs them.
    if (!whole || signal.aborted) {
      if (signal.aborted) return { kind: 'aborted' };
      return {
        kind: 'failed',
        error: new GatewayError('unavailable', STOPPING, { retryable: true }),
        again: false,
      };
    }
    const { calls } = outstanding;
    if (open.length > 0) {
      this.#notify({ type: 'handed-back', ids: open.map(({ id }) => id) });
      return { kind: 'handed-back', calls, open, results, alive: true };
    }
    turn.transcript.push({ role: 'user', content: inOrder(calls, results) });
    await this.keeper.save();
    return undefined;
  }

  #outstanding(): OutstandingToolCalls | undefined {
    const lost = this.#lost;
    const last = this.turn.transcript.at(-1);
    const calls = last?.role === 'assistant' ? last.content.filter((block) => block.type === 'tool_use') : [];
    if (calls.length === 0) return undefined;
    const given = this.turn.outstanding;
    const isSame =
      given?.calls.length === calls.length && given.calls.every(({ id }, at) => calls[at]?.id === id);
    const known = isSame ? given : undefined;
    return {
      calls,
      results: new Map(
        [...(known?.results ?? []), ...(lost?.desk.known.results ?? [])].filter(([id]) =>
          calls.some((call) => call.id === id),
        ),
      ),
      started: new Set([...(known?.started ?? []), ...this.#started]),
    };
  }

  /** Claude Code's tools have their like here; only a sub-agent needs the process. */
  async #runHere(calls: readonly CollectedToolCall[]): Promise<Map<string, ToolResultBlock>> {
    const { runtime, toolbox, call, signal, log } = this.#options;
    const { session } = this.#held;
    const server = new ServerToolCalls({
      runtime,
      toolbox,
      session,
      options: toolOptions({ request: call.request, session, forkNumber: this.turn.forkNumber }),
      signal,
      ledger: this.#ledger,
      runAgent: this.#runAgent,
      notify: (activity) => this.#notify(activity),
      onBug: (error) => log.error({ err: error, session: this.turn.id }, 'bug while tools ran'),
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
