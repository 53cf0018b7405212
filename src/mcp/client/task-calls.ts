/**
 * A call that the server runs as a task: it answers with a handle, and is asked for the result until
 * there is one. 2026-07-28 has the extension `io.modelcontextprotocol/tasks`, where the server decides
 * which calls are tasks; 2025-11-25 has tools that must be called as one.
 */
import * as z from 'zod';
import type { ElicitResult } from './elicitation.js';
import type { McpToolCallOptions } from './mcp-client.js';
import { isClosed, statusOf } from './problems.js';
import type { ToolCallClock } from './tool-call-clock.js';
import type { McpLimits } from './wire/limits.js';
import type { Client, Sdk, Transport } from './wire/sdk.js';

/** Of clients and of servers; it has no settings. */
export const TASKS_EXTENSION = { 'io.modelcontextprotocol/tasks': {} };

/** The SDK rejects a `resultType` that it does not know, so a task comes through it as a result with this mark. */
const MARK = 'toolgate/task';

/** Must be called before the client is connected: the SDK passes each message to the handler that it finds first. */
export function letTasksThrough(transport: Transport): void {
  const before = transport.onmessage;
  transport.onmessage = (message, extra) => {
    before?.(message, extra);
    if (!('result' in message) || message.result['resultType'] !== 'task') return;
    Object.assign(message.result, { resultType: 'complete', content: [], [MARK]: true });
  };
}

const STATUSES = ['working', 'input_required', 'completed', 'failed', 'cancelled'] as const;

const taskSchema = z.looseObject({
  taskId: z.string().min(1).max(1024),
  status: z.enum(STATUSES),
  statusMessage: z.string().optional().catch(undefined),
  pollIntervalMs: z.number().optional().catch(undefined),
  /** Its name in 2025-11-25. */
  pollInterval: z.number().optional().catch(undefined),
  inputRequests: z.record(z.string(), z.looseObject({ method: z.string(), params: z.unknown() })).optional(),
  result: z.looseObject({}).optional(),
  error: z.looseObject({ code: z.number(), message: z.string() }).optional().catch(undefined),
});
type Task = z.output<typeof taskSchema>;

const markedSchema = taskSchema.extend({ [MARK]: z.literal(true) });
const createdSchema = z.looseObject({ task: taskSchema });
const anything = z.looseObject({});

/** The task that an answer to `tools/call` stands for; undefined where it is a result. */
export function taskOf(answer: unknown, era: 'modern' | 'legacy'): Task | undefined {
  return era === 'modern' ? markedSchema.safeParse(answer).data : createdSchema.safeParse(answer).data?.task;
}

/** The task was begun, so the call must not be made again, whatever went wrong. */
export class LostTask extends Error {
  constructor(cause: unknown) {
    super('the task was lost', { cause });
  }
}

interface ToolCallAsTask {
  client: Client;
  clock: ToolCallClock;
  timeout: number;
  onProgress: McpToolCallOptions['onProgress'] | undefined;
  /** Asks a person what the server wants to know. */
  ask(params: unknown): Promise<ElicitResult>;
}

/** Answers to `tasks/get` that may be missed in a row: asking again changes nothing. */
const MOST_MISSED = 3;
/** Keys of questions in one task. */
const MOST_INPUTS = 100;

/** Resolves with the result of the call. Rejects with LostTask; a task that still runs is cancelled then. */
export async function followTask(
  sdk: Sdk,
  limits: Pick<McpLimits, 'taskPollMs' | 'taskPollMinMs' | 'taskPollMaxMs' | 'noticeMs' | 'problemChars'>,
  call: ToolCallAsTask,
  first: Task,
): Promise<unknown> {
  const { client, clock, timeout, onProgress } = call;
  const { taskId } = first;
  const isModern = client.getProtocolEra() === 'modern';
  const answered = new Set<string>();
  let task = first;
  let over = false;
  let said: string | undefined;
  let steps = 0;
  const request = (method: string, params: object = {}): Promise<Record<string, unknown>> =>
    client.request({ method, params: { taskId, ...params } }, anything, { signal: clock.signal, timeout });
  const wait = async (): Promise<void> => {
    const wanted = task.pollIntervalMs ?? task.pollInterval ?? limits.taskPollMs;
    const bounded = Math.min(Math.max(wanted, limits.taskPollMinMs), limits.taskPollMaxMs);
    // The silence is of our own making, so it must not end the call.
    await clock.wait(Math.min(bounded, clock.silentMs / 2));
    clock.signal.throwIfAborted();
  };
  const poll = async (): Promise<void> => {
    for (let missed = 1; ; missed += 1) {
      await wait();
      try {
        task = taskSchema.parse(await request('tasks/get'));
        clock.progress();
        return;
      } catch (error) {
        const passing =
          isModern &&
          !(error instanceof sdk.ProtocolError || error instanceof z.ZodError) &&
          !isClosed(error, sdk) &&
          statusOf(error) === undefined;
        if (clock.signal.aborted || !passing || missed >= MOST_MISSED) throw error;
      }
    }
  };
  const answer = async (): Promise<void> => {
    const inputResponses: Record<string, ElicitResult> = {};
    for (const [key, { method, params }] of Object.entries(task.inputRequests ?? {})) {
      if (answered.has(key)) continue;
      if (method !== 'elicitation/create')
        throw new Error(`it asks for ${method.slice(0, 60)}, which is not offered`);
      if (answered.size >= MOST_INPUTS) throw new Error('it asks for too much');
      answered.add(key);
      inputResponses[key] = await call.ask(params);
    }
    clock.signal.throwIfAborted();
    if (Object.keys(inputResponses).length > 0) await request('tasks/update', { inputResponses });
  };
  try {
    for (;;) {
      const { status, statusMessage } = task;
      if (statusMessage !== undefined && statusMessage !== said) {
        said = statusMessage;
        steps += 1;
        onProgress?.({ progress: steps, message: statusMessage.slice(0, limits.problemChars) });
      }
      over = status === 'completed' || status === 'failed' || status === 'cancelled';
      if (status === 'cancelled') throw new Error(`it cancelled the task${because(statusMessage)}`);
      // In the older era this request waits for the end, and its stream brings what the server asks.
      if (!isModern && status !== 'working') return await request('tasks/result');
      if (status === 'completed') return task.result;
      if (status === 'failed') {
        const { code = sdk.ProtocolErrorCode.InternalError, message = `the task failed${because(said)}` } =
          task.error ?? {};
        throw new sdk.ProtocolError(code, message);
      }
      if (status === 'input_required') await answer();
      await poll();
    }
  } catch (error) {
    if (!over) cancel(client, taskId, limits.noticeMs);
    throw new LostTask(error);
  }
}

const because = (message: string | undefined): string =>
  message === undefined ? '' : ` (${message.slice(0, 500)})`;

/** A courtesy: neither its failure nor its delay matters to the call that has ended. */
function cancel(client: Client, taskId: string, timeout: number): void {
  client.request({ method: 'tasks/cancel', params: { taskId } }, anything, { timeout }).catch(() => {});
}
