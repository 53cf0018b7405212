/** Runs the calls of one message that run here, and gives exactly one result for each of them. */
import type { TextBlock, ToolResultBlock, ToolUseBlock } from '../../core/conversation.js';
import type { ToolContext, ToolOptions } from '../../tools/runtime/context.js';
import type { OpenToolSession, ToolRunResult, ToolRuntime } from '../../tools/runtime/runtime.js';
import { LIMITS } from './limits.js';
import type { CollectedCall } from './message-collector.js';
import type { AgentActivityBody } from './observer.js';
import type { Toolbox } from './toolbox.js';

export interface ServerCallsOptions {
  runtime: ToolRuntime;
  toolbox: Toolbox;
  session: OpenToolSession;
  options: Omit<ToolOptions, 'tools'>;
  signal: AbortSignal;
  /** Runs a sub-agent for the call of this id. */
  runAgent?: ToolContext['runAgent'];
  notify(activity: AgentActivityBody): void;
  onBug(error: unknown): void;
}

export class ServerCalls {
  readonly #options: ServerCallsOptions;
  /** Calls that were run or refused. */
  count = 0;

  constructor(options: ServerCallsOptions) {
    this.#options = options;
  }

  /** Never rejects. */
  async run(
    calls: readonly CollectedCall[],
    messageId: string | undefined,
  ): Promise<Map<string, ToolResultBlock>> {
    const results = new Map<string, ToolResultBlock>();
    this.count += calls.length;
    const runnable: ToolUseBlock[] = [];
    for (const { block, problem } of calls) {
      if (problem === undefined) runnable.push(block);
      else results.set(block.id, this.#refuse(block, problem));
    }
    if (runnable.length > 0) await this.#runAll(runnable, messageId, results);
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
    const { runtime, toolbox, session, options, signal, runAgent, notify, onBug } = this.#options;
    try {
      const running = runtime.run({
        calls,
        offer: toolbox.offer,
        session,
        options,
        signal,
        ...(messageId === undefined ? {} : { messageId }),
        ...(runAgent === undefined ? {} : { runAgent }),
      });
      for await (const event of running) {
        notify({ type: 'tool', event });
        if (event.type === 'tool-result') results.set(event.id, resultBlock(event));
      }
    } catch (error) {
      onBug(error);
    }
  }

  #refuse({ id, name }: ToolUseBlock, problem: string): ToolResultBlock {
    const block = errorResult(id, problem);
    this.#options.notify({
      type: 'tool',
      event: {
        type: 'tool-result',
        id,
        name,
        content: block.content,
        isError: true,
        durationMs: 0,
        outcome: 'invalid',
      },
    });
    return block;
  }
}

const INTERNAL =
  'The tool failed because of an internal error in the gateway; its log says more. Try another way.';
const INTERRUPTED = 'No result: the turn was stopped before the call was made.';

export function interrupted(toolUseId: string): ToolResultBlock {
  return errorResult(toolUseId, INTERRUPTED);
}

export function errorResult(toolUseId: string, text: string): ToolResultBlock {
  return { type: 'tool_result', toolUseId, content: [{ type: 'text', text }], isError: true };
}

function resultBlock({ id, content, isError, input }: ToolRunResult): ToolResultBlock {
  const changed = input === undefined ? [] : [changedInput(input)];
  return { type: 'tool_result', toolUseId: id, content: [...changed, ...content], isError };
}

/** The model must not believe that what it wrote is what was done. */
function changedInput(input: unknown): TextBlock {
  const shown = JSON.stringify(input).slice(0, LIMITS.changedInputChars);
  return {
    type: 'text',
    text: `A person changed the input of this call before it ran. It ran with: ${shown}`,
  };
}
