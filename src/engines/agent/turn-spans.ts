/** One turn of an agent as spans: the turn, its tool calls, the time that people take, and sub-agents. */
import type { AgentActivity, TurnOutcome, TurnSink, TurnWatcher } from '../../activity/activity.js';
import type { Span } from '../../core/span.js';
import type { ToolRunEvent } from '../../tools/runtime/runtime.js';
import type { ModelRequest, TurnSpans } from '../engine.js';

interface OpenToolCall {
  span: Span;
  /** While a person is asked. */
  approval?: Span | undefined;
}

const MCP_TOOL = /^mcp__(.+?)__(.+)$/;
/** The gateway's own agents. */
const PROVIDER = 'toolgate';
const AGENT_TOOL = 'Task';

export class AgentTurnSpans implements TurnSpans {
  readonly span: Span;
  readonly #agents = new Map<string, Span>();
  readonly #calls = new Map<string, OpenToolCall>();
  #inputTokens = 0;
  #outputTokens = 0;
  #isOpen = false;

  /** Undefined where nothing is traced. */
  static of(call: ModelRequest, session: string): AgentTurnSpans | undefined {
    return call.span === undefined ? undefined : new AgentTurnSpans(call.span, call, session);
  }

  private constructor(parent: Span, { request }: ModelRequest, session: string) {
    this.span = parent.child(`invoke_agent ${request.model}`, 'internal', {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.provider.name': PROVIDER,
      'gen_ai.agent.name': request.model,
      'gen_ai.request.model': request.model,
      'gen_ai.conversation.id': session,
    });
  }

  /** As `watcher`, which may be missing, and for this turn. What it gets before `open` is of an earlier try. */
  beside(watcher: TurnWatcher | undefined): TurnWatcher {
    return {
      begin: (turn): TurnSink => {
        const sink = watcher?.begin(turn);
        return {
          observe: (activity) => {
            if (this.#isOpen) this.#observe(activity);
            sink?.observe(activity);
          },
          end: (outcome) => {
            this.#end(outcome);
            sink?.end(outcome);
          },
          takeRecord: (outcome) => sink?.takeRecord(outcome),
        };
      },
    };
  }

  open(): void {
    this.#isOpen = true;
  }

  ofAgent(id: string, label?: string, call?: string): Span {
    const known = this.#agents.get(id);
    if (known !== undefined) return known;
    // It may begin before its call is known to run.
    const above = call === undefined ? this.span : this.#call(call, AGENT_TOOL, undefined).span;
    // The model wrote the label.
    const name = (above.capturesContent ? label : undefined) ?? 'sub-agent';
    const span = above.child(`invoke_agent ${name}`, 'internal', {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.provider.name': PROVIDER,
      'gen_ai.agent.name': name,
      'gen_ai.agent.id': id,
    });
    this.#agents.set(id, span);
    return span;
  }

  ofToolCall(id: string, name: string, agent?: string): Span {
    return this.#call(id, name, agent).span;
  }

  #call(id: string, name: string, agent: string | undefined): OpenToolCall {
    const known = this.#calls.get(id);
    if (known !== undefined) return known;
    const [, server, tool] = MCP_TOOL.exec(name) ?? [];
    const above = agent === undefined ? this.span : this.ofAgent(agent);
    const span = above.child(`execute_tool ${name}`, 'internal', {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': name,
      'gen_ai.tool.call.id': id,
      'gen_ai.tool.type': 'extension',
      ...(tool === undefined ? {} : { 'mcp.method.name': 'tools/call', 'toolgate.mcp.server': server }),
    });
    const made: OpenToolCall = { span };
    this.#calls.set(id, made);
    return made;
  }

  #observe(activity: AgentActivity): void {
    const agent = activity.agent?.id;
    switch (activity.type) {
      case 'agent-start':
        if (activity.agent !== undefined) {
          const { id, label, call } = activity.agent;
          this.ofAgent(id, label, call);
        }
        return;
      case 'agent-end': {
        if (agent === undefined) return;
        const { steps, usage, cutShort } = activity;
        const span = this.ofAgent(agent);
        span.set({
          'toolgate.steps': steps,
          'gen_ai.usage.input_tokens': usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens,
          'gen_ai.usage.output_tokens': usage.outputTokens,
        });
        span.end(cutShort === undefined ? undefined : { type: 'cut_short', message: cutShort });
        return;
      }
      case 'model-end': {
        const { usage } = activity;
        this.#inputTokens += usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
        this.#outputTokens += usage.outputTokens;
        return;
      }
      case 'handed-back':
        this.span.event('toolgate.handed_back', { 'gen_ai.tool.call.id': activity.ids });
        return;
      case 'compacted':
        this.span.event('toolgate.compacted', {
          'toolgate.tokens.before': activity.before,
          'toolgate.tokens.after': activity.after,
        });
        return;
      case 'tool':
        this.#tool(activity.event, agent);
    }
  }

  #tool(event: ToolRunEvent, agent: string | undefined): void {
    if (event.type === 'tool-progress') return;
    const call = this.#call(event.id, event.name, agent);
    const { span } = call;
    if (event.type === 'tool-waiting') {
      call.approval ??= span.child('approval', 'internal', { 'toolgate.approval.id': event.approval });
      return;
    }
    call.approval?.set({ 'toolgate.approval.verdict': event.because?.kind });
    call.approval?.end();
    call.approval = undefined;
    if (event.type === 'tool-start') return;
    const { outcome, isError, content } = event;
    span.set({
      'toolgate.tool.outcome': outcome,
      ...(span.capturesContent ? { 'gen_ai.tool.call.result': JSON.stringify(content) } : {}),
    });
    span.end(isError ? { type: outcome === 'done' ? 'failed' : outcome } : undefined);
  }

  #end({ end, stopReason, error }: TurnOutcome): void {
    // What the turn has left behind ends with it.
    for (const { span, approval } of this.#calls.values()) {
      approval?.end({ type: end });
      span.end({ type: end });
    }
    for (const span of this.#agents.values()) span.end({ type: end });
    this.#calls.clear();
    this.span.set({
      'gen_ai.usage.input_tokens': this.#inputTokens,
      'gen_ai.usage.output_tokens': this.#outputTokens,
      'gen_ai.response.finish_reasons': stopReason === undefined ? undefined : [stopReason],
      'toolgate.turn.end': end,
    });
    const isFailure = end === 'failed' || end === 'broken';
    this.span.end(
      isFailure ? { type: error?.code ?? end, ...(error && { message: error.message }) } : undefined,
    );
  }
}
