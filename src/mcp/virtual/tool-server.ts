/** The gateway's tools for any MCP client, under the permissions and approvals of its key. */
import { randomUUID } from 'node:crypto';
import type { JsonObject, ToolDefinition, ToolResultContent } from '../../core/conversation.js';
import type { ToolOffer, ToolRunEvent, ToolRunResult } from '../../tools/runtime/runtime.js';
import type { Tool } from '../../tools/runtime/tool.js';
import type { McpTool } from '../client/mcp-client.js';
import { guarded, type McpSessionScope } from './mcp-session.js';
import { ProgressReporter } from './progress.js';
import type { CallToolResult, ContentBlock, Extra, Server, WireTool } from './sdk.js';

/** Lets a client distinguish a denial from a failure without reading the text. */
const OUTCOME = 'toolgate/outcome';

export function encodeResult(result: ToolRunResult, changedInputChars: number): CallToolResult {
  const { content, isError, outcome, input } = result;
  const changed = input === undefined ? [] : [changedInput(input, changedInputChars)];
  return {
    content: [...changed, ...content.flatMap((block, index) => encodeBlock(block, index))],
    isError,
    _meta: { [OUTCOME]: outcome },
  };
}

/** The model must not believe that what it wrote is what was done. */
function changedInput(input: unknown, chars: number): ContentBlock {
  return text(
    `A person changed the input of this call before it ran. It ran with: ${JSON.stringify(input).slice(0, chars)}`,
  );
}

function encodeBlock(block: ToolResultContent, index: number): ContentBlock[] {
  switch (block.type) {
    case 'text':
      return [text(block.text)];
    case 'image':
      return block.source.type === 'base64'
        ? [{ type: 'image', data: block.source.data, mimeType: block.source.mediaType }]
        : [text(`[an image: ${JSON.stringify(block.source)}]`)];
    case 'document': {
      const { source } = block;
      if (source.type === 'text') return [text(source.data)];
      if (source.type !== 'base64') return [text(`[a document: ${JSON.stringify(source)}]`)];
      const resource = {
        uri: `toolgate:document/${index + 1}`,
        mimeType: source.mediaType,
        blob: source.data,
      };
      return [{ type: 'resource', resource }];
    }
    case 'opaque':
      return [text(JSON.stringify(block.value))];
  }
}

function text(words: string): ContentBlock {
  return { type: 'text', text: words };
}

const INSTRUCTIONS =
  'Tools that run on the gateway, in its folder and under its permissions. A call may wait until a person has approved it.';

/** They start an agent of their own, which needs a model. */
const NEED_A_MODEL: ReadonlySet<string> = new Set(['Task', 'Architect']);
/** They reach systems outside of the gateway's control. */
const OPEN_WORLD: ReadonlySet<string> = new Set(['WebFetch', 'WebSearch']);

/** By Claude Code, so that an approval shows the id that its transcript has. */
const TOOL_USE_ID = 'claudecode/toolUseId';
const ID = /^[\w-]{1,128}$/;

export function createToolServer(scope: McpSessionScope): Server {
  const { sdk, parts, calls } = scope;
  const server = new sdk.Server(
    { name: 'gateway', title: 'Toolgate: tools', version: parts.version },
    { capabilities: { tools: { listChanged: true } }, instructions: INSTRUCTIONS },
  );
  server.setRequestHandler(sdk.ListToolsRequestSchema, () =>
    guarded(scope, async () => ({ tools: await listTools(scope) })),
  );
  server.setRequestHandler(sdk.CallToolRequestSchema, ({ params }, extra) => {
    if (calls.size >= parts.limits.calls) {
      throw new sdk.McpError(
        sdk.ErrorCode.InvalidRequest,
        `${calls.size} calls of this session run already, which is the limit. Wait for one of them.`,
      );
    }
    return calls.run(extra.requestId, extra.signal, (signal) =>
      guarded(scope, () =>
        callTool(scope, { name: params.name, input: params.arguments ?? {} }, extra, signal),
      ),
    );
  });
  return server;
}

async function offerOf({ runtime, place, id, principal }: McpSessionScope): Promise<ToolOffer> {
  // What a request names is what this client picks by calling it.
  const selection = place.selection === 'requested' ? 'all' : place.selection;
  return runtime.offer({ selection, requested: [], session: id, key: principal });
}

async function listTools(scope: McpSessionScope): Promise<WireTool[]> {
  const { tools, definitions } = await offerOf(scope);
  const servers = new Map(scope.parts.mcp.tools(scope.id).map((tool) => [tool.name, tool]));
  return tools.flatMap((tool, index) => {
    const definition = definitions[index];
    if (definition === undefined || NEED_A_MODEL.has(tool.name)) return [];
    return [encodeTool(tool, definition, servers.get(tool.name))];
  });
}

function encodeTool(tool: Tool, definition: ToolDefinition, fromServer: McpTool | undefined): WireTool {
  const { name, description, inputSchema } = definition;
  const title = tool.userFacingName();
  return {
    name,
    title,
    ...(description === undefined ? {} : { description }),
    inputSchema: { ...inputSchema, type: 'object' },
    annotations: {
      title,
      ...(fromServer === undefined ? ownHints(tool) : serverHints(fromServer)),
    },
  };
}

/** Only where it holds whatever the input: a client may run such calls side by side. */
function ownHints(tool: Tool): { readOnlyHint: boolean; openWorldHint: boolean } {
  return { readOnlyHint: alwaysReads(tool), openWorldHint: OPEN_WORLD.has(tool.name) };
}

function alwaysReads(tool: Tool): boolean {
  try {
    return tool.isReadOnly({}) === true;
  } catch {
    // It judges by an input that is not there.
    return false;
  }
}

/** By the server's own account, as everywhere. */
function serverHints({ annotations: { readOnly, destructive, openWorld } }: McpTool): object {
  return {
    ...(readOnly === undefined ? {} : { readOnlyHint: readOnly }),
    ...(destructive === undefined ? {} : { destructiveHint: destructive }),
    ...(openWorld === undefined ? {} : { openWorldHint: openWorld }),
  };
}

async function callTool(
  scope: McpSessionScope,
  { name, input }: { name: string; input: JsonObject },
  extra: Extra,
  signal: AbortSignal,
): Promise<CallToolResult> {
  const { sdk, runtime, id, place, parts } = scope;
  const offer = await offerOf(scope);
  if (NEED_A_MODEL.has(name) || offer.find(name) === undefined) {
    const why = offer.whyOff?.(name);
    throw new sdk.McpError(
      sdk.ErrorCode.InvalidParams,
      why === undefined
        ? `There is no tool called ${JSON.stringify(name.slice(0, 200))}. tools/list has those that there are.`
        : `${name} is not on offer. ${why}`,
    );
  }
  const running = runtime.run({
    calls: [{ type: 'tool_use', id: callId(extra), name, input }],
    offer,
    session: await scope.toolSession(),
    options: { commands: [], model: place.model ?? '', forkNumber: 0, logName: id },
    signal,
  });
  const progress = new ProgressReporter(extra, parts.limits, `${name} is being looked at`);
  try {
    for await (const event of running) {
      if (event.type === 'tool-result') return encodeResult(event, parts.limits.changedInputChars);
      report(progress, event);
    }
  } finally {
    progress.end();
  }
  throw new Error(`${name} ended without a result`);
}

function report(progress: ProgressReporter, event: Exclude<ToolRunEvent, { type: 'tool-result' }>): void {
  if (event.type === 'tool-progress') progress.say(event.content);
  else if (event.type === 'tool-start') progress.say(event.describe.title, { urgent: true });
  else progress.say(`Waiting for approval: ${event.describe.title}`, { urgent: true });
}

function callId({ _meta }: Extra): string {
  const given = _meta?.[TOOL_USE_ID];
  return typeof given === 'string' && ID.test(given) ? given : `call_${randomUUID().replaceAll('-', '')}`;
}
