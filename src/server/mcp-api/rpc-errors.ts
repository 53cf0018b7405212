/** Errors in the shape of JSON-RPC, for `/mcp`. */
import type { JsonObject } from '../../core/conversation.js';
import type { GatewayError } from '../../core/errors.js';

/** The `detail` of an error about bytes that are no JSON. */
export const PARSE_ERROR = 'parse_error';

/** Codes of JSON-RPC and, below -32000, those that the official SDK uses. */
const RPC_CODES: Readonly<Partial<Record<GatewayError['code'], number>>> = {
  invalid_request: -32600,
  not_found: -32001,
  internal: -32603,
};
const RPC_OTHER = -32000;
const RPC_PARSE = -32700;

/** Without an id: nothing of the request was looked at, or it was about all of it. */
export const encodeRpcError = (error: GatewayError, requestId: string): JsonObject => ({
  jsonrpc: '2.0',
  id: null,
  error: {
    code: error.detail === PARSE_ERROR ? RPC_PARSE : (RPC_CODES[error.code] ?? RPC_OTHER),
    message: error.message,
    data: { type: error.code, request_id: requestId },
  },
});
