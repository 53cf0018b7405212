/** One client's session on a virtual server, as far as both servers see it. */
import { GatewayError } from '../../core/errors.js';
import type { OpenToolState, ToolRuntime, ToolSelection } from '../../tools/runtime/runtime.js';
import type { McpClient } from '../client/mcp-client.js';
import type { McpLog } from '../client/wire/log.js';
import type { VirtualLimits } from './limits.js';
import type { RunningToolCalls } from './running-tool-calls.js';
import type { Server, ServerSdk } from './sdk.js';

export interface VirtualParts {
  /** Loaded with the first client. */
  tools(): Promise<ToolRuntime>;
  mcp: Pick<McpClient, 'tools'>;
  version: string;
  log: McpLog;
  /** Of the person, for `~/` in rules. */
  home: string;
  limits: VirtualLimits;
}

/** Where a session works, by the operator's choice. */
export interface VirtualWorkspace {
  /** As a real path. */
  root: string;
  selection: ToolSelection;
  /** The model entry that was asked for; absent: the folder that the gateway was started in. */
  model?: string;
}

export interface McpSessionScope {
  readonly id: string;
  readonly principal: string;
  readonly place: VirtualWorkspace;
  readonly parts: VirtualParts;
  readonly sdk: ServerSdk;
  readonly runtime: ToolRuntime;
  readonly calls: RunningToolCalls;
  /** The state that tools keep; another root closes it and opens it there. Closed with the session. */
  toolSession(root?: string): Promise<OpenToolState>;
}

/** The error message for a client: the sentence of a GatewayError, and nothing of a bug. */
export async function guarded<T>({ sdk, parts }: McpSessionScope, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof sdk.McpError) throw error;
    if (error instanceof GatewayError) throw new sdk.McpError(sdk.ErrorCode.InternalError, error.message);
    parts.log.warn({ err: error }, 'bug in a virtual MCP server');
    throw new sdk.McpError(sdk.ErrorCode.InternalError, 'Internal error in the gateway; its log says more.');
  }
}

export type ServerMaker = (scope: McpSessionScope) => Server;
