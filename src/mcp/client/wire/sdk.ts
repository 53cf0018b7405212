/**
 * The official SDK, loaded when the first server is connected: a gateway without MCP servers never
 * pays for it.
 */
export type {
  Client,
  FetchLike,
  JSONRPCMessage,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
  Transport,
} from '@modelcontextprotocol/client';

export type Sdk = Awaited<ReturnType<typeof loadSdk>>;

/** Node caches modules: a second call costs a few promises. */
export async function loadSdk() {
  const {
    Client,
    ProtocolError,
    ProtocolErrorCode,
    SSEClientTransport,
    SdkError,
    SdkErrorCode,
    SdkHttpError,
    SseError,
    StreamableHTTPClientTransport,
    auth,
    deserializeMessage,
    serializeMessage,
    withInputRequired,
  } = await import('@modelcontextprotocol/client');
  return {
    Client,
    ProtocolError,
    ProtocolErrorCode,
    SSEClientTransport,
    SdkError,
    SdkErrorCode,
    SdkHttpError,
    SseError,
    StreamableHTTPClientTransport,
    auth,
    deserializeMessage,
    serializeMessage,
    withInputRequired,
  };
}
