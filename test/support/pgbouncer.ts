/** PgBouncer in front of a test's PostgreSQL, which gives each transaction another connection. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { closeAfterTest } from './cleanup.js';
import { PASSWORD, type TestPostgres, USER, unprivileged } from './postgres.js';
import { freePort } from './scripted-upstream.js';
import { systemProgram } from './system-program.js';
import { until } from './until.js';

/** The address of a database through it. Ends after the test. */
export async function startPgBouncer(server: TestPostgres, database: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'pgbouncer-'));
  const as = unprivileged();
  const port = await freePort();
  const files = {
    users: `"${USER}" "${decodeURIComponent(PASSWORD)}"\n`,
    config: [
      '[databases]',
      `* = host=127.0.0.1 port=${server.port}`,
      '[pgbouncer]',
      ...['listen_addr = 127.0.0.1', `listen_port = ${port}`, 'unix_socket_dir ='],
      ...['auth_type = scram-sha-256', `auth_file = ${join(folder, 'users')}`],
      ...['pool_mode = transaction', 'default_pool_size = 12', 'max_client_conn = 200'],
    ].join('\n'),
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text, { mode: 0o600 });
  if (as !== undefined)
    for (const path of [folder, ...Object.keys(files).map((name) => join(folder, name))])
      chownSync(path, as.uid, as.gid);
  const child = spawn(systemProgram('PgBouncer'), [join(folder, 'config')], {
    ...{ cwd: folder, env: { PATH: process.env['PATH'] }, stdio: 'ignore' },
    ...as,
  });
  closeAfterTest(async () => {
    const ended = child.exitCode === null ? once(child, 'exit') : undefined;
    // At once, with whatever is open.
    child.kill('SIGTERM');
    await ended;
    await rm(folder, { recursive: true, force: true });
  });
  await until(() => answers(port));
  return server.url(database).replace(`:${server.port}/`, `:${port}/`);
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => socket.end(() => resolve(true))).once('error', () => resolve(false));
  });
}
