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
import type { ToolContext, ToolOptions, ToolSession } from './context.js';
import type { Tool } from './tool.js';

/** Which built-ins the operator offers on a model: the configuration's `tools`. */
export type ToolSelection = 'all' | 'none' | 'requested' | readonly string[];

export interface ToolRuntime {
  readonly gate: PermissionGate;
  /** Enabled tools: built-in, of the operator's own, and of MCP servers, by what `selection` names. */
  offer(request: OfferRequest): Promise<ToolOffer>;
  /** Everything that is known, with why it is off; for people. */
  list(): Promise<readonly ListedTool[]>;
  /** State of one conversation. The caller closes it: background jobs end, private files go. */
  openSession(options: SessionOptions): Promise<OpenToolSession>;
  /**
   * Runs the calls of one assistant message. Yields what happens while it happens, and exactly one
   * `tool-result` for each call, whatever becomes of it; results come in the order of the calls.
   * Never throws for anything that a tool does.
   */
  run(request: RunRequest): AsyncGenerator<ToolRunEvent, void, void>;
  close(): Promise<void>;
}

export interface OfferRequest {
  selection: ToolSelection;
  /** Names in the client's own `tools`, for `requested` and to tell built-ins from the client's. */
  requested: readonly string[];
  /** For the tools of MCP servers that are kept for each session. */
  session?: string;
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

export interface SessionOptions {
  id: string;
  principal: string;
  workspace: Workspace;
  cwd?: string;
  agent?: { id: string; label: string };
  /** A sub-agent shares the background jobs and the private folder of its parent, and nothing else. */
  parent?: OpenToolSession;
}

export interface OpenToolSession extends ToolSession {
  readonly workspace: Workspace;
  readonly files: FileState;
  /** Folders that are the session's own, as far as they have been made: its tools may read them. */
  ownPaths?(): readonly string[];
  close(): Promise<void>;
}

export interface RunRequest {
  calls: readonly ToolUseBlock[];
  offer: ToolOffer;
  session: OpenToolSession;
  options: Omit<ToolOptions, 'tools'>;
  messageId?: string;
  signal: AbortSignal;
  runAgent?: ToolContext['runAgent'];
}

export type ToolRunEvent =
  | { type: 'tool-start'; id: string; name: string; describe: Description }
  /** A person is asked; no clock but the approval's own runs meanwhile. */
  | { type: 'tool-waiting'; id: string; name: string; describe: Description }
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
