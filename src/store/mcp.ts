/** What people decided about MCP servers: tools as they were approved, and servers that they added. */

/** A tool as it was when it was approved. */
export interface ToolPin {
  /** Whose approval it is: a rule's, or a person's for one key. */
  subject: string;
  tool: string;
  digest: string;
  /** JSON: enough to say later what has changed. */
  summary: unknown;
  pinnedAt: number;
}

export type NewToolPin = Omit<ToolPin, 'pinnedAt'>;

/** A server that is not in the configuration. */
export interface AddedServer {
  name: string;
  /** As under `mcp_servers`; it may hold credentials. */
  config: unknown;
  addedAt: number;
}

export interface McpStore {
  pin(subject: string, tool: string): Promise<ToolPin | undefined>;
  /** Of several that pin the same, the first wins: resolves with what is pinned. */
  keepPin(pin: NewToolPin): Promise<ToolPin>;
  /** The newest replaces the one before. */
  putPin(pin: NewToolPin): Promise<void>;
  /** By name. */
  servers(): Promise<AddedServer[]>;
  /** One of the same name is replaced. */
  putServer(server: Omit<AddedServer, 'addedAt'>): Promise<void>;
  /** Whether it was there. */
  removeServer(name: string): Promise<boolean>;
}

/** Subjects of rules that people made begin with this, followed by the rule's id; they are pruned with it. */
export const RULE_SUBJECT = 'rule:';
