/** What a virtual server sees of its client: a session of the older era, or one request of the stateless one. */
import { GatewayError } from '../../core/errors.js';
import type { Span } from '../../core/span.js';
import type { ApprovalCoordinator } from '../../permissions/approvals.js';
import type { OpenToolState, ToolRuntime, ToolSelection } from '../../tools/runtime/runtime.js';
import type { McpClient } from '../client/mcp-client.js';
import type { McpLog } from '../client/wire/log.js';
import type { VirtualLimits } from './limits.js';
import type { RunningToolCalls } from './running-tool-calls.js';
import type { Server, ServerSdk } from './sdk.js';
import type { SuspendedToolCalls } from './suspended-tool-calls.js';

export interface VirtualParts {
  /** Loaded with the first client. */
  tools(): Promise<ToolRuntime>;
  mcp: Pick<McpClient, 'tools' | 'status' | 'directory'>;
  approvals: Pick<ApprovalCoordinator, 'get' | 'decide' | 'attend'>;
  version: string;
  log: McpLog;
  /** Of the person, for `~/` in rules. */
  home: string;
  limits: VirtualLimits;
  /** For what this process keeps for a key: nodes find out from it which of them that is. */
  newId(principal: string): string;
}

/** Where a client works, by the operator's choice. */
export interface VirtualWorkspace {
  /** As a real path. */
  root: string;
  selection: ToolSelection;
  /** The model entry that was asked for; absent: the folder that the gateway was started in. */
  model?: string;
}

export interface McpScope {
  /** Of the client's session, which keeps the state of tools. Without one each call names the state by a handle. */
  readonly session: string | undefined;
  readonly principal: string;
  readonly place: VirtualWorkspace;
  readonly parts: VirtualParts;
  readonly sdk: ServerSdk;
  readonly runtime: ToolRuntime;
  /** Of the one request; undefined with a session, whose requests are many. */
  readonly span: Span | undefined;
  readonly calls: RunningToolCalls;
  /** Where calls wait whose client may answer for its key; undefined where it may not. */
  readonly suspended: SuspendedToolCalls | undefined;
  /** Where calls run that are tasks; undefined with a session, whose era has no such extension. */
  readonly tasks: SuspendedToolCalls | undefined;
  /** Throws `not_found` for a handle that is unknown, another key's or of another workspace. */
  lendState(request: StateRequest): Promise<LentState>;
}

export type StateRequest =
  /** As the client gave it; without one a new state is opened. */
  | { kind: 'handle'; handle: string | undefined }
  /** Nothing of it is needed again. */
  | { kind: 'once' }
  /** By the folder that the client works in by its own word; without one the workspace. */
  | { kind: 'folder'; root: string | undefined };

/** The state that tools keep, for one call. */
export interface LentState {
  /** Of approvals, rules, and connections to MCP servers that are kept for each session. */
  readonly id: string;
  readonly tools: OpenToolState;
  /** It is new, and the client needs its handle to go on with it. */
  readonly isNew: boolean;
  /** Must be called once. */
  giveBack(): void;
}

/** The error message for a client: the sentence of a GatewayError, and nothing of a bug. */
export async function guarded<T>({ sdk, parts }: McpScope, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof sdk.ProtocolError) throw error;
    if (error instanceof GatewayError) {
      throw new sdk.ProtocolError(sdk.ErrorCode.InternalError, error.message);
    }
    parts.log.warn({ err: error }, 'bug in a virtual MCP server');
    throw new sdk.ProtocolError(
      sdk.ErrorCode.InternalError,
      'Internal error in the gateway; its log says more.',
    );
  }
}

export type ServerMaker = (scope: McpScope) => Server;
