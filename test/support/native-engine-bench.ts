/** A relay and a runtime that do what a test says, for tests of the loop alone. */
import { onTestFinished } from 'vitest';
import type { ConversationRequest, Message, ToolUseBlock } from '../../src/core/conversation.js';
import { GatewayError } from '../../src/core/errors.js';
import type { ModelEvent } from '../../src/core/events.js';
import { anthropicMessages } from '../../src/dialects/anthropic-messages/index.js';
import { openaiChat } from '../../src/dialects/openai-chat/index.js';
import { AgentEngine, type AgentEngineOptions } from '../../src/engines/agent/agent-engine.js';
import type { Answer, ModelRequest } from '../../src/engines/engine.js';
import { createNativeDriver, type NativeDriverOptions } from '../../src/engines/native/driver.js';
import type { Log } from '../../src/observability/log.js';
import type { ModelRoute, ModelRule } from '../../src/routing/model-router.js';
import { createSessions } from '../../src/sessions/lifetime/create-sessions.js';
import type { Sessions } from '../../src/sessions/sessions.js';
import { openStore } from '../../src/store/open/open-store.js';
import type { Store } from '../../src/store/store.js';
import { createJobTable, createTodoList, type ToolContext } from '../../src/tools/runtime/context.js';
import { toOffer } from '../../src/tools/runtime/registry.js';
import type { ReviewOutcome, ReviewRequest } from '../../src/tools/runtime/review.js';
import type {
  OpenToolState,
  RunRequest,
  ToolRunEvent,
  ToolRunResult,
  ToolRuntime,
} from '../../src/tools/runtime/runtime.js';
import type { Tool } from '../../src/tools/runtime/tool.js';
import { readSnapshot, takeSnapshot } from '../../src/tools/runtime/tool-state-snapshot.js';
import { createFileState } from '../../src/workspace/file-state.js';

type Script =
  | readonly ModelEvent[]
  | GatewayError
  | ((call: ModelRequest) => AsyncIterable<readonly ModelEvent[]>);

/** Answers in order; the last one again and again where there is no more. */
export class ScriptedRelay {
  readonly requests: ConversationRequest[] = [];
  readonly calls: ModelRequest[] = [];
  readonly #script: Script[];

  constructor(...script: Script[]) {
    this.#script = script;
  }

  async run(call: ModelRequest): Promise<Answer> {
    this.requests.push(structuredClone(call.request));
    this.calls.push(call);
    const next = this.#script.length > 1 ? this.#script.shift() : this.#script[0];
    if (next === undefined) throw new Error('The script is empty');
    if (next instanceof GatewayError) throw next;
    const batches = typeof next === 'function' ? next(call) : oneByOne(next);
    return { upstream: 'scripted', losses: [], headers: {}, body: { kind: 'events', batches } };
  }

  async countTokens({ request }: ModelRequest): Promise<number> {
    this.requests.push(request);
    return 7;
  }
}

async function* oneByOne(events: readonly ModelEvent[]): AsyncGenerator<readonly ModelEvent[]> {
  for (const event of events) yield [event];
}

const USAGE: ModelEvent = { type: 'usage', usage: { inputTokens: 100, outputTokens: 10 } };

export const says = (text: string, ...rest: ModelEvent[]): ModelEvent[] => [
  { type: 'text', text },
  ...rest,
  USAGE,
  { type: 'stop', reason: 'end_turn' },
];

/** A message with calls: name and arguments, as an object or as the text that the model wrote. */
export const calls = (
  ...made: (readonly [name: string, input: object | string, id?: string])[]
): ModelEvent[] => [
  ...made.flatMap(([name, input, id], index): ModelEvent[] => [
    { type: 'tool', key: index, id: id ?? `call_${name}_${index}`, name },
    { type: 'tool-input', key: index, json: typeof input === 'string' ? input : JSON.stringify(input) },
    { type: 'tool-end', key: index },
  ]),
  USAGE,
  { type: 'stop', reason: 'tool_use' },
];

export type FakeTool = (
  input: unknown,
  context: { signal: AbortSignal; runAgent: ToolContext['runAgent']; session: OpenToolState },
) => string | Promise<string>;

/** Tools by name; what they throw is an error result. */
export class FakeRuntime implements ToolRuntime {
  readonly runs: RunRequest[] = [];
  /** Ids of the calls that were run, not only asked for. */
  readonly ran: string[] = [];
  readonly sessions: OpenToolState[] = [];
  readonly closed: string[] = [];
  readonly #tools: Readonly<Record<string, FakeTool>>;

  constructor(tools: Readonly<Record<string, FakeTool>> = {}) {
    this.#tools = tools;
  }

  readonly gate: ToolRuntime['gate'] = {
    check: () => Promise.reject(new Error('not asked')),
    checkFurther: () => Promise.reject(new Error('not asked')),
    judge: async () => ({
      behaviour: 'allow',
      because: { kind: 'mode', mode: 'allow' },
      message: '',
      suggestions: [],
    }),
    readable: async () => () => true,
    hidden: async () => [],
    modeOf: async () => undefined,
    leavePlan: async () => false,
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

  async openToolState(options: Parameters<ToolRuntime['openToolState']>[0]) {
    const { id, principal, workspace, agent } = options;
    const restored = options.restore === undefined ? undefined : readSnapshot(options.restore);
    const session: OpenToolState = {
      id,
      principal,
      workspace,
      ...(agent === undefined ? {} : { agent }),
      cwd: options.cwd ?? restored?.cwd ?? workspace.root,
      variables: new Map(),
      todos: createTodoList(),
      jobs: createJobTable(),
      files: createFileState(),
      memoryDir: '/nowhere',
      scratch: () => Promise.reject(new Error('none')),
      snapshot: () => takeSnapshot(session),
      close: async () => void this.closed.push(agent?.id ?? id),
    };
    session.todos.replace(restored?.todos ?? []);
    for (const [path, record] of restored?.files ?? []) session.files.set(path, record);
    this.sessions.push(session);
    return session;
  }

  async *run(request: RunRequest): AsyncGenerator<ToolRunEvent, void, void> {
    this.runs.push(request);
    for (const call of request.calls) yield* this.#one(call, request);
  }

  async *#one(
    call: ToolUseBlock,
    { signal, runAgent, toolState: session, offer, onStart, onResult }: RunRequest,
  ): AsyncGenerator<ToolRunEvent, void, void> {
    const { id, name, input } = call;
    const tool = offer.find(name) === undefined ? undefined : this.#tools[name];
    const base = { type: 'tool-result', id, name, durationMs: 1 } as const;
    const failed = (text: string) => ({ ...base, content: [{ type: 'text' as const, text }], isError: true });
    if (tool === undefined) {
      yield { ...failed(`There is no tool ${name}.`), outcome: 'unknown-tool' };
      return;
    }
    if (signal.aborted) {
      yield { ...failed('Not run'), outcome: 'aborted', because: { kind: 'abort' } };
      return;
    }
    const facts = { once: !isReading(name) };
    const instead = await onStart?.(call, facts);
    if (instead !== undefined) {
      yield { ...failed(instead), outcome: 'failed' };
      return;
    }
    this.ran.push(id);
    yield { type: 'tool-start', id, name, describe: { title: `Use ${name}`, kind: 'other', paths: [] } };
    let result: ToolRunResult;
    try {
      const text = await tool(input, { signal, runAgent, session });
      result = { ...base, content: [{ type: 'text', text }], isError: false, outcome: 'done' };
    } catch (error) {
      const outcome = signal.aborted ? 'aborted' : 'failed';
      result = { ...failed(error instanceof Error ? error.message : String(error)), outcome };
    }
    await onResult?.(result, facts);
    yield result;
  }

  readonly reviews: ReviewRequest[] = [];

  /** Lets everything through as it is. */
  async examine(): Promise<never> {
    throw new Error('nothing is examined here');
  }

  async review(request: ReviewRequest): Promise<ReviewOutcome> {
    this.reviews.push(request);
    const { name, input } = request.call;
    return {
      verdict: { allowed: true, input, because: { kind: 'mode', mode: 'allow' } },
      name,
      readOnly: true,
      describe: { title: `Use ${name}`, kind: 'other', paths: [] },
      changed: false,
    };
  }

  async close() {}
}

/** The others change something. */
function isReading(name: string): boolean {
  return ['Read', 'Grep', 'Task'].includes(name);
}

function fakeTool(name: string): Tool {
  return {
    name,
    ...(name === 'Task' ? { aliases: ['Agent'] } : {}),
    userFacingName: () => name,
    description: `The tool ${name}`,
    isReadOnly: () => isReading(name),
    isConcurrencySafe: () => true,
    needsPermissions: () => false,
    prompt: `How to use ${name}.`,
    async *call() {},
    describe: () => ({ title: name, kind: 'other', paths: [] }),
  };
}

export const CRASHED = Symbol('crashed');

type SessionsStore = Pick<Store, 'sessions' | 'transcripts' | 'index' | 'toolCalls' | 'answers' | 'leases'>;

/** Everything in these areas that changes the file. */
const WRITES = new Set([
  'create',
  'checkpoint',
  'delete',
  'record',
  'put',
  'acquire',
  'renew',
  'release',
  'releaseAll',
]);

/** A store whose process is dead after so many writes: nothing that is asked then is ever answered. */
export function frozenAfter(
  store: Store,
  writes: number,
): { store: SessionsStore; frozen: Promise<typeof CRASHED> } {
  let left = writes;
  let crash = (_crashed: typeof CRASHED): void => {};
  const frozen = new Promise<typeof CRASHED>((resolve) => {
    crash = resolve;
  });
  const guarded = <Area extends object>(area: Area): Area =>
    new Proxy(area, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        return (...given: unknown[]) => {
          if (WRITES.has(String(name))) left -= 1;
          if (left >= 0) return Reflect.apply(value, target, given);
          crash(CRASHED);
          return new Promise(() => {});
        };
      },
    });
  const { sessions, transcripts, index, toolCalls: callStore, answers, leases } = store;
  return {
    store: {
      sessions: guarded(sessions),
      transcripts: guarded(transcripts),
      index: guarded(index),
      toolCalls: guarded(callStore),
      answers: guarded(answers),
      leases: guarded(leases),
    },
    frozen,
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

/** `owner`: of a process that is dead, what its sessions hold is free for the next one. */
export function openTestSessions(store: SessionsStore, owner?: string): Sessions {
  return createSessions({
    store,
    log: QUIET_LOG,
    ttlMs: 86_400_000,
    toolTimeoutMs: 120_000,
    onToolTimeout: 'hibernate',
    ...(owner === undefined ? {} : { owner }),
  });
}

export async function memorySessions(): Promise<{ sessions: Sessions; store: Store }> {
  const store = await openStore('sqlite::memory:', { baseDir: '/' });
  const sessions = openTestSessions(store);
  onTestFinished(async () => {
    await sessions.close();
    await store.close();
  });
  return { sessions, store };
}

type NativeEngineOptions = NativeDriverOptions & Omit<AgentEngineOptions, 'driver'>;

export function createNativeEngine(options: NativeEngineOptions): AgentEngine {
  return new AgentEngine({ ...options, driver: createNativeDriver(options) });
}

/** With sessions in memory where none are given; closed after the test. */
export async function nativeEngine(
  relay: ScriptedRelay,
  runtime: ToolRuntime,
  startDir: string,
  options: Partial<NativeEngineOptions> = {},
): Promise<AgentEngine> {
  const sessions = options.sessions ?? (await memorySessions()).sessions;
  const own = { relay, runtime, log: QUIET_LOG, startDir, home: startDir };
  const engine = createNativeEngine({ ...own, ...options, sessions });
  onTestFinished(() => engine.close());
  return engine;
}

export const routeTo = (rule: Partial<ModelRule> = {}): ModelRoute => ({
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
  rest: Partial<ModelRequest> & { session?: string | undefined; chat?: boolean } = {},
): ModelRequest {
  const { session, chat, ...given } = rest;
  return {
    id: 'req_1',
    clientDialect: chat === true ? openaiChat : anthropicMessages,
    request: {
      model: 'coder',
      system: [],
      messages,
      tools: [],
      providerTools: [],
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
  events: ModelEvent[];
  text: string;
  calls: string[];
  stop: string | undefined;
  session: string;
}

/** The whole answer, with what a client would make of it. */
export async function hear(engine: AgentEngine, call: ModelRequest, route = routeTo()): Promise<Heard> {
  const answer = await engine.run(call, route);
  if (answer.body.kind !== 'events') throw new Error('An agent answered with bytes');
  const events: ModelEvent[] = [];
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
