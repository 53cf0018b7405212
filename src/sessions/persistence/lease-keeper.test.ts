import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Grant, Lease, LeaseStore } from '../../store/leases.js';
import { isGone, LeaseKeeper, ownerOf, ownerOfThisProcess } from './lease-keeper.js';

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

describe('leases while the store cannot be reached', () => {
  afterEach(() => vi.useRealTimers());

  const LEASE_MS = 30_000;
  const lease: Lease = { name: 'session:s', owner: 'a', token: 1, until: 0 };
  const NO_STORE = async (): Promise<never> => {
    throw new Error('not asked for here');
  };

  /** A store whose answers to a renewal are the test's. */
  async function holding(renew: LeaseStore['renew']) {
    vi.useFakeTimers();
    const grant: Grant = { granted: true, lease };
    const leases = {
      ...{ acquire: async () => grant, renew, release: async () => true },
      ...{ holders: NO_STORE, heldSessions: NO_STORE, releaseAll: NO_STORE },
    };
    const lost = vi.fn();
    const keeper = new LeaseKeeper({
      ...{ leases, owner: 'a', leaseMs: LEASE_MS, ttlMs: LEASE_MS, onBeat: async () => {} },
      ...{ sessions: { claim: NO_STORE }, log: { warn: () => {} } },
    });
    await keeper.acquire('s', lost);
    return { keeper, lost };
  }

  it.each([
    ['refuses', async () => Promise.reject(new Error('away'))],
    ['does not answer', () => new Promise<Lease[]>(() => {})],
  ] as const)('are given up a beat before they end where it %s', async (_, renew) => {
    const { keeper, lost } = await holding(renew);
    await vi.advanceTimersByTimeAsync(LEASE_MS / 3);
    expect(lost).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(LEASE_MS / 3);
    expect(lost).toHaveBeenCalledTimes(1);
    await keeper.close();
  });

  it('are kept where it answers again in time', async () => {
    let away = true;
    const { keeper, lost } = await holding(async () => {
      if (away) throw new Error('away');
      return [lease];
    });
    await vi.advanceTimersByTimeAsync(LEASE_MS / 3);
    away = false;
    await vi.advanceTimersByTimeAsync(3 * LEASE_MS);
    expect(lost).not.toHaveBeenCalled();
    await keeper.close();
  });
});
