import { type ErrorCode, STATUS_OF } from './error-codes.js';

export type { ErrorCode } from './error-codes.js';

export interface GatewayErrorOptions {
  /** Overrides the usual status of the code: the last upstream error keeps its own. */
  status?: number;
  retryable?: boolean;
  /** Seconds, for `retry-after`. */
  retryAfter?: number;
  /** Where in the body, as a path (`messages.2.content.0.source`). */
  param?: string;
  /** A provider's own finer code (`context_length_exceeded`), passed on where the dialect has a place. */
  detail?: string;
  cause?: unknown;
}

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
  readonly param: string | undefined;
  readonly detail: string | undefined;

  constructor(code: ErrorCode, message: string, options: GatewayErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.status = options.status ?? STATUS_OF[code];
    this.retryable = options.retryable ?? false;
    this.retryAfter = options.retryAfter;
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
