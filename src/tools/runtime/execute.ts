/**
 * One call that was let through, from its first step to its result. Whatever the tool does (crash,
 * never end, end without a result, ignore the signal), there is one outcome.
 */
import type { ToolResultContent } from '../../core/conversation.js';
import { GatewayError } from '../../core/errors.js';
import { isObjectOrList } from '../../core/is-object.js';
import type { ToolContext } from './context.js';
import { type RunClock, settleWithin } from './run-clock.js';
import type { RuntimeLog, ToolRunResult } from './runtime.js';
import { isToolError, type Tool, type ToolProgress, type ToolResult } from './tool.js';

interface Execution {
  content: string | readonly ToolResultContent[];
  isError: boolean;
  data?: unknown;
  shown?: string;
  outcome: Extract<ToolRunResult['outcome'], 'done' | 'failed' | 'aborted' | 'timed-out'>;
}

interface ExecuteOptions {
  clock: RunClock;
  /** Whether the signal fired because the time is over. */
  timedOut: () => boolean;
  limitMs: number | undefined;
  graceMs: number;
  log: RuntimeLog;
  onProgress: (progress: ToolProgress) => Promise<void>;
}

export const INTERNAL_ERROR =
  'Internal error in this tool. It is not caused by the input; the operator finds it in the log of the gateway.';

/** What has come of it so far; read when the tool is given up. */
interface Progress {
  result?: ToolResult;
  error?: { thrown: unknown };
  givenUp: boolean;
}

/** Never throws. */
export async function execute(
  tool: Tool,
  input: unknown,
  context: ToolContext,
  options: ExecuteOptions,
): Promise<Execution> {
  const state: Progress = { givenUp: false };
  const { state: end } = await settleWithin(drain(tool, input, context, options, state), {
    signal: context.signal,
    graceMs: options.graceMs,
  });
  state.givenUp = true;
  const { log } = options;
  if (state.result !== undefined) {
    if (state.error !== undefined) {
      log.error({ err: state.error.thrown, tool: tool.name }, 'a tool failed after its result');
    }
    return fromResult(tool, state.result, context.signal, options);
  }
  if (context.signal.aborted) return stopped(tool, options, state, end === 'ignored');
  if (state.error !== undefined) return fromError(tool, state.error.thrown, log);
  log.error({ tool: tool.name }, 'a tool ended without a result');
  return {
    content: `${tool.name} ended without a result. ${INTERNAL_ERROR}`,
    isError: true,
    outcome: 'failed',
  };
}

/** Runs the generator to its end, so that code after the result runs as well. */
async function drain(
  tool: Tool,
  input: unknown,
  context: ToolContext,
  { graceMs, log, onProgress }: ExecuteOptions,
  state: Progress,
): Promise<void> {
  let steps: AsyncGenerator<unknown, void, void> | undefined;
  try {
    steps = tool.call(input, context);
    for (;;) {
      const next = steps.next();
      // A tool that has given its result has nothing left but to clean up.
      const step =
        state.result === undefined
          ? await next
          : await settleWithin(next, { signal: context.signal, graceMs, limitMs: graceMs }).then((settled) =>
              settled.state === 'settled' ? settled.value : undefined,
            );
      if (step === undefined) {
        log.warn({ tool: tool.name }, 'a tool does not end after its result');
        return;
      }
      if (state.givenUp || step.done === true) return;
      await take(tool, step.value, state, log, onProgress);
    }
  } catch (thrown) {
    state.error = { thrown };
  } finally {
    // Returns at once where the tool has ended; where it hangs, it is not waited for.
    if (steps !== undefined) void Promise.resolve(steps.return?.()).catch(() => {});
  }
}

async function take(
  tool: Tool,
  value: unknown,
  state: Progress,
  log: RuntimeLog,
  onProgress: ExecuteOptions['onProgress'],
): Promise<void> {
  if (isResult(value)) {
    if (state.result === undefined) state.result = value;
    else log.warn({ tool: tool.name }, 'a tool gave more than one result; the first one counts');
  } else if (isProgress(value)) {
    if (state.result === undefined) await onProgress(value);
    else log.warn({ tool: tool.name }, 'a tool reported progress after its result');
  } else {
    log.warn({ tool: tool.name }, 'a tool gave something that is neither progress nor a result');
  }
}

function fromResult(tool: Tool, result: ToolResult, signal: AbortSignal, options: ExecuteOptions): Execution {
  const isError = result.isError === true;
  const data = result.data === undefined ? {} : { data: result.data };
  try {
    const content = render(tool, result.resultForAssistant);
    // A tool that succeeded although it was aborted has done its work: saying otherwise
    // would have it done twice.
    const cut = isError && signal.aborted;
    const outcome = cut ? (options.timedOut() ? 'timed-out' : 'aborted') : isError ? 'failed' : 'done';
    const shown = typeof result.shown === 'string' ? { shown: result.shown } : {};
    return { content, isError, ...data, ...shown, outcome };
  } catch (error) {
    options.log.error({ err: error, tool: tool.name }, 'the result of a tool could not be rendered');
    return { content: INTERNAL_ERROR, isError: true, ...data, outcome: 'failed' };
  }
}

function render(tool: Tool, content: ToolResult['resultForAssistant']): Execution['content'] {
  const say = (text: string): string => {
    const said: unknown = tool.renderResultForAssistant?.(text) ?? text;
    if (typeof said === 'string') return said;
    throw new TypeError(`renderResultForAssistant of ${tool.name} gave no text`);
  };
  if (typeof content === 'string') return say(content);
  return content.map((block) => (block.type === 'text' ? { ...block, text: say(block.text) } : block));
}

function stopped(tool: Tool, options: ExecuteOptions, state: Progress, ignored: boolean): Execution {
  const timedOut = options.timedOut();
  const facts = { tool: tool.name, err: state.error?.thrown };
  if (ignored) options.log.warn(facts, 'a tool ignored its abort signal and was abandoned');
  const why = timedOut
    ? `${tool.name} was stopped: it did not finish within ${seconds(options.limitMs)}.`
    : `${tool.name} was stopped before it finished: the turn was ended.`;
  const aftermath = ignored
    ? ' It was told to stop and has not: it may still be running, and may still change things.'
    : ' It may have done part of its work.';
  const said = isToolError(state.error?.thrown) ? `\n${state.error.thrown.message}` : '';
  return { content: `${why}${aftermath}${said}`, isError: true, outcome: timedOut ? 'timed-out' : 'aborted' };
}

function fromError(tool: Tool, thrown: unknown, log: RuntimeLog): Execution {
  if (isToolError(thrown)) {
    const data = thrown.data === undefined ? {} : { data: thrown.data };
    return { content: thrown.message, isError: true, ...data, outcome: 'failed' };
  }
  log.error({ err: thrown, tool: tool.name }, 'a tool crashed');
  // A message for the user of the gateway that says what to do.
  const content = thrown instanceof GatewayError ? thrown.message : INTERNAL_ERROR;
  return { content, isError: true, outcome: 'failed' };
}

function seconds(ms: number | undefined): string {
  const count = (ms ?? 0) / 1000;
  return `${Number.isInteger(count) ? count : count.toFixed(1)} s`;
}

function isProgress(value: unknown): value is ToolProgress {
  return isObjectOrList(value) && value['type'] === 'progress' && typeof value['content'] === 'string';
}

function isResult(value: unknown): value is ToolResult {
  if (!isObjectOrList(value) || value['type'] !== 'result') return false;
  const content = value['resultForAssistant'];
  return typeof content === 'string' || (Array.isArray(content) && content.every(isContent));
}

function isContent(value: unknown): value is ToolResultContent {
  if (!isObjectOrList(value)) return false;
  switch (value['type']) {
    case 'text':
      return typeof value['text'] === 'string';
    case 'image':
    case 'document':
      return isObjectOrList(value['source']);
    default:
      return value['type'] === 'opaque';
  }
}
