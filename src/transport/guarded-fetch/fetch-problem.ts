/** Why a fetch did not give an answer. The message is a sentence that can be shown to a model. */

type FetchProblemKind =
  /** The address, port, scheme or host is not one that may be fetched. */
  | 'refused'
  | 'unreachable'
  | 'timeout'
  | 'aborted'
  | 'too-large'
  /** The content is of a kind that the caller does not take. */
  | 'unsupported'
  | 'redirects'
  /** Not a valid HTTP answer. */
  | 'malformed';

export class FetchProblem extends Error {
  override readonly name = 'FetchProblem';
  readonly kind: FetchProblemKind;

  constructor(kind: FetchProblemKind, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.kind = kind;
  }
}

/** Codes of the system, of name lookup and of TLS. */
const CAUSES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was closed',
  ETIMEDOUT: 'the connection timed out',
  EHOSTUNREACH: 'the host cannot be reached from here',
  ENETUNREACH: 'the network cannot be reached from here',
  EADDRNOTAVAIL: 'the address cannot be reached from here',
  ENOTFOUND: 'the host name does not exist. Check the spelling',
  ENODATA: 'the host name has no address. Check the spelling',
  EAI_AGAIN: 'the host name could not be looked up right now. Try again later',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate comes from an authority that is not trusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate cannot be verified',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate comes from an authority that is not known',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host name',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS on this port. Try http:// if that is what you meant',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'it does not speak TLS on this port. Try http:// if that is what you meant',
};

/** `error`: of the HTTP client or of name lookup. */
export function problemOf(error: unknown, host: string): FetchProblem {
  if (error instanceof FetchProblem) return error;
  const code = codeOf(error);
  const cause = CAUSES[code];
  if (cause !== undefined)
    return new FetchProblem('unreachable', `Could not fetch from ${host}: ${cause}.`, error);
  if (code === 'upstream_timeout') {
    return new FetchProblem('timeout', `${host} did not answer in time. Try again later.`, error);
  }
  if (code === 'upstream_failed') {
    return new FetchProblem(
      'malformed',
      `${host} sent an answer that cannot be read, or broke it off.`,
      error,
    );
  }
  return new FetchProblem('unreachable', `Could not fetch from ${host}: the connection failed.`, error);
}

/** Of the innermost error that has one: the client's own error carries the system's as its cause. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const inner = error instanceof AggregateError ? codeOf(error.errors[0]) : codeOf(error.cause);
  if (inner !== '') return inner;
  return 'code' in error && typeof error.code === 'string' ? error.code : '';
}
