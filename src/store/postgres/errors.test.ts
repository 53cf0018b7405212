import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../core/errors.js';
import { isContended, isLost, storeError } from './errors.js';

const failed = (code: string | undefined, message = 'said by the driver') =>
  Object.assign(new Error(message), code === undefined ? {} : { code });

describe('storeError', () => {
  it.each([
    ['ECONNREFUSED', /nothing listens there/, true],
    ['28P01', /user or the password is refused/, false],
    ['3D000', /no such database/, false],
    ['57P03', /stopping, starting/, true],
    ['08006', /stopping, starting/, true],
    ['53100', /disk is full/, false],
    ['53400', /another resource/, true],
    ['57014', /took too long/, true],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', /certificate is not accepted.*sslrootcert/, false],
  ])('says of %s what to do, and nothing that the driver said', (code, words, retryable) => {
    const error = storeError(failed(code), 'The database x at h:1');
    expect(error).toMatchObject({ code: 'unavailable', retryable, detail: 'store_unavailable' });
    const { message } = error instanceof GatewayError ? error : { message: '' };
    expect(message).toMatch(words);
    expect(message).toMatch(/^The database x at h:1 cannot be used: /);
    expect(message).not.toContain('said by the driver');
  });

  it('knows what the driver says without a code', () => {
    const lost = failed(undefined, 'Connection terminated unexpectedly');
    expect(storeError(lost, 'It')).toMatchObject({ code: 'unavailable', retryable: true });
    expect(storeError(failed(undefined, 'The server does not support SSL connections'), 'It')).toMatchObject({
      message: expect.stringContaining('speaks no TLS'),
    });
  });

  it('looks into the failures of all addresses of a host', () => {
    const all = new AggregateError([failed('ECONNREFUSED'), failed('ETIMEDOUT')]);
    expect(storeError(all, 'It')).toMatchObject({ message: expect.stringContaining('nothing listens') });
    expect(isLost(all)).toBe(true);
  });

  it('leaves bugs as they are', () => {
    const bug = failed('42703', 'column "x" does not exist');
    expect(storeError(bug, 'It')).toBe(bug);
  });
});

it('tells a lost connection from a contended row', () => {
  expect(['57P01', 'ECONNRESET', '40P01', '23505'].map((code) => isLost(failed(code)))).toEqual([
    true,
    true,
    false,
    false,
  ]);
  expect(['40001', '40P01', '57P01'].map((code) => isContended(failed(code)))).toEqual([true, true, false]);
});
