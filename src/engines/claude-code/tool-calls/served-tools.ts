/**
 * Tools that Claude Code does not bring itself, served to it by MCP servers in this process. Schemas
 * are passed on as they came, so the handlers are those of the protocol and not of a framework.
 */
import type { McpSdkServerConfigWithInstance } from '@anthropic-ai/claude-agent-sdk';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { JsonObject } from '../../../core/conversation.js';
import type { ServedTool, ToolPlan } from './tool-plan.js';
import { mcpError } from './tool-results.js';

export interface ServedToolCall {
  tool: ServedTool;
  /** As Claude Code knows it. */
  wireId: string;
  input: JsonObject;
  /** Fires when Claude Code gives the call up. */
  signal: AbortSignal;
}

/** Where Claude Code puts the id of the model's call. */
const ID_FIELD = 'claudecode/toolUseId';

/** Read by Claude Code: in sight from the beginning, and no result is too long to be shown. */
const TOOL_META = { 'anthropic/alwaysLoad': true, 'anthropic/maxResultSizeChars': 500_000 } as const;

const NO_ID =
  'This call came without the id of the model\'s call, so its result could not be told from others. Claude Code and the gateway do not fit together: install the version of the Agent SDK that "toolgate doctor" names.';

export async function serveTools(
  plan: ToolPlan,
  handle: (call: ServedToolCall) => Promise<CallToolResult>,
): Promise<Record<string, McpSdkServerConfigWithInstance>> {
  const servers: Record<string, McpSdkServerConfigWithInstance> = {};
  if (plan.servers.size === 0) return servers;
  const [{ McpServer }, { CallToolRequestSchema, ListToolsRequestSchema }] = await Promise.all([
    import('@modelcontextprotocol/sdk/server/mcp.js'),
    import('@modelcontextprotocol/sdk/types.js'),
  ]);
  for (const [name, tools] of plan.servers) {
    const instance = new McpServer({ name, version: '1.0.0' }, { capabilities: { tools: {} } });
    const listed = { tools: tools.map(listing) };
    instance.server.setRequestHandler(ListToolsRequestSchema, async () => listed);
    instance.server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }) => {
      const tool = plan.served(name, params.name);
      if (tool === undefined) return mcpError(`There is no tool called ${JSON.stringify(params.name)}.`);
      const wireId = params._meta?.[ID_FIELD];
      if (typeof wireId !== 'string' || wireId === '') return mcpError(NO_ID);
      return handle({ tool, wireId, input: params.arguments ?? {}, signal });
    });
    servers[name] = { type: 'sdk', name, instance };
  }
  return servers;
}

function listing({ name, description, inputSchema, readOnly }: ServedTool) {
  return {
    name,
    description,
    inputSchema: { ...inputSchema, type: 'object' as const },
    ...(readOnly ? { annotations: { readOnlyHint: true } } : {}),
    _meta: TOOL_META,
  };
}
