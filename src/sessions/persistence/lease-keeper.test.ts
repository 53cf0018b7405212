import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { isGone, ownerOf, ownerOfThisProcess } from './lease-keeper.js';

describe('the owner of a session', () => {
  it('is this process, and alive', () => {
    expect(ownerOfThisProcess()).toBe(ownerOf(process.pid));
    expect(isGone(ownerOfThisProcess())).toBe(false);
  });

  it('is dead when its process ended, and when another process has its number', async () => {
    const child = spawn(process.execPath, ['-e', 'process.stdin.resume()'], { stdio: 'pipe' });
    const owner = ownerOf(child.pid ?? 0);
    expect(isGone(owner)).toBe(false);
    child.kill('SIGKILL');
    await once(child, 'close');
    expect(isGone(owner)).toBe(true);
    const [host] = owner.split('/');
    expect(isGone(`${host}/${process.pid}/1`)).toBe(process.platform === 'linux');
  });

  it('is never taken for dead on another machine or in an unknown form', () => {
    const { pid } = spawnSync(process.execPath, ['-e', '']);
    for (const owner of [`elsewhere/${pid}/1`, 'node-a', '', ownerOf(1).replace('/1/', '/x/')]) {
      expect(isGone(owner)).toBe(false);
    }
  });
});
