import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { findProcesses, isAlive, parseStat, readProcess, signalProcess } from './process-list.js';

const variable = (name: string): string => `TOOLGATE_TEST_MARK=${process.pid}-${name}`;
const environment = (mark: string): NodeJS.ProcessEnv => {
  const [key = '', value = ''] = mark.split('=');
  return { PATH: process.env['PATH'], [key]: value };
};

describe('parseStat', () => {
  it('reads a name with brackets and spaces in it', () => {
    const fields = `S 7 8 9 ${'0 '.repeat(15)}4711 0`;
    expect(parseStat(42, `42 (a) (b c) ${fields}`)).toMatchObject({
      pid: 42,
      name: 'a) (b c',
      state: 'S',
      parent: 7,
      group: 8,
    });
  });

  it('gives nothing for what is no such line', () => {
    expect(parseStat(1, '')).toBeUndefined();
  });
});

describe('processes', () => {
  it('are known by number and time', async () => {
    const child = spawn('sleep', ['60'], { stdio: 'ignore' });
    const info = readProcess(child.pid ?? 0);
    expect(info).toBeDefined();
    if (info === undefined) return;
    expect(isAlive(info)).toBe(true);
    // A number that has come to mean another process is left alone.
    const other = { ...info, startTime: `${Number(info.startTime) + 1}` };
    expect(isAlive(other)).toBe(false);
    signalProcess(other, 'SIGKILL');
    signalProcess(info, 'SIGTERM');
    const [, signal] = await once(child, 'exit');
    expect(signal).toBe('SIGTERM');
    expect(isAlive(info)).toBe(false);
  });

  it('are found by what their environment holds, with their children', async () => {
    const mark = variable('tree');
    const child = spawn('bash', ['-c', 'env -i sleep 60 & echo up; wait'], {
      env: environment(mark),
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
    });
    await once(child.stdout, 'data');
    const names = (await findProcesses({ variable: mark })).map(({ name }) => name).sort();
    expect(names).toContain('bash');
    expect(names).toHaveLength(2);
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    await once(child, 'exit');
  });

  it('are not found by the start of another mark', async () => {
    const child = spawn('sleep', ['60'], { env: environment(variable('longer')), stdio: 'ignore' });
    expect(await findProcesses({ variable: variable('long') })).toEqual([]);
    child.kill('SIGKILL');
    await once(child, 'exit');
  });

  it('of a group whose number now belongs to a later process are not taken', async () => {
    const child = spawn('sleep', ['60'], { stdio: 'ignore', detached: true });
    const info = readProcess(child.pid ?? 0);
    const group = { pid: child.pid ?? 0, startTime: '1' };
    expect(await findProcesses({ variable: variable('none'), group })).toEqual([]);
    const own = { pid: child.pid ?? 0, startTime: info?.startTime ?? '' };
    expect(await findProcesses({ variable: variable('none'), group: own })).toHaveLength(1);
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
});
