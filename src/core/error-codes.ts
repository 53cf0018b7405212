/** Every way a request can fail, with its usual HTTP status. Dialects map codes to their own words. */
export const STATUS_OF = {
  invalid_request: 400,
  unauthenticated: 401,
  billing: 402,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  timeout: 408,
  conflict: 409,
  gone: 410,
  too_large: 413,
  unsupported_media_type: 415,
  unprocessable: 422,
  rate_limited: 429,
  client_closed: 499,
  internal: 500,
  not_implemented: 501,
  upstream_failed: 502,
  unavailable: 503,
  upstream_timeout: 504,
  overloaded: 529,
  /** The prompt does not fit the model. */
  context_overflow: 400,
  /** An agent was asked for a tool result that names no open call. */
  unknown_tool_call: 400,
} as const;

export type ErrorCode = keyof typeof STATUS_OF;
