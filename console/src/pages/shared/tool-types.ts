/** What `GET /api/tools` and `GET /api/mcp` answer. */
export interface ToolWire {
  name: string;
  title: string;
  description: string;
  source: 'built-in' | 'own' | 'mcp';
  server: string | null;
  enabled: boolean;
  /** Why it is off. */
  reason: string | null;
  read_only: boolean | null;
  input_schema: unknown;
  /** Names or patterns of models that have it. */
  models?: string[];
}

export interface McpServerWire {
  name: string;
  type: 'stdio' | 'http' | 'sse';
  /** The program or the address, without credentials. */
  target: string;
  state: 'connecting' | 'connected' | 'failed' | 'needs-auth' | 'closed' | 'disabled';
  problem: string | null;
  sign_in_url: string | null;
  retry_at: string | null;
  tools: string[];
  server_info: { name: string; version: string } | null;
  connected_at: string | null;
  shared: boolean;
  /** In the configuration. */
  persistent: boolean;
}
