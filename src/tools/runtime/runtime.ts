/**
 * What engines ask of the tools: which are on offer, and to run the calls of one message. The
 * implementation is put together in create-runtime.ts from the registry, the scheduler and the gate.
 */
import type {
  JsonObject,
  Message,
  ToolDefinition,
  ToolResultContent,
  ToolUseBlock,
} from '../../core/conversation.js';
import type { Description, PermissionGate, VerdictReason } from '../../permissions/gate.js';
import type { FileState } from '../../workspace/file-state.js';
import type { Workspace } from '../../workspace/workspace.js';
import type { ToolContext, ToolOptions, ToolState } from './context.js';
import type { Examined, ExamineRequest } from './examine.js';
import type { ReviewOutcome, ReviewRequest } from './review.js';
import type { Asker, Tool } from './tool.js';

/** Which built-ins the operator offers on a model: the configuration's `tools`. */
export type ToolSelection = 'all' | 'none' | 'requested' | readonly string[];

export interface ToolRuntime {
  readonly gate: PermissionGate;
  /** Enabled tools: built-in, of the operator's own, and of MCP servers, by what `selection` names. */
  offer(request: OfferRequest): Promise<ToolOffer>;
  /** Everything that is known, with why it is off; for people. */
  list(asker?: Asker): Promise<readonly ListedTool[]>;
  /** State of one conversation. The caller closes it: background jobs end, private files go. */
  openToolState(options: ToolStateOptions): Promise<OpenToolState>;
  /**
   * Runs the calls of one assistant message. Yields what happens while it happens, and exactly one
   * `tool-result` for each call, whatever becomes of it; results come in the order of the calls.
   * Never throws for anything that a tool does.
   */
  run(request: RunRequest): AsyncGenerator<ToolRunEvent, void, void>;
  /**
   * Whether a call may be made that another program runs. Waits for a person where it must. Rejects
   * only for bugs and a store that is down: the caller treats a rejection as a denial.
   */
  review(request: ReviewRequest): Promise<ReviewOutcome>;
  /** What the rules say about a hypothetical call. Asks no person, changes nothing. */
  examine(request: ExamineRequest): Promise<Examined>;
  close(): Promise<void>;
}

export interface OfferRequest {
  selection: ToolSelection;
  /** Names in the client's own `tools`, for `requested` and to separate built-ins from the client's. */
  requested: readonly string[];
  /** For the tools of MCP servers that are kept for each session. */
  session?: string;
  /** The name of the caller's key. */
  key?: string;
  /** A sub-agent has no more than its parent. */
  within?: readonly string[];
}

export interface ToolOffer {
  tools: readonly Tool[];
  /** For the model, in a stable order. */
  definitions: readonly ToolDefinition[];
  /** By name or alias. */
  find(name: string): Tool | undefined;
  /** Why a tool that would be on offer is not. */
  whyOff?(name: string): string | undefined;
}

export interface ListedTool {
  name: string;
  userFacingName: string;
  description: string;
  inputSchema: JsonObject;
  source: 'built-in' | 'own' | 'mcp';
  /** Of an MCP tool. */
  server?: string;
  readOnly?: boolean;
  enabled: boolean;
  /** Why it is off. */
  reason?: string;
}

export interface ToolStateOptions {
  id: string;
  principal: string;
  /** The end user behind the key, whose memories it has. */
  user?: string | undefined;
  workspace: Workspace;
  cwd?: string;
  agent?: { id: string; label: string };
  /** A sub-agent shares the background jobs and the private folder of its parent, and nothing else. */
  parent?: OpenToolState;
  /** What an earlier one of the same conversation had: its `snapshot`. Files are checked again when they are used. */
  restore?: JsonObject;
}

export interface OpenToolState extends ToolState {
  readonly workspace: Workspace;
  readonly files: FileState;
  /** Folders that are the session's own, as far as they have been made: its tools may read them. */
  ownPaths?(): readonly string[];
  /** Folder, list of things to do and read files, as plain JSON. */
  snapshot(): JsonObject;
  close(): Promise<void>;
}

export interface RunRequest {
  calls: readonly ToolUseBlock[];
  offer: ToolOffer;
  toolState: OpenToolState;
  options: Omit<ToolOptions, 'tools'>;
  messageId?: string;
  signal: AbortSignal;
  runAgent?: ToolContext['runAgent'];
  /**
   * Awaited for each call that was let through, right before it runs. A text is its result in place
   * of a run; a rejection refuses it as well.
   */
  onStart?(call: ToolUseBlock, facts: RunFacts): Promise<string | undefined>;
  /**
   * Awaited with the result of each call that `onStart` let run, before the result is given out and
   * before a call that waits for it begins. A rejection is logged; the result stands.
   */
  onResult?(result: ToolRunResult, facts: RunFacts): Promise<void>;
}

interface RunFacts {
  /** It must not simply be run again: it changes something, or a person let this one run. */
  once: boolean;
}

export type ToolRunEvent =
  /** `because`: why it was let through. */
  | { type: 'tool-start'; id: string; name: string; describe: Description; because?: VerdictReason }
  /** A person is asked; no clock but the approval's own runs meanwhile. */
  | { type: 'tool-waiting'; id: string; name: string; describe: Description; approval?: string }
  | {
      type: 'tool-progress';
      id: string;
      name: string;
      content: string;
      /** Of a sub-agent. */
      normalizedMessages?: readonly Message[];
      /** Names of the tools that it has. */
      tools?: readonly string[];
    }
  | ToolRunResult;

export interface ToolRunResult {
  type: 'tool-result';
  id: string;
  name: string;
  content: readonly ToolResultContent[];
  isError: boolean;
  /** For people. */
  data?: unknown;
  /** The text of `content` as people see it: with its terminal codes. Bounded as that is; never kept. */
  shown?: string;
  /** What ran, where a person had changed it. */
  input?: unknown;
  durationMs: number;
  outcome:
    | 'done'
    | 'failed'
    | 'invalid'
    | 'denied'
    | 'expired'
    | 'unattended'
    | 'aborted'
    | 'timed-out'
    | 'unknown-tool';
  /** Why it was let through or not. */
  because?: VerdictReason;
  describe?: Description;
}

/** The runtime's log. The gateway's log has this shape. */
export interface RuntimeLog {
  debug(facts: object, message: string): void;
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

export const SILENT: RuntimeLog = { debug() {}, info() {}, warn() {}, error() {} };
