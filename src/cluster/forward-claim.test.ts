import { describe, expect, it } from 'vitest';
import { ClaimReader, digestOfBody, isProof, proofOf, signClaim } from './forward-claim.js';

const SECRET = 'secret-of-the-nodes';
const NOW: number = 1_800_000_000_000;
const asked = {
  ...{
    from: 'b',
    to: 'host/1/2/a',
    principal: 'alice',
    id: 'req_1',
    method: 'POST',
    path: '/v1/messages?x=1',
  },
  body: digestOfBody(Buffer.from('{}')),
};
const route = { method: 'POST', path: '/v1/messages?x=1' };

function reader({ secret = SECRET, instance = asked.to, now = () => NOW } = {}): ClaimReader {
  return new ClaimReader(secret, instance, now);
}

describe('the claim of a node', () => {
  it('names whose request it is, to the instance that it is for', () => {
    const { header, nonce } = signClaim(SECRET, asked, NOW);
    expect(reader().read(header, route)).toEqual({ ...asked, at: NOW, nonce });
    expect(header).not.toContain(SECRET);
  });

  it('is taken once', () => {
    const { header } = signClaim(SECRET, asked, NOW);
    const taking = reader();
    expect(taking.read(header, route)).toBeDefined();
    expect(taking.read(header, route)).toBeUndefined();
  });

  it('is not taken again by a clock that was set back, as long as it could hold', () => {
    let now = NOW + 149_000;
    const taking = reader({ now: () => now });
    const { header } = signClaim(SECRET, asked, NOW);
    expect(taking.read(header, route)).toBeDefined();
    now += 140_000;
    taking.read(signClaim(SECRET, asked, now).header, route);
    now = NOW;
    expect(taking.read(header, route)).toBeUndefined();
  });

  it.each([
    ['another secret', { secret: 'another-secret-of-nodes' }, route],
    ['another instance', { instance: 'host/1/3/a' }, route],
    ['another method', {}, { ...route, method: 'DELETE' }],
    ['another path', {}, { ...route, path: '/v1/messages?x=2' }],
    ['a later time', { now: () => NOW + 151_000 }, route],
    ['an earlier time', { now: () => NOW - 151_000 }, route],
  ])('is refused for %s', (_what, options, given) => {
    expect(reader(options).read(signClaim(SECRET, asked, NOW).header, given)).toBeUndefined();
  });

  it('is refused where anything of it was changed', () => {
    const { header } = signClaim(SECRET, asked, NOW);
    const [text = '', mac = ''] = header.split('.');
    const changed = Buffer.from(
      Buffer.from(text, 'base64url').toString('utf8').replace('alice', 'admin'),
    ).toString('base64url');
    for (const value of [
      '',
      '.',
      text,
      `${text}.`,
      `.${mac}`,
      `${changed}.${mac}`,
      `${header}.x`,
      `${header}x`,
    ])
      expect(reader().read(value, route)).toBeUndefined();
  });

  it('is proved to be taken by who has the secret alone, for each request apart', () => {
    const { nonce } = signClaim(SECRET, asked, NOW);
    expect(isProof(SECRET, nonce, proofOf(SECRET, nonce))).toBe(true);
    for (const other of [undefined, '', proofOf(SECRET, 'x'), proofOf('another-secret-of-nodes', nonce)])
      expect(isProof(SECRET, nonce, other)).toBe(false);
  });
});
