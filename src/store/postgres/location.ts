/** Where a PostgreSQL database is, with the certificates that its URL names. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { GatewayError } from '../../core/errors.js';
import { type PostgresUrl, readPostgresUrl } from '../../core/postgres-url.js';

export interface PostgresLocation
  extends Pick<PostgresUrl, 'host' | 'port' | 'database' | 'user' | 'password'> {
  kind: 'postgres';
  tls: TlsSettings | false;
}

/** As `tls.connect` takes them. */
interface TlsSettings {
  rejectUnauthorized: boolean;
  ca?: string;
  cert?: string;
  key?: string;
  /** Left out where the name in the certificate counts. */
  checkServerIdentity?: () => undefined;
}

/** Database and host, for people: never the user's name or the password. */
export function describeLocation({ host, port, database }: PostgresLocation): string {
  return host.startsWith('/') ? `${database} at ${host}` : `${database} at ${host}:${port}`;
}

/** Throws GatewayError `invalid_request`; the message never repeats the URL, which may hold a password. */
export function parsePostgresUrl(url: string, baseDir: string): PostgresLocation {
  const read = readPostgresUrl(url);
  if ('problem' in read) throw wrong(`PostgreSQL: ${read.problem}`);
  const { host, port, database, user, password } = read;
  return { kind: 'postgres', host, port, database, user, password, tls: tlsSettings(read, baseDir) };
}

/** The modes mean what they mean to `psql`. */
function tlsSettings({ sslmode, files }: PostgresUrl, baseDir: string): TlsSettings | false {
  if (sslmode === 'disable') return false;
  const { sslrootcert, sslcert, sslkey } = files;
  return {
    // With a certificate of its authority, `require` is the same as `verify-ca`.
    rejectUnauthorized: sslmode !== 'require' || sslrootcert !== undefined,
    ...(sslmode !== 'verify-full' && { checkServerIdentity: () => undefined }),
    ...(sslrootcert !== undefined && { ca: readPem('sslrootcert', resolve(baseDir, sslrootcert)) }),
    ...(sslcert !== undefined && { cert: readPem('sslcert', resolve(baseDir, sslcert)) }),
    ...(sslkey !== undefined && { key: readPem('sslkey', resolve(baseDir, sslkey)) }),
  };
}

function readPem(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    throw wrong(`\`${name}\` of the PostgreSQL URL names ${path}, which cannot be read (${code})`);
  }
}

function wrong(message: string): GatewayError {
  return new GatewayError('invalid_request', `store: ${message}.`, { param: 'store', detail: 'store_url' });
}
