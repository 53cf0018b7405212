/** A relay and a runtime that do what a test says, for tests of the loop alone. */
import type { ConversationRequest, Message, ToolUseBlock } from '../../core/conversation.js';
import { GatewayError } from '../../core/errors.js';
import type { TurnEvent } from '../../core/events.js';
import { anthropicMessages } from '../../dialects/anthropic-messages/index.js';
import { openaiChat } from '../../dialects/openai-chat/index.js';
import type { Log } from '../../observability/log.js';
import type { ModelRule, Route } from '../../routing/router.js';
import type { ToolContext } from '../../tools/runtime/context.js';
import { createJobTable } from '../../tools/runtime/jobs.js';
import { toOffer } from '../../tools/runtime/registry.js';
import type { OpenToolSession, RunRequest, ToolRunEvent, ToolRuntime } from '../../tools/runtime/runtime.js';
import { createTodoList } from '../../tools/runtime/todos.js';
import type { Tool } from '../../tools/runtime/tool.js';
import { createFileState } from '../../workspace/file-state.js';
import type { Answer, Call } from '../engine.js';
import { createNativeEngine, type NativeEngine, type NativeEngineOptions } from './native-engine.js';

type Script = readonly TurnEvent[] | GatewayError | ((call: Call) => AsyncIterable<readonly TurnEvent[]>);

/** Answers in order; the last one again and again where there is no more. */
export class ScriptedRelay {
  readonly requests: ConversationRequest[] = [];
  readonly calls: Call[] = [];
  readonly #script: Script[];

  constructor(...script: Script[]) {
    this.#script = script;
  }

  async run(call: Call): Promise<Answer> {
    this.requests.push(structuredClone(call.request));
    this.calls.push(call);
    const next = this.#script.length > 1 ? this.#script.shift() : this.#script[0];
    if (next === undefined) throw new Error('The script is empty');
    if (next instanceof GatewayError) throw next;
    const batches = typeof next === 'function' ? next(call) : oneByOne(next);
    return { upstream: 'scripted', losses: [], headers: {}, body: { kind: 'events', batches } };
  }

  async countTokens({ request }: Call): Promise<number> {
    this.requests.push(request);
    return 7;
  }
}

async function* oneByOne(events: readonly TurnEvent[]): AsyncGenerator<readonly TurnEvent[]> {
  for (const event of events) yield [event];
}

const USAGE: TurnEvent = { type: 'usage', usage: { inputTokens: 100, outputTokens: 10 } };

export const says = (text: string, ...rest: TurnEvent[]): TurnEvent[] => [
  { type: 'text', text },
  ...rest,
  USAGE,
  { type: 'stop', reason: 'end_turn' },
];

/** A message with calls: name and arguments, as an object or as the text that the model wrote. */
export const calls = (
  ...made: (readonly [name: string, input: object | string, id?: string])[]
): TurnEvent[] => [
  ...made.flatMap(([name, input, id], index): TurnEvent[] => [
    { type: 'tool', key: index, id: id ?? `call_${name}_${index}`, name },
    { type: 'tool-input', key: index, json: typeof input === 'string' ? input : JSON.stringify(input) },
    { type: 'tool-end', key: index },
  ]),
  USAGE,
  { type: 'stop', reason: 'tool_use' },
];

export type FakeTool = (
  input: unknown,
  context: { signal: AbortSignal; runAgent: ToolContext['runAgent']; session: OpenToolSession },
) => string | Promise<string>;

/** Tools by name; what they throw is an error result. */
export class FakeRuntime implements ToolRuntime {
  readonly runs: RunRequest[] = [];
  readonly sessions: OpenToolSession[] = [];
  readonly closed: string[] = [];
  readonly #tools: Readonly<Record<string, FakeTool>>;

  constructor(tools: Readonly<Record<string, FakeTool>> = {}) {
    this.#tools = tools;
  }

  readonly gate: ToolRuntime['gate'] = {
    check: () => Promise.reject(new Error('not asked')),
    checkFurther: () => Promise.reject(new Error('not asked')),
    judge: () => Promise.reject(new Error('not asked')),
    readable: async () => () => true,
    hidden: async () => [],
  };

  async offer({ selection, requested, within }: Parameters<ToolRuntime['offer']>[0]) {
    const names = Object.keys(this.#tools)
      .filter((name) => {
        if (selection === 'none') return false;
        if (selection === 'all') return true;
        return (selection === 'requested' ? requested : selection).includes(name);
      })
      .filter((name) => within?.includes(name) ?? true);
    return toOffer(
      names.map((name) => ({
        tool: fakeTool(name),
        definition: { name, description: `The tool ${name}`, inputSchema: { type: 'object' } },
      })),
    );
  }

  async list() {
    return [];
  }

  async openSession({ id, principal, workspace, cwd, agent }: Parameters<ToolRuntime['openSession']>[0]) {
    const session: OpenToolSession = {
      id,
      principal,
      workspace,
      ...(agent === undefined ? {} : { agent }),
      cwd: cwd ?? workspace.root,
      todos: createTodoList(),
      jobs: createJobTable(),
      files: createFileState(),
      memoryDir: '/nowhere',
      scratch: () => Promise.reject(new Error('none')),
      close: async () => void this.closed.push(agent?.id ?? id),
    };
    this.sessions.push(session);
    return session;
  }

  async *run(request: RunRequest): AsyncGenerator<ToolRunEvent, void, void> {
    this.runs.push(request);
    for (const call of request.calls) yield* this.#one(call, request);
  }

  async *#one(
    { id, name, input }: ToolUseBlock,
    { signal, runAgent, session, offer }: RunRequest,
  ): AsyncGenerator<ToolRunEvent, void, void> {
    const tool = offer.find(name) === undefined ? undefined : this.#tools[name];
    const base = { type: 'tool-result', id, name, durationMs: 1 } as const;
    if (tool === undefined) {
      const content = [{ type: 'text' as const, text: `There is no tool ${name}.` }];
      yield { ...base, content, isError: true, outcome: 'unknown-tool' };
      return;
    }
    yield { type: 'tool-start', id, name, describe: { title: `Use ${name}`, kind: 'other', paths: [] } };
    try {
      const text = await tool(input, { signal, runAgent, session });
      yield { ...base, content: [{ type: 'text', text }], isError: false, outcome: 'done' };
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      const outcome = signal.aborted ? 'aborted' : 'failed';
      yield { ...base, content: [{ type: 'text', text }], isError: true, outcome };
    }
  }

  async close() {}
}

function fakeTool(name: string): Tool {
  return {
    name,
    ...(name === 'Task' ? { aliases: ['Agent'] } : {}),
    userFacingName: () => name,
    description: () => `The tool ${name}`,
    isEnabled: () => true,
    isReadOnly: () => true,
    isConcurrencySafe: () => true,
    needsPermissions: () => false,
    prompt: () => `How to use ${name}.`,
    async *call() {},
    describe: () => ({ title: name, kind: 'other', paths: [] }),
  };
}

const nothing = (): void => {};
export const QUIET_LOG: Log = {
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  fatal: nothing,
};

export function nativeEngine(
  relay: ScriptedRelay,
  runtime: ToolRuntime,
  startDir: string,
  options: Partial<NativeEngineOptions> = {},
): NativeEngine {
  return createNativeEngine({ relay, runtime, log: QUIET_LOG, startDir, home: startDir, ...options });
}

export const routeTo = (rule: Partial<ModelRule> = {}): Route => ({
  pattern: 'coder',
  model: 'upstream-model',
  rule: { engine: 'native', upstreams: ['scripted'], ...rule },
});

export const userSays = (text: string): Message => ({ role: 'user', content: [{ type: 'text', text }] });

export const resultOf = (toolUseId: string, text: string): Message => ({
  role: 'user',
  content: [{ type: 'tool_result', toolUseId, content: [{ type: 'text', text }], isError: false }],
});

export function callOf(
  messages: Message[],
  request: Partial<ConversationRequest> = {},
  rest: Partial<Call> & { session?: string | undefined; chat?: boolean } = {},
): Call {
  const { session, chat, ...given } = rest;
  return {
    id: 'req_1',
    ingress: chat === true ? openaiChat : anthropicMessages,
    request: {
      model: 'coder',
      system: [],
      messages,
      tools: [],
      serverTools: [],
      stopSequences: [],
      stream: true,
      extensions: {},
      ...request,
    },
    raw: new Uint8Array(0),
    headers: session === undefined ? {} : { 'x-session-id': session },
    principal: { name: 'alice', scopes: ['call'], models: ['*'] },
    signal: new AbortController().signal,
    ...given,
  };
}

export interface Heard {
  answer: Answer;
  events: TurnEvent[];
  text: string;
  calls: string[];
  stop: string | undefined;
  session: string;
}

/** The whole answer, with what a client would make of it. */
export async function hear(engine: NativeEngine, call: Call, route = routeTo()): Promise<Heard> {
  const answer = await engine.run(call, route);
  if (answer.body.kind !== 'events') throw new Error('An agent answered with bytes');
  const events: TurnEvent[] = [];
  for await (const batch of answer.body.batches) events.push(...batch);
  return {
    answer,
    events,
    text: events.flatMap((event) => (event.type === 'text' ? [event.text] : [])).join(''),
    calls: events.flatMap((event) => (event.type === 'tool' && event.id !== undefined ? [event.id] : [])),
    stop: events.flatMap((event) => (event.type === 'stop' ? [event.reason] : []))[0],
    session: answer.headers['x-session-id'] ?? '',
  };
}
