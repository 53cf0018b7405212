/**
 * An agent that works for a call of another: a transcript and a tool session of its own, never more
 * tools than its parent, the same gate, and no agents under it.
 */
import { createHash } from 'node:crypto';
import { type AgentActivity, type AgentActivityBody, notifierOf } from '../../../activity/activity.js';
import type { ConversationRequest, Message, Usage } from '../../../core/conversation.js';
import { toGatewayError } from '../../../core/errors.js';
import type { Log } from '../../../observability/log.js';
import type { ModelRoute } from '../../../routing/model-router.js';
import type { AgentProgress, AgentReport, AgentTask } from '../../../tools/runtime/context.js';
import { createEventQueue } from '../../../tools/runtime/event-queue.js';
import type { OpenToolState, ToolRuntime } from '../../../tools/runtime/runtime.js';
import type { Engine, ModelRequest } from '../../engine.js';
import { AnswerAssembler, UsageTally } from '../answer-assembler.js';
import { LIMITS } from '../limits.js';
import type { RunOnceLog } from '../run-once-log.js';
import { ServerToolCalls, toolOptions } from '../server-tool-calls.js';
import { openToolbox, type Toolbox, withToolSearch } from '../toolbox.js';
import { AgentLoop, type LoopEnd } from './agent-loop.js';
import { ModelStep } from './model-step.js';
import { promptOptions, subAgentPrompt } from './system-prompt.js';

/** What all parts of one turn share: who asked, who answers, and what it may use. */
export interface TurnParts {
  relay: Engine;
  runtime: ToolRuntime;
  log: Log;
  now: () => number;
  /** The route of another model that the caller may use; undefined where there is none. */
  routeOf(model: string): ModelRoute | undefined;
  call: ModelRequest;
  route: ModelRoute;
  request: ConversationRequest;
  toolState: OpenToolState;
  forkNumber: number;
  toolbox: Toolbox;
  tally: UsageTally;
  /** Of the main agent. */
  runOnce: RunOnceLog;
  signal: AbortSignal;
  notify(activity: AgentActivity): void;
}

/** By name or alias: agents do not start agents. */
const AGENT_TOOLS = ['Task', 'Agent'];

const EVERYTHING = '*';

/** Returning early ends it. Its usage is added to the parent's as it is spent. */
export async function* runSubAgent(
  parent: TurnParts,
  task: AgentTask,
): AsyncGenerator<AgentProgress, AgentReport, void> {
  const startedAt = parent.now();
  const stop = new AbortController();
  const progress = createEventQueue<AgentProgress>();
  const agent = new SubAgent(parent, task, AbortSignal.any([parent.signal, stop.signal]), (step) => {
    void progress.push(step);
  });
  const ended = agent.run().finally(() => progress.end());
  // Awaited below; a failure before that must not count as unhandled.
  ended.catch(() => {});
  try {
    yield* progress.read();
    const { end, text } = await ended;
    const cutShort = cutShortBy(end);
    return {
      text,
      usage: agent.usage,
      turns: agent.steps,
      toolCalls: agent.toolCalls,
      durationMs: parent.now() - startedAt,
      ...(cutShort === undefined ? {} : { cutShort }),
    };
  } finally {
    stop.abort();
    await ended.catch(() => {});
  }
}

function cutShortBy(end: LoopEnd): string | undefined {
  switch (end.kind) {
    case 'done':
      return end.reason === 'end_turn' || end.reason === 'stop_sequence' ? undefined : end.reason;
    case 'max-steps':
      return 'max_turns';
    case 'aborted':
      return 'aborted';
    case 'failed':
      return end.error.message;
    case 'handed-back':
      return 'it called a tool that only the client can run';
  }
}

/** The same after a restart, so that what was decided about its calls is found again. */
function agentId(session: string, toolUseId: string): string {
  return `agent_${createHash('sha256').update(`${session}\0${toolUseId}`).digest('hex').slice(0, 16)}`;
}

class SubAgent {
  readonly #parent: TurnParts;
  readonly #task: AgentTask;
  readonly #signal: AbortSignal;
  readonly #onStep: (step: AgentProgress) => void;
  readonly #id: string;
  readonly #tally: UsageTally;
  #loop: AgentLoop | undefined;
  #calls: ServerToolCalls | undefined;

  constructor(
    parent: TurnParts,
    task: AgentTask,
    signal: AbortSignal,
    onStep: (step: AgentProgress) => void,
  ) {
    this.#parent = parent;
    this.#task = task;
    this.#id = agentId(parent.toolState.id, task.toolUseId);
    this.#tally = new UsageTally(parent.tally);
    this.#signal = signal;
    this.#onStep = onStep;
  }

  get usage(): Usage {
    return this.#tally.total;
  }

  get steps(): number {
    return this.#loop?.steps ?? 0;
  }

  get toolCalls(): number {
    return this.#calls?.count ?? 0;
  }

  async run(): Promise<{ end: LoopEnd; text: string }> {
    const { runtime, toolState: above, notify } = this.#parent;
    const label = this.#task.description.slice(0, LIMITS.subAgent.labelChars);
    const { toolUseId: call } = this.#task;
    const report = notifierOf(notify, above.id, { id: this.#id, label, parent: above.id, call });
    report({ type: 'agent-start', description: label });
    const toolState = await runtime.openToolState({
      id: above.id,
      principal: above.principal,
      workspace: above.workspace,
      cwd: above.cwd,
      agent: { id: this.#id, label },
      parent: above,
    });
    const transcript: Message[] = [{ role: 'user', content: [{ type: 'text', text: this.#task.prompt }] }];
    let end: LoopEnd = { kind: 'aborted' };
    try {
      end = await this.#work({ ...this.#parent, toolState, signal: this.#signal }, transcript, report);
      return { end, text: lastText(transcript) };
    } finally {
      const cutShort = cutShortBy(end);
      const { usage, steps } = this;
      report({ type: 'agent-end', steps, usage, ...(cutShort === undefined ? {} : { cutShort }) });
      await toolState.close();
    }
  }

  async #work(
    own: TurnParts,
    transcript: Message[],
    report: (activity: AgentActivityBody) => void,
  ): Promise<LoopEnd> {
    const { runtime, relay, log, toolState, signal } = own;
    const span = own.call.turnSpans?.ofAgent(this.#id);
    const call = span === undefined ? own.call : { ...own.call, span };
    const toolbox = await this.#toolbox();
    const { route, model } = this.#model();
    const request = requestOf(own.request, model);
    const options = await promptOptions(own, toolbox, {
      root: toolState.workspace.root,
      cwd: toolState.cwd,
      session: toolState.id,
      memoryDir: toolState.memoryDir,
    });
    this.#calls = new ServerToolCalls({
      runtime,
      toolbox,
      toolState,
      options: toolOptions({ ...own, request }),
      signal,
      runOnce: own.runOnce,
      onBehalfOf: this.#task.toolUseId,
      notify: (activity) => {
        report(activity);
        this.#report(activity);
      },
      onBug: (error) => log.error({ err: error, agent: this.#id }, 'bug while tools ran'),
    });
    this.#loop = new AgentLoop({
      transcript,
      model: new ModelStep({
        relay,
        call,
        route,
        request,
        system: await subAgentPrompt(options, this.#task.systemPrompt),
        toolbox,
        cacheKey: `${toolState.id}:${this.#id}`,
        signal,
        tally: this.#tally,
        notify: report,
        onProblem: (message, error) => log.warn({ err: error, agent: this.#id }, message),
      }),
      request,
      toolbox,
      calls: this.#calls,
      tally: this.#tally,
      maxSteps: LIMITS.subAgent.maxSteps,
      signal,
      answer: new AnswerAssembler(),
      claimId: (id) => id,
      notify: report,
    });
    return drain(this.#loop);
  }

  async #toolbox() {
    const { runtime, route, toolbox, toolState } = this.#parent;
    const agents = new Set(AGENT_TOOLS.map((name) => toolbox.offer.find(name)));
    const wished = this.#task.tools?.map((name) => toolbox.offer.find(name));
    const within = toolbox.offer.tools
      .filter((tool) => !agents.has(tool) && (wished?.includes(tool) ?? true))
      .map(({ name }) => name);
    const selection = route.rule.tools ?? 'all';
    // What the parent was offered has been selected already.
    const request = { selection: selection === 'requested' ? within : selection, requested: [] };
    const offered = { ...request, session: toolState.id, key: toolState.principal, within };
    return withToolSearch(await openToolbox(runtime, offered, []), route.rule);
  }

  /** The task's own where the caller may use it, else its parent's. */
  #model(): { route: ModelRoute; model: string } {
    const { model = '' } = this.#task;
    const route = model === '' ? undefined : this.#parent.routeOf(model);
    // Models say `haiku` or `sonnet` out of habit: what only the rule for everything else takes was not meant.
    return route === undefined || route.pattern === EVERYTHING
      ? { route: this.#parent.route, model: this.#parent.request.model }
      : { route, model };
  }

  /** What the parent's user sees of it. */
  #report(activity: AgentActivityBody): void {
    if (activity.type !== 'tool' || activity.event.type !== 'tool-start') return;
    const { title } = activity.event.describe;
    this.#onStep({ content: title.slice(0, LIMITS.subAgent.progressChars) });
  }
}

/** Runs to the end; never rejects for what a model or a tool does. */
async function drain(loop: AgentLoop): Promise<LoopEnd> {
  try {
    await loop.begin();
  } catch (error) {
    return { kind: 'failed', error: toGatewayError(error) };
  }
  const running = loop.run();
  for (;;) {
    const step = await running.next();
    if (step.done === true) return step.value;
  }
}

/** How to answer was said for the client's own answer; what a model is allowed to spend stays. */
function requestOf(request: ConversationRequest, model: string): ConversationRequest {
  const {
    maxTokens: _max,
    format: _format,
    toolChoice: _choice,
    parallelToolCalls: _parallel,
    sealed: _sealed,
    ...kept
  } = request;
  return { ...kept, model, providerTools: [], stopSequences: [] };
}

function lastText(transcript: readonly Message[]): string {
  const last = transcript.findLast(
    ({ role, content }) => role === 'assistant' && content.some((block) => block.type === 'text'),
  );
  return last?.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n') ?? '';
}
