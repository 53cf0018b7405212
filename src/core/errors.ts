/** Every way a request can fail, with its usual HTTP status. Dialects map codes to their own words. */
const STATUS_OF = {
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

export const isErrorCode = (value: unknown): value is ErrorCode =>
  typeof value === 'string' && Object.hasOwn(STATUS_OF, value);

export interface GatewayErrorOptions {
  /** Overrides the usual status of the code: the last upstream error keeps its own. */
  status?: number;
  retryable?: boolean;
  /** Seconds, for `retry-after`. */
  retryAfter?: number;
  /** When a budget begins anew, in seconds of Unix time. */
  resetAt?: number;
  /** Where in the body, as a path (`messages.2.content.0.source`). */
  param?: string;
  /** A provider's own finer code (`context_length_exceeded`), passed on where the dialect has a place. */
  detail?: string;
  cause?: unknown;
}

/** The finer code of a request that is denied because nobody knows what its key has spent. */
export const BUDGET_UNKNOWN = 'budget_unknown';

/**
 * The one error that crosses folders. Its message is written for the client and says what to do
 * next; anything else thrown is a bug, logged whole and shown as an internal error.
 */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly code: ErrorCode;
  readonly status: number;
  readonly retryable: boolean;
  readonly retryAfter: number | undefined;
  readonly resetAt: number | undefined;
  readonly param: string | undefined;
  readonly detail: string | undefined;

  constructor(code: ErrorCode, message: string, options: GatewayErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.status = options.status ?? STATUS_OF[code];
    this.retryable = options.retryable ?? false;
    this.retryAfter = options.retryAfter;
    this.resetAt = options.resetAt;
    this.param = options.param;
    this.detail = options.detail;
  }
}

/** What a client is shown for `error`: the message of a GatewayError, and nothing of a bug. */
export function toGatewayError(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  return new GatewayError(
    'internal',
    'Internal error in the gateway. The request id identifies it in the gateway log.',
    { cause: error },
  );
}
