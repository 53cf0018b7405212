/**
 * Tools that Claude Code does not bring itself, served to it by MCP servers in this process, and the
 * results of tools on their way into it and out of it. Schemas are passed on as they came, so the
 * handlers are those of the protocol and not of a framework.
 */
import type { McpSdkServerConfigWithInstance } from '@anthropic-ai/claude-agent-sdk';
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/sdk/types.js';
import type {
  Block,
  JsonObject,
  MediaSource,
  ToolResultBlock,
  ToolResultContent,
} from '../../../core/conversation.js';
import { isObject } from '../../../core/is-object.js';
import { anthropicMessages } from '../../../dialects/anthropic-messages/index.js';
import type { ServedTool, ToolPlan } from './tool-plan.js';

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

export function toMcpResult({
  content,
  isError,
}: Pick<ToolResultBlock, 'content' | 'isError'>): CallToolResult {
  const blocks = content.map(toMcpContent);
  if (isError && blocks.length === 0) blocks.push({ type: 'text', text: 'Error' });
  return { content: blocks, ...(isError ? { isError: true } : {}) };
}

export function mcpError(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}

function toMcpContent(part: ToolResultContent): ContentBlock {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'image':
      return mediaOf(part.source, 'image');
    case 'document':
      return mediaOf(part.source, 'document');
    case 'opaque':
      return { type: 'text', text: JSON.stringify(part.value) };
  }
}

function mediaOf(source: MediaSource, kind: 'image' | 'document'): ContentBlock {
  switch (source.type) {
    case 'base64':
      if (kind === 'image') return { type: 'image', data: source.data, mimeType: source.mediaType };
      return {
        type: 'resource',
        resource: { uri: 'attachment:document', mimeType: source.mediaType, blob: source.data },
      };
    case 'url':
      return { type: 'text', text: `[${kind}: ${source.url}]` };
    case 'file':
      return { type: 'text', text: `[${kind} of the id ${source.fileId}]` };
    case 'text':
      return { type: 'text', text: source.data };
  }
}

/** The blocks of a user message from Claude Code; what cannot be read is kept as text. */
export function blocksOf(content: unknown): Block[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  if (!Array.isArray(content)) return [];
  return content.flatMap((block: unknown) => decode(block));
}

function decode(block: unknown): Block[] {
  try {
    const { messages } = anthropicMessages.ingress.decodeRequest({
      model: 'any',
      max_tokens: 1,
      messages: [{ role: 'user', content: [block] }],
    });
    return messages[0]?.content ?? [];
  } catch {
    const fallen = fallback(block);
    return fallen === undefined ? [] : [fallen];
  }
}

function fallback(block: unknown): Block | undefined {
  if (!isObject(block)) return undefined;
  const { type, tool_use_id: toolUseId, content, is_error: isError } = block;
  if (type !== 'tool_result' || typeof toolUseId !== 'string') return undefined;
  const text = typeof content === 'string' ? content : JSON.stringify(content ?? '');
  return { type: 'tool_result', toolUseId, content: [{ type: 'text', text }], isError: isError === true };
}
