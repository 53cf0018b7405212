/**
 * Whether a call may be made that another program runs: Claude Code with its own tools, here or elsewhere.
 * The same classification, effects, rules, people and audit as for our own calls, and no run. What
 * only the other side can know (whether a file was read before, whether a text occurs in it) is
 * left to it.
 */
import { setMaxListeners } from 'node:events';
import { relative } from 'node:path';
import type { JsonObject, ToolUseBlock } from '../../core/conversation.js';
import { GatewayError } from '../../core/errors.js';
import { isObject } from '../../core/is-object.js';
import { linkSignals } from '../../core/stopping.js';
import type { AskHints, Effect, EngineRule } from '../../permissions/decision.js';
import type { Description, PermissionGate, Revision, Verdict } from '../../permissions/gate.js';
import { EDIT_TOOLS } from '../../permissions/rules/rule.js';
import type { Sandbox } from '../../sandbox/sandbox.js';
import { createFileState, type FileState } from '../../workspace/file-state.js';
import { isInside, realTarget } from '../../workspace/real-path.js';
import { readTextFile } from '../../workspace/text-file.js';
import { type ForeignInput, readForeignInput, strangerTool } from './foreign-input.js';
import { withoutPersonFields } from './parse-input.js';
import { plainDescription } from './preflight.js';
import { toOffer } from './registry.js';
import { settleWithin } from './run-clock.js';
import type { OpenToolState, RunRequest } from './runtime.js';
import { safeDescription, safeHints } from './safe-description.js';
import { isToolError, type Tool } from './tool.js';
import {
  createToolCallContext,
  gatedToolCall,
  judgedToolCall,
  locationOf,
  type ToolCallPlan,
  type ToolCallScope,
} from './tool-call-context.js';

/** Why none of these may be searched as a whole, or undefined. */
async function hiddenInTrees(
  { gate, request }: Pick<ToolCallScope, 'gate' | 'request'>,
  effects: readonly Effect[],
): Promise<string | undefined> {
  const trees = effects.flatMap((effect) => (effect.kind === 'read' && effect.tree ? [effect.path] : []));
  if (trees.length === 0) return undefined;
  const { toolState } = request;
  const folders = [...new Set(trees.flatMap((tree) => [tree, realTarget(tree)]))];
  const hidden = await gate.hidden(locationOf(request), toolState.id, { own: true });
  const first = hidden.find((path) =>
    folders.some((folder) => isInside(folder, path) || isInside(folder, realTarget(path))),
  );
  if (first === undefined) return undefined;
  const { root } = toolState.workspace;
  const name = isInside(root, first) ? `./${relative(root, first)}` : 'a file outside of the workspace';
  return `It would look through ${name}, which must not be read. Search in a narrower folder that does not have it.`;
}

export interface ReviewRequest {
  call: ToolUseBlock;
  /** `cwd` is where the other side is now, as far as that is known. */
  toolState: OpenToolState;
  signal: AbortSignal;
  /** A person is asked from now on, under this id, and is shown this. */
  onWaiting?(approval: string, describe: Description): void;
  /** Called once for each `onWaiting`. */
  onResumed?(): void;
  options?: Partial<RunRequest['options']>;
  /** How the other side wants a question to be put, and the rules that it thought of. */
  hints?: AskHints;
  engineRules?: readonly EngineRule[];
}

export interface ReviewOutcome {
  /** Where it is allowed, `input` is what must run: the call's own object where no person changed it. */
  verdict: Verdict;
  /** As rules know it: `Task` for `Agent`. */
  name: string;
  /** Whether what was judged, or put in place by a person, only reads; false where that is unknown. */
  readOnly: boolean;
  describe: Description;
  /** A person put another input in place, or what was not the model's to say was taken out. */
  changed: boolean;
}

interface ReviewParts {
  gate: PermissionGate;
  sandbox: Sandbox;
  /** A built-in by name or alias, also one that is off here. */
  find(name: string): Promise<Tool | undefined>;
  limits: { planMs: number; graceMs: number };
  /** Fires when the runtime closes. */
  closing: AbortSignal;
}

/** Rejects as the gate does, and for bugs of a tool: the caller treats a rejection as a denial. */
export async function reviewToolCall(parts: ReviewParts, request: ReviewRequest): Promise<ReviewOutcome> {
  const { signal, release } = linkSignals(request.signal, parts.closing);
  setMaxListeners(0, signal);
  try {
    const tool = (await parts.find(request.call.name)) ?? strangerTool(request.call.name);
    return await decide(await openReview(parts, request, tool, signal));
  } finally {
    release();
  }
}

interface Review {
  parts: ReviewParts;
  request: ReviewRequest;
  scope: ToolCallScope;
}

interface ForeignPlan extends ToolCallPlan {
  input: JsonObject;
  /** Our own schema takes the input. */
  exact: boolean;
}

async function openReview(
  parts: ReviewParts,
  request: ReviewRequest,
  tool: Tool,
  signal: AbortSignal,
): Promise<Review> {
  const { gate, sandbox } = parts;
  const { call, toolState, options } = request;
  const run: RunRequest = {
    calls: [call],
    offer: toOffer([]),
    toolState,
    options: { commands: [], model: '', forkNumber: 0, logName: toolState.id, ...options },
    signal,
  };
  const scope: ToolCallScope = {
    request: run,
    toolUseId: call.id,
    tool,
    gate,
    sandbox,
    signal,
    readable: await gate.readable(locationOf(run), toolState.id),
    plan: () => undefined,
    clock: () => undefined,
    onWaiting: () => {},
    ...(request.hints === undefined ? {} : { hints: safeHints(request.hints) }),
    ...(request.engineRules === undefined ? {} : { engineRules: request.engineRules }),
  };
  return { parts, request, scope };
}

async function decide(review: Review): Promise<ReviewOutcome> {
  const { request, scope, parts } = review;
  const { tool, gate, signal } = scope;
  const { name } = tool;
  const input = withoutPersonFields(tool, request.call.input);
  const taken = input !== request.call.input;
  const plan = await planWithin(review, input);
  if ('problem' in plan) return unjudged(name, plan.problem, signal);

  const revisions = new Map<unknown, ForeignPlan>();
  const revise = async (raw: unknown): Promise<Revision | { problem: string }> => {
    const again = await replan(review, raw, plan.exact);
    if (!('problem' in again)) revisions.set(again.input, again);
    return again;
  };
  const asked = gatedToolCall(scope, plan, revise);
  const settled = await settleWithin(
    gate.check({
      ...asked,
      onWaiting: (approval) => request.onWaiting?.(approval, plan.describe),
      onResumed: () => request.onResumed?.(),
    }),
    { signal, graceMs: parts.limits.graceMs },
  );
  if (settled.state !== 'settled') return unjudged(name, STOPPED, signal);
  const verdict = settled.value;
  const { readOnly, describe } = plan;
  if (!verdict.allowed || verdict.input === plan.input) {
    return { verdict, name, readOnly, describe, changed: taken };
  }
  // The decision may have been made before a restart: then this process has not seen the input yet.
  const ran = revisions.get(verdict.input) ?? (await replan(review, verdict.input, plan.exact));
  if (!('problem' in ran)) {
    return { verdict, name, readOnly: ran.readOnly, describe: ran.describe, changed: true };
  }
  const message = `${name} was not run: the input that a person put in place cannot be used. ${ran.problem}`;
  return {
    verdict: { allowed: false, outcome: 'denied', message, because: verdict.because },
    ...{ name, readOnly, describe, changed: false },
  };
}

const STOPPED = 'It was stopped before it was decided. That is not a refusal.';

/** What cannot be judged is not let through. */
function unjudged(name: string, problem: string, { aborted }: AbortSignal): ReviewOutcome {
  const message = `${name} was not run: ${problem}`;
  return {
    verdict: aborted
      ? { allowed: false, outcome: 'cancelled', message, because: { kind: 'abort' } }
      : {
          allowed: false,
          outcome: 'denied',
          message,
          because: { kind: 'protected', part: name, what: 'a call that cannot be judged' },
        },
    name,
    readOnly: false,
    describe: safeDescription({ title: name, kind: 'other', paths: [] }),
    changed: false,
  };
}

type Planned = ForeignPlan | { problem: string };

async function planWithin(review: Review, input: JsonObject): Promise<Planned> {
  const { planMs, graceMs } = review.parts.limits;
  const settled = await settleWithin(planFor(review, input), {
    signal: review.scope.signal,
    graceMs,
    limitMs: planMs,
  });
  if (settled.state === 'settled') return settled.value;
  return { problem: settled.state === 'late' ? 'Looking at its input took too long.' : STOPPED };
}

/** What a person put in place: as valid as the first input was, and not denied. */
async function replan(review: Review, raw: unknown, exact: boolean): Promise<Planned> {
  if (!isObject(raw)) return { problem: 'The input must be an object.' };
  const { scope } = review;
  const read = readForeignInput(scope.tool, raw, scope.request.toolState);
  if ('problem' in read) return read;
  if (exact && read.objection !== undefined) return { problem: read.objection };
  const again = await planWithin(review, raw);
  if ('problem' in again) return again;
  const decision = await scope.gate.judge(judgedToolCall(scope, again));
  return decision.behaviour === 'deny' ? { problem: decision.message } : again;
}

async function planFor(review: Review, input: JsonObject): Promise<Planned> {
  const { tool, gate, request, signal } = review.scope;
  const { toolState } = request;
  const read = readForeignInput(tool, input, toolState);
  if ('problem' in read) return read;
  const leaving = leavesSandbox(input, review.parts.sandbox);
  if (leaving !== undefined) return { problem: leaving };
  const { classified, readOnly, needsPermissions } = read;
  // Each look has a context of its own: what was found for one input says nothing about another.
  const files = createFileState();
  const context = { ...createToolCallContext(review.scope), files };
  try {
    const own = classified === undefined ? [] : await tool.effects?.(classified.input, context);
    const effects = [...(own ?? []), ...read.effects];
    const judged = { input, readOnly, needsPermissions, effects, concurrencySafe: false };
    const plan = { ...judged, exact: read.objection === undefined };
    const decision = await gate.judge(judgedToolCall(review.scope, judged));
    // What is denied is not looked at any closer.
    if (decision.behaviour === 'deny') return { ...plan, describe: plainDescription(tool, effects) };
    const hidden = await hiddenInTrees(review.scope, effects);
    if (hidden !== undefined) return { problem: hidden };
    if (tool.question === true && classified !== undefined) {
      const validation = await tool.validateInput?.(classified.input, context);
      if (validation?.ok === false) return { problem: validation.message };
    }
    await asIfRead(effects, files, signal);
    const described = classified === undefined ? undefined : await tool.describe(classified.input, context);
    return { ...plan, describe: shown(tool, input, read, effects, described) };
  } catch (error) {
    if (isToolError(error) || error instanceof GatewayError) return { problem: error.message };
    throw error;
  }
}

/** As for our own commands: only where there is no sandbox to leave. */
function leavesSandbox(input: JsonObject, { status }: Sandbox): string | undefined {
  if (input['dangerouslyDisableSandbox'] !== true) return undefined;
  if (!status.active && status.reason === 'off') return undefined;
  return 'Commands are not allowed to leave the sandbox here. Call it again without dangerouslyDisableSandbox, or ask the user to run the command.';
}

/** The other side keeps its own account of what was read; here it is only to show what would change. */
async function asIfRead(effects: readonly Effect[], files: FileState, signal: AbortSignal): Promise<void> {
  for (const effect of effects) {
    if (effect.kind !== 'edit' || signal.aborted) continue;
    const real = realTarget(effect.path);
    const file = await readTextFile(real).catch(() => undefined);
    if (file !== undefined) files.set(real, { ...file.version, readAt: 0 });
  }
}

/** A person sees everything that our own description leaves out. */
function shown(
  tool: Tool,
  input: JsonObject,
  { rest }: ForeignInput,
  effects: readonly Effect[],
  described: Description | undefined,
): Description {
  const question = tool.question === true ? { kind: 'question' as const } : {};
  if (described === undefined) {
    const plain = plainDescription(tool, effects);
    return safeDescription({ ...plain, ...question, detail: pretty(input) });
  }
  const hidden = EDIT_TOOLS.has(tool.name) && described.diff === undefined;
  const more = hidden ? input : rest;
  if (Object.keys(more).length === 0) return safeDescription(described);
  const detail = [described.detail, pretty(more)].filter((part) => part !== undefined).join('\n');
  return safeDescription({ ...described, detail });
}

function pretty(value: JsonObject): string {
  return JSON.stringify(value, undefined, 2);
}
