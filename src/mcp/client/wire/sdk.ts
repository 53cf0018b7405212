/**
 * The official SDK, loaded when the first server is connected: a gateway without MCP servers never
 * pays for it.
 */
export type { Client } from '@modelcontextprotocol/sdk/client/index.js';
export type { FetchLike, Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
export type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';

export type Sdk = Awaited<ReturnType<typeof load>>;
export type HttpSdk = Awaited<ReturnType<typeof loadHttp>>;

async function load() {
  const [{ Client }, { deserializeMessage, serializeMessage }, { ErrorCode, McpError, ...types }] =
    await Promise.all([
      import('@modelcontextprotocol/sdk/client/index.js'),
      import('@modelcontextprotocol/sdk/shared/stdio.js'),
      import('@modelcontextprotocol/sdk/types.js'),
    ]);
  return {
    Client,
    ErrorCode,
    McpError,
    ProgressNotificationSchema: types.ProgressNotificationSchema,
    ToolListChangedNotificationSchema: types.ToolListChangedNotificationSchema,
    deserializeMessage,
    serializeMessage,
  };
}

async function loadHttp() {
  const [streamable, sse, auth, schemas] = await Promise.all([
    import('@modelcontextprotocol/sdk/client/streamableHttp.js'),
    import('@modelcontextprotocol/sdk/client/sse.js'),
    import('@modelcontextprotocol/sdk/client/auth.js'),
    import('@modelcontextprotocol/sdk/shared/auth.js'),
  ]);
  return {
    StreamableHTTPClientTransport: streamable.StreamableHTTPClientTransport,
    StreamableHTTPError: streamable.StreamableHTTPError,
    SSEClientTransport: sse.SSEClientTransport,
    SseError: sse.SseError,
    UnauthorizedError: auth.UnauthorizedError,
    auth: auth.auth,
    OAuthTokensSchema: schemas.OAuthTokensSchema,
    OAuthClientInformationSchema: schemas.OAuthClientInformationSchema,
    OAuthClientInformationFullSchema: schemas.OAuthClientInformationFullSchema,
  };
}

/** Node caches modules: a second call costs a few promises. */
export const loadSdk = load;
export const loadHttpSdk = loadHttp;
