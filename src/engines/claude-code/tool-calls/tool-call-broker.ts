/**
 * Every tool call of a Claude Code passes here before it runs: its own tools are reviewed by the
 * rules and people of the gateway, the gateway's are run, the client's wait for the client. Calls
 * that must not run twice are written down by the turn that runs; between two turns nothing begins.
 */
import type { CanUseTool, HookCallback, HookInput, PermissionResult } from '@anthropic-ai/claude-agent-sdk';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { AgentActivityBody } from '../../../activity/activity.js';
import type { JsonObject, ToolResultBlock, ToolUseBlock } from '../../../core/conversation.js';
import { isObject } from '../../../core/is-object.js';
import type { ReviewOutcome } from '../../../tools/runtime/review.js';
import type { OpenToolState, RunRequest, ToolRuntime } from '../../../tools/runtime/runtime.js';
import type { RunOnceLog } from '../../agent/run-once-log.js';
import { changedInput, ServerToolCalls } from '../../agent/server-tool-calls.js';
import type { Toolbox } from '../../agent/toolbox.js';
import { mirrorToolCall, SavedOutputs } from './claude-files.js';
import { type AskOptions, askOf, type NamedToolCall, ToolCallEvents } from './own-tool-calls.js';
import { mcpError, type ServedToolCall, toMcpResult } from './served-tools.js';
import type { SubAgents } from './sub-agents.js';
import { ClientToolCalls, type KnownToolCall, ToolCallTable } from './tool-call-table.js';
import type { ToolPlan } from './tool-plan.js';

/** The turn that runs, as far as calls are concerned. */
export interface BrokeredTurn {
  runOnce: RunOnceLog;
  options: RunRequest['options'];
  /** An agent of the gateway's own, for tools that start one. */
  runAgent?: RunRequest['runAgent'];
  notify(activity: AgentActivityBody, agentId?: string): void;
}

interface ToolCallBrokerOptions {
  plan: ToolPlan;
  /** Receives results that Claude Code would give its model in another form. */
  view: { note(wireId: string, result: ToolResultBlock): void };
  toolbox: Toolbox;
  runtime: ToolRuntime;
  toolState: OpenToolState;
  agents: SubAgents;
  /** Fires when the process ends. */
  signal: AbortSignal;
  /** Something about the calls has changed. */
  onChange(): void;
  onBug(error: unknown): void;
}

const STOPPED = 'Not run: the turn was stopped before this call was made.';
const NO_RESULT = 'No result: the turn was stopped before the client had run this call.';
const MAIN_ONLY =
  'Not run: this is a tool of the client, and only the main agent can call it. Report back that it is needed.';
const NOT_OFFERED = 'Not run: this tool is not on offer here.';
const REVIEW_FAILED =
  'Not run: whether it may could not be decided because of an internal error in the gateway; its log says more.';

export class ToolCallBroker {
  readonly known = new ToolCallTable();
  readonly parked = new ClientToolCalls();
  readonly #options: ToolCallBrokerOptions;
  /** Inputs that a person put in place, by the id that Claude Code knows. */
  readonly #changed = new Map<string, JsonObject>();
  /** Sub-agents' calls, by id. */
  readonly #agentOf = new Map<string, string>();
  readonly #toolEvents = new ToolCallEvents();
  /** Calls of sub-agents that were reported, by id; undefined once their end was. */
  readonly #reported = new Map<string, NamedToolCall | undefined>();
  readonly #outputs = new SavedOutputs();
  /** Where Claude Code is, by sub-agent; undefined for the main one. */
  readonly #folders = new Map<string | undefined, string>();
  #turn: BrokeredTurn | undefined;
  #turnWaiters: ((turn: BrokeredTurn | undefined) => void)[] = [];
  #closed = false;

  constructor(options: ToolCallBrokerOptions) {
    this.#options = options;
  }

  /** Undefined between two turns. */
  set turn(turn: BrokeredTurn | undefined) {
    this.#turn = turn;
    if (turn === undefined) return;
    this.#reported.clear();
    turn.runOnce.note(this.known.all.map(({ block }) => block));
    for (const resolve of this.#turnWaiters.splice(0)) resolve(turn);
  }

  /** Between two turns there is no observer. */
  notify(activity: AgentActivityBody, agentId?: string): void {
    this.#turn?.notify(activity, agentId);
  }

  /** A message is whole and kept: its calls may begin. */
  announce(calls: readonly KnownToolCall[]): void {
    this.#turn?.runOnce.note(calls.map(({ block }) => block));
    this.known.announce(calls);
  }

  /** What the client says came of a call of the last message. */
  deliver(call: KnownToolCall, result: ToolResultBlock): void {
    this.known.give(result);
    this.parked.deliver(call.wireId, result);
  }

  close(): void {
    this.#closed = true;
    this.known.close();
    this.parked.close();
    for (const resolve of this.#turnWaiters.splice(0)) resolve(undefined);
  }

  /** Asks for each call, also for those that Claude Code would let through by itself. */
  readonly preToolUse: HookCallback = async (input) => {
    this.#outputs.note(input.transcript_path);
    this.#moved(input);
    return { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'ask' } };
  };

  readonly postToolUse: HookCallback = async (input, id) => {
    this.#moved(input);
    await mirrorToolCall(input, this.#options.toolState, Date.now());
    const changed = id === undefined ? undefined : this.#changed.get(id);
    if (changed === undefined) return {};
    const additionalContext = changedInput(changed).text;
    return { hookSpecificOutput: { hookEventName: 'PostToolUse', additionalContext } };
  };

  readonly postToolUseFailure: HookCallback = async (input) => {
    this.#moved(input);
    return {};
  };

  readonly subagentStart: HookCallback = async (input) => {
    if (input.hook_event_name === 'SubagentStart')
      this.#options.agents.noteKind(input.agent_id, input.agent_type);
    return {};
  };

  readonly canUseTool: CanUseTool = async (name, input, options) => {
    const { toolUseID, agentID } = options;
    try {
      if (agentID !== undefined) return await this.#agentMayUse(name, input, agentID, options);
      const call = await this.known.find(toolUseID);
      if (call === undefined) return deny(STOPPED);
      if (call.problem !== undefined) {
        this.#toolEvents.reject(named(call), 'invalid');
        return deny(call.problem);
      }
      if (call.owner === undefined) {
        this.#toolEvents.reject(named(call), 'unknown-tool');
        return deny(NOT_OFFERED);
      }
      call.state = 'begun';
      this.#options.onChange();
      if (call.owner !== 'claude') return { behavior: 'allow', updatedInput: input };
      return await this.#review(call, input, options);
    } catch (error) {
      this.#options.onBug(error);
      return deny(REVIEW_FAILED);
    }
  };

  /** A call of a tool that is served to Claude Code. Never rejects. */
  async handle({ tool, wireId, input, signal }: ServedToolCall): Promise<CallToolResult> {
    try {
      if (tool.owner === 'client') {
        const result = await this.parked.wait(wireId, signal);
        return result === undefined ? mcpError(NO_RESULT) : this.#mcpResult(wireId, result);
      }
      const block: ToolUseBlock = { type: 'tool_use', id: wireId, name: tool.plain, input };
      const agentId = this.#agentOf.get(wireId);
      const result = await this.#run(block, agentId, signal);
      if (result === undefined) return mcpError(STOPPED);
      // Claude Code rewords them; the stored result is the original.
      if (result.content.some(({ type }) => type !== 'text')) this.known.give(result);
      return this.#mcpResult(wireId, result);
    } catch (error) {
      this.#options.onBug(error);
      return mcpError('The tool failed because of an internal error in the gateway; its log says more.');
    }
  }

  #mcpResult(wireId: string, result: ToolResultBlock): CallToolResult {
    this.#options.view.note(wireId, result);
    return toMcpResult(result);
  }

  /** Results that Claude Code gives its model for calls of its own; stored before anything acts on them. */
  async ended(result: ToolResultBlock): Promise<void> {
    const changed = this.#changed.get(result.toolUseId);
    // A hook adds it to the result; it is not stored.
    const content = changed === undefined ? result.content : [changedInput(changed), ...result.content];
    const found = this.known.end(await this.#outputs.keep({ ...result, content }, this.#options.toolState));
    if (found === undefined) return;
    const { call, result: own } = found;
    // What Claude Code refuses by itself never came here.
    if (call.owner === 'claude' && !this.#toolEvents.has(call.wireId)) {
      this.#toolEvents.reject(named(call), own.isError ? 'failed' : 'done');
    }
    this.#reportEnd({ ...own, toolUseId: call.wireId });
    if (call.owner === 'claude') await this.#turn?.runOnce.finish(own);
  }

  /** The same about calls of its sub-agents, which no transcript of ours has. */
  endedFor(result: ToolResultBlock): void {
    const { toolUseId: id, isError } = result;
    const reported = this.#reported.get(id);
    // What Claude Code refuses by itself, such as a tool that it does not have, never came here.
    if (reported !== undefined && !this.#toolEvents.has(id) && !this.#agentOf.has(id))
      this.#toolEvents.reject(reported, isError ? 'failed' : 'done');
    if (reported !== undefined) this.#reported.set(id, undefined);
    this.#reportEnd(result);
  }

  /** A sub-agent's call is whole once its model says so, or once it is about to run. */
  notifyOnce(activity: AgentActivityBody, agentId: string): void {
    if (activity.type === 'call-whole') {
      if (this.#reported.has(activity.id)) return;
      const { id, name } = activity;
      this.#reported.set(id, { wireId: id, id, name, agentId });
    }
    this.notify(activity, agentId);
  }

  #reportEnd(result: ToolResultBlock): void {
    const ended = this.#toolEvents.end(result);
    if (ended !== undefined) this.#turn?.notify({ type: 'tool', event: ended.event }, ended.agentId);
  }

  async #review(call: KnownToolCall, input: JsonObject, options: AskOptions): Promise<PermissionResult> {
    const { toolState } = this.#options;
    const asked = await this.#judge({ ...call.block, input }, toolState, options, (waiting) => {
      call.state = waiting ? 'asked' : 'begun';
      this.#options.onChange();
    });
    if (!asked.verdict.allowed) {
      this.#toolEvents.refuse(named(call), asked.verdict, asked);
      return deny(asked.verdict.message);
    }
    const turn = await this.#activeTurn();
    if (turn === undefined) return deny(STOPPED);
    if (mustRunOnce(asked)) {
      const refusal = await turn.runOnce.begin(call.block.id);
      if (refusal !== undefined) return deny(refusal);
    }
    call.state = 'begun';
    turn.notify({ type: 'tool', event: this.#toolEvents.start(named(call), asked) });
    return this.#allow(call.wireId, asked, input);
  }

  async #agentMayUse(
    name: string,
    input: JsonObject,
    agentId: string,
    options: AskOptions,
  ): Promise<PermissionResult> {
    const wireId = options.toolUseID;
    const { plan } = this.#options;
    const owner = plan.ownerOf(name);
    const block: ToolUseBlock = { type: 'tool_use', id: wireId, name: plan.plain(name), input };
    const call: NamedToolCall = { wireId, id: wireId, name: block.name, agentId };
    this.notifyOnce({ type: 'call-whole', id: wireId, name: block.name, input }, agentId);
    if (owner === undefined || !this.#options.agents.mayUse(agentId, owner, block.name)) {
      this.#toolEvents.reject(call, 'unknown-tool');
      return deny(owner === 'client' ? MAIN_ONLY : NOT_OFFERED);
    }
    if (owner === 'gateway') {
      this.#agentOf.set(wireId, agentId);
      return { behavior: 'allow', updatedInput: input };
    }
    const session = await this.#toolStateOf(agentId);
    const asked = await this.#judge(block, session, options, () => {}, agentId);
    if (!asked.verdict.allowed) {
      this.#toolEvents.refuse(call, asked.verdict, asked);
      return deny(asked.verdict.message);
    }
    const turn = await this.#activeTurn();
    if (turn === undefined) return deny(STOPPED);
    if (mustRunOnce(asked)) {
      const refusal = await this.#beginFor(turn, agentId);
      if (refusal !== undefined) return deny(refusal);
    }
    turn.notify({ type: 'tool', event: this.#toolEvents.start(call, asked) }, agentId);
    return this.#allow(wireId, asked, input);
  }

  /** The call of the main agent that a sub-agent works for is what must not run twice. */
  async #beginFor(turn: BrokeredTurn, agentId: string): Promise<string | undefined> {
    const parent = this.#parentOf(agentId);
    return parent === undefined ? undefined : turn.runOnce.begin(parent);
  }

  #parentOf(agentId: string): string | undefined {
    const wireId = this.#options.agents.parentOf(agentId);
    return wireId === undefined ? undefined : this.known.peek(wireId)?.block.id;
  }

  async #judge(
    call: ToolUseBlock,
    toolState: OpenToolState,
    given: AskOptions,
    onWaiting: (waiting: boolean) => void,
    agentId?: string,
  ): Promise<ReviewOutcome> {
    const { runtime, signal } = this.#options;
    const options = this.#turn?.options;
    const placed = this.#placed(toolState, agentId);
    const { root, home } = placed.workspace;
    const { hints, rules } = askOf(given, call.input, { root, home, cwd: placed.cwd });
    return runtime.review({
      call,
      toolState: placed,
      signal: AbortSignal.any([signal, given.signal]),
      hints,
      engineRules: rules,
      onWaiting: (approval, describe) => {
        onWaiting(true);
        const { id, name } = call;
        this.#turn?.notify(
          { type: 'tool', event: { type: 'tool-waiting', id, name, describe, approval } },
          agentId,
        );
      },
      onResumed: () => onWaiting(false),
      ...(options === undefined ? {} : { options }),
    });
  }

  #allow(wireId: string, { verdict, changed }: ReviewOutcome, input: JsonObject): PermissionResult {
    if (!verdict.allowed) return deny(verdict.message);
    const updatedInput = isObject(verdict.input) ? verdict.input : input;
    if (changed) this.#changed.set(wireId, updatedInput);
    return { behavior: 'allow', updatedInput };
  }

  async #run(
    block: ToolUseBlock,
    agentId: string | undefined,
    given: AbortSignal,
  ): Promise<ToolResultBlock | undefined> {
    const { runtime, toolbox, signal, onBug } = this.#options;
    const known = agentId === undefined ? await this.known.find(block.id) : undefined;
    if (agentId === undefined && known === undefined) return undefined;
    const turn = await this.#activeTurn();
    if (turn === undefined) return undefined;
    const call = known === undefined ? block : { ...known.block, input: block.input };
    const parent = agentId === undefined ? undefined : this.#parentOf(agentId);
    const calls = new ServerToolCalls({
      runtime,
      toolbox,
      toolState: this.#outputs.readableIn(await this.#toolStateOf(agentId)),
      options: turn.options,
      signal: AbortSignal.any([signal, given]),
      ...(agentId === undefined || parent !== undefined ? { runOnce: turn.runOnce } : {}),
      ...(parent === undefined ? {} : { onBehalfOf: parent }),
      ...(turn.runAgent === undefined ? {} : { runAgent: turn.runAgent }),
      notify: (activity) => {
        if (known !== undefined && activity.type === 'tool') this.#follow(known, activity.event.type);
        turn.notify(activity, agentId);
      },
      onBug,
    });
    const results = await calls.run([{ block: call }], undefined);
    return results.get(call.id);
  }

  #moved({ agent_id, cwd }: HookInput): void {
    this.#folders.set(agent_id, cwd);
    if (agent_id === undefined && this.#ownCommands) this.#options.toolState.cwd = cwd;
  }

  /** Otherwise the gateway's commands move the sessions of its tools. */
  get #ownCommands(): boolean {
    return this.#options.plan.ownerOf('Bash') === 'claude';
  }

  async #toolStateOf(agentId: string | undefined): Promise<OpenToolState> {
    if (agentId === undefined) return this.#options.toolState;
    const session = await this.#options.agents.toolState(agentId);
    if (this.#ownCommands) session.cwd = this.#folders.get(agentId) ?? session.cwd;
    return session;
  }

  /** Claude Code's own tools are judged from where it is. */
  #placed(toolState: OpenToolState, agentId: string | undefined): OpenToolState {
    return { ...this.#outputs.readableIn(toolState), cwd: this.#folders.get(agentId) ?? toolState.cwd };
  }

  #follow(call: KnownToolCall, event: string): void {
    if (call.state === 'ended') return;
    call.state = event === 'tool-waiting' ? 'asked' : 'begun';
    this.#options.onChange();
  }

  async #activeTurn(): Promise<BrokeredTurn | undefined> {
    if (this.#turn !== undefined || this.#closed) return this.#turn;
    return new Promise((resolve) => this.#turnWaiters.push(resolve));
  }
}

function named({ wireId, block: { id, name } }: KnownToolCall): NamedToolCall {
  return { wireId, id, name };
}

/** It changes something, or a person let this one run. */
function mustRunOnce({ readOnly, verdict }: ReviewOutcome): boolean {
  return !readOnly || (verdict.allowed && verdict.approval !== undefined);
}

function deny(message: string): PermissionResult {
  return { behavior: 'deny', message };
}
