import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../core/errors.js';
import { BREAKER_LIMITS, CircuitBreakers } from './circuit-breakers.js';

const down = new GatewayError('unavailable', 'It is down.', { retryable: true });
const limited = new GatewayError('rate_limited', 'Slow down.', { retryable: true, retryAfter: 20 });
const { outageFailures, outageMs, longestCoolMs, retryBurst } = BREAKER_LIMITS;

function breakersAt() {
  let now = 1_000_000;
  const breakers = new CircuitBreakers(() => now);
  const refusal = (key = 'one'): GatewayError | undefined => {
    const begun = breakers.begin('up', key, false);
    return begun instanceof GatewayError ? begun : undefined;
  };
  const begin = (key = 'one') => {
    const begun = breakers.begin('up', key, false);
    if (begun instanceof GatewayError) return { failed() {}, abandoned() {}, succeeded() {} };
    return begun;
  };
  const pass = (ms: number): void => {
    now += ms;
  };
  const fail = (error: GatewayError, key = 'one', times: number = outageFailures): void => {
    for (let i = 0; i < times; i++) {
      pass(outageMs / 5);
      begin(key).failed(error);
    }
  };
  return { breakers, pass, fail, refusal, begin };
}

describe('the circuit breaker of an upstream', () => {
  it('refuses in an outage, with the last error, its status and when to come back', () => {
    const { fail, refusal } = breakersAt();
    fail(down);
    expect(refusal()).toMatchObject({
      code: 'unavailable',
      status: 503,
      retryAfter: longestCoolMs / 1000,
      message: expect.stringMatching(/^The upstream up has failed 10 times in a row.*It is down\.$/),
    });
  });

  it('is not an outage while it is a moment long, or has fewer failures', () => {
    const { fail, refusal, begin } = breakersAt();
    fail(down, 'one', outageFailures - 1);
    expect(refusal()).toBeUndefined();
    for (let i = 0; i < 50; i++) begin('quick').failed(down);
    expect(refusal('quick')).toBeUndefined();
  });

  it('is not an outage that the upstream limits a key', () => {
    const { fail, refusal } = breakersAt();
    fail(limited, 'one', 100);
    expect(refusal()).toBeUndefined();
  });

  it('is the matter of each key: what one breaks is there for the others', () => {
    const { breakers, fail, refusal } = breakersAt();
    fail(down, 'attacker', 1000);
    expect(refusal('other')).toBeUndefined();
    expect(breakers.order([{ name: 'up' }, { name: 'next' }], 'other').map(({ name }) => name)).toEqual([
      'up',
      'next',
    ]);
    expect(breakers.mayRetry('up', 'other')).toBe(true);
  });

  it('lets one request at a time find out whether the outage is over', () => {
    const { pass, fail, refusal, begin } = breakersAt();
    fail(down);
    pass(longestCoolMs);
    const probe = begin();
    expect(refusal()).toMatchObject({ status: 503, retryAfter: 1 });
    probe.failed(down);
    expect(refusal()).toMatchObject({ status: 503 });
    pass(longestCoolMs);
    begin().succeeded();
    expect([refusal(), refusal()]).toEqual([undefined, undefined]);
  });

  it('lets no second one find out because a request of before the outage ends', () => {
    const { pass, fail, refusal, begin } = breakersAt();
    const before = [begin(), begin()];
    fail(down);
    pass(longestCoolMs);
    const probe = begin();
    before[0]?.abandoned();
    expect(refusal()).toMatchObject({ status: 503 });
    before[1]?.failed(down);
    pass(longestCoolMs);
    expect(refusal()).toMatchObject({ status: 503 });
    probe.abandoned();
    expect(refusal()).toBeUndefined();
  });

  it('lets the next find out where the client of the one that tried has left', () => {
    const { pass, fail, refusal, begin } = breakersAt();
    fail(down);
    pass(longestCoolMs);
    begin().abandoned();
    expect(refusal()).toBeUndefined();
  });

  it('gives back what may be repeated with the traffic, up to its burst', () => {
    const { breakers, refusal } = breakersAt();
    const spend = (): number => {
      let spent = 0;
      while (breakers.mayRetry('up', 'one')) spent += 1;
      return spent;
    };
    expect(spend()).toBe(retryBurst);
    for (let i = 0; i < 10; i++) refusal();
    expect(spend()).toBe(2);
    for (let i = 0; i < 1000; i++) refusal();
    expect(spend()).toBe(retryBurst);
  });

  it('forgets the keys that were used longest ago, and holds no more than its limit', () => {
    const { fail, refusal } = breakersAt();
    fail(down);
    for (let i = 0; i < BREAKER_LIMITS.entries; i++) refusal(`key ${i}`);
    expect(refusal()).toBeUndefined();
  });
});
