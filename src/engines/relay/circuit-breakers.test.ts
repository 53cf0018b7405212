import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../core/errors.js';
import { BREAKER_LIMITS, CircuitBreakers } from './circuit-breakers.js';

const down = new GatewayError('unavailable', 'It is down.', { retryable: true });
const limited = new GatewayError('rate_limited', 'Slow down.', { retryable: true, retryAfter: 20 });
const { outageFailures, outageMs, longestCoolMs, retryBurst } = BREAKER_LIMITS;

function breakersAt() {
  let now = 1_000_000;
  const breakers = new CircuitBreakers(() => now);
  const pass = (ms: number): void => {
    now += ms;
  };
  const fail = (error: GatewayError, key = 'one', times: number = outageFailures): void => {
    for (let i = 0; i < times; i++) {
      pass(outageMs / 5);
      breakers.refusal('up', key, false);
      breakers.failed('up', key, error);
    }
  };
  return { breakers, pass, fail };
}

describe('the circuit breaker of an upstream', () => {
  it('refuses in an outage, with the last error, its status and when to come back', () => {
    const { breakers, fail } = breakersAt();
    fail(down);
    expect(breakers.refusal('up', 'one', false)).toMatchObject({
      code: 'unavailable',
      status: 503,
      retryAfter: longestCoolMs / 1000,
      message: expect.stringMatching(/^The upstream up has failed 10 times in a row.*It is down\.$/),
    });
  });

  it('is not an outage while it is a moment long, or has fewer failures', () => {
    const { breakers, fail } = breakersAt();
    fail(down, 'one', outageFailures - 1);
    expect(breakers.refusal('up', 'one', false)).toBeUndefined();
    for (let i = 0; i < 50; i++) breakers.failed('up', 'quick', down);
    expect(breakers.refusal('up', 'quick', false)).toBeUndefined();
  });

  it('is not an outage that the upstream limits a key', () => {
    const { breakers, fail } = breakersAt();
    fail(limited, 'one', 100);
    expect(breakers.refusal('up', 'one', false)).toBeUndefined();
  });

  it('is the matter of each key: what one breaks is there for the others', () => {
    const { breakers, fail } = breakersAt();
    fail(down, 'attacker', 1000);
    expect(breakers.refusal('up', 'other', false)).toBeUndefined();
    expect(breakers.order([{ name: 'up' }, { name: 'next' }], 'other').map(({ name }) => name)).toEqual([
      'up',
      'next',
    ]);
    expect(breakers.mayRetry('up', 'other')).toBe(true);
  });

  it('lets one request at a time find out whether the outage is over', () => {
    const { breakers, pass, fail } = breakersAt();
    fail(down);
    pass(longestCoolMs);
    expect(breakers.refusal('up', 'one', false)).toBeUndefined();
    expect(breakers.refusal('up', 'one', false)).toMatchObject({ status: 503, retryAfter: 1 });
    breakers.failed('up', 'one', down);
    expect(breakers.refusal('up', 'one', false)).toMatchObject({ status: 503 });
    pass(longestCoolMs);
    expect(breakers.refusal('up', 'one', false)).toBeUndefined();
    breakers.succeeded('up', 'one');
    expect([breakers.refusal('up', 'one', false), breakers.refusal('up', 'one', false)]).toEqual([
      undefined,
      undefined,
    ]);
  });

  it('lets the next find out where the client of the one that tried has left', () => {
    const { breakers, pass, fail } = breakersAt();
    fail(down);
    pass(longestCoolMs);
    expect(breakers.refusal('up', 'one', false)).toBeUndefined();
    breakers.abandoned('up', 'one');
    expect(breakers.refusal('up', 'one', false)).toBeUndefined();
  });

  it('gives back what may be repeated with the traffic, up to its burst', () => {
    const { breakers } = breakersAt();
    const spend = (): number => {
      let spent = 0;
      while (breakers.mayRetry('up', 'one')) spent += 1;
      return spent;
    };
    expect(spend()).toBe(retryBurst);
    for (let i = 0; i < 10; i++) breakers.refusal('up', 'one', false);
    expect(spend()).toBe(2);
    for (let i = 0; i < 1000; i++) breakers.refusal('up', 'one', false);
    expect(spend()).toBe(retryBurst);
  });

  it('forgets the keys that were used longest ago, and holds no more than its limit', () => {
    const { breakers, fail } = breakersAt();
    fail(down);
    for (let i = 0; i < BREAKER_LIMITS.entries; i++) breakers.refusal('up', `key ${i}`, false);
    expect(breakers.refusal('up', 'one', false)).toBeUndefined();
  });
});
