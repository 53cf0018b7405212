/**
 * Everything that happens to a call before it runs: is it a tool that is on offer, can the input
 * be used, what would it do, may it. Nothing here changes anything.
 */
import { isDeepStrictEqual } from 'node:util';
import { GatewayError } from '../../core/errors.js';
import type { PermissionGate, Revision, Verdict, VerdictReason } from '../../permissions/gate.js';
import type { ToolContext } from './context.js';
import { type Classified, classify } from './parse-input.js';
import { settleWithin } from './run-clock.js';
import type { ToolRunResult } from './runtime.js';
import { safeDescription } from './safe-description.js';
import { isToolError, type Tool } from './tool.js';
import {
  createToolCallContext,
  gatedToolCall,
  judgedToolCall,
  type ToolCallPlan,
  type ToolCallScope,
} from './tool-call-context.js';

export interface Refusal {
  outcome: ToolRunResult['outcome'];
  message: string;
  because?: VerdictReason;
  describe?: ToolRunResult['describe'];
}

export type Preflight =
  | { go: true; plan: ToolCallPlan; because: VerdictReason; changed: boolean; context: ToolContext }
  | { go: false; refusal: Refusal };

interface PreflightLimits {
  /** For a tool to judge its input and to say what it would do. */
  planMs: number;
  /** For a call that was aborted. */
  graceMs: number;
}

/** A question that was put before the turn of its call came. */
export interface EarlyQuestion {
  /** Undefined until it is answered. */
  answer(): Verdict | undefined;
  /** Resolves when it is answered or withdrawn; never rejects. */
  ended: Promise<void>;
}

/**
 * Asks a person about a call that stands behind others. Undefined where nobody would be asked about it
 * as things are now: it is looked at when its turn comes. Never rejects.
 */
export async function askEarly(
  scope: ToolCallScope,
  classified: Classified,
  limits: PreflightLimits,
): Promise<EarlyQuestion | undefined> {
  try {
    const context = createToolCallContext(scope);
    const planned = await planWithin(scope, context, classified, limits);
    if ('refusal' in planned || planned.denied !== undefined) return undefined;
    const { plan } = planned;
    if ((await scope.gate.judge(judgedToolCall(scope, plan))).behaviour !== 'ask') return undefined;
    const revise = (raw: unknown): Promise<Revision | { problem: string }> =>
      replan(scope, context, raw, limits).then((again) => ('problem' in again ? again : again.plan));
    const asked = { ...gatedToolCall(scope, plan, revise), ahead: true };
    let answer: Verdict | undefined;
    const ended = askGate(scope.gate, asked, limits.graceMs).then(
      (verdict) => {
        if (verdict !== 'stopped') answer = verdict;
      },
      () => {},
    );
    return { answer: () => answer, ended };
  } catch {
    // What is wrong with it is said when its turn comes.
    return undefined;
  }
}

/** Throws for bugs of the tool; the caller logs them and says that much. */
export async function preflight(
  scope: ToolCallScope,
  classified: Classified,
  limits: PreflightLimits,
  early?: EarlyQuestion,
): Promise<Preflight> {
  const context = createToolCallContext(scope);
  const planned = await planWithin(scope, context, classified, limits);
  if ('refusal' in planned) return { go: false, refusal: planned.refusal };
  const { plan } = planned;

  const revisions = new Map<unknown, ToolCallPlan>();
  const revise = async (raw: unknown): Promise<Revision | { problem: string }> => {
    const again = await replan(scope, context, raw, limits);
    if ('problem' in again) return again;
    revisions.set(again.plan.input, again.plan);
    return again.plan;
  };

  const ask = (about: ToolCallPlan): Promise<Verdict | 'stopped'> =>
    askGate(scope.gate, gatedToolCall(scope, about, revise), limits.graceMs);
  // An answer that came before its turn is found where it was recorded, and used up by this call.
  const verdict = await ask((await editedMeanwhile(early?.answer(), revise, revisions)) ?? plan);
  if (verdict === 'stopped') return stopped(plan);
  if (!verdict.allowed) {
    const describe = (await scope.tool.describeRejected?.(plan.input, context)) ?? plan.describe;
    return {
      go: false,
      refusal: { ...refusalOf(verdict, scope.signal), describe: safeDescription(describe) },
    };
  }
  if (scope.signal.aborted) return stopped(plan);
  const { because } = verdict;
  if (isDeepStrictEqual(verdict.input, plan.input)) {
    return { go: true, plan, because, changed: false, context };
  }

  // The decision may have been made before a restart: then this process has not seen the input yet.
  const known = revisions.get(verdict.input);
  if (known !== undefined) return { go: true, plan: known, because, changed: true, context };
  const again = await replan(scope, context, verdict.input, limits);
  if ('problem' in again) {
    const message = `The input that a person put in place cannot be used: ${again.problem}`;
    return { go: false, refusal: { outcome: 'invalid', message, because, describe: plan.describe } };
  }
  return { go: true, plan: again.plan, because, changed: true, context };
}

/** The call as a person changed it before its turn, where that would do something else now than they were shown. */
async function editedMeanwhile(
  answer: Verdict | undefined,
  revise: (raw: unknown) => Promise<Revision | { problem: string }>,
  revisions: ReadonlyMap<unknown, ToolCallPlan>,
): Promise<ToolCallPlan | undefined> {
  if (answer === undefined || !answer.allowed || answer.describe === undefined) return undefined;
  const again = await revise(answer.input);
  if ('problem' in again || isDeepStrictEqual(again.describe, answer.describe)) return undefined;
  return revisions.get(again.input);
}

function stopped(plan: ToolCallPlan): Preflight {
  return {
    go: false,
    refusal: {
      outcome: 'aborted',
      message: 'Not run: the turn was stopped before this call started.',
      because: { kind: 'abort' },
      describe: plan.describe,
    },
  };
}

/** `denied`: by the rules, in this sentence; the gate says so once more, and writes it down. */
type Planned = { plan: ToolCallPlan; denied?: string } | { refusal: Refusal };

async function planWithin(
  scope: ToolCallScope,
  context: ToolContext,
  classified: Classified,
  { planMs, graceMs }: PreflightLimits,
): Promise<Planned> {
  const settled = await settleWithin(planFor(scope, context, classified), {
    signal: scope.signal,
    graceMs,
    limitMs: planMs,
  });
  if (settled.state === 'settled') return settled.value;
  return {
    refusal:
      settled.state === 'late'
        ? { outcome: 'timed-out', message: `Not run: ${scope.tool.name} took too long to look at its input.` }
        : { outcome: 'aborted', message: 'Not run: the turn was stopped before this call started.' },
  };
}

/**
 * What the rules deny is not looked at any closer: what a tool says about an input (a file is not
 * there, a text does not occur in it) is already something about the file.
 */
async function planFor(scope: ToolCallScope, context: ToolContext, classified: Classified): Promise<Planned> {
  const { tool, gate } = scope;
  const input = classified.input;
  try {
    const effects = (await tool.effects?.(input, context)) ?? [];
    const decision = await gate.judge(judgedToolCall(scope, { ...classified, effects }));
    if (decision.behaviour === 'deny') {
      const describe = plainDescription(tool, effects);
      return { plan: { ...classified, effects, describe }, denied: decision.message };
    }
    const validation = await tool.validateInput?.(input, context);
    if (validation?.ok === false) return { refusal: { outcome: 'invalid', message: validation.message } };
    const describe = safeDescription(await tool.describe(input, context));
    return { plan: { ...classified, effects, describe } };
  } catch (error) {
    if (isToolError(error) || error instanceof GatewayError) {
      return { refusal: { outcome: 'invalid', message: error.message } };
    }
    throw error;
  }
}

/** By its effects alone. */
export function plainDescription(
  tool: Pick<Tool, 'name'>,
  effects: ToolCallPlan['effects'],
): ToolCallPlan['describe'] {
  const paths = effects.flatMap((effect) => ('path' in effect ? [effect.path] : []));
  const command = effects.find((effect) => effect.kind === 'command')?.command;
  const url = effects.find((effect) => effect.kind === 'fetch')?.url;
  const subject = command ?? url ?? paths[0];
  return safeDescription({
    title: subject === undefined ? tool.name : `${tool.name} ${subject}`,
    kind: 'other',
    paths,
    ...(command === undefined ? {} : { command }),
    ...(url === undefined ? {} : { url }),
  });
}

async function replan(
  scope: ToolCallScope,
  context: ToolContext,
  raw: unknown,
  limits: PreflightLimits,
): Promise<{ plan: ToolCallPlan } | { problem: string }> {
  const classified = classify(scope.tool, raw);
  if ('problem' in classified) return classified;
  const planned = await planWithin(scope, context, classified, limits);
  if ('refusal' in planned) return { problem: planned.refusal.message };
  return planned.denied === undefined ? planned : { problem: planned.denied };
}

/** The gate gives up by itself when the signal fires; one that does not is not waited for. */
async function askGate(
  gate: PermissionGate,
  call: Parameters<PermissionGate['check']>[0],
  graceMs: number,
): Promise<Verdict | 'stopped'> {
  const settled = await settleWithin(gate.check(call), { signal: call.signal, graceMs });
  return settled.state === 'settled' ? settled.value : 'stopped';
}

function refusalOf(verdict: Extract<Verdict, { allowed: false }>, signal: AbortSignal): Refusal {
  const { message, because } = verdict;
  if (verdict.outcome !== 'cancelled') return { outcome: verdict.outcome, message, because };
  return { outcome: signal.aborted ? 'aborted' : 'denied', message, because };
}
