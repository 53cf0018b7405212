/** What went wrong on the wire, in words for the client: which host and what, never a credential. */
import { GatewayError } from '../../core/errors.js';
import { ProtocolError } from './response-head.js';

/** No connection came about: whoever asks, for whatever, it is the same. */
export class UnreachableError extends GatewayError {}

const kindOf = (stage: RequestStage) => (stage === 'connect' ? UnreachableError : GatewayError);

/** Where a request was going, as shown in messages. */
export interface RequestTarget {
  /** `host` or `host:port`. */
  label: string;
  /** Of the proxy in between. */
  proxy: string | undefined;
}

type RequestStage =
  | 'connect'
  /** Sending the request, or waiting for the head of the answer. */
  | 'answer'
  | 'body';

interface Cause {
  text: string;
  retryable: boolean;
  advice?: string;
}

const CHECK_URL = "Check the upstream's base_url.";
const CHECK_TLS =
  'If this authority is meant to be trusted, start the gateway with NODE_EXTRA_CA_CERTS naming its PEM file.';

/** Codes of the system, of name lookup and of TLS. */
const CAUSES: Readonly<Record<string, Cause>> = {
  ECONNREFUSED: {
    text: 'nothing listens there',
    retryable: true,
    advice: 'Check that the upstream is running and that its base_url is right.',
  },
  ECONNRESET: { text: 'the connection was reset', retryable: true },
  EPIPE: { text: 'the connection was closed', retryable: true },
  ECONNABORTED: { text: 'the connection was aborted', retryable: true },
  ETIMEDOUT: { text: 'the connection timed out', retryable: true },
  EHOSTUNREACH: { text: 'the host cannot be reached', retryable: true },
  ENETUNREACH: { text: 'the network cannot be reached', retryable: true },
  EADDRNOTAVAIL: { text: 'no local address or port is free for it', retryable: true },
  EMFILE: { text: 'the gateway has too many open files', retryable: true },
  ENOTFOUND: { text: 'the host name does not exist', retryable: false, advice: CHECK_URL },
  EAI_AGAIN: { text: 'the host name could not be looked up right now', retryable: true },
  CERT_HAS_EXPIRED: { text: 'its certificate has expired', retryable: false },
  CERT_NOT_YET_VALID: {
    text: 'its certificate is not valid yet',
    retryable: false,
    advice: 'Check the clock.',
  },
  DEPTH_ZERO_SELF_SIGNED_CERT: {
    text: 'its certificate is self-signed',
    retryable: false,
    advice: CHECK_TLS,
  },
  SELF_SIGNED_CERT_IN_CHAIN: {
    text: 'its certificate comes from an authority that is not trusted',
    retryable: false,
    advice: CHECK_TLS,
  },
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: {
    text: 'its certificate cannot be verified',
    retryable: false,
    advice: CHECK_TLS,
  },
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: {
    text: 'its certificate comes from an authority that is not known',
    retryable: false,
    advice: CHECK_TLS,
  },
  ERR_TLS_CERT_ALTNAME_INVALID: {
    text: 'its certificate is for another host name',
    retryable: false,
    advice: CHECK_URL,
  },
  ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL: { text: 'it does not offer HTTP/1.1', retryable: false },
  ERR_SSL_WRONG_VERSION_NUMBER: {
    text: 'it does not speak TLS on this port',
    retryable: false,
    advice: 'Check whether its base_url should start with http://.',
  },
  ERR_SSL_PACKET_LENGTH_TOO_LONG: {
    text: 'it does not speak TLS on this port',
    retryable: false,
    advice: 'Check whether its base_url should start with http://.',
  },
};

const BEGINNINGS: Readonly<Record<RequestStage, string>> = {
  connect: 'Could not connect to',
  answer: 'No answer from',
  body: 'The answer broke off from',
};

function nameOf(target: RequestTarget): string {
  return target.proxy === undefined ? target.label : `${target.label} (through the proxy ${target.proxy})`;
}

export function wireFailure(target: RequestTarget, stage: RequestStage, error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  if (error instanceof ProtocolError) return malformed(target, error);
  const code = codeOf(error);
  const cause = CAUSES[code];
  const text = cause?.text ?? 'the connection failed';
  const advice = cause?.advice === undefined ? '' : ` ${cause.advice}`;
  const shown = code === '' ? '' : ` (${code})`;
  return new (kindOf(stage))(
    'upstream_failed',
    `${BEGINNINGS[stage]} ${nameOf(target)}: ${text}${shown}.${advice}`,
    { retryable: cause?.retryable ?? true, cause: error },
  );
}

/** Several addresses tried give one AggregateError; its first error is the preferred address's. */
function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  if ('code' in error && typeof error.code === 'string') return error.code;
  return error instanceof AggregateError ? codeOf(error.errors[0]) : '';
}

function malformed(target: RequestTarget, error: ProtocolError): GatewayError {
  return new GatewayError(
    'upstream_failed',
    `${nameOf(target)} sent something that is not a valid HTTP answer: ${error.message}. Check the upstream's base_url.`,
    { cause: error },
  );
}

/** The connection ended without an error, but too soon. */
export function closedEarly(target: RequestTarget, stage: 'answer' | 'body'): GatewayError {
  const what =
    stage === 'answer'
      ? 'closed the connection without an answer'
      : 'closed the connection before its answer was complete';
  return new GatewayError('upstream_failed', `${nameOf(target)} ${what}.`, { retryable: true });
}

export function timedOut(target: RequestTarget, stage: RequestStage, afterMs: number): GatewayError {
  const seconds = `${afterMs / 1000} s`;
  const texts: Record<RequestStage, string> = {
    connect: `${nameOf(target)} did not accept a connection within ${seconds}.`,
    answer: `${nameOf(target)} did not answer within ${seconds}.`,
    body: `${nameOf(target)} fell silent for ${seconds} in the middle of its answer.`,
  };
  return new (kindOf(stage))('upstream_timeout', texts[stage], { retryable: true });
}

export function cancelled(signal: AbortSignal): GatewayError {
  if (signal.reason instanceof GatewayError) return signal.reason;
  return new GatewayError('client_closed', 'The request was cancelled.', { cause: signal.reason });
}

export function shuttingDown(): GatewayError {
  return new GatewayError(
    'unavailable',
    'The gateway is shutting down. Send the request again in a moment.',
    {
      retryable: true,
    },
  );
}
