/**
 * Calls that wait for a person, as tasks of the extension `io.modelcontextprotocol/tasks`: the client gets
 * a handle and asks for the result when it likes. A task is found by the key that made it alone.
 */
import * as z from 'zod';
import { questionFor, takeAnswer, takesForms } from './ask-client.js';
import { guarded, type McpScope } from './mcp-scope.js';
import type { CallToolResult, InputRequiredResult, Server } from './sdk.js';
import type { SuspendedToolCall, SuspendedToolCalls, ToolCallEvent, Work } from './suspended-tool-calls.js';

export const TASKS_EXTENSION = { 'io.modelcontextprotocol/tasks': {} };

/** Of the request itself: what the client said earlier does not count. */
export function takesTasks(server: Server): boolean {
  return server.getClientCapabilities()?.extensions?.['io.modelcontextprotocol/tasks'] !== undefined;
}

/** The person at the client may decide for its key, and can be shown a form. */
const mayAsk = (server: Server, { suspended }: McpScope): boolean =>
  suspended !== undefined && takesForms(server);

/** The result where nobody is asked; otherwise the handle of the task that the call is from then on. */
export async function callAsTask(
  { server, scope, tasks }: { server: Server; scope: McpScope; tasks: SuspendedToolCalls },
  run: Work,
  { signal, report }: { signal: AbortSignal; report(event: ToolCallEvent): void },
): Promise<CallToolResult> {
  const { principal, parts } = scope;
  const attends = mayAsk(server, scope);
  const call = tasks.start(principal, '', (ends, tell) =>
    guarded(scope, async () => {
      const leave = attends ? parts.approvals.attend(principal) : undefined;
      try {
        return await run(ends, tell);
      } finally {
        leave?.();
      }
    }),
  );
  try {
    const next = await call.follow(signal, report);
    if (next.kind === 'asks') return { ...seedOf(call, scope), resultType: 'task', content: [] };
    tasks.forget(call);
    return next.result;
  } catch (error) {
    tasks.forget(call);
    throw error;
  }
}

const named = z.looseObject({ taskId: z.string() });

export function serveTasks(server: Server, scope: McpScope, tasks: SuspendedToolCalls): void {
  const { sdk, principal, parts } = scope;
  const find = ({ taskId }: { taskId: string }): SuspendedToolCall => {
    if (!takesTasks(server)) {
      throw new sdk.MissingRequiredClientCapabilityError({
        requiredCapabilities: { extensions: TASKS_EXTENSION },
      });
    }
    const call = tasks.find(taskId, principal);
    if (call !== undefined) return call;
    throw new sdk.ProtocolError(
      sdk.ErrorCode.InvalidParams,
      `There is no task ${JSON.stringify(taskId.slice(0, 100))}: it was not asked for in time, the gateway that ran it was stopped, or it belongs to somebody else. Whether its call ran is not known; look before it is called again.`,
    );
  };
  server.setRequestHandler('tasks/get', { params: named }, (params) =>
    guarded(scope, () => describeTask(find(params), scope, mayAsk(server, scope))),
  );
  server.setRequestHandler('tasks/update', { params: named }, (params, context) =>
    guarded(scope, async () => {
      const { shown } = find(params);
      if (shown === undefined || !mayAsk(server, scope)) return {};
      await takeAnswer(sdk, context, { ...shown, by: principal, key: shown.approval }, parts.approvals);
      return {};
    }),
  );
  server.setRequestHandler('tasks/cancel', { params: named }, (params) =>
    guarded(scope, async () => {
      find(params).cancel();
      return {};
    }),
  );
}

function seedOf(call: SuspendedToolCall, { parts: { limits } }: McpScope) {
  const lives = call.ended === undefined ? limits.idleMs : limits.taskKeptMs;
  return {
    taskId: call.id,
    status: 'working',
    ...(call.said === undefined ? {} : { statusMessage: call.said.slice(-limits.progressChars) }),
    createdAt: call.createdAt.toISOString(),
    lastUpdatedAt: call.updatedAt.toISOString(),
    // It ends so long after it was asked for last, so the end moves with each answer.
    ttlMs: Math.max(0, Date.now() - call.createdAt.getTime()) + lives,
    pollIntervalMs: limits.taskPollMs,
  };
}

async function describeTask(
  call: SuspendedToolCall,
  scope: McpScope,
  asks: boolean,
): Promise<Record<string, unknown>> {
  const { limits } = scope.parts;
  call.touch();
  const inputRequests = asks ? await questionOf(call, scope) : undefined;
  // Read after the wait, so that the state and what is said of it belong together.
  const { ended } = call;
  const seed = seedOf(call, scope);
  if (ended === undefined) {
    return inputRequests === undefined ? seed : { ...seed, status: 'input_required', inputRequests };
  }
  call.touch(limits.idleMs - limits.taskKeptMs);
  if ('error' in ended) {
    const { data: error } = errorSchema.safeParse(ended.error);
    return {
      ...seed,
      status: 'failed',
      error: error ?? { code: scope.sdk.ErrorCode.InternalError, message: 'Internal error' },
    };
  }
  if (ended.cancelled) return { ...seed, status: 'cancelled' };
  return { ...seed, status: 'completed', result: ended.result };
}

const errorSchema = z.object({ code: z.number(), message: z.string() });

/** By the id of the approval: a key never means two questions. */
async function questionOf(
  call: SuspendedToolCall,
  { sdk, parts: { approvals, limits } }: McpScope,
): Promise<InputRequiredResult['inputRequests']> {
  if (call.waitingFor === undefined) return undefined;
  const approval = await approvals.get(call.waitingFor);
  if (approval?.state !== 'pending') return undefined;
  const { id: key, digest } = approval;
  const question = questionFor(sdk, approval, { requestState: call.id, chars: limits.questionChars, key });
  if (question === undefined) return undefined;
  call.shown = { approval: key, digest };
  return question.inputRequests;
}
