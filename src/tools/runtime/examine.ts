/**
 * What the rules say about a hypothetical call: classified as a real one, judged by the same
 * gate; no person is asked, nothing is written, and no file is opened.
 */
import type { JsonObject } from '../../core/conversation.js';
import { GatewayError } from '../../core/errors.js';
import type { Decision } from '../../permissions/decision.js';
import type { Description, PermissionGate } from '../../permissions/gate.js';
import type { Sandbox } from '../../sandbox/sandbox.js';
import { strangerTool } from './foreign-input.js';
import { classify, withoutPersonFields } from './parse-input.js';
import { plainDescription } from './preflight.js';
import { toOffer } from './registry.js';
import { settleWithin } from './run-clock.js';
import type { OpenToolState, RunRequest } from './runtime.js';
import { isToolError, type Tool } from './tool.js';
import {
  createToolCallContext,
  judgedToolCall,
  locationOf,
  type ToolCallScope,
} from './tool-call-context.js';

export interface ExamineRequest {
  tool: string;
  input: JsonObject;
  principal: string;
  /** The folder that it would be made in. */
  root: string;
  /** Whose rules hold; without it those for all. */
  session?: string;
  signal: AbortSignal;
}

export type Examined =
  | { decision: Decision; describe: Description; question: boolean }
  /** The input cannot be judged: the message that the model would get. */
  | { problem: string };

interface ExamineParts {
  /** Opened for this alone; the caller closes it. */
  toolState: OpenToolState;
  gate: PermissionGate;
  sandbox: Sandbox;
  find(name: string): Promise<Tool | undefined>;
  limits: { planMs: number; graceMs: number };
}

/** Rejects for bugs of a tool and a store that is down. */
export async function examineToolCall(parts: ExamineParts, request: ExamineRequest): Promise<Examined> {
  const { gate, sandbox, limits, toolState } = parts;
  const { signal } = request;
  const tool = (await parts.find(request.tool)) ?? strangerTool(request.tool);
  const run: RunRequest = {
    calls: [],
    offer: toOffer([]),
    toolState,
    options: { commands: [], model: '', forkNumber: 0, logName: toolState.id },
    signal,
  };
  const scope: ToolCallScope = {
    ...{ request: run, toolUseId: '', tool, gate, sandbox, signal },
    readable: await gate.readable(locationOf(run), toolState.id),
    plan: () => undefined,
    clock: () => undefined,
    onWaiting: () => {},
  };
  const settled = await settleWithin(judge(scope, request.input), {
    signal,
    graceMs: limits.graceMs,
    limitMs: limits.planMs,
  });
  return settled.state === 'settled'
    ? settled.value
    : { problem: `${tool.name} took too long to look at its input.` };
}

async function judge(scope: ToolCallScope, input: JsonObject): Promise<Examined> {
  const { tool, gate } = scope;
  const classified = classify(tool, withoutPersonFields(tool, input));
  if ('problem' in classified) return classified;
  try {
    const effects = (await tool.effects?.(classified.input, createToolCallContext(scope))) ?? [];
    const decision = await gate.judge(judgedToolCall(scope, { ...classified, effects }));
    return { decision, describe: plainDescription(tool, effects), question: tool.question === true };
  } catch (error) {
    if (isToolError(error) || error instanceof GatewayError) return { problem: error.message };
    throw error;
  }
}
