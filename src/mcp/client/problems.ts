/** Why a server is not connected, as a sentence that says what to do. */
import type { McpServerConfig } from '../../config/schema.js';
import { GatewayError } from '../../core/errors.js';
import type { Sdk } from './wire/sdk.js';

/** By the code of the system or of the TLS library. */
const CODES: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such program; check `command`, and that it is installed and in PATH',
  EACCES: 'the program may not be run; check `command` and its permissions',
  ENOEXEC: 'the program cannot be run on this machine; check `command`',
  ECONNREFUSED: 'nothing listens there; start the server, or correct `url`',
  ECONNRESET: 'the connection was reset; check whether `url` needs https://, or the other way round',
  ENOTFOUND: 'the host name does not exist; check `url`',
  EAI_AGAIN: 'the host name could not be looked up; check the network and its DNS',
  ETIMEDOUT: 'it does not answer; check `url`, and whether a firewall stands between',
  EHOSTUNREACH: 'the host cannot be reached; check the network',
  ENETUNREACH: 'the network cannot be reached; check it',
};

/** Of an HTTP answer to the first message. */
const STATUSES: Readonly<Record<number, Readonly<Record<'http' | 'sse', string>>>> = {
  400: {
    http: 'it refuses the request (400); check that `url` is the address of its MCP endpoint',
    sse: 'it refuses the request (400); if it speaks streamable HTTP, use `type: http`',
  },
  403: { http: 'it refuses access (403); check `headers`', sse: 'it refuses access (403); check `headers`' },
  404: {
    http: 'there is nothing at this address (404); check the path in `url`',
    sse: 'there is nothing at this address (404); check the path in `url`',
  },
  405: {
    http: 'it does not take POST there (405); if it speaks the older transport, use `type: sse`',
    sse: 'it does not take GET there (405); if it speaks streamable HTTP, use `type: http`',
  },
  406: {
    http: 'it cannot answer in a form that MCP has (406); check that `url` is the address of its MCP endpoint',
    sse: 'it does not answer with events (406); if it speaks streamable HTTP, use `type: http`',
  },
};

const STATUS_TEXT = /\b(?:HTTP|Non-200 status code) ?\(?([1-5]\d\d)\)?/;

const PROBE = 'Version negotiation probe failed';

interface FailureFacts {
  config: McpServerConfig;
  /** What the wire knows about its own end. */
  ending?: string | undefined;
  lastWords?: string | undefined;
  /** It took longer than this. */
  timedOutMs?: number | undefined;
}

export function describeFailure(error: unknown, facts: FailureFacts): string {
  const { lastWords } = facts;
  return `${reasonOf(error, facts)}${lastWords === undefined ? '' : `; stderr: ${lastWords}`}`;
}

function reasonOf(error: unknown, { config, ending, timedOutMs }: FailureFacts): string {
  if (ending !== undefined) return ending;
  if (timedOutMs !== undefined) {
    const advice = config.type === 'stdio' ? ' that asks nothing on a terminal' : '';
    return `it did not answer within ${timedOutMs / 1000} s; check that it is an MCP server${advice}`;
  }
  const known = CODES[codeOf(error)];
  if (known !== undefined) return known;
  const status = config.type === 'stdio' ? undefined : statusOf(error);
  if (status === undefined || config.type === 'stdio') return messageOf(error);
  const told = STATUSES[status]?.[config.type];
  if (told !== undefined) return told;
  if (status >= 300 && status < 400) {
    return `it redirects elsewhere; put the address it redirects to into \`url\` (${messageOf(error)})`;
  }
  return status >= 500
    ? `it is failing (${status}); look at its own log`
    : `it answered with status ${status}`;
}

/** Node's codes, also as causes of the errors of the gateway's own HTTP client. */
function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  // The SDK's errors have codes of their own, and Node's as a cause.
  if ('code' in error && typeof error.code === 'string' && error.code in CODES) return error.code;
  if (error instanceof AggregateError) return codeOf(error.errors[0]);
  return error instanceof Error && error.cause !== undefined ? codeOf(error.cause) : '';
}

/** The SDK's own errors carry it as a number, or in the text. */
export function statusOf(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined;
  // The status of a GatewayError is the one that our own clients would get.
  if ('status' in error && typeof error.status === 'number' && !(error instanceof GatewayError)) {
    return error.status;
  }
  if ('code' in error && typeof error.code === 'number' && error.code >= 100 && error.code < 600)
    return error.code;
  const found = STATUS_TEXT.exec(error.message)?.[1];
  return found === undefined ? undefined : Number(found);
}

function messageOf(error: unknown): string {
  if (error instanceof GatewayError)
    return error.message.replaceAll('base_url', 'url').replaceAll('upstream', 'server');
  if (!(error instanceof Error)) return String(error);
  // What the SDK says of a question that got no answer ends with what it was told itself.
  return error.message.startsWith(PROBE) && error.cause !== undefined
    ? messageOf(error.cause)
    : error.message;
}

/** The server is there, and could make nothing of the question what it speaks. */
export function isRefusedQuestion(error: unknown, { SdkError, SdkErrorCode, SdkHttpError }: Sdk): boolean {
  if (!(error instanceof SdkError)) return false;
  // No other clock of the SDK's runs while it connects.
  if (error.code === SdkErrorCode.RequestTimeout) return true;
  if (error.code !== SdkErrorCode.EraNegotiationFailed) return false;
  // Nobody was there: a second try would find nobody either.
  return error instanceof SdkHttpError || codeOf(error) === '';
}

export function isClosed(error: unknown, { SdkError, SdkErrorCode }: Sdk): boolean {
  return (
    error instanceof SdkError &&
    (error.code === SdkErrorCode.ConnectionClosed || error.code === SdkErrorCode.NotConnected)
  );
}
