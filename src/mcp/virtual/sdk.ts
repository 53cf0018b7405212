/** The server side of the official SDK, loaded with the first client. */
export type {
  CallToolResult,
  ContentBlock,
  InputRequiredResult,
  JSONRPCMessage,
  RequestId,
  Server,
  ServerContext,
  Tool as WireTool,
  Transport,
} from '@modelcontextprotocol/server';

export type ServerSdk = Awaited<ReturnType<typeof loadServerSdk>>;

/** Node caches modules: a second call costs a few promises. */
export async function loadServerSdk() {
  const {
    Server,
    WebStandardStreamableHTTPServerTransport,
    InMemoryServerEventBus,
    MissingRequiredClientCapabilityError,
    ProtocolError,
    ProtocolErrorCode,
    SUPPORTED_PROTOCOL_VERSIONS,
    classifyInboundRequest,
    createMcpHandler,
    inputRequired,
    inputResponse,
    parseJSONRPCMessage,
  } = await import('@modelcontextprotocol/server');
  return {
    Server,
    StreamableTransport: WebStandardStreamableHTTPServerTransport,
    EventBus: InMemoryServerEventBus,
    MissingRequiredClientCapabilityError,
    ProtocolError,
    ErrorCode: ProtocolErrorCode,
    /** Of the era of sessions, the newest first. */
    OLDER_VERSIONS: SUPPORTED_PROTOCOL_VERSIONS,
    classifyInboundRequest,
    createMcpHandler,
    inputRequired,
    inputResponse,
    parseMessage: parseJSONRPCMessage,
  };
}
