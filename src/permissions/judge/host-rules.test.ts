/** A host that begins or ends like an allowed one is another. */
import { describe, expect, it } from 'vitest';
import { probe } from '../../../test/attacks/policy-probe.js';

describe('rules about hosts', () => {
  const rules = probe({
    allow: [
      'WebFetch(domain:example.com)',
      'WebFetch(domain:*.sub.example.org)',
      'WebFetch(domain:[::1])',
      'WebFetch(domain:10.0.0.1)',
      'WebFetch(domain:münchen.example)',
      'WebFetch(domain:Upper.Example)',
    ],
  });
  it.each([
    'https://example.com',
    'https://EXAMPLE.com/x',
    'https://example.com./',
    'https://a.b.example.com:8443/',
    'http://user:pass@example.com/',
    'https://x.sub.example.org',
    'http://[::1]:3000/',
    'http://[0:0:0:0:0:0:0:1]/',
    'http://10.0.0.1/',
    'http://0x0a000001/',
    'https://xn--mnchen-3ya.example/',
    'https://MÜNCHEN.example',
    'https://upper.example',
    'https://example.com\t/',
  ])('allowed: %s', async (url) => {
    expect((await rules.fetch(url)).behaviour).toBe('allow');
  });

  it.each([
    'https://evilexample.com',
    'https://example.com.evil.net',
    'https://example.comevil.net',
    'https://example.com@evil.net/',
    'https://evil.net/example.com',
    'https://evil.net#example.com',
    'https://evil.net?x=.example.com',
    'https://evil.net\\@example.com',
    'https://sub.example.org',
    'https://com',
    'http://[::2]/',
    'http://1.10.0.0.1/',
    'http://0.0.0.1',
    'https://example.com%2eevil.net/',
    'https://example。evil',
    'not a url',
    'https://exаmple.com',
  ])('not allowed: %s', async (url) => {
    expect((await rules.fetch(url)).behaviour).toBe('ask');
  });

  it.each(['**', '*.*', '*a.example', 'a.*', 'x.*.example'])(
    'a star that is no form of a domain allows nothing and denies all: %s',
    async (domain) => {
      const rule = `WebFetch(domain:${domain})`;
      expect((await probe({ allow: [rule] }).fetch('https://b.example')).behaviour).toBe('ask');
      expect((await probe({ mode: 'allow', deny: [rule] }).fetch('https://b.example')).behaviour).toBe(
        'deny',
      );
    },
  );

  it('a rule that cannot be read denies rather too much', async () => {
    expect(
      (await probe({ mode: 'allow', deny: ['WebFetch(domain:ex ample)'] }).fetch('https://a.example'))
        .behaviour,
    ).toBe('deny');
    expect((await probe({ allow: ['WebFetch(domain:ex ample)'] }).fetch('https://a.example')).behaviour).toBe(
      'ask',
    );
  });
});
