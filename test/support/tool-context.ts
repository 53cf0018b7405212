/** Contexts for unit tests of tools: a real folder, real state, nothing refused. */
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Effect } from '../../src/permissions/decision.js';
import type { Sandbox } from '../../src/sandbox/sandbox.js';
import {
  createJobTable,
  createTodoList,
  type ToolContext,
  type ToolOptions,
  type ToolState,
} from '../../src/tools/runtime/context.js';
import type {
  Enablement,
  PromptOptions,
  Tool,
  ToolProgress,
  ToolResult,
} from '../../src/tools/runtime/tool.js';
import { createFileState } from '../../src/workspace/file-state.js';
import { commandEnvironment } from '../../src/workspace/process/command-environment.js';

export interface TestContextOptions {
  signal?: AbortSignal;
  toolUseId?: string;
  messageId?: string;
  principal?: string;
  session?: string;
  agent?: { id: string; label: string };
  /** Of the workspace; without it a new one in a temporary folder. */
  root?: string;
  home?: string;
  cwd?: string;
  options?: Partial<ToolOptions>;
  sandbox?: Sandbox;
  require?: (effects: readonly Effect[]) => Promise<void>;
  readable?: (path: string) => boolean;
  hidden?: () => Promise<readonly string[]>;
  runAgent?: ToolContext['runAgent'];
}

export interface TestContext extends ToolContext {
  /** The real path of the workspace. */
  readonly root: string;
  /** Everything that `require` was asked. */
  readonly required: Effect[];
  /** Ends background jobs and removes every folder that was made. */
  close(): Promise<void>;
}

/** The caller closes it. */
export async function createTestContext(options: TestContextOptions = {}): Promise<TestContext> {
  const base = await realpath(await mkdtemp(join(tmpdir(), 'toolgate-tool-')));
  const root = options.root === undefined ? await mkdtemp(join(base, 'workspace-')) : options.root;
  const required: Effect[] = [];
  const jobs = createJobTable();
  let scratch: Promise<string> | undefined;
  const session: ToolState = {
    id: options.session ?? 'session-1',
    principal: options.principal ?? 'tester',
    ...(options.agent === undefined ? {} : { agent: options.agent }),
    cwd: options.cwd ?? root,
    variables: new Map(),
    todos: createTodoList(),
    jobs,
    scratch: () => (scratch ??= mkdtemp(join(base, 'scratch-'))),
    memoryDir: join(base, 'memory'),
  };
  return {
    root,
    required,
    signal: options.signal ?? new AbortController().signal,
    toolUseId: options.toolUseId ?? 'toolu_1',
    ...(options.messageId === undefined ? {} : { messageId: options.messageId }),
    session,
    // One context serves several calls here, one after the other.
    get shell() {
      return { cwd: session.cwd, variables: new Map(session.variables) };
    },
    options: { tools: [], commands: [], model: 'test', forkNumber: 0, logName: 'test', ...options.options },
    workspace: { root, home: options.home ?? join(base, 'home') },
    files: createFileState(),
    sandbox: options.sandbox ?? SANDBOX_OFF,
    async require(effects) {
      required.push(...effects);
      await options.require?.(effects);
    },
    canUseTool: async () => ({ result: true }),
    fillIn: async () => ({ action: 'cancel', why: 'nobody is there' }),
    readable: options.readable ?? (() => true),
    leavePlan: async () => false,
    hidden: options.hidden ?? (async () => []),
    ...(options.runAgent === undefined ? {} : { runAgent: options.runAgent }),
    async close() {
      await jobs.close();
      await rm(base, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

/** Runs bash without a wall. */
export const SANDBOX_OFF: Sandbox = {
  status: { active: false, reason: 'off', detail: 'off in this test', advice: '' },
  environment: commandEnvironment(process.env),
  wrap: async (command) => ({
    file: 'bash',
    args: ['-c', command],
    env: {},
    look: async () => [],
    release: async () => [],
  }),
  writeApproved: (_file, write) => write(),
  close: async () => {},
};

export interface ToolRun {
  progress: ToolProgress[];
  result: ToolResult;
  /** The text of the result. */
  text: string;
}

/**
 * One call as the runtime makes it, without its permissions and bounds: schema, `validateInput`,
 * `call`. Rejects with what the tool throws, and with an Error where the input is refused.
 */
export async function runTool<Input>(
  tool: Tool<Input>,
  input: unknown,
  context: ToolContext,
): Promise<ToolRun> {
  if (tool.inputSchema === undefined) throw new Error(`${tool.name} has no inputSchema`);
  const parsed = tool.inputSchema.parse(input);
  const validation = await tool.validateInput?.(parsed, context);
  if (validation?.ok === false) throw new Error(validation.message);
  const progress: ToolProgress[] = [];
  let result: ToolResult | undefined;
  for await (const item of tool.call(parsed, context)) {
    if (item.type === 'progress') progress.push(item);
    else if (result === undefined) result = item;
    else throw new Error(`${tool.name} gave two results`);
  }
  if (result === undefined) throw new Error(`${tool.name} gave no result`);
  return { progress, result, text: textOf(result.resultForAssistant) };
}

function textOf(content: ToolResult['resultForAssistant']): string {
  if (typeof content === 'string') return content;
  return content.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('\n');
}

/** Whether a tool is on, as the runtime finds it out. */
export async function enablementOf({ isEnabled = true }: Pick<Tool, 'isEnabled'>): Promise<Enablement> {
  return typeof isEnabled === 'function' ? isEnabled() : isEnabled;
}

/** What a tool adds to the system prompt. */
export async function promptOf(
  { prompt = '' }: Pick<Tool, 'prompt'>,
  options: PromptOptions,
): Promise<string> {
  return typeof prompt === 'function' ? prompt(options) : prompt;
}
