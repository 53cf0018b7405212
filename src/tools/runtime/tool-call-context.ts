/** The context of one call, and the facts that the gate gets about it. */
import { isDeepStrictEqual } from 'node:util';
import { formId } from '../../permissions/coordinator/identity.js';
import type { AskHints, Effect, EngineRule, JudgedToolCall } from '../../permissions/decision.js';
import { type Form, type FormAnswer, readValues } from '../../permissions/form.js';
import type { Description, GatedToolCall, PermissionGate } from '../../permissions/gate.js';
import type { Sandbox } from '../../sandbox/sandbox.js';
import type { ToolContext, ToolPermission } from './context.js';
import { classify } from './parse-input.js';
import type { RunClock } from './run-clock.js';
import type { RunRequest } from './runtime.js';
import { safeDescription, safeLine } from './safe-description.js';
import { isToolError, type Tool, ToolError } from './tool.js';

/** What a call would do, worked out before it is let through. The same value is judged, shown and run. */
export interface ToolCallPlan {
  input: unknown;
  readOnly: boolean;
  concurrencySafe: boolean;
  needsPermissions: boolean;
  effects: readonly Effect[];
  describe: Description;
}

export interface ToolCallScope {
  request: RunRequest;
  toolUseId: string;
  tool: Tool;
  gate: PermissionGate;
  sandbox: Sandbox;
  signal: AbortSignal;
  readable: (path: string) => boolean;
  /** What runs; a person may change it before it starts. */
  plan(): ToolCallPlan | undefined;
  /** Only while the call runs. */
  clock(): RunClock | undefined;
  onWaiting(describe: Description, approval: string): void;
  hints?: AskHints;
  engineRules?: readonly EngineRule[];
}

export function createToolCallContext(scope: ToolCallScope): ToolContext {
  const { request, toolUseId, sandbox, signal, readable } = scope;
  const { toolState, options, offer, messageId, runAgent } = request;
  const context: ToolContext = {
    signal,
    toolUseId,
    ...(messageId === undefined ? {} : { messageId }),
    session: toolState,
    shell: { cwd: toolState.cwd, variables: new Map(toolState.variables) },
    options: { ...options, tools: offer.tools.map(({ name }) => name) },
    workspace: toolState.workspace,
    files: toolState.files,
    sandbox,
    require: (effects) => requireFurther(scope, effects),
    canUseTool: (tool, input) =>
      permissionFor(scope, context, typeof tool === 'string' ? tool : tool.name, input),
    fillIn: (question) => fillIn(scope, question),
    leavePlan: () => scope.gate.leavePlan(toolState.id),
    readable,
    hidden: () => scope.gate.hidden(locationOf(request), toolState.id),
    ...(runAgent === undefined ? {} : { runAgent }),
  };
  return context;
}

export function locationOf({ toolState }: RunRequest): JudgedToolCall['location'] {
  const ownPaths = toolState.ownPaths?.() ?? [];
  return {
    root: toolState.workspace.root,
    cwd: toolState.cwd,
    ...(ownPaths.length === 0 ? {} : { ownPaths }),
  };
}

export function judgedToolCall(
  scope: Pick<ToolCallScope, 'request' | 'toolUseId' | 'tool' | 'hints' | 'engineRules'>,
  plan: Omit<ToolCallPlan, 'describe' | 'concurrencySafe'>,
): JudgedToolCall {
  const { request, toolUseId, tool, hints, engineRules } = scope;
  const { toolState } = request;
  return {
    principal: toolState.principal,
    session: toolState.id,
    ...(toolState.agent === undefined ? {} : { agent: toolState.agent.id }),
    toolUseId,
    tool: tool.name,
    input: plan.input,
    ...(tool.definition === undefined ? {} : { definition: tool.definition }),
    readOnly: plan.readOnly,
    needsPermissions: plan.needsPermissions,
    effects: plan.effects,
    location: locationOf(request),
    ...(hints === undefined ? {} : { hints }),
    ...(engineRules === undefined ? {} : { engineRules }),
  };
}

export function gatedToolCall(
  scope: ToolCallScope,
  plan: ToolCallPlan,
  revise: GatedToolCall['revise'],
): GatedToolCall {
  return {
    ...judgedToolCall(scope, plan),
    describe: attributed(plan.describe, scope.request),
    ...(scope.tool.question === true ? { question: true } : {}),
    signal: scope.signal,
    revise,
    onWaiting(approval) {
      scope.clock()?.pause();
      scope.onWaiting(plan.describe, approval);
    },
    onResumed() {
      scope.clock()?.resume();
    },
  };
}

function attributed(describe: Description, { toolState: { agent } }: RunRequest): Description {
  return agent === undefined ? describe : { ...describe, agent: safeLine(agent.label) };
}

/** What was let through already is not asked about again. */
async function permissionFor(
  scope: ToolCallScope,
  context: ToolContext,
  name: string,
  input: unknown,
): Promise<ToolPermission> {
  const plan = scope.plan();
  if (plan === undefined) throw new Error(`${scope.tool.name} asks for permission before it runs`);
  if (name === scope.tool.name && isDeepStrictEqual(input, plan.input)) return { result: true };
  const tool = scope.request.offer.find(name);
  if (tool === undefined) return { result: false, message: `There is no tool called ${name} on offer.` };
  const classified = classify(tool, input);
  if ('problem' in classified) return { result: false, message: classified.problem };
  try {
    const effects = (await tool.effects?.(classified.input, context)) ?? [];
    const describe = safeDescription(await tool.describe(classified.input, context));
    const verdict = await scope.gate.checkFurther(
      gatedToolCall({ ...scope, tool }, { ...classified, effects, describe }, RUNNING),
    );
    return verdict.allowed ? { result: true } : { result: false, message: verdict.message };
  } catch (error) {
    if (isToolError(error)) return { result: false, message: error.message };
    throw error;
  }
}

const RUNNING: GatedToolCall['revise'] = async () => ({
  problem: 'The call is running: its input can no longer be changed. Allow it or deny it.',
});

/** Forms that a call has asked for, to tell two that are equal apart. */
const asked = new WeakMap<ToolCallScope, number>();

async function fillIn(
  scope: ToolCallScope,
  { title, message, form }: { title: string; message: string; form: Form },
): Promise<FormAnswer> {
  const plan = scope.plan();
  if (plan === undefined) throw new Error(`${scope.tool.name} asks a person before it runs`);
  const nth = (asked.get(scope) ?? 0) + 1;
  asked.set(scope, nth);
  const initial = form.fields.flatMap(({ name, initial: value }) =>
    value === undefined ? [] : [[name, value]],
  );
  const { url } = form;
  const describe = safeDescription({
    ...{ title, kind: 'question', paths: [], detail: message, form },
    ...(url === undefined ? {} : { url }),
  });
  const input = { values: Object.fromEntries(initial) };
  const { definition: _, ...call } = gatedToolCall(
    scope,
    { ...plan, input, effects: [], describe },
    async (changed) => {
      const read = readValues(form, valuesIn(changed));
      if ('problem' in read) return read;
      return { input: { values: read.values }, readOnly: false, effects: [], describe };
    },
  );
  const toolUseId = formId(scope.toolUseId, form, nth);
  const verdict = await scope.gate.check({ ...call, toolUseId, question: true, expires: true });
  if (verdict.allowed) {
    const read = readValues(form, valuesIn(verdict.input));
    return 'problem' in read ? { action: 'cancel', why: read.problem } : { action: 'accept', ...read };
  }
  return verdict.outcome === 'denied' ? { action: 'decline' } : { action: 'cancel', why: verdict.message };
}

function valuesIn(input: unknown): unknown {
  return typeof input === 'object' && input !== null && 'values' in input ? input.values : undefined;
}

/** The call runs already: its input stands, only its new effects are judged. */
async function requireFurther(scope: ToolCallScope, effects: readonly Effect[]): Promise<void> {
  const plan = scope.plan();
  if (plan === undefined) throw new Error(`${scope.tool.name} asks for permission before it runs`);
  const verdict = await scope.gate.checkFurther(gatedToolCall(scope, { ...plan, effects }, RUNNING));
  if (!verdict.allowed) throw new ToolError(verdict.message, { data: { because: verdict.because } });
}
