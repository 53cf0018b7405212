/**
 * One conversation that is awake: a process of Claude Code and everything that it talks to. It
 * outlives turns; the transcript in the session is what is true, and when the two do not agree the
 * process is ended.
 */
import type { SDKMessage, SDKUserMessage } from '@anthropic-ai/claude-agent-sdk';
import type { ActiveAgent } from '../../../activity/activity.js';
import type { ConversationRequest, Message } from '../../../core/conversation.js';
import { deferred } from '../../../core/deferred.js';
import { GatewayError, toGatewayError } from '../../../core/errors.js';
import { onAbort } from '../../../core/stopping.js';
import type { Log } from '../../../observability/log.js';
import type { ModelRoute } from '../../../routing/model-router.js';
import type { ToolRuntime } from '../../../tools/runtime/runtime.js';
import type { HeldToolState } from '../../agent/held-tool-states.js';
import { LIMITS } from '../../agent/limits.js';
import type { Toolbox } from '../../agent/toolbox.js';
import type { PrivateKeys } from '../../private-keys.js';
import type {
  ClaudeProcess,
  ClaudeProcesses,
  CompactionHooks,
  OpenOptions,
  ProcessProfile,
} from '../processes/claude-processes.js';
import { blocksOf, serveTools } from '../tool-calls/served-tools.js';
import { SubAgents } from '../tool-calls/sub-agents.js';
import { type BrokeredTurn, ToolCallBroker } from '../tool-calls/tool-call-broker.js';
import { claudeMessages, type ToolPlan } from '../tool-calls/tool-plan.js';
import { AgentStep } from './message-streams.js';
import {
  type AskedModelRequest,
  ModelProxy,
  type ModelProxyHost,
  type ModelProxyOptions,
  type OpenedModelRequest,
  type ProxiedRequestKind,
} from './model-proxy.js';
import { ModelView } from './model-view.js';
import { workingFolder } from './profile.js';
import { tidyRequest } from './request-shape.js';

/** What happens to a turn, in the order in which it is to be looked at. */
class Mailbox<T> {
  readonly #items: T[] = [];
  #wake: (() => void) | undefined;

  push(item: T): void {
    this.#items.push(item);
    this.#wake?.();
  }

  get size(): number {
    return this.#items.length;
  }

  /** Messages that no turn will read any more. */
  remove(isOver: (item: T) => boolean): T[] {
    const removed = this.#items.filter(isOver);
    const kept = this.#items.filter((item) => !removed.includes(item));
    this.#items.splice(0, this.#items.length, ...kept);
    return removed;
  }

  /** Undefined when nothing came within `quietMs`. One reader at a time. */
  async next(quietMs?: number): Promise<T | undefined> {
    if (this.#items.length === 0) await this.#arrival(quietMs);
    return this.#items.shift();
  }

  async #arrival(quietMs: number | undefined): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      if (quietMs !== undefined) timer = setTimeout(resolve, quietMs);
    });
    clearTimeout(timer);
    this.#wake = undefined;
  }
}

/** What the turn that runs has to look at. */
export type Inbound =
  | { kind: 'message'; message: SDKMessage }
  /** Claude Code wants to ask its model for the next step. */
  | { kind: 'admission'; admission: Admission }
  /** An upstream failed in the main conversation. */
  | { kind: 'failure'; error: GatewayError }
  /** Something about the calls has changed. */
  | { kind: 'calls' }
  | { kind: 'exit'; stderr: string }
  | { kind: 'aborted' };

export interface Admission {
  request: ConversationRequest;
  /** Fires when Claude Code does not wait for it any more. */
  signal: AbortSignal;
  grant(shaped: ConversationRequest): void;
  refuse(): void;
}

interface ClaudeConversationOptions {
  processes: ClaudeProcesses;
  keys: PrivateKeys;
  relay: ModelProxyOptions['relay'];
  runtime: ToolRuntime;
  log: Log;
  id: string;
  principal: string;
  /** Of the model's entry. */
  route: ModelRoute;
  plan: ToolPlan;
  toolbox: Toolbox;
  /** Let go when the conversation is closed. */
  tools: HeldToolState;
  profile: ProcessProfile;
  system: OpenOptions['system'];
  /** In plain names; empty, or ends with the assistant. */
  history: readonly Message[];
  /** Equal for turns that the same process can serve. */
  compatibility: string;
  /** Of opening alone. */
  signal: AbortSignal;
}

export class ClaudeConversation implements ModelProxyHost {
  readonly id: string;
  readonly compatibility: string;
  readonly plan: ToolPlan;
  readonly tools: HeldToolState;
  readonly broker: ToolCallBroker;
  readonly agents: SubAgents;
  readonly proxy: ModelProxy;
  readonly mailbox = new Mailbox<Inbound>();
  /** Of the call of the main agent that was opened last. */
  lastOpened: OpenedModelRequest | undefined;
  /** Steps of the session and messages of its transcript when the last turn ended. */
  stood: { steps: number; messages: number } | undefined;
  readonly #log: Log;
  readonly #stop = new AbortController();
  #process: ClaudeProcess | undefined;
  #release: (() => void)[] = [];
  #active = false;
  #closed: Promise<void> | undefined;
  #steps = 0;
  #compacting = false;
  /** Model calls of sub-agents in the turn that runs, by their ids. */
  readonly #agentCalls = new Map<string, number>();
  readonly #gone = deferred();
  /** Resolves when the process is gone, for any reason. */
  readonly gone = this.#gone.promise;

  private constructor(options: ClaudeConversationOptions) {
    const { id, plan, tools, runtime, toolbox, route, relay, log } = options;
    const { toolState } = tools;
    this.id = id;
    this.compatibility = options.compatibility;
    this.plan = plan;
    this.tools = tools;
    this.#log = log;
    this.agents = new SubAgents({ runtime, toolState });
    const view = new ModelView(plan, this.agents);
    this.broker = new ToolCallBroker({
      plan,
      view,
      toolbox,
      runtime,
      toolState,
      agents: this.agents,
      signal: this.#stop.signal,
      onChange: () => this.mailbox.push({ kind: 'calls' }),
      onBug: (error) => log.error({ err: error, session: id }, 'bug while tools ran'),
    });
    const relayed = { ...route, rule: { ...route.rule, engine: 'relay' as const } };
    const hasTools = plan.claude.length > 0 || plan.servers.size > 0;
    this.proxy = new ModelProxy({ relay, route: relayed, session: id, hasTools, view });
    this.proxy.owner = this;
  }

  /** Rejects as `ClaudeProcesses.open` does; then `tools` are still the caller's. */
  static async open(options: ClaudeConversationOptions): Promise<ClaudeConversation> {
    const { processes, keys, principal, plan, profile, system, history, signal } = options;
    const { runtime, tools, id } = options;
    const conversation = new ClaudeConversation(options);
    const { broker } = conversation;
    const cwd = workingFolder(tools.toolState, profile, plan);
    try {
      const process = await processes.open({
        profile,
        cwd,
        system,
        readable: await runtime.gate.readable({ root: profile.cwd, cwd }, id),
        servers: await serveTools(plan, (call) => broker.handle(call)),
        canUseTool: broker.canUseTool,
        hooks: {
          preToolUse: broker.preToolUse,
          postToolUse: broker.postToolUse,
          postToolUseFailure: broker.postToolUseFailure,
          subagentStart: broker.subagentStart,
          ...conversation.#compaction,
        },
        history: claudeMessages(history, plan),
        signal,
      });
      const remove = keys.add(process.credential, { name: principal }, conversation.proxy);
      conversation.#release.push(remove);
      conversation.#run(process);
      return conversation;
    } catch (error) {
      broker.close();
      await conversation.agents.close();
      throw error;
    }
  }

  /** A sub-agent, with the call that it works for as the conversation knows it. */
  agentOf(id: string): ActiveAgent {
    const agent = this.agents.describe(id);
    return { ...agent, call: this.broker.known.peek(agent.parent)?.block.id ?? agent.parent };
  }

  get compacting(): boolean {
    return this.#compacting;
  }

  /** Its process is there and takes messages. */
  get alive(): boolean {
    return !this.closed && this.#process?.alive === true;
  }

  get closed(): boolean {
    return this.#closed !== undefined;
  }

  /** A turn runs from now on, and reads the mailbox. */
  begin(turn: BrokeredTurn): void {
    this.#active = true;
    this.#compacting = false;
    this.#agentCalls.clear();
    this.broker.turn = turn;
  }

  /** It is over; the process waits for the next one. */
  rest(stood: { steps: number; messages: number }): void {
    this.#active = false;
    this.proxy.traced = {};
    this.#steps = stood.steps;
    this.stood = stood;
    this.broker.turn = undefined;
  }

  send(message: SDKUserMessage): void {
    this.#process?.send(message);
  }

  /** `steps`: where the session stands. Resolves when the process and what it started are gone. */
  close(steps = this.#steps): Promise<void> {
    this.#closed ??= this.#end(steps);
    return this.#closed;
  }

  async admit({ kind, request, agentId, signal }: AskedModelRequest): Promise<ConversationRequest> {
    if (!this.#active || this.closed) {
      if (kind === 'main' && !this.closed) this.#endAstray();
      throw stopped();
    }
    if (agentId !== undefined) this.#countCall(agentId);
    if (kind !== 'main') return tidyRequest(request);
    return new Promise((grant, reject) => {
      const refuse = () => reject(stopped());
      onAbort(signal, refuse);
      this.mailbox.push({ kind: 'admission', admission: { request, signal, grant, refuse } });
    });
  }

  #endAstray(): void {
    this.#log.warn({ session: this.id }, 'Claude Code asked its model between two turns, and was ended');
    this.close().catch((error: unknown) => {
      this.#log.warn({ err: error, session: this.id }, 'a process of Claude Code did not end');
    });
  }

  #countCall(agentId: string): void {
    const calls = (this.#agentCalls.get(agentId) ?? 0) + 1;
    this.#agentCalls.set(agentId, calls);
    const { maxSteps } = LIMITS.subAgent;
    if (calls <= maxSteps) return;
    throw new GatewayError(
      'invalid_request',
      `The sub-agent was stopped after ${maxSteps} model calls, the most that one may make. Give the rest of its task to another one, in smaller pieces.`,
    );
  }

  readonly #compaction: CompactionHooks = {
    preCompact: async ({ agent_id }) => {
      if (agent_id === undefined) this.#compacting = true;
      return {};
    },
    postCompact: async ({ agent_id }) => {
      if (agent_id === undefined) this.#compacting = false;
      return {};
    },
  };

  opened(kind: ProxiedRequestKind, call: OpenedModelRequest): void {
    if (kind === 'main') this.lastOpened = call;
  }

  follow(agentId: string, request: ConversationRequest): AgentStep {
    return new AgentStep({
      request,
      number: this.#agentCalls.get(agentId) ?? 1,
      notify: (activity) => this.broker.notifyOnce(activity, agentId),
      plain: (name) => this.plan.plain(name),
    });
  }

  failed(kind: ProxiedRequestKind, error: GatewayError): void {
    if (kind === 'main') this.mailbox.push({ kind: 'failure', error });
  }

  #run(process: ClaudeProcess): void {
    this.#process = process;
    void this.#pump(process).catch((error: unknown) => {
      this.#log.error({ err: error, session: this.id }, 'bug while Claude Code was read');
      this.mailbox.push({ kind: 'failure', error: toGatewayError(error) });
      this.#gone.resolve();
    });
  }

  async #pump(process: ClaudeProcess): Promise<void> {
    for (;;) {
      const step = await process.messages.next().catch(() => ({ done: true as const }));
      if (step.done === true) break;
      await this.#look(step.value);
      this.mailbox.push({ kind: 'message', message: step.value });
    }
    // A process whose messages are lost must not keep working, should it still be there.
    await process.close();
    const { stderr } = await process.exited;
    this.broker.close();
    this.mailbox.push({ kind: 'exit', stderr });
    this.#gone.resolve();
  }

  /** What must be known also between two turns. */
  async #look(message: SDKMessage): Promise<void> {
    // Where it could not sum up, nothing else says so.
    if (message.type === 'system' && message.subtype === 'status' && message.compact_result !== undefined)
      this.#compacting = false;
    if (message.type === 'system' && message.subtype === 'task_started') {
      const { task_id, tool_use_id, description, parent_task_id, is_backgrounded = false } = message;
      const more = { parent: parent_task_id, background: is_backgrounded };
      this.agents.start(task_id, tool_use_id, description, more);
      if (message.subagent_type !== undefined) {
        const { label } = this.agents.describe(task_id);
        this.broker.notify({ type: 'agent-start', description: label }, task_id);
      }
      this.agents.reportStart(task_id);
    }
    if (message.type === 'system' && message.subtype === 'task_notification')
      this.#agentEnded(message.task_id);
    if (message.type !== 'user') return;
    for (const block of blocksOf(message.message.content)) {
      if (block.type !== 'tool_result') continue;
      if (message.parent_tool_use_id !== null) {
        this.broker.endedFor(block);
        continue;
      }
      for (const id of this.agents.endOf(block.toolUseId)) this.#tellEnd(id);
      try {
        await this.broker.ended(block);
      } catch (error) {
        // Without a record it may have run: that is what the session will say of it.
        this.#log.warn({ err: error, session: this.id }, 'the result of a call could not be kept');
      }
    }
  }

  #agentEnded(id: string): void {
    if (this.agents.end(id)) this.#tellEnd(id);
  }

  #tellEnd(id: string): void {
    const turns = this.#agentCalls.get(id) ?? 0;
    this.broker.notify({ type: 'agent-end', steps: turns, usage: this.proxy.spentBy(id) }, id);
  }

  async #end(steps: number): Promise<void> {
    this.#active = false;
    this.#stop.abort();
    this.proxy.owner = undefined;
    // First: with answers of any kind it would go on.
    try {
      await this.#process?.close();
    } finally {
      this.broker.close();
      for (const release of this.#release.splice(0)) release();
      await this.agents.close();
      this.tools.release(steps);
    }
  }
}

function stopped(): GatewayError {
  return new GatewayError('conflict', 'The turn of this conversation is over.');
}
