/** MCP servers over HTTP with tools by the hundred, as a person connects them to a client. */
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { startSite } from '../support/loopback-site.js';
import { manyTools } from '../support/many-tools.js';

export interface ToolServers {
  /** The content of a `.mcp.json`. */
  config: { mcpServers: Record<string, { type: 'http'; url: string }> };
  /** The names of their tools as a client shows them to its model. */
  names: readonly string[];
  /** The calls that have come, by those names. */
  calls: { name: string; input: unknown }[];
}

/** `count` tools on the servers that their names say. Each call is answered with what it was called with. */
export async function startToolServers(count: number): Promise<ToolServers> {
  const tools = manyTools(count);
  const calls: ToolServers['calls'] = [];
  const serverOf = (name: string): string => name.split('__')[1] ?? '';
  const site = await startSite((request, response) => {
    if (request.method !== 'POST') {
      response.writeHead(405).end();
      return;
    }
    const server = request.url?.slice(1) ?? '';
    const prefix = `mcp__${server}__`;
    const own = tools.filter(({ name }) => serverOf(name) === server);
    const mcp = new Server({ name: server, version: '1.0' }, { capabilities: { tools: {} } });
    mcp.setRequestHandler(ListToolsRequestSchema, () => ({
      tools: own.map(({ name, description, inputSchema }) => ({
        name: name.slice(prefix.length),
        description,
        inputSchema: { ...inputSchema, type: 'object' as const },
      })),
    }));
    mcp.setRequestHandler(CallToolRequestSchema, ({ params }) => {
      calls.push({ name: `${prefix}${params.name}`, input: params.arguments });
      const text = `${params.name} of ${server}: ${JSON.stringify(params.arguments)}`;
      return { content: [{ type: 'text', text }] };
    });
    const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
    response.on('close', () => void transport.close());
    void mcp.connect(transport).then(() => transport.handleRequest(request, response));
  });
  const servers = [...new Set(tools.map(({ name }) => serverOf(name)))];
  return {
    config: {
      mcpServers: Object.fromEntries(
        servers.map((name) => [name, { type: 'http', url: site.url(`/${name}`) }]),
      ),
    },
    names: tools.map(({ name }) => name),
    calls,
  };
}
