/** `postgres://user:password@host:port/database?sslmode=…`: what it names, or what is wrong with it. */

export interface PostgresUrl {
  /** A name, an address, or the folder of a socket. */
  host: string;
  port: number;
  database: string;
  user: string | undefined;
  password: string | undefined;
  sslmode: (typeof SSL_MODES)[number];
  /** Paths, as they were given. */
  files: { sslrootcert?: string; sslcert?: string; sslkey?: string };
}

const SCHEME = /^postgres(?:ql)?:/i;
const DEFAULT_PORT = 5432;
const SSL_MODES = ['disable', 'require', 'verify-ca', 'verify-full'] as const;
const FILES = ['sslrootcert', 'sslcert', 'sslkey'] as const;
const PARAMETERS: readonly string[] = ['sslmode', ...FILES, 'host'];
const EXPECTED = 'postgres://USER@HOST/DATABASE';

export function isPostgresUrl(url: string): boolean {
  return SCHEME.test(url);
}

/** `problem` never repeats the URL, which may hold a password. */
export function readPostgresUrl(given: string): PostgresUrl | { problem: string } {
  const text = given.replace(SCHEME, 'postgres:');
  if (!URL.canParse(text)) {
    return { problem: `expected ${EXPECTED}, with special characters of the password as %XX` };
  }
  const url = new URL(text);
  const unknown = [...url.searchParams.keys()].find((name) => !PARAMETERS.includes(name));
  if (unknown !== undefined) {
    return { problem: `expected no parameters but ${PARAMETERS.join(', ')}, got ${unknown}` };
  }
  const parts = [url.username, url.password, url.hostname, url.pathname.slice(1)].map(decoded);
  const [user, password, hostname, database] = parts;
  if (user === undefined || password === undefined || hostname === undefined || database === undefined) {
    return { problem: `expected ${EXPECTED} with every % written as %25` };
  }
  if (database === '' || database.includes('/')) return { problem: `expected ${EXPECTED}, got no database` };
  const host = url.searchParams.get('host') ?? hostname.replace(/^\[(.+)\]$/, '$1');
  if (host === '') return { problem: `expected ${EXPECTED}, got no host` };
  const mode =
    url.searchParams.get('sslmode') ?? (url.searchParams.has('sslrootcert') ? 'verify-full' : 'disable');
  const sslmode = SSL_MODES.find((each) => each === mode);
  if (sslmode === undefined) return { problem: `expected sslmode to be one of ${SSL_MODES.join(', ')}` };
  const files: PostgresUrl['files'] = {};
  for (const name of FILES) {
    const path = url.searchParams.get(name);
    if (path !== null) files[name] = path;
  }
  return {
    host,
    port: url.port === '' ? DEFAULT_PORT : Number(url.port),
    database,
    user: user === '' ? undefined : user,
    password: password === '' ? undefined : password,
    sslmode,
    files,
  };
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
