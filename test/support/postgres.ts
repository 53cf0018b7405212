/** A PostgreSQL server of its own for tests: in a temporary folder, on loopback, as a user without rights. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import type { TestCertificate } from './certificate.js';
import { freePort } from './scripted-upstream.js';
import { systemProgram } from './system-program.js';
import { until } from './until.js';

export const USER = 'toolgate';
export const PASSWORD = 'p%40ss%2Fw%3Ard';
const SETTINGS = {
  fsync: 'on',
  max_connections: '60',
  shared_buffers: '32MB',
  listen_addresses: '127.0.0.1',
  // Tests of one file wait for nobody else.
  deadlock_timeout: '200ms',
};

export interface TestPostgres {
  readonly port: number;
  /** Where its socket is. */
  readonly folder: string;
  url(database: string, user?: string, password?: string): string;
  /** An empty database. */
  create(): Promise<string>;
  /** As a gateway has made it: without a row. Quicker than another database. */
  clear(database: string): Promise<void>;
  /** As the superuser, in `postgres` unless another is named. */
  query(sql: string, database?: string): Promise<Record<string, unknown>[]>;
  /** `immediate`: as a crash, without any end of transactions. */
  stop(how: 'fast' | 'immediate'): Promise<void>;
  start(): Promise<void>;
  close(): Promise<void>;
}

const binaries = (): string => dirname(realpathSync(systemProgram('PostgreSQL')));

/** PostgreSQL refuses to run as root. */
export function unprivileged(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  const [, , uid, gid] =
    users.find(([name]) => name === 'postgres') ?? users.find(([name]) => name === 'nobody') ?? [];
  return { uid: Number(uid), gid: Number(gid) };
}

/** With a certificate it speaks TLS as well. */
export async function startPostgres(certificate?: TestCertificate): Promise<TestPostgres> {
  const bin = binaries();
  const as = unprivileged();
  const folder = await mkdtemp(join(tmpdir(), 'pg-'));
  const passwordFile = join(folder, 'password');
  writeFileSync(passwordFile, decodeURIComponent(PASSWORD));
  if (as !== undefined) for (const path of [folder, passwordFile]) chownSync(path, as.uid, as.gid);
  const data = join(folder, 'data');
  const initdb = ['-D', data, '-U', USER, '-A', 'scram-sha-256', '-E', 'UTF8', '--locale=C', '-N'];
  const options = { cwd: folder, env: { PATH: process.env['PATH'] }, ...as };
  await promisify(execFile)(join(bin, 'initdb'), [...initdb, `--pwfile=${passwordFile}`], options);
  if (certificate !== undefined) {
    for (const [name, text] of [
      ['server.crt', certificate.cert],
      ['server.key', certificate.key],
    ] as const) {
      const path = join(data, name);
      // PostgreSQL refuses a key that others could read.
      writeFileSync(path, text, { mode: 0o600 });
      if (as !== undefined) chownSync(path, as.uid, as.gid);
    }
  }
  const port = await freePort();
  let child: ChildProcess | undefined;
  let count = 0;
  const url = (database: string, user = USER, password = PASSWORD) =>
    `postgres://${user}:${password}@127.0.0.1:${port}/${database}`;
  const query = async (sql: string, database = 'postgres') => {
    const client = new pg.Client({ connectionString: url(database) });
    // Ended by the server, it has nobody to tell.
    client.on('error', () => {});
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(sql)).rows;
    } finally {
      await client.end();
    }
  };
  const start = async () => {
    const settings = Object.entries({ ...SETTINGS, ssl: certificate === undefined ? 'off' : 'on' }).flatMap(
      ([name, value]) => ['-c', `${name}=${value}`],
    );
    child = spawn(join(bin, 'postgres'), ['-D', data, '-p', String(port), '-k', folder, ...settings], {
      ...options,
      stdio: 'ignore',
    });
    await until(() =>
      query('SELECT 1').then(
        () => true,
        () => false,
      ),
    );
  };
  const stop = async (how: 'fast' | 'immediate') => {
    const running = child;
    child = undefined;
    if (running === undefined) return;
    const ended = once(running, 'exit');
    running.kill(how === 'fast' ? 'SIGINT' : 'SIGQUIT');
    await ended;
  };
  await start();
  return {
    port,
    folder,
    url,
    query,
    start,
    stop,
    create: async () => {
      count += 1;
      await query(`CREATE DATABASE t${count}`);
      return `t${count}`;
    },
    clear: async (database) => {
      const tables = await query(`SELECT tablename FROM pg_tables WHERE schemaname = 'public'`, database);
      const names = tables.map(({ tablename }) => String(tablename));
      const filled = names.filter((name) => name !== 'counters' && name !== 'toolgate_schema');
      const deletes = filled.map((name) => `DELETE FROM ${name}`);
      // All rows go, so no key has to be followed.
      await query(['SET session_replication_role = replica', ...deletes].join(';'), database);
    },
    close: async () => {
      await stop('immediate');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Ends the connections that listen, and no other. */
export async function cutListeners(server: TestPostgres, database: string): Promise<void> {
  await server.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'toolgate listener'`,
    database,
  );
}

/** From then on notifications are taken and never come, as behind a pooler that gives each transaction another connection. */
export async function muteNotifications(server: TestPostgres, database: string): Promise<void> {
  await server.query(
    `CREATE FUNCTION pg_notify(text, text) RETURNS void LANGUAGE sql AS 'SELECT';
    ALTER DATABASE ${database} SET search_path = public, pg_catalog`,
    database,
  );
}
