/** The server side of the official SDK, loaded with the first client. */
export type { Server } from '@modelcontextprotocol/sdk/server/index.js';
export type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
export type {
  CallToolResult,
  ContentBlock,
  JSONRPCMessage,
  RequestId,
  ServerNotification,
  ServerRequest,
  Tool as WireTool,
} from '@modelcontextprotocol/sdk/types.js';

import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type { ServerNotification, ServerRequest } from '@modelcontextprotocol/sdk/types.js';

/** What a handler knows about its request. */
export type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

export type ServerSdk = Awaited<ReturnType<typeof loadServerSdk>>;

/** Node caches modules: a second call costs a few promises. */
export async function loadServerSdk() {
  const [{ Server }, { WebStandardStreamableHTTPServerTransport }, types] = await Promise.all([
    import('@modelcontextprotocol/sdk/server/index.js'),
    import('@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'),
    import('@modelcontextprotocol/sdk/types.js'),
  ]);
  return {
    Server,
    Transport: WebStandardStreamableHTTPServerTransport,
    ErrorCode: types.ErrorCode,
    McpError: types.McpError,
    ListToolsRequestSchema: types.ListToolsRequestSchema,
    CallToolRequestSchema: types.CallToolRequestSchema,
    ListRootsResultSchema: types.ListRootsResultSchema,
    RootsListChangedNotificationSchema: types.RootsListChangedNotificationSchema,
  };
}
