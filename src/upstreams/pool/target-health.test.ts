import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../core/errors.js';
import { COOL_LIMITS, TargetHealth } from './target-health.js';

const error = new GatewayError('rate_limited', 'Slow down.');
const alice = { key: 'alice', model: 'm' };
const bob = { key: 'bob', model: 'm' };

function healthAt() {
  let now = 1_000_000;
  const health = new TargetHealth(() => now);
  return {
    health,
    pass: (ms: number): void => {
      now += ms;
    },
  };
}

describe('a target of a pool', () => {
  it('cools for every key and one model where its credential is limited, as long as the upstream says', () => {
    const { health, pass } = healthAt();
    health.begin(alice).failed('limit', error, 20);
    expect([health.rank(alice), health.rank(bob)]).toEqual([undefined, undefined]);
    expect(health.rank({ key: 'alice', model: 'other' })).toBe(0);
    expect(health.cooling(bob)).toMatchObject({ waitMs: 20_000, last: error });
    expect(health.isCooling).toBe(true);
    pass(20_000);
    expect(health.rank(bob)).toBe(0);
    expect(health.isCooling).toBe(false);
  });

  it('cools for one key alone where that key may have made it fail', () => {
    const { health } = healthAt();
    for (let i = 0; i < 100; i++) health.begin(alice).failed('key', error, undefined);
    expect([health.rank(alice), health.rank(bob)]).toEqual([undefined, 0]);
    expect(health.isCooling).toBe(false);
  });

  it('cools for all keys and models where it cannot be reached', () => {
    const { health } = healthAt();
    health.begin(alice).failed('unreachable', error, undefined);
    expect(health.rank({ key: 'bob', model: 'other' })).toBeUndefined();
  });

  it('is tried by one request at a time after an outage, until that one has found out', () => {
    const { health, pass } = healthAt();
    health.begin(alice).failed('unreachable', error, undefined);
    pass(COOL_LIMITS.coolMs);
    const probe = health.begin(bob);
    expect(health.rank(alice)).toBeUndefined();
    const other = health.begin(alice);
    other.abandoned();
    expect(health.rank(alice)).toBeUndefined();
    probe.failed('unreachable', error, undefined);
    expect(health.rank(alice)).toBeUndefined();
    pass(2 * COOL_LIMITS.coolMs - 1);
    expect(health.rank(alice)).toBeUndefined();
    pass(1);
    health.begin(alice).succeeded(undefined);
    expect([health.rank(alice), health.rank(bob)]).toEqual([0, 0]);
  });

  it('is tried by a further request where the one that finds out is not answered for long', () => {
    const { health, pass } = healthAt();
    health.begin(alice).failed('unreachable', error, undefined);
    pass(COOL_LIMITS.coolMs);
    const slow = health.begin(alice);
    pass(COOL_LIMITS.coolMs - 1);
    expect(health.rank(bob)).toBeUndefined();
    pass(1);
    expect(health.rank(bob)).toBe(0);
    const further = health.begin(bob);
    expect(health.rank(alice)).toBeUndefined();
    slow.abandoned();
    expect(health.rank(alice)).toBeUndefined();
    further.succeeded(undefined);
    expect(health.rank(alice)).toBe(0);
  });

  it('is tried again where an older request failed while one was finding out', () => {
    const { health, pass } = healthAt();
    const older = health.begin(alice);
    pass(1);
    health.begin(alice).failed('unreachable', error, undefined);
    pass(COOL_LIMITS.coolMs);
    const probe = health.begin(bob);
    pass(1);
    older.failed('unreachable', error, undefined);
    probe.abandoned();
    pass(COOL_LIMITS.coolMs - 1);
    expect(health.rank(bob)).toBeUndefined();
    pass(1);
    expect(health.rank(bob)).toBe(0);
  });

  it('is asked last, but asked, by others while one finds out whether a limit is over', () => {
    const { health, pass } = healthAt();
    health.begin(alice).failed('limit', error, 5);
    pass(5_000);
    health.begin(alice);
    expect(health.rank(bob)).toBe(2);
  });

  it('is asked after others while a limit is used up that its last answer told of', () => {
    const { health, pass } = healthAt();
    health.begin(alice).succeeded(3);
    expect(health.rank(bob)).toBe(1);
    pass(3_000);
    expect(health.rank(bob)).toBe(0);
  });

  it('stays cool where a request of before its failure succeeds', () => {
    const { health, pass } = healthAt();
    const before = health.begin(alice);
    pass(1);
    health.begin(alice).failed('limit', error, 20);
    before.succeeded(undefined);
    expect(health.rank(alice)).toBeUndefined();
  });

  it('counts requests that failed side by side as one failure', () => {
    const { health, pass } = healthAt();
    const together = Array.from({ length: 20 }, () => health.begin(alice));
    pass(1);
    for (const each of together) each.failed('unreachable', error, undefined);
    expect(health.cooling(alice)?.waitMs).toBe(COOL_LIMITS.coolMs);
  });

  it('is left alone no longer than a limit of ours, whatever the upstream asks for', () => {
    const { health } = healthAt();
    health.begin(alice).failed('limit', error, 1e9);
    expect(health.cooling(alice)?.waitMs).toBe(COOL_LIMITS.longestAskedMs);
  });

  it('forgets what failed longest ago: names of models come from clients', () => {
    const { health } = healthAt();
    health.begin(alice).failed('limit', error, 20);
    for (let i = 0; i < COOL_LIMITS.entries; i++) {
      health.begin({ key: 'alice', model: `m${i}` }).failed('limit', error, 20);
    }
    expect(health.rank(alice)).toBe(0);
  });
});
