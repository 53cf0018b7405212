/**
 * The calls of one message. Each is looked at when its turn comes, after everything that changes
 * something before it has ended; neighbours that only read run together. While one waits for a person,
 * those behind it are asked about as well. Results leave in the order of the calls, one for each.
 */
import { setMaxListeners } from 'node:events';
import type { ToolUseBlock } from '../../core/conversation.js';
import { GatewayError } from '../../core/errors.js';
import { type LinkedSignals, linkSignals, onAbort } from '../../core/stopping.js';
import type { PermissionGate } from '../../permissions/gate.js';
import type { Sandbox } from '../../sandbox/sandbox.js';
import { boundResult, RESULT_LIMITS } from './bound-result.js';
import { createEventQueue, type EventQueue } from './event-queue.js';
import { execute, INTERNAL_ERROR } from './execute.js';
import { classify, withoutPersonFields } from './parse-input.js';
import { askEarly, type EarlyQuestion, type Preflight, preflight, type Refusal } from './preflight.js';
import { type RunClock, startRunClock } from './run-clock.js';
import type { RunRequest, RuntimeLog, ToolRunEvent, ToolRunResult } from './runtime.js';
import type { Tool } from './tool.js';
import { locationOf, type ToolCallPlan, type ToolCallScope } from './tool-call-context.js';

interface SchedulerOptions {
  gate: PermissionGate;
  sandbox: Sandbox;
  log: RuntimeLog;
  limits: SchedulerLimits;
  /** Fires when the runtime closes. */
  closing: AbortSignal;
  /** Called with every run, and when it is over. */
  onRun?: (done: Promise<void>) => void;
}

export interface SchedulerLimits {
  /** Calls that run at once, of one message. */
  together: number;
  /** Calls of one message that people are asked about before their turn. */
  early: number;
  /** For a tool to judge its input and to say what it would do. */
  planMs: number;
  /** How long an aborted tool is waited for. */
  graceMs: number;
}

export const SCHEDULER_LIMITS: SchedulerLimits = {
  together: 8,
  early: 32,
  planMs: 30_000,
  graceMs: 5_000,
};

export async function* runToolCalls(
  options: SchedulerOptions,
  request: RunRequest,
): AsyncGenerator<ToolRunEvent, void, void> {
  const run = new Run(options, request);
  const done = run.drive();
  options.onRun?.(done);
  try {
    yield* run.events.read();
  } finally {
    // A consumer that leaves early wants nothing more of it.
    run.stop();
    await done;
  }
}

type Outcome = Pick<ToolRunResult, 'content' | 'isError' | 'outcome'> & Partial<ToolRunResult>;

class Run {
  readonly events: EventQueue<ToolRunEvent> = createEventQueue();
  readonly #options: SchedulerOptions;
  readonly #request: RunRequest;
  readonly #controller = new AbortController();
  readonly #results: (ToolRunResult | undefined)[] = [];
  readonly #running = new Set<Promise<void>>();
  /** Questions that were put before the turn of their calls came, by the index of the call. */
  readonly #early = new Map<number, Promise<EarlyQuestion | undefined>>();
  #emitted = 0;

  constructor(options: SchedulerOptions, request: RunRequest) {
    this.#options = options;
    this.#request = request;
    setMaxListeners(0, this.#controller.signal);
  }

  /** `reason`: a question to a person stays open where it is the gateway that stops. */
  stop(reason?: unknown): void {
    this.#controller.abort(reason);
    this.events.hurry();
  }

  /** Never throws. */
  async drive(): Promise<void> {
    const sources = [this.#request.signal, this.#options.closing];
    const releases = sources.map((source) => onAbort(source, () => this.stop(source.reason)));
    try {
      for (const [index, call] of this.#request.calls.entries()) await this.#handle(index, call);
      await this.#idle();
    } finally {
      for (const release of releases) release();
      this.events.end();
    }
  }

  async #idle(): Promise<void> {
    await Promise.all(this.#running);
  }

  async #handle(index: number, call: ToolUseBlock): Promise<void> {
    try {
      await this.#begin(index, call);
    } catch (error) {
      this.#fail(index, call, error);
    }
  }

  /** Bugs around a call, and a store that is down. */
  #fail(index: number, call: ToolUseBlock, error: unknown): void {
    this.#options.log.error({ err: error, tool: call.name }, 'a call failed outside of its tool');
    const message = error instanceof GatewayError ? error.message : INTERNAL_ERROR;
    this.#refuse(index, call, call.name, { outcome: 'failed', message });
  }

  /** Resolves when the next call may be looked at. */
  async #begin(index: number, call: ToolUseBlock): Promise<void> {
    if (this.#controller.signal.aborted) return this.#refuse(index, call, call.name, NOT_STARTED);
    const tool = this.#request.offer.find(call.name);
    if (tool === undefined) return this.#refuse(index, call, call.name, this.#unknown(call.name));
    const classified = classify(tool, withoutPersonFields(tool, call.input));
    if ('problem' in classified) {
      return this.#refuse(index, call, tool.name, { outcome: 'invalid', message: classified.problem });
    }
    if (!isTogether(classified)) await this.#idle();

    const early = await this.#early.get(index);
    const current = new CurrentCall(this.#controller.signal);
    const scope = await this.#scope(index, call, tool, current);
    const ready = await preflight(scope, classified, this.#options.limits, early).catch((error: unknown) => {
      current.release();
      throw error;
    });
    if (!ready.go) {
      current.release();
      return this.#refuse(index, call, tool.name, ready.refusal);
    }
    current.plan = ready.plan;
    if (isTogether(ready.plan)) {
      while (this.#running.size >= this.#options.limits.together) await Promise.race(this.#running);
      const running = this.#execute(index, call, tool, ready, current)
        // Nobody awaits it by itself, and its neighbours have nothing to do with it.
        .catch((error: unknown) => this.#fail(index, call, error))
        .finally(() => this.#running.delete(running));
      this.#running.add(running);
      return;
    }
    // A person may have made something else of it than what it was.
    await this.#idle();
    await this.#execute(index, call, tool, ready, current);
  }

  /** While the call waits for a person, those behind it can be decided as well. */
  #askBehind(index: number): void {
    const { calls } = this.#request;
    const last = Math.min(calls.length - 1, index + this.#options.limits.early);
    for (let behind = index + 1; behind <= last; behind += 1) {
      const call = calls[behind];
      if (call === undefined || this.#early.has(behind)) continue;
      this.#early.set(behind, this.#askEarly(behind, call));
    }
  }

  async #askEarly(index: number, call: ToolUseBlock): Promise<EarlyQuestion | undefined> {
    const tool = this.#request.offer.find(call.name);
    if (tool === undefined || tool.question === true) return undefined;
    const classified = classify(tool, withoutPersonFields(tool, call.input));
    if ('problem' in classified) return undefined;
    const current = new CurrentCall(this.#controller.signal);
    const scope = await this.#scope(index, call, tool, current);
    const asked = await askEarly(scope, classified, this.#options.limits);
    if (asked === undefined) current.release();
    else void asked.ended.then(() => current.release());
    return asked;
  }

  async #scope(index: number, call: ToolUseBlock, tool: Tool, current: CurrentCall): Promise<ToolCallScope> {
    const { gate, sandbox } = this.#options;
    const request = this.#request;
    return {
      request,
      toolUseId: call.id,
      tool,
      gate,
      sandbox,
      signal: current.signal,
      readable: await gate.readable(locationOf(request), request.toolState.id),
      plan: () => current.plan,
      clock: () => current.clock,
      onWaiting: (describe, approval) => {
        void this.events.push({ type: 'tool-waiting', id: call.id, name: tool.name, describe, approval });
        this.#askBehind(index);
      },
    };
  }

  async #execute(
    index: number,
    call: ToolUseBlock,
    tool: Tool,
    ready: Extract<Preflight, { go: true }>,
    current: CurrentCall,
  ): Promise<void> {
    const { log } = this.#options;
    const { plan, because } = ready;
    const { id } = call;
    const { name } = tool;
    if (current.signal.aborted) {
      current.release();
      return this.#refuse(index, call, name, { ...NOT_STARTED, describe: plan.describe });
    }
    const facts = { once: !plan.readOnly || because.kind === 'person' };
    let instead: string | undefined;
    try {
      instead = await this.#request.onStart?.(call, facts);
    } catch (error) {
      current.release();
      throw error;
    }
    if (instead !== undefined) {
      current.release();
      const refusal: Refusal = { outcome: 'failed', message: instead, because, describe: plan.describe };
      return this.#refuse(index, call, name, refusal);
    }
    const outcome = current.signal.aborted
      ? refused({ ...NOT_STARTED, describe: plan.describe })
      : await this.#run(call, tool, ready, current);
    current.release();
    const result: ToolRunResult = { durationMs: 0, ...outcome, type: 'tool-result', id, name };
    try {
      await this.#request.onResult?.(result, facts);
    } catch (error) {
      log.error({ err: error, tool: name }, 'the result of a call could not be recorded');
    }
    this.#settle(index, call, name, outcome);
  }

  async #run(
    { id }: ToolUseBlock,
    tool: Tool,
    { plan, because, changed, context }: Extract<Preflight, { go: true }>,
    current: CurrentCall,
  ): Promise<Outcome> {
    const { log, limits } = this.#options;
    const { name } = tool;
    const limitMs = tool.limits?.timeoutMs;
    void this.events.push({ type: 'tool-start', id, name, describe: plan.describe, because });
    const clock = current.start(limitMs);
    const execution = await execute(tool, plan.input, context, {
      clock,
      timedOut: () => current.timedOut,
      limitMs,
      graceMs: limits.graceMs,
      log,
      onProgress: ({ content, normalizedMessages, tools }) =>
        this.events.push({
          type: 'tool-progress',
          id,
          name,
          content,
          ...(normalizedMessages === undefined ? {} : { normalizedMessages }),
          ...(tools === undefined ? {} : { tools }),
        }),
    });
    const durationMs = Math.round(clock.elapsed());
    current.release();
    const { content, isError, data, shown, outcome } = execution;
    return {
      content: await this.#bound(tool, content),
      isError,
      outcome,
      durationMs,
      because,
      describe: plan.describe,
      ...(data === undefined ? {} : { data }),
      ...(shown === undefined || shown.length > charsOf(tool) ? {} : { shown }),
      ...(changed ? { input: plan.input } : {}),
    };
  }

  #bound(tool: Tool, content: Parameters<typeof boundResult>[0]): ReturnType<typeof boundResult> {
    const { toolState } = this.#request;
    return boundResult(content, {
      limit: charsOf(tool),
      scratch: () => toolState.scratch(),
      tool: tool.name,
      log: this.#options.log,
    });
  }

  #unknown(name: string): Refusal {
    const { offer } = this.#request;
    const reason = offer.whyOff?.(name);
    if (reason !== undefined) {
      return { outcome: 'unknown-tool', message: `${name} is not on offer. ${reason}` };
    }
    const names = offer.tools.map((tool) => tool.name);
    const offered = names.length === 0 ? 'No tools are on offer.' : `On offer are: ${names.join(', ')}.`;
    return {
      outcome: 'unknown-tool',
      message: `There is no tool called ${JSON.stringify(name)}. ${offered}`,
    };
  }

  #refuse(index: number, call: ToolUseBlock, name: string, refusal: Refusal): void {
    this.#settle(index, call, name, refused(refusal));
  }

  /** Keeps the order: a result leaves when all before it have. */
  #settle(index: number, { id }: ToolUseBlock, name: string, outcome: Outcome): void {
    if (this.#results[index] !== undefined) return;
    this.#results[index] = { durationMs: 0, ...outcome, type: 'tool-result', id, name };
    for (;;) {
      const next = this.#results[this.#emitted];
      if (next === undefined) return;
      this.#emitted += 1;
      void this.events.push(next);
    }
  }
}

function charsOf({ limits }: Tool): number {
  return limits?.resultChars ?? RESULT_LIMITS.chars;
}

const NOT_STARTED: Refusal = {
  outcome: 'aborted',
  message: 'Not run: the turn was stopped before this call started.',
  because: { kind: 'abort' },
};

function refused({ outcome, message, because, describe }: Refusal): Outcome {
  return {
    content: [{ type: 'text', text: message }],
    isError: true,
    outcome,
    ...(because === undefined ? {} : { because }),
    ...(describe === undefined ? {} : { describe }),
  };
}

function isTogether({
  readOnly,
  concurrencySafe,
}: Pick<ToolCallPlan, 'readOnly' | 'concurrencySafe'>): boolean {
  return readOnly && concurrencySafe;
}

/** The state of one call between its first look and its end: its own signal, its clock, its plan. */
class CurrentCall {
  plan: ToolCallPlan | undefined;
  clock: RunClock | undefined;
  timedOut = false;
  readonly #linked: LinkedSignals;

  constructor(parent: AbortSignal) {
    this.#linked = linkSignals(parent);
    setMaxListeners(0, this.signal);
  }

  get signal(): AbortSignal {
    return this.#linked.signal;
  }

  start(limitMs: number | undefined): RunClock {
    this.clock = startRunClock(limitMs, () => {
      if (this.signal.aborted) return;
      this.timedOut = true;
      this.#linked.controller.abort(new DOMException('The time for this call is over.', 'TimeoutError'));
    });
    return this.clock;
  }

  release(): void {
    this.clock?.stop();
    this.#linked.release();
  }
}
