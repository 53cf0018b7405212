import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../core/errors.js';
import { HEALTH_LIMITS, UpstreamHealth } from './upstream-health.js';

const down = new GatewayError('unavailable', 'It is down.', { retryable: true });
const limited = new GatewayError('rate_limited', 'Slow down.', { retryable: true, retryAfter: 20 });
const { outageFailures, outageMs, longestCoolMs, retryBurst } = HEALTH_LIMITS;

function healthAt() {
  let now = 1_000_000;
  const health = new UpstreamHealth(() => now);
  const pass = (ms: number): void => {
    now += ms;
  };
  const fail = (error: GatewayError, key = 'one', times: number = outageFailures): void => {
    for (let i = 0; i < times; i++) {
      pass(outageMs / 5);
      health.refusal('up', key, false);
      health.failed('up', key, error);
    }
  };
  return { health, pass, fail };
}

describe('the health of an upstream', () => {
  it('refuses in an outage, with the last error, its status and when to come back', () => {
    const { health, fail } = healthAt();
    fail(down);
    expect(health.refusal('up', 'one', false)).toMatchObject({
      code: 'unavailable',
      status: 503,
      retryAfter: longestCoolMs / 1000,
      message: expect.stringMatching(/^The upstream up has failed 10 times in a row.*It is down\.$/),
    });
  });

  it('is not an outage while it is a moment long, or has fewer failures', () => {
    const { health, fail } = healthAt();
    fail(down, 'one', outageFailures - 1);
    expect(health.refusal('up', 'one', false)).toBeUndefined();
    for (let i = 0; i < 50; i++) health.failed('up', 'quick', down);
    expect(health.refusal('up', 'quick', false)).toBeUndefined();
  });

  it('is not an outage that the upstream limits a key', () => {
    const { health, fail } = healthAt();
    fail(limited, 'one', 100);
    expect(health.refusal('up', 'one', false)).toBeUndefined();
  });

  it('is the matter of each key: what one breaks is there for the others', () => {
    const { health, fail } = healthAt();
    fail(down, 'attacker', 1000);
    expect(health.refusal('up', 'other', false)).toBeUndefined();
    expect(health.order([{ name: 'up' }, { name: 'next' }], 'other').map(({ name }) => name)).toEqual([
      'up',
      'next',
    ]);
    expect(health.mayRetry('up', 'other')).toBe(true);
  });

  it('lets one request at a time find out whether the outage is over', () => {
    const { health, pass, fail } = healthAt();
    fail(down);
    pass(longestCoolMs);
    expect(health.refusal('up', 'one', false)).toBeUndefined();
    expect(health.refusal('up', 'one', false)).toMatchObject({ status: 503, retryAfter: 1 });
    health.failed('up', 'one', down);
    expect(health.refusal('up', 'one', false)).toMatchObject({ status: 503 });
    pass(longestCoolMs);
    expect(health.refusal('up', 'one', false)).toBeUndefined();
    health.succeeded('up', 'one');
    expect([health.refusal('up', 'one', false), health.refusal('up', 'one', false)]).toEqual([
      undefined,
      undefined,
    ]);
  });

  it('lets the next find out where the client of the one that tried has left', () => {
    const { health, pass, fail } = healthAt();
    fail(down);
    pass(longestCoolMs);
    expect(health.refusal('up', 'one', false)).toBeUndefined();
    health.abandoned('up', 'one');
    expect(health.refusal('up', 'one', false)).toBeUndefined();
  });

  it('gives back what may be repeated with the traffic, up to its burst', () => {
    const { health } = healthAt();
    const spend = (): number => {
      let spent = 0;
      while (health.mayRetry('up', 'one')) spent += 1;
      return spent;
    };
    expect(spend()).toBe(retryBurst);
    for (let i = 0; i < 10; i++) health.refusal('up', 'one', false);
    expect(spend()).toBe(2);
    for (let i = 0; i < 1000; i++) health.refusal('up', 'one', false);
    expect(spend()).toBe(retryBurst);
  });

  it('forgets the keys that were used longest ago, and holds no more than its limit', () => {
    const { health, fail } = healthAt();
    fail(down);
    for (let i = 0; i < HEALTH_LIMITS.entries; i++) health.refusal('up', `key ${i}`, false);
    expect(health.refusal('up', 'one', false)).toBeUndefined();
  });
});
