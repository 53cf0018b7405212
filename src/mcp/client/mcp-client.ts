/**
 * The MCP servers whose tools the agents have. Connecting happens in the background and never
 * holds up a turn; a server that hangs, dies or floods costs its own tools and nothing else.
 */
import type { Config } from '../../config/schema.js';
import type { JsonObject, ToolResultContent } from '../../core/conversation.js';
import type { FormAnswer } from '../../permissions/form.js';
import type { McpQuestion } from './elicitation.js';
import type { SignInAnswer } from './oauth/sign-in.js';

export interface McpClient {
  /** Tools of every server that is connected, under `mcp__server__tool`. `session` for servers kept for each. */
  tools(session?: string): readonly McpTool[];
  /** Resources and prompts of every server that is connected and has some. One that fails is left out, and logged. */
  directory(signal: AbortSignal): Promise<readonly McpDirectory[]>;
  status(): readonly McpServerStatus[];
  /** Resolves when every server is connected or has failed once; for `chat` and tests. */
  settled(signal: AbortSignal): Promise<void>;
  /** Throws GatewayError `conflict` for a name that is taken, `invalid_request` for a bad one. */
  add(name: string, config: unknown): Promise<McpServerStatus>;
  remove(name: string): Promise<boolean>;
  /** The servers of the configuration from now on: those that are as they were stay connected. */
  configure(servers: Config['mcp_servers']): Promise<void>;
  /** Takes servers that other nodes added or removed. Rejects as the store does. */
  refresh(): Promise<void>;
  /** What authorisation servers are told of the gateway as a client of that server. Undefined without a public https address. */
  clientDocument(name: string): object | undefined;
  /** Throws `not_found`. */
  reconnect(name: string): Promise<McpServerStatus>;
  /**
   * The person came back from the sign-in. Throws `not_found`, `forbidden` for a state that is not
   * of this sign-in, `upstream_failed` where the server does not take it.
   */
  finishSignIn(name: string, answer: SignInAnswer): Promise<McpServerStatus>;
  /**
   * Calls `listener` with each server whose state or tools have changed; one that was removed is
   * `closed`. A listener that throws is logged and stays.
   */
  onChange(listener: (change: McpServerChange) => void): () => void;
  /** Ends what was kept for the session. */
  closeSession(session: string): Promise<void>;
  /** Ends every connection and every process. */
  close(): Promise<void>;
}

export interface McpTool {
  /** `mcp__server__tool`. */
  name: string;
  server: string;
  title?: string;
  description: string;
  inputSchema: JsonObject;
  /** By the server's own account: a hint for people and for concurrency, never a permission. */
  annotations: { readOnly?: boolean; destructive?: boolean; openWorld?: boolean };
  /** Rejects only when the signal fires; a failure is a result that says so. */
  call(input: JsonObject, options: McpToolCallOptions): Promise<McpToolCallResult>;
}

/** Resources and prompts, as the server lists them and as far as they can be read. */
export interface McpDirectory {
  server: string;
  resources: readonly (Listed & { uri: string; size?: number | undefined })[];
  templates: readonly (Listed & { uriTemplate: string })[];
  prompts: readonly (Omit<Listed, 'mimeType'> & { arguments?: PromptArgument[] | undefined })[];
}

interface Listed {
  name: string;
  title?: string | undefined;
  description?: string | undefined;
  mimeType?: string | undefined;
}

interface PromptArgument {
  name: string;
  description?: string | undefined;
  required?: boolean | undefined;
}

export interface McpToolCallOptions {
  signal: AbortSignal;
  session?: string;
  /** Further fields of `_meta`, for servers without sessions: the trace context. */
  meta?: Readonly<Record<string, string>>;
  /** The server asks a person; without, it is told that nobody can be asked. */
  onQuestion?: (question: McpQuestion) => Promise<FormAnswer>;
  onProgress?: (progress: { progress: number; total?: number; message?: string }) => void;
}

export interface McpToolCallResult {
  content: ToolResultContent[];
  isError: boolean;
  structured?: JsonObject;
}

export type McpServerChange = Pick<McpServerStatus, 'name' | 'state'>;

export interface McpServerStatus {
  name: string;
  type: 'stdio' | 'http' | 'sse';
  /** The program or the address, without credentials. */
  target: string;
  /** `needs-auth`: the server wants a sign-in that has not happened. */
  state: 'connecting' | 'connected' | 'failed' | 'needs-auth' | 'closed';
  /** Why it is not connected, and what to do; of a connected server, what of it cannot be used. */
  problem?: string;
  /** Where the person signs in, for `needs-auth`. */
  signInUrl?: string;
  /** Milliseconds since the epoch of the next try. */
  retryAt?: number;
  tools: readonly string[];
  serverInfo?: { name: string; version: string };
  /** The revision of MCP that it is spoken to in. */
  protocol?: string;
  connectedAt?: number;
  shared: boolean;
  /** In the configuration; others were added while the gateway ran, and are kept in its store. */
  persistent: boolean;
}
