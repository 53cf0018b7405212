import { describe, expect, it } from 'vitest';
import { FetchProblem } from './fetch-problem.js';
import { checkUrl, HostList, parseFetchUrl } from './url-policy.js';

const check = (address: string, listed = false) => checkUrl(parseFetchUrl(address), listed);

describe('checkUrl', () => {
  it.each([
    'https://example.com/a?b=c',
    'http://example.com:8080/',
    'https://example.com:8443/',
    'https://例え.jp/',
  ])('lets %s through', (address) => {
    expect(() => check(address)).not.toThrow();
  });

  it.each([
    ['file:///etc/passwd', /Only http/],
    ['ftp://example.com/', /Only http/],
    ['gopher://example.com/', /Only http/],
    ['data:text/html,x', /Only http/],
    ['javascript:alert(1)', /Only http/],
    ['https://user:secret@example.com/', /user name or password/],
    ['https://user@example.com/', /user name or password/],
    ['http://example.com:22/', /Port 22/],
    ['http://example.com:25/', /Port 25/],
    ['http://example.com:6379/', /Port 6379/],
    ['https://example.com:2375/', /Port 2375/],
    ['http://localhost/', /names this machine/],
    ['http://localhost./', /names this machine/],
    ['http://LOCALHOST/', /names this machine/],
    ['http://a.localhost/', /names this machine/],
    ['http://printer.local/', /names this machine/],
    ['http://metadata.google.internal/', /names this machine/],
    ['http://intranet/', /names this machine/],
    ['http://wiki/', /names this machine/],
    ['http://router.home.arpa/', /names this machine/],
    ['example.com/page', /not a URL/],
    ['http://', /not a URL/],
    ['http://exa mple.com/', /not a URL/],
    ['http://example.com\0.evil.test/', /not a URL/],
    ['http://example.com%00.evil.test/', /not a URL/],
    [`https://example.com/${'x'.repeat(9000)}`, /longer than/],
  ])('refuses %j', (address, message) => {
    expect(() => check(address)).toThrow(FetchProblem);
    expect(() => check(address)).toThrow(message);
  });

  it('does not take the end of a name for the name', () => {
    expect(() => check('http://notlocalhost.com/')).not.toThrow();
    expect(() => check('http://mylocal.example/')).not.toThrow();
  });

  it('lets a host that the operator listed have a local name and any port, but no password', () => {
    expect(() => check('http://localhost:6379/', true)).not.toThrow();
    expect(() => check('http://u:p@localhost/', true)).toThrow(/password/);
    expect(() => check('file:///etc/passwd', true)).toThrow(/Only http/);
  });
});

describe('HostList', () => {
  const has = (entries: string[], address: string) => new HostList(entries).has(new URL(address));

  it.each([
    ['wiki.test', 'http://wiki.test/'],
    ['wiki.test', 'https://wiki.test:8443/'],
    ['Wiki.Test', 'http://wiki.test./'],
    ['wiki.test:8080', 'http://wiki.test:8080/'],
    ['wiki.test:80', 'http://wiki.test/'],
    ['wiki.test:443', 'https://wiki.test/'],
    ['127.0.0.1:9', 'http://0x7f.1:9/'],
    ['[::1]', 'http://[::1]:3000/'],
    ['[::1]:80', 'http://[0:0:0:0:0:0:0:1]/'],
  ])('%s covers %s', (entry, address) => {
    expect(has([entry], address)).toBe(true);
  });

  it.each([
    ['wiki.test', 'http://evil-wiki.test/'],
    ['wiki.test', 'http://wiki.test.evil.test/'],
    ['wiki.test', 'http://a.wiki.test/'],
    ['wiki.test:8080', 'http://wiki.test/'],
    ['wiki.test:80', 'https://wiki.test/'],
    ['[::1]:80', 'http://[::1]:81/'],
    ['', 'http://wiki.test/'],
  ])('%j does not cover %s', (entry, address) => {
    expect(has([entry], address)).toBe(false);
  });
});
