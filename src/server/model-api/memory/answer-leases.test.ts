import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { until } from '../../../../test/support/until.js';
import type { LeaseStore } from '../../../store/leases.js';
import { openStore } from '../../../store/open/open-store.js';
import { AnswerLeases, BEAT_MS } from './answer-leases.js';

const KEY = 'answer:k';
const OTHER = 'answer:other';
const HOUR_MS = 3_600_000;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  return () => vi.useRealTimers();
});

/** A process on a real store, which is away for what `fails` names. */
async function open() {
  const store = await openStore('sqlite::memory:', { baseDir: '/' });
  onTestFinished(() => store.close());
  const { leases } = store;
  const fails = new Set<'renew' | 'release'>();
  const away = () => Promise.reject(new Error('away'));
  const reached: LeaseStore = {
    acquire: (...args) => leases.acquire(...args),
    renew: (...args) => (fails.has('renew') ? away() : leases.renew(...args)),
    release: (...args) => (fails.has('release') ? away() : leases.release(...args)),
    holders: (...args) => leases.holders(...args),
    heldSessions: () => leases.heldSessions(),
    releaseAll: (...args) => leases.releaseAll(...args),
  };
  const warnings: string[] = [];
  const log = { warn: (_: unknown, message?: string) => void warnings.push(message ?? '') };
  const holder = async (name: string) => (await leases.holders([name])).get(name);
  const answers = new AnswerLeases(reached, log, 'node-a');
  const hold = (name: string) => answers.hold(name, new AbortController().signal);
  return { leases, fails, warnings, holder, hold, beat: () => vi.advanceTimersByTime(BEAT_MS) };
}

describe('the lease of an answer', () => {
  it('that was lost while the store was away is taken again where it is free, and released at the end', async () => {
    const { leases, fails, warnings, holder, hold, beat } = await open();
    const held = await hold(KEY);
    fails.add('renew');
    beat();
    await until(() => warnings.length === 1);
    await leases.releaseAll('node-a/answers');
    fails.clear();
    beat();
    await until(async () => (await holder(KEY)) === 'node-a/answers');
    await held.release();
    await until(async () => (await holder(KEY)) === undefined);
  });

  it('that another process has by now is left to it, and said', async () => {
    const { leases, warnings, holder, hold, beat } = await open();
    const held = await hold(KEY);
    await leases.releaseAll('node-a/answers');
    await leases.acquire(KEY, 'node-b/answers', HOUR_MS);
    beat();
    await until(() => warnings.length > 0);
    expect(warnings).toEqual(['a request with an Idempotency-Key is answered twice']);
    await held.release();
    expect(await holder(KEY)).toBe('node-b/answers');
  });

  it('whose end the store was not told of is not renewed with the others', async () => {
    const { fails, holder, hold, beat } = await open();
    const [ended] = [await hold(KEY), await hold(OTHER)];
    fails.add('release');
    await ended.release();
    expect(await holder(KEY)).toBe('node-a/answers');
    fails.clear();
    beat();
    await until(async () => (await holder(KEY)) === undefined);
    expect(await holder(OTHER)).toBe('node-a/answers');
  });
});
