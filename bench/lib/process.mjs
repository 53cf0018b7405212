/** Processes under test: started on one core, measured by the scheduler's own counters. */
import { spawn, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

export const TARGET_CORE = 1;
export const LOAD_CORE = 0;
const START_TIMEOUT_MS = 60_000;
const OUTPUT_KEPT = 8_000;
/** Of a core. A process with timers is never quite still. */
const IDLE_SHARE = 0.01;

let pins;
const canPin = () => {
  pins ??= spawnSync('taskset', ['-V']).status === 0;
  return pins;
};

/** The load generator is this very process: it stays off the core of what is measured. */
export function pinSelf(core = LOAD_CORE) {
  if (canPin())
    spawnSync('taskset', ['-a', '-p', '-c', String(core), String(process.pid)], { stdio: 'ignore' });
}

const running = new Set();

/** What was started ends with this process, however it ends. */
function endWithUs(child) {
  if (running.size === 0) {
    process.once('exit', killAll);
    for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, stopNow);
  }
  running.add(child);
}

function forget(child) {
  running.delete(child);
  if (running.size > 0) return;
  process.off('exit', killAll);
  for (const signal of ['SIGINT', 'SIGTERM']) process.off(signal, stopNow);
}

/** With SIGTERM: a program that has children of its own, as nginx, ends them then. */
function killAll() {
  for (const child of running) child.kill('SIGTERM');
}

const stopNow = () => process.exit(1);

/**
 * Starts a command on a core and waits for a line `listening <port>` on its output (or until
 * `ready()` is true, for programs that print none).
 */
export async function start(command, args, options = {}) {
  const { core = TARGET_CORE, env = {}, ready, port, cwd, ipc = false } = options;
  const begun = performance.now();
  const child = canPin()
    ? spawn('taskset', ['-c', String(core), command, ...args], spawnOptions(env, cwd, ipc))
    : spawn(command, args, spawnOptions(env, cwd, ipc));
  endWithUs(child);
  let output = '';
  let found;
  const exited = new Promise((resolve) =>
    child.once('exit', (code) => {
      forget(child);
      resolve(code);
    }),
  );
  const listening = new Promise((resolve) => {
    const collect = (data) => {
      // Log lines come by the thousand: only the last are of use when something fails.
      output = (output + data).slice(-OUTPUT_KEPT);
      if (found !== undefined) return;
      const match = /listening (\d+)|https?:\/\/[^\s/:]+:(\d+)/.exec(output);
      if (match !== null) resolve(Number(match[1] ?? match[2]));
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
  });
  const answering = ready === undefined ? listening : poll(ready).then(() => port);
  const ended = exited.then((code) => ({ why: `ended with ${code}` }));
  const late = delay(
    START_TIMEOUT_MS,
    { why: `does not answer after ${START_TIMEOUT_MS} ms` },
    { ref: false },
  );
  found = await Promise.race([answering, ended, late]);
  if (typeof found !== 'number') {
    child.kill('SIGKILL');
    throw new Error(`${[command, ...args].join(' ')} ${found.why}: ${output}`);
  }
  return {
    pid: child.pid,
    port: found,
    startMs: performance.now() - begun,
    startCpuNs: cpuNs(child.pid),
    cpuNs: () => cpuNs(child.pid),
    rssKb: () => rssKb(child.pid),
    /** With `ipc`: sends a message, resolves with the next one that comes back. */
    ask(message) {
      return new Promise((resolve, reject) => {
        const gone = () => reject(new Error(output));
        child.once('message', (answer) => {
          child.off('exit', gone);
          resolve(answer);
        });
        child.once('exit', gone);
        child.send(message);
      });
    },
    async stop() {
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), 3000);
      await exited;
      clearTimeout(timer);
    },
  };
}

/** Resolves when a process does nothing more: what it puts off must not count for the next measurement. */
export async function quiet(running, { everyMs = 150, mostMs = 3000 } = {}) {
  const until = performance.now() + mostMs;
  for (let before = running.cpuNs(); performance.now() < until; ) {
    await delay(everyMs);
    const now = running.cpuNs();
    if (now - before < IDLE_SHARE * everyMs * 1e6) return;
    before = now;
  }
}

/** The same process; `folder` is gone when it has stopped. */
export function withFolder(running, folder) {
  return {
    ...running,
    async stop() {
      await running.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function spawnOptions(env, cwd, ipc) {
  return { env: { ...process.env, ...env }, cwd, stdio: ['ignore', 'pipe', 'pipe', ...(ipc ? ['ipc'] : [])] };
}

async function poll(ready) {
  while (!(await ready())) await delay(2);
}

/** For programs that cannot choose one themselves. */
export function freePort() {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

/** Does something listen there? */
export function answers(port) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => resolve(true) ?? socket.destroy());
    socket.on('error', () => resolve(false));
  });
}

function processTree(pid) {
  const children = new Map();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
      children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
    } catch {} // gone meanwhile
  }
  const all = [pid];
  for (let i = 0; i < all.length; i++) all.push(...(children.get(all[i]) ?? []));
  return all;
}

/** Nanoseconds on a CPU, all threads of the process and its children. */
export function cpuNs(pid) {
  let sum = 0;
  for (const each of processTree(pid)) {
    try {
      for (const task of readdirSync(`/proc/${each}/task`)) {
        sum += Number(readFileSync(`/proc/${each}/task/${task}/schedstat`, 'utf8').split(' ')[0]);
      }
    } catch {}
  }
  return sum;
}

export function rssKb(pid) {
  let sum = 0;
  for (const each of processTree(pid)) {
    try {
      sum += Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${each}/status`, 'utf8'))?.[1] ?? 0);
    } catch {}
  }
  return sum;
}
