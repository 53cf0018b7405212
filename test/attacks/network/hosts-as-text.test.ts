/** Hosts compared as text: a name that begins or ends like an allowed one. */
import { describe, expect, it } from 'vitest';
import { filterHits } from '../../../src/tools/web/web-search.js';
import { guardedFetch } from '../../../src/transport/guarded-fetch/guarded-fetch.js';
import { probe } from '../policy-probe.js';

const OTHERS = [
  'https://example.com.evil.test/',
  'https://evil-example.com/',
  'https://notexample.com/',
  'https://example.com@evil.test/',
  'https://example.com%2eevil.test/',
  'https://evil.test/example.com',
  'https://evil.test/?x=https://example.com/',
  'https://evil.test/#example.com',
  'https://evil.test\\@example.com/',
  'https://example.co/',
  'https://xn--exmple-cua.com/',
];

const SAME = [
  'https://example.com/',
  'https://EXAMPLE.com/',
  'https://example.com./',
  'https://sub.example.com/',
  'https://ｅｘａｍｐｌｅ.com/',
  'http://example.com:8080/',
];

describe('a host that only looks like the one in a rule', () => {
  const allowed = probe({ allow: ['WebFetch(domain:example.com)'] });
  it.each(OTHERS)('is not let through: %s', async (url) => {
    expect((await allowed.fetch(url)).behaviour).not.toBe('allow');
  });

  const denied = probe({ mode: 'allow', deny: ['WebFetch(domain:example.com)'] });
  it.each(SAME)('another spelling of a denied one is denied: %s', async (url) => {
    expect((await denied.fetch(url)).behaviour).toBe('deny');
  });

  it.each(OTHERS)('is no result from an allowed domain: %s', (url) => {
    expect(filterHits([{ title: '', url, snippet: '' }], ['example.com'], [])).toEqual([]);
  });

  it.each([
    'http://example.com\0.evil.test/',
    'http://example.com%00.evil.test/',
    'http://example.com\t.evil.test:1/',
  ])('no name is cut at a character that ends it: %j', async (url) => {
    const asked: string[] = [];
    const work = guardedFetch(url, {
      signal: new AbortController().signal,
      env: {},
      resolver: async (host) => {
        asked.push(host);
        return ['127.0.0.1'];
      },
    });
    await expect(work).rejects.toThrow();
    expect(asked.filter((host) => host === 'example.com')).toEqual([]);
  });
});
