/** A PostgreSQL of its own for a benchmark: a temporary folder, loopback, ended with this process. */
import { execFileSync, spawn } from 'node:child_process';
import { chownSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { findTestProgram } from '../../scripts/test-programs.mjs';
import { answers, cpuNs, freePort } from './process.mjs';

const USER = 'toolgate';

/** It refuses to run as root. */
function identity() {
  if (process.getuid?.() !== 0) return {};
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  const [, , uid, gid] =
    users.find(([name]) => name === 'postgres') ?? users.find(([name]) => name === 'nobody');
  return { uid: Number(uid), gid: Number(gid) };
}

export async function startPostgres() {
  const found = findTestProgram('PostgreSQL');
  if (found === undefined) throw new Error('PostgreSQL is not installed: run `node scripts/test-deps.mjs`.');
  const bin = dirname(realpathSync(found));
  const as = identity();
  const folder = mkdtempSync(join(tmpdir(), 'toolgate-bench-pg-'));
  if (as.uid !== undefined) chownSync(folder, as.uid, as.gid);
  const options = { cwd: folder, stdio: 'ignore', ...as };
  const data = join(folder, 'data');
  execFileSync(
    join(bin, 'initdb'),
    ['-D', data, '-U', USER, '-A', 'trust', '-E', 'UTF8', '--locale=C'],
    options,
  );
  const port = await freePort();
  const settings = ['listen_addresses=127.0.0.1', 'max_connections=60'].flatMap((each) => ['-c', each]);
  const child = spawn(
    join(bin, 'postgres'),
    ['-D', data, '-p', String(port), '-k', folder, ...settings],
    options,
  );
  const exited = new Promise((resolve) => child.once('exit', resolve));
  const kill = () => child.kill('SIGQUIT');
  process.once('exit', kill);
  const isReady = () => {
    try {
      execFileSync(join(bin, 'pg_isready'), ['-h', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  };
  while (!(await answers(port)) || !isReady()) await delay(100);
  return {
    url: `postgres://${USER}@127.0.0.1:${port}/postgres`,
    cpuNs: () => cpuNs(child.pid),
    async stop() {
      child.kill('SIGINT');
      await exited;
      process.off('exit', kill);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
