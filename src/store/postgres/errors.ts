/** Errors of PostgreSQL and of the way to it, as sentences that say what to do. */
import { GatewayError } from '../../core/errors.js';

interface Advice {
  /** An SQLSTATE, its class (two characters), or a code of the system. */
  codes: readonly string[];
  advice: string;
  retryable?: true;
}

const ADVICE: readonly Advice[] = [
  {
    codes: ['ECONNREFUSED'],
    advice: 'nothing listens there. Start PostgreSQL, or correct host and port',
    retryable: true,
  },
  { codes: ['ENOTFOUND', 'EAI_AGAIN'], advice: 'the host is not known. Correct its name', retryable: true },
  {
    codes: ['ENOENT'],
    advice: 'there is no socket in that folder. Start PostgreSQL, or correct the folder',
    retryable: true,
  },
  { codes: ['EACCES', 'EPERM'], advice: 'the gateway may not use that socket. Check its owner and mode' },
  {
    codes: ['ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH'],
    advice: 'the host does not answer. Check the network between',
    retryable: true,
  },
  { codes: ['ECONNRESET', 'EPIPE'], advice: 'the connection was lost. Try again', retryable: true },
  { codes: ['28P01', '28000'], advice: 'the user or the password is refused. Correct them in `store`' },
  { codes: ['3D000'], advice: 'there is no such database. Create it, or name another in `store`' },
  {
    codes: ['42501'],
    advice: 'the user may not do this. Let it own the database, or grant it CREATE on its schema',
  },
  {
    codes: ['53300'],
    advice: 'it has too many connections. Raise `max_connections`, or run fewer nodes',
    retryable: true,
  },
  { codes: ['53100'], advice: 'its disk is full. Free some space' },
  { codes: ['53'], advice: 'it has run out of memory or another resource. Try again', retryable: true },
  {
    codes: ['25006'],
    advice: 'it is read-only, perhaps a standby. Name the primary in `store`',
    retryable: true,
  },
  { codes: ['55P03'], advice: 'another transaction holds a lock for too long. Try again', retryable: true },
  { codes: ['57014'], advice: 'a statement took too long. Try again', retryable: true },
  { codes: ['40001', '40P01'], advice: 'too many wrote the same rows at once. Try again', retryable: true },
  {
    codes: ['57P01', '57P02', '57P03', '08'],
    advice: 'it is stopping, starting or has closed the connection. Try again',
    retryable: true,
  },
  { codes: ['XX001', 'XX002'], advice: 'it is damaged. Restore it from a backup' },
];

/** What `pg` says without a code. */
const SPOKEN: readonly { pattern: RegExp; code: string }[] = [
  { pattern: /^(Connection terminated|Client has encountered|Client was closed)/, code: 'ECONNRESET' },
  { pattern: /^(Query read timeout|timeout expired)|due to connection timeout/, code: 'ETIMEDOUT' },
  { pattern: /^timeout exceeded when trying to connect/, code: '53000' },
];

/** They end the connection, or say that there is none. */
const LOST = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT',
  'EACCES',
  'EPERM',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ECONNRESET',
  'EPIPE',
  '57P01',
  '57P02',
  '57P03',
];

/** An SQLSTATE or a code of the system; undefined for what is neither. */
export function postgresCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  // Node tries all addresses of a host and reports them together.
  if (error instanceof AggregateError) return postgresCode(error.errors[0]);
  if ('code' in error && typeof error.code === 'string') return error.code;
  return SPOKEN.find(({ pattern }) => pattern.test(error.message))?.code;
}

export function isLost(error: unknown): boolean {
  const code = postgresCode(error);
  return code !== undefined && (LOST.includes(code) || code.startsWith('08'));
}

/** The transaction was undone whole, and is worth another try. */
export function isContended(error: unknown): boolean {
  const code = postgresCode(error);
  return code === '40001' || code === '40P01';
}

/** Certificates: Node names them in words of its own. */
const TLS = /^(CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|ERR_TLS|HOSTNAME_MISMATCH)/;
const NO_TLS = /does not support SSL/;

/** `subject` is the store for clients, or names database and host (never who signs in) for who starts the gateway. */
export function storeError(error: unknown, subject: string): unknown {
  if (error instanceof GatewayError) return error;
  const code = postgresCode(error);
  const advice = adviceFor(error, code);
  if (advice === undefined) return error;
  return new GatewayError('unavailable', `${subject} cannot be used: ${advice.advice}.`, {
    retryable: advice.retryable ?? false,
    ...(advice.retryable && { retryAfter: RETRY_AFTER_S }),
    param: 'store',
    detail: 'store_unavailable',
    cause: error,
  });
}

const RETRY_AFTER_S = 5;

function adviceFor(
  error: unknown,
  code: string | undefined,
): Pick<Advice, 'advice' | 'retryable'> | undefined {
  if (error instanceof Error && NO_TLS.test(error.message)) {
    return { advice: 'it speaks no TLS. Turn it on there, or leave `sslmode` out' };
  }
  if (code === undefined) return undefined;
  if (TLS.test(code)) {
    return { advice: `its certificate is not accepted (${code}). Name its authority with \`sslrootcert\`` };
  }
  return ADVICE.find(({ codes }) => codes.includes(code) || codes.includes(code.slice(0, 2)));
}
