import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, expect, it } from 'vitest';
import { COMMAND_ID_VARIABLE, createCommandId, endOrphans } from './end-processes.js';
import { readProcess } from './process-list.js';

const started: ChildProcess[] = [];
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
});

/** A command in a session of its own, as one is left by a gateway that was killed. */
function command(id: string): ChildProcess {
  const child = spawn('sleep', ['600'], {
    env: { PATH: process.env['PATH'], [COMMAND_ID_VARIABLE]: id },
    stdio: 'ignore',
    detached: true,
  });
  started.push(child);
  return child;
}

/** The identity of a process that was there and is gone. */
async function deadOwner(): Promise<string> {
  const child = spawn('sleep', ['600'], { stdio: 'ignore' });
  await once(child, 'spawn');
  const identity = `${child.pid}.${readProcess(child.pid ?? 0)?.startTime}`;
  child.kill('SIGKILL');
  await once(child, 'exit');
  return identity;
}

it('ends what a gateway that is gone has left, and nothing else', async () => {
  const left = command(`${await deadOwner()}.00ff`);
  const kept = [command(createCommandId()), command('somebody-elses')];
  await Promise.all([left, ...kept].map((child) => once(child, 'spawn')));
  const over = once(left, 'exit');
  expect(await endOrphans()).toBeGreaterThanOrEqual(1);
  expect(await over).toEqual([null, 'SIGKILL']);
  expect(kept.map(({ exitCode, signalCode }) => exitCode ?? signalCode)).toEqual([null, null]);
});

it('takes a number that was given to another process since for a gateway that is gone', async () => {
  const left = command(`${process.pid}.1.00ff`);
  await once(left, 'spawn');
  const over = once(left, 'exit');
  await endOrphans();
  await over;
});
