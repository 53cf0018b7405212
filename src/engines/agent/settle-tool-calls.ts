/**
 * The calls of the message after which a turn broke. What has a result keeps it, what never began
 * is run now, and what had begun is not run again: the model learns that its outcome is unknown.
 */
import type { AgentActivityBody } from '../../activity/activity.js';
import type { Message, ToolResultBlock, ToolUseBlock } from '../../core/conversation.js';
import { GatewayError } from '../../core/errors.js';
import type { OutstandingToolCalls, Turn } from '../../sessions/sessions.js';
import type { HandedBack, StepsEnd } from './driver.js';
import type { CollectedToolCall } from './message-collector.js';
import { givenResult } from './reporters.js';
import { mayHaveRun } from './run-once-log.js';

interface SettleOptions {
  outstanding: OutstandingToolCalls;
  turn: Pick<Turn, 'finish'>;
  /** Only the client can run it. */
  isClients(call: ToolUseBlock): boolean;
  /** Why a call must not run, by its id: known when the model made it. */
  problems: ReadonlyMap<string, string>;
  /** Runs calls here, with everything that a call goes through. One result for each, unless it was stopped. */
  run(calls: readonly CollectedToolCall[]): Promise<ReadonlyMap<string, ToolResultBlock>>;
  /** Called with results that are there without a run now. */
  notify?(activity: AgentActivityBody): void;
}

interface SettledToolCalls {
  /** For the client, in order. */
  open: ToolUseBlock[];
  results: Map<string, ToolResultBlock>;
  /** Every call that is not open has its result; false where running them was stopped. */
  whole: boolean;
}

/** Rejects as the session does. */
export async function settleToolCalls(options: SettleOptions): Promise<SettledToolCalls> {
  const { outstanding, turn, isClients, problems, run } = options;
  const { calls, started } = outstanding;
  const results = new Map(outstanding.results);
  const report = ({ name }: ToolUseBlock, result: ToolResultBlock) =>
    options.notify?.(givenResult(name, result));
  const open: ToolUseBlock[] = [];
  const here: CollectedToolCall[] = [];
  for (const block of calls) {
    const known = results.get(block.id);
    if (known !== undefined) {
      report(block, known);
      continue;
    }
    const problem = problems.get(block.id);
    if (started.has(block.id)) {
      const result = mayHaveRun(block.id);
      await turn.finish(result);
      results.set(block.id, result);
      report(block, result);
    } else if (problem !== undefined) here.push({ block, problem });
    else if (isClients(block)) open.push(block);
    else here.push({ block });
  }
  if (here.length > 0) for (const [id, result] of await run(here)) results.set(id, result);
  return {
    open,
    results,
    whole: calls.every(({ id }) => results.has(id) || open.some((call) => call.id === id)),
  };
}

/** One result for each call, in their order. */
export function inOrder(
  calls: readonly ToolUseBlock[],
  results: ReadonlyMap<string, ToolResultBlock>,
): ToolResultBlock[] {
  return calls.flatMap(({ id }) => results.get(id) ?? []);
}

/** Where the calls of a step are answered. */
export interface StepLog {
  /** Changed in place. */
  transcript: Message[];
  save(): Promise<void>;
  notify(activity: AgentActivityBody): void;
}

/** All calls of the last message have run but `open`. Undefined: the model is to be asked again. */
export async function answerToolCalls(
  { calls, open, results }: Omit<HandedBack, 'kind'>,
  { transcript, save, notify }: StepLog,
): Promise<HandedBack | undefined> {
  if (open.length > 0) {
    notify({ type: 'handed-back', ids: open.map(({ id }) => id) });
    return { kind: 'handed-back', calls, open, results };
  }
  transcript.push({ role: 'user', content: inOrder(calls, results) });
  await save();
  return undefined;
}

/** Does what a broken turn has left undone. Undefined: the model is to be asked. Rejects as the session does. */
export async function settleBrokenTurn(
  options: SettleOptions,
  step: StepLog,
  signal: AbortSignal,
): Promise<HandedBack | StoppedEnd | undefined> {
  const { open, results, whole } = await settleToolCalls(options);
  // The results of aborted calls do not count: a resumed turn runs them.
  if (!whole || signal.aborted) return stoppedEnd(signal);
  return answerToolCalls({ calls: options.outstanding.calls, open, results }, step);
}

type StoppedEnd = Extract<StepsEnd, { kind: 'failed' | 'aborted' }>;

/** Calls were stopped: what they are to be answered with is not known, so nothing goes on from here. */
export function stoppedEnd(signal: AbortSignal): StoppedEnd {
  if (signal.aborted) return { kind: 'aborted' };
  const message = 'The gateway is stopping. Send the same request again: it goes on where it was.';
  return { kind: 'failed', error: new GatewayError('unavailable', message, { retryable: true }) };
}
