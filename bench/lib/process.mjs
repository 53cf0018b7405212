/** Processes under test: started on one core, measured by the scheduler's own counters. */
import { spawn, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

export const TARGET_CORE = 1;
export const LOAD_CORE = 0;

const canPin = spawnSync('taskset', ['-V']).status === 0;

/** The load generator is this very process: it stays off the core of what is measured. */
export function pinSelf(core = LOAD_CORE) {
  if (canPin)
    spawnSync('taskset', ['-a', '-p', '-c', String(core), String(process.pid)], { stdio: 'ignore' });
}

const running = new Set();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));

/**
 * Starts a command on a core and waits for a line `listening <port>` on its output (or until
 * `ready()` is true, for programs that print none).
 */
export async function start(command, args, options = {}) {
  const { core = TARGET_CORE, env = {}, ready, port, cwd, ipc = false } = options;
  const begun = performance.now();
  const child = canPin
    ? spawn('taskset', ['-c', String(core), command, ...args], spawnOptions(env, cwd, ipc))
    : spawn(command, args, spawnOptions(env, cwd, ipc));
  running.add(child);
  let output = '';
  const exited = new Promise((resolve) =>
    child.once('exit', (code) => {
      running.delete(child);
      resolve(code);
    }),
  );
  const listening = new Promise((resolve) => {
    const collect = (data) => {
      output += data;
      const match = /listening (\d+)|https?:\/\/[^\s/:]+:(\d+)/.exec(output);
      if (match !== null) resolve(Number(match[1] ?? match[2]));
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
  });
  const answering = ready === undefined ? listening : poll(ready).then(() => port);
  const found = await Promise.race([answering, exited.then((code) => ({ code }))]);
  if (typeof found !== 'number') throw new Error(`${command} ended with ${found.code}: ${output}`);
  return {
    pid: child.pid,
    port: found,
    startMs: performance.now() - begun,
    cpuNs: () => cpuNs(child.pid),
    rssKb: () => rssKb(child.pid),
    /** With `ipc`: sends a message, resolves with the next one that comes back. */
    ask(message) {
      return new Promise((resolve, reject) => {
        const ended = () => reject(new Error(output));
        child.once('message', (answer) => {
          child.off('exit', ended);
          resolve(answer);
        });
        child.once('exit', ended);
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

function spawnOptions(env, cwd, ipc) {
  return { env: { ...process.env, ...env }, cwd, stdio: ['ignore', 'pipe', 'pipe', ...(ipc ? ['ipc'] : [])] };
}

async function poll(ready) {
  while (!(await ready())) await new Promise((resolve) => setTimeout(resolve, 2));
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
