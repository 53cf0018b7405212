import { describe, expect, it } from 'vitest';
import { ProxySettings } from './proxy.js';

const through = (env: Record<string, string>, url: string) =>
  new ProxySettings(env).proxyFor(new URL(url))?.label;

describe('ProxySettings', () => {
  it('chooses by the scheme of the target', () => {
    const env = { HTTP_PROXY: 'http://plain:3128', HTTPS_PROXY: 'http://secure:3129' };
    expect(through(env, 'http://a.example/')).toBe('plain:3128');
    expect(through(env, 'https://a.example/')).toBe('secure:3129');
  });

  it('takes lower case first, ALL_PROXY last, and an empty one as none', () => {
    const env = { HTTP_PROXY: 'upper:1', http_proxy: 'lower:2', ALL_PROXY: 'all:3', HTTPS_PROXY: '' };
    expect(through(env, 'http://a.example/')).toBe('lower:2');
    expect(through(env, 'https://a.example/')).toBe('all:3');
    expect(through({}, 'https://a.example/')).toBeUndefined();
  });

  it('reads scheme, default port, address and credentials', () => {
    const proxy = new ProxySettings({ https_proxy: 'https://me:p%3Ass@[2001:db8::1]' }).proxyFor(
      new URL('https://a.example'),
    );
    expect(proxy).toEqual({
      host: '2001:db8::1',
      port: 443,
      secure: true,
      authorization: `Basic ${Buffer.from('me:p:ss').toString('base64')}`,
      label: '[2001:db8::1]:443',
    });
    expect(through({ http_proxy: 'proxy' }, 'http://a.example')).toBe('proxy:80');
  });

  it.each(['socks5://me:secret@p:1080', 'http://me:secret@:x'])(
    'refuses %s and names only the variable',
    (value) => {
      const make = () => new ProxySettings({ HTTPS_PROXY: value });
      expect(make).toThrow(/HTTPS_PROXY/);
      expect(make).not.toThrow(/secret/);
    },
  );

  it.each([
    ['example.com', 'https://example.com/', false],
    ['example.com', 'https://api.example.com/', false],
    ['example.com', 'https://notexample.com/', true],
    ['.example.com', 'https://api.example.com/', false],
    ['*.example.com', 'https://a.b.example.com/', false],
    ['EXAMPLE.com', 'https://example.com/', false],
    ['example.com:8443', 'https://example.com:8443/', false],
    ['example.com:8443', 'https://example.com/', true],
    ['a.example, example.com', 'https://example.com/', false],
    ['a.example example.com', 'https://example.com/', false],
    ['10.0.0.0/8', 'https://10.1.2.3/', false],
    ['10.0.0.0/8', 'https://11.1.2.3/', true],
    ['192.168.1.5', 'https://192.168.1.5:9/', false],
    ['fd00::/8', 'https://[fd00::5]/', false],
    ['fd00::5', 'https://[fd00::5]/', false],
    ['10.0.0.0/99', 'https://10.1.2.3/', true],
    ['*', 'https://anything.example/', false],
    ['', 'https://localhost:11434/', false],
    ['', 'https://127.0.0.1:11434/', false],
    ['', 'https://[::1]:11434/', false],
  ])('NO_PROXY %j: %s goes through the proxy: %s', (exceptions, url, proxied) => {
    const env = { https_proxy: 'proxy:3128', no_proxy: exceptions };
    expect(through(env, url) !== undefined).toBe(proxied);
  });
});
