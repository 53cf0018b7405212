/** Calls of tools on one connection, in either era, and what the server asks a person meanwhile. */
import * as z from 'zod';
import type { JsonObject } from '../../core/conversation.js';
import { type ElicitResult, encodeAnswer, readElicitation } from './elicitation.js';
import type { MirroredTool } from './list-tools.js';
import type { McpToolCallOptions } from './mcp-client.js';
import type { McpOperation } from './operations.js';
import { followTask, taskOf } from './task-calls.js';
import type { ToolCallClock } from './tool-call-clock.js';
import type { McpLimits } from './wire/limits.js';
import type { McpLog } from './wire/log.js';
import type { Client, Sdk } from './wire/sdk.js';

interface RunningCall {
  session: string | undefined;
  clock: ToolCallClock;
  onQuestion: McpToolCallOptions['onQuestion'];
  asked: number;
  /** It runs as a task with this id. */
  task?: string;
}

interface ToolRequest {
  session: string | undefined;
  onQuestion: McpToolCallOptions['onQuestion'] | undefined;
  onProgress: McpToolCallOptions['onProgress'] | undefined;
  method: McpOperation['method'];
  params: JsonObject;
  clock: ToolCallClock;
  /** Its schema wants some arguments in headers as well. */
  mirrored: MirroredTool | undefined;
  timeout: number;
}

/** A server that asks more often in one call is told that nobody answers. */
const MOST_QUESTIONS = 10;
/** Times that a call is sent again with what the server asked for. */
const MOST_ROUNDS = 10;
/** For so long a server may still ask about a call that nobody waits for. */
const LEFT_MS = 10 * 60_000;
/** Before a call is sent again for which nobody was asked anything. */
const PACE_MS = 250;

const inputRequired = z.looseObject({
  resultType: z.literal('input_required'),
  inputRequests: z.record(z.string(), z.looseObject({ method: z.string(), params: z.unknown() })).optional(),
  requestState: z.string().optional(),
});

/** Read by the operation. */
const anything = z.looseObject({});

/** On what the server asks in the middle of a task of 2025-11-25. */
const relatedTask = z.looseObject({
  _meta: z.looseObject({ 'io.modelcontextprotocol/related-task': z.looseObject({ taskId: z.string() }) }),
});

const CANCEL: ElicitResult = { action: 'cancel' };

export class ToolRequests {
  readonly #sdk: Sdk;
  readonly #server: string;
  readonly #log: McpLog;
  readonly #limits: McpLimits;
  readonly #running = new Set<RunningCall>();
  /** Sessions with a call that was left before the server answered it, and when: it may work on, and ask. */
  readonly #left = new Map<string | undefined, number>();

  constructor(sdk: Sdk, { name, log, limits }: { name: string; log: McpLog; limits: McpLimits }) {
    this.#sdk = sdk;
    this.#server = name;
    this.#log = log;
    this.#limits = limits;
  }

  /** Questions of the older era come as requests of their own. Only those of a task say what call they are about. */
  answerQuestionsOf(client: Client): void {
    this.#left.clear();
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      const task = relatedTask.safeParse(params).data?._meta['io.modelcontextprotocol/related-task'].taskId;
      const about = task === undefined ? undefined : [...this.#running].find((call) => call.task === task);
      if (about !== undefined) return this.#ask(about, params);
      const [only, ...others] = this.#running;
      const since = performance.now() - LEFT_MS;
      const isOfAnother = [...this.#left].some(([session, at]) => session !== only?.session && at > since);
      if (only !== undefined && others.length === 0 && !isOfAnother) return this.#ask(only, params);
      this.#log.warn(
        { server: this.#server, calls: this.#running.size },
        'an MCP server asks a person, and which call it is about cannot be known; with `shared: false` it can',
      );
      return CANCEL;
    });
  }

  /** Rejects as the SDK does. */
  async call(client: Client, request: ToolRequest): Promise<unknown> {
    const { session, clock, onQuestion } = request;
    const running: RunningCall = { session, clock, onQuestion, asked: 0 };
    this.#running.add(running);
    try {
      const era = client.getProtocolEra() === 'modern' ? 'modern' : 'legacy';
      const answer =
        era === 'modern'
          ? await this.#inRounds(client, request, running)
          : await client.request({ method: request.method, params: request.params }, anything, {
              signal: clock.signal,
              timeout: request.timeout,
            });
      const task = request.method === 'tools/call' ? taskOf(answer, era) : undefined;
      if (task === undefined) return answer;
      running.task = task.taskId;
      const { onProgress, timeout } = request;
      const ask = (params: unknown): Promise<ElicitResult> => this.#ask(running, params);
      return await followTask(this.#sdk, this.#limits, { client, clock, timeout, onProgress, ask }, task);
    } finally {
      this.#running.delete(running);
      const isAttributed = client.getProtocolEra() === 'modern' || running.task !== undefined;
      if (clock.signal.aborted && !isAttributed) this.#leave(session);
    }
  }

  /** The newest last; of many sessions the last two are enough to know that another one left. */
  #leave(session: string | undefined): void {
    this.#left.delete(session);
    this.#left.set(session, performance.now());
    const [oldest] = this.#left.keys();
    if (this.#left.size > 2) this.#left.delete(oldest);
  }

  /** 2026-07-28: the answer may be a question, and the call is sent again with what a person said. */
  async #inRounds(
    client: Client,
    { method, params, mirrored, clock, timeout }: ToolRequest,
    running: RunningCall,
  ): Promise<unknown> {
    const options = { signal: clock.signal, timeout, allowInputRequired: true };
    let more = {};
    for (let round = 0; round <= MOST_ROUNDS; round += 1) {
      const sent = { ...params, ...more };
      const answer: unknown =
        mirrored === undefined
          ? await client.request({ method, params: sent }, this.#sdk.withInputRequired(anything), options)
          : // Only this way of calling puts arguments into headers as well.
            await client.callTool({ name: mirrored.name, ...sent }, { ...options, toolDefinition: mirrored });
      const asks = inputRequired.safeParse(answer).data;
      if (asks === undefined) return answer;
      const { inputRequests = {}, requestState } = asks;
      const inputResponses: Record<string, ElicitResult> = {};
      for (const [key, { method: wanted, params: asked }] of Object.entries(inputRequests)) {
        if (wanted !== 'elicitation/create')
          throw new Error(`it asks for ${wanted.slice(0, 60)}, which is not offered`);
        inputResponses[key] = await this.#ask(running, asked);
      }
      const nothing = Object.keys(inputResponses).length === 0;
      if (nothing) await clock.wait(PACE_MS);
      clock.signal.throwIfAborted();
      more = {
        ...(nothing ? {} : { inputResponses }),
        ...(requestState === undefined ? {} : { requestState }),
      };
    }
    throw new Error(`it still asks for something after ${MOST_ROUNDS} answers`);
  }

  async #ask(running: RunningCall, params: unknown): Promise<ElicitResult> {
    const { clock, onQuestion } = running;
    running.asked += 1;
    const question = readElicitation(this.#server, params);
    if ('problem' in question || onQuestion === undefined || running.asked > MOST_QUESTIONS) {
      const problem = 'problem' in question ? question.problem : 'nobody can be asked, or it asks too often';
      this.#log.warn(
        { server: this.#server, problem },
        'an MCP server asks a person, and cannot be answered',
      );
      return CANCEL;
    }
    const answer = await clock.pausedFor(() => onQuestion(question));
    return encodeAnswer(answer, question.form);
  }
}
