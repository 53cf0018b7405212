/**
 * What appending a change costs while others do the same: 50 writers, 2,000 transactions a second, each on the
 * server's disk. Once as the gateway does it, with one notification in ten milliseconds beside them; once with a
 * notification in each transaction. Then both as fast as they can.
 *
 *   node bench/bus.mjs [--seconds 10] [--rate 2000] [--writers 50] [--rounds 3]
 *
 * It starts a PostgreSQL of its own in a temporary folder (fsync on), and ends it.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { cpus, loadavg, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { findTestProgram } from '../scripts/test-programs.mjs';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    rate: { type: 'string', default: '2000' },
    writers: { type: 'string', default: '50' },
    rounds: { type: 'string', default: '3' },
  },
});
const [seconds, rate, writers, rounds] = ['seconds', 'rate', 'writers', 'rounds'].map((name) =>
  Number(values[name]),
);

const CHANNEL = 'toolgate_changes';
const COALESCE_MS = 10;
const TABLE = `CREATE TABLE changes (
  seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  xid XID8 NOT NULL DEFAULT pg_current_xact_id(),
  at BIGINT NOT NULL DEFAULT (extract(epoch FROM clock_timestamp()) * 1000)::bigint,
  kind TEXT NOT NULL, what TEXT NOT NULL, id TEXT NOT NULL, principal TEXT NOT NULL DEFAULT '', body TEXT
);
CREATE INDEX changes_by_xid ON changes (xid);`;
const APPEND = `INSERT INTO changes (kind, what, id) VALUES ('approval', 'insert', $1)`;

const APPEND_AND_NOTIFY = `WITH appended AS (${APPEND} RETURNING id)
  SELECT pg_notify('${CHANNEL}', id) FROM appended`;

async function startPostgres() {
  const found = findTestProgram('PostgreSQL');
  if (found === undefined) throw new Error('PostgreSQL is not installed.');
  const bin = dirname(realpathSync(found));
  const folder = mkdtempSync(join(tmpdir(), 'bus-'));
  const as = serverUser();
  if (as !== undefined) chownSync(folder, as.uid, as.gid);
  const options = { cwd: folder, env: { PATH: process.env.PATH }, stdio: 'ignore', ...as };
  const data = join(folder, 'data');
  execFileSync(join(bin, 'initdb'), ['-D', data, '-U', 'bench', '-A', 'trust', '-E', 'UTF8', '-N'], options);
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address();
  probe.close();
  const settings = ['-c', 'listen_addresses=127.0.0.1', '-c', 'fsync=on', '-c', 'max_connections=200'];
  const child = spawn(
    join(bin, 'postgres'),
    ['-D', data, '-p', String(port), '-k', folder, ...settings],
    options,
  );
  const connect = async () => {
    const client = new pg.Client({ host: '127.0.0.1', port, user: 'bench', database: 'postgres' });
    await client.connect();
    return client;
  };
  for (;;) {
    const client = await connect().catch(() => undefined);
    await client?.end();
    if (client !== undefined) break;
    await delay(100);
  }
  const close = async () => {
    child.kill('SIGINT');
    await once(child, 'exit');
    rmSync(folder, { recursive: true, force: true });
  };
  return { connect, close };
}

/** PostgreSQL refuses to run as root. */
function serverUser() {
  if (process.getuid?.() !== 0) return undefined;
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((each) => /^(postgres|nobody):/.test(each));
  const [, , uid, gid] = line.split(':');
  return { uid: Number(uid), gid: Number(gid) };
}

const quantile = (sorted, share) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;

/** `inside`: a notification in each transaction. `everyMs`: 0 for as fast as it goes. */
async function measure({ clients, notifier, listeners }, inside, everyMs) {
  let heard = 0;
  const onHeard = () => heard++;
  for (const listener of listeners) listener.on('notification', onHeard);
  let due = false;
  const wake = async () => {
    if (due) return;
    due = true;
    await delay(COALESCE_MS);
    await notifier.query('SELECT pg_notify($1, $2)', [CHANNEL, 'origin']);
    due = false;
  };
  const took = [];
  const end = performance.now() + seconds * 1000;
  const begun = performance.now();
  await Promise.all(
    clients.map(async (client, index) => {
      // From when it was due, not from when it came to its turn: what waits is part of it.
      let at = begun + (everyMs * index) / clients.length;
      for (;;) {
        if (everyMs > 0) await delay(Math.max(0, at - performance.now()));
        else at = performance.now();
        if (at >= end || performance.now() > end + 10_000) return;
        // Each is a transaction of its own, in one round trip.
        await client.query(inside ? APPEND_AND_NOTIFY : APPEND, [String(index)]);
        if (!inside) void wake();
        took.push(performance.now() - at);
        at += everyMs;
      }
    }),
  );
  const elapsed = (performance.now() - begun) / 1000;
  await delay(COALESCE_MS * 5);
  for (const listener of listeners) listener.off('notification', onHeard);
  took.sort((a, b) => a - b);
  return {
    rate: took.length / elapsed,
    p50: quantile(took, 0.5),
    p99: quantile(took, 0.99),
    heard: heard / listeners.length / elapsed,
  };
}

const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];

const server = await startPostgres();
try {
  const admin = await server.connect();
  await admin.query(TABLE);
  const clients = await Promise.all(Array.from({ length: writers }, () => server.connect()));
  const listeners = await Promise.all(Array.from({ length: 3 }, () => server.connect()));
  for (const listener of listeners) await listener.query(`LISTEN ${CHANNEL}`);
  const parts = { clients, notifier: await server.connect(), listeners };
  const before = loadavg()[0].toFixed(1);
  const everyMs = (1000 * writers) / rate;
  for (const [title, pace] of [
    [`${rate} a second`, everyMs],
    ['as fast as it goes', 0],
  ]) {
    const runs = { beside: [], inside: [] };
    for (let round = 0; round < rounds; round++) {
      for (const how of ['beside', 'inside']) {
        await admin.query('TRUNCATE changes');
        runs[how].push(await measure(parts, how === 'inside', pace));
      }
    }
    console.log(`\n${writers} writers, ${title}, ${rounds} rounds of ${seconds} s (medians)`);
    for (const [how, list] of Object.entries(runs)) {
      const of = (name) => median(list.map((each) => each[name]));
      console.log(
        `  notification ${how.padEnd(6)} ${of('rate').toFixed(0).padStart(6)}/s  p50 ${of('p50').toFixed(1)} ms  p99 ${of('p99').toFixed(1)} ms  notifications heard ${of('heard').toFixed(0)}/s`,
      );
    }
  }
  console.log(
    `\n${cpus().length} cores, load ${before} at the beginning and ${loadavg()[0].toFixed(1)} at the end`,
  );
  await Promise.all([admin, parts.notifier, ...clients, ...listeners].map((client) => client.end()));
} finally {
  await server.close();
}
