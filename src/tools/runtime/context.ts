/** What a tool works with. Made for each call; nothing in it is shared between sessions. */
import type { Effort, JsonObject, Message, Usage } from '../../core/conversation.js';
import type { Effect } from '../../permissions/decision.js';
import type { Form, FormAnswer } from '../../permissions/form.js';
import type { Sandbox } from '../../sandbox/sandbox.js';
import type { FileState } from '../../workspace/file-state.js';
import type { Workspace } from '../../workspace/workspace.js';

export interface ToolContext {
  /** Fires when the call must end: the client is gone, the turn was stopped, its time is over. */
  readonly signal: AbortSignal;
  readonly toolUseId: string;
  /** The assistant message that the call is in. */
  readonly messageId?: string;
  readonly session: ToolState;
  /** What its commands run in: as it was judged and shown, whatever other calls of the session do meanwhile. */
  readonly shell: ShellState;
  readonly options: ToolOptions;
  readonly workspace: Workspace;
  /** What this session has read, and in which state. */
  readonly files: FileState;
  readonly sandbox: Sandbox;
  /**
   * Permission for effects that only came up while the call runs (the next hop of a redirect).
   * Throws ToolError where it is refused.
   */
  require(effects: readonly Effect[]): Promise<void>;
  /**
   * Whether another tool, or this one with another input, could be called: asks where the rules say
   * so. Never throws for a refusal.
   */
  canUseTool(tool: string | { name: string }, input: unknown): Promise<ToolPermission>;
  /**
   * Has a person fill in a form in the middle of the call, whose clock stands still meanwhile. Never throws
   * for a refusal.
   */
  fillIn(question: { title: string; message: string; form: Form }): Promise<FormAnswer>;
  /** A person approved the plan: where the session only planned, its mode of before holds again. */
  leavePlan(): Promise<boolean>;
  /** Whether the rules let a file that a search came across be shown. */
  readonly readable: (path: string) => boolean;
  /** Existing files and folders that the rules keep from being read: hidden from whatever the call starts. */
  hidden(): Promise<readonly string[]>;
  /** Runs an agent of its own. Absent where none can be run. */
  readonly runAgent?: (task: AgentTask) => AsyncGenerator<AgentProgress, AgentReport, void>;
}

export type ToolPermission = { result: true } | { result: false; message: string };

interface ShellState {
  readonly cwd: string;
  /** As those of the session. */
  readonly variables: ReadonlyMap<string, string | null>;
}

/** One conversation, or one sub-agent of it, as far as tools are concerned. */
export interface ToolState {
  readonly id: string;
  readonly principal: string;
  /** The sub-agent; none for the main one. */
  readonly agent?: { id: string; label: string };
  /** Where commands run. Only Bash moves it. */
  cwd: string;
  /** Exported variables that commands keep; null: unset. Only Bash changes them. */
  readonly variables: Map<string, string | null>;
  readonly todos: TodoList;
  readonly jobs: JobTable;
  /** A private folder (0700) for whole outputs; readable by this session's tools, removed with the session. */
  scratch(): Promise<string>;
  /** The folder of memories of the principal, and of one end user of it. */
  readonly memoryDir: string;
}

export interface ToolOptions {
  /** Names of the tools on offer in this turn. */
  tools: readonly string[];
  /** Slash commands of the client; none on the API. */
  commands: readonly string[];
  /** The model that drives the turn, as the client named it. */
  model: string;
  thinkingBudget?: number;
  effort?: Effort;
  /** Which fork of a conversation this is, counted from 0. */
  forkNumber: number;
  /** Names the conversation in logs. */
  logName: string;
  /** `traceparent` of a call, for those that it asks; there where the gateway's telemetry is collected. */
  traceContext?: (toolUseId: string, tool: string) => Readonly<Record<string, string>>;
}

export interface AgentTask {
  /** The call that it works for. */
  toolUseId: string;
  /** A few words. */
  description: string;
  prompt: string;
  /** Which kind of agent; by default the general one. */
  kind?: string;
  model?: string;
  /** Of the parent's tools; never more. */
  tools?: readonly string[];
  /** In place of the agent's own. */
  systemPrompt?: string;
}

export interface AgentProgress {
  content: string;
  messages?: readonly Message[];
}

export interface AgentReport {
  /** What the agent said last. */
  text: string;
  usage: Usage;
  turns: number;
  toolCalls: number;
  durationMs: number;
  /** `max_turns`, `aborted`, an error's message; absent when it came to its own end. */
  cutShort?: string;
  details?: JsonObject;
}

export const TODO_STATES = ['pending', 'in_progress', 'completed'] as const;

export interface Todo {
  content: string;
  status: (typeof TODO_STATES)[number];
  /** The same in the present tense, for while it is being done. */
  activeForm: string;
}

/** What a session wants to do. Replaced whole, as models write it. */
export interface TodoList {
  read(): readonly Todo[];
  /** Returns what stood there before. */
  replace(todos: readonly Todo[]): readonly Todo[];
}

export function createTodoList(): TodoList {
  let current: readonly Todo[] = [];
  return {
    read: () => current,
    replace(todos) {
      const before = current;
      current = todos.map((todo) => ({ ...todo }));
      return before;
    },
  };
}

/** A command that goes on in the background. Owned by the session and ended with it. */
export interface Job {
  readonly id: string;
  readonly command: string;
  readonly startedAt: number;
  state(): JobState;
  /** What was printed since the last time that this was asked. */
  readNew(): Promise<JobOutput>;
  /** A file with everything that it printed. */
  readonly logPath: string;
  /** Ends the process group: politely, then not. Resolves when it is gone. */
  stop(): Promise<void>;
  /** Resolves when it has ended. */
  readonly ended: Promise<JobState>;
}

export type JobState =
  | { status: 'running' }
  | { status: 'exited'; code: number }
  | { status: 'killed'; signal: string }
  | { status: 'failed'; message: string };

interface JobOutput {
  text: string;
  /** The same with its terminal codes, where it has any. */
  shown?: string;
  /** Characters left out of `text`; the log file has them. */
  omitted: number;
}

interface JobTable {
  add(job: Job): void;
  get(id: string): Job | undefined;
  list(): readonly Job[];
  /** Ends all of them; later additions are stopped at once. */
  close(): Promise<void>;
}

export function createJobTable(): JobTable {
  const jobs = new Map<string, Job>();
  let closed = false;
  return {
    add(job) {
      jobs.set(job.id, job);
      if (closed) void job.stop();
    },
    get: (id) => jobs.get(id),
    list: () => [...jobs.values()],
    async close() {
      closed = true;
      await Promise.all([...jobs.values()].map((job) => job.stop()));
      jobs.clear();
    },
  };
}
