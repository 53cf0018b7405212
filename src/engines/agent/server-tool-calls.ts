/** Runs the calls of one message that run here, gives exactly one result for each, and runs none of them twice. */
import type { AgentActivityBody } from '../../activity/activity.js';
import type {
  ConversationRequest,
  TextBlock,
  ToolResultBlock,
  ToolUseBlock,
} from '../../core/conversation.js';
import { errorResult } from '../../sessions/history/repair-history.js';
import type { ToolContext, ToolOptions } from '../../tools/runtime/context.js';
import type { OpenToolState, RunRequest, ToolRunResult, ToolRuntime } from '../../tools/runtime/runtime.js';
import type { ModelRequest } from '../engine.js';
import { LIMITS } from './limits.js';
import type { CollectedToolCall } from './message-collector.js';
import { givenResult } from './reporters.js';
import type { RunOnceLog } from './run-once-log.js';
import type { Toolbox } from './toolbox.js';

interface ServerToolCallsOptions {
  runtime: ToolRuntime;
  toolbox: Toolbox;
  toolState: OpenToolState;
  options: Omit<ToolOptions, 'tools'>;
  signal: AbortSignal;
  /** Runs a sub-agent for the call of this id. */
  runAgent?: ToolContext['runAgent'];
  /** Where what must not run twice is written down. */
  runOnce?: RunOnceLog;
  /** The call of the main agent that a sub-agent's calls are made for: it is what must not run twice. */
  onBehalfOf?: string;
  notify(activity: AgentActivityBody): void;
  onBug(error: unknown): void;
}

export class ServerToolCalls {
  readonly #options: ServerToolCallsOptions;
  /** Calls that were run or refused. */
  count = 0;
  /** The gateway stops, and calls were stopped for that: they have no result. */
  stopping = false;

  constructor(options: ServerToolCallsOptions) {
    this.#options = options;
  }

  /** Never rejects. One result for each call, unless the turn or the gateway was stopped meanwhile. */
  async run(
    calls: readonly CollectedToolCall[],
    messageId: string | undefined,
  ): Promise<Map<string, ToolResultBlock>> {
    const results = new Map<string, ToolResultBlock>();
    this.count += calls.length;
    const runnable: ToolUseBlock[] = [];
    for (const { block, problem } of calls) {
      const found = problem === undefined ? this.#options.toolbox.search?.(block) : undefined;
      if (found !== undefined) {
        this.#options.notify(givenResult(block.name, found));
        results.set(block.id, found);
      } else if (problem === undefined) runnable.push(block);
      else results.set(block.id, this.#refuse(block, problem));
    }
    if (this.#options.onBehalfOf === undefined) this.#options.runOnce?.note(runnable);
    if (runnable.length > 0) await this.#runAll(runnable, messageId, results);
    if (this.#options.signal.aborted || this.stopping) return results;
    for (const { id } of runnable) {
      if (!results.has(id)) results.set(id, errorResult(id, INTERNAL));
    }
    return results;
  }

  async #runAll(
    calls: readonly ToolUseBlock[],
    messageId: string | undefined,
    results: Map<string, ToolResultBlock>,
  ): Promise<void> {
    const { runtime, toolbox, toolState, options, signal, runAgent, notify, onBug } = this.#options;
    try {
      const running = runtime.run({
        calls,
        offer: toolbox.offer,
        toolState,
        options,
        signal,
        ...(messageId === undefined ? {} : { messageId }),
        ...(runAgent === undefined ? {} : { runAgent }),
        ...this.#hooks(),
      });
      for await (const event of running) {
        notify({ type: 'tool', event });
        if (event.type !== 'tool-result') continue;
        const stopped = event.because?.kind === 'closing' || (event.outcome === 'aborted' && !signal.aborted);
        if (stopped) this.stopping = true;
        else results.set(event.id, resultBlock(event));
      }
    } catch (error) {
      onBug(error);
    }
  }

  #hooks(): Pick<RunRequest, 'onStart' | 'onResult'> {
    const { runOnce, onBehalfOf } = this.#options;
    if (runOnce === undefined) return {};
    return {
      onStart: async ({ id }, { once }) => (once ? runOnce.begin(onBehalfOf ?? id) : undefined),
      ...(onBehalfOf === undefined ? { onResult: (result) => runOnce.finish(resultBlock(result)) } : {}),
    };
  }

  #refuse({ id, name }: ToolUseBlock, problem: string): ToolResultBlock {
    const block = errorResult(id, problem);
    this.#options.notify(givenResult(name, block, 'invalid'));
    return block;
  }
}

const INTERNAL =
  'The tool failed because of an internal error in the gateway; its log says more. Try another way.';

function resultBlock({ id, content, isError, input }: ToolRunResult): ToolResultBlock {
  const changed = input === undefined ? [] : [changedInput(input)];
  return { type: 'tool_result', toolUseId: id, content: [...changed, ...content], isError };
}

/** The model must not believe that what it wrote is what was done. */
export function changedInput(input: unknown): TextBlock {
  const shown = JSON.stringify(input).slice(0, LIMITS.changedInputChars);
  return {
    type: 'text',
    text: `A person changed the input of this call before it ran. It ran with: ${shown}`,
  };
}

/** Of the model request that made a tool call. */
export function toolOptions({
  request,
  toolState,
  forkNumber,
  call: { turnSpans },
}: {
  request: ConversationRequest;
  toolState: OpenToolState;
  forkNumber: number;
  call: Pick<ModelRequest, 'turnSpans'>;
}) {
  const { model, thinking, effort } = request;
  const agent = toolState.agent?.id;
  return {
    ...(turnSpans === undefined
      ? {}
      : {
          traceContext: (id: string, tool: string) => turnSpans.ofToolCall(id, tool, agent).propagated,
        }),
    commands: [],
    model,
    ...(thinking?.type === 'enabled' ? { thinkingBudget: thinking.budgetTokens } : {}),
    ...(effort === undefined ? {} : { effort }),
    forkNumber,
    logName: toolState.id,
  };
}
