import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../core/errors.js';
import { encodeHead, type HeadOptions } from './request-head.js';

const base: HeadOptions = {
  method: 'POST',
  url: new URL('https://api.example.com:8443/v1/messages?beta=true#part'),
  headers: { 'content-type': 'application/json', 'X-Api-Key': 'k' },
  bodyLength: 12,
  viaProxy: undefined,
};

describe('encodeHead', () => {
  it('writes the request line, host, headers and length', () => {
    expect(encodeHead(base)).toBe(
      'POST /v1/messages?beta=true HTTP/1.1\r\nhost: api.example.com:8443\r\n' +
        'content-type: application/json\r\nX-Api-Key: k\r\ncontent-length: 12\r\n\r\n',
    );
  });

  it('says that a POST has no body, and nothing of it for a GET', () => {
    expect(encodeHead({ ...base, bodyLength: undefined })).toContain('content-length: 0\r\n');
    expect(encodeHead({ ...base, method: 'GET', bodyLength: undefined })).not.toContain('content-length');
  });

  it('writes the whole URL and the credentials for a forwarding proxy', () => {
    const url = new URL('http://user:pass@api.example.com/v1/x');
    const head = encodeHead({ ...base, url, viaProxy: { authorization: 'Basic cHJveHk=' } });
    expect(head).toMatch(/^POST http:\/\/api\.example\.com\/v1\/x HTTP\/1\.1\r\nhost: api\.example\.com\r\n/);
    expect(head).toContain('\r\nproxy-authorization: Basic cHJveHk=\r\n');
  });

  it('turns the credentials of a URL into a header, unless there is one', () => {
    const url = new URL('http://me:p%40ss%@host/');
    const expected = `Basic ${Buffer.from('me:p%40ss%').toString('base64')}`;
    expect(encodeHead({ ...base, url })).toContain(`\r\nauthorization: ${expected}\r\n`);
    const given = encodeHead({ ...base, url, headers: { Authorization: 'Bearer x' } });
    expect(given.match(/authorization/gi)).toHaveLength(1);
    const plain = encodeHead({ ...base, url: new URL('http://me:p%40ss@host/') });
    expect(plain).toContain(`Basic ${Buffer.from('me:p@ss').toString('base64')}`);
  });

  it.each([
    ['x-a', 'secret\r\nx-injected: 1'],
    ['x-a', 'secret\nx'],
    ['x-a', 'secret\0'],
    ['x-a', 'secret 世'],
    ['x a', 'secret'],
    ['x-a:', 'secret'],
    ['', 'secret'],
    ['Content-Length', 'secret'],
    ['transfer-encoding', 'secret'],
    ['Host', 'secret'],
    ['connection', 'secret'],
    ['Proxy-Authorization', 'secret'],
  ])('refuses the header %j: %j without showing its value', (name, value) => {
    const send = () => encodeHead({ ...base, headers: { [name]: value } });
    expect(send).toThrow(GatewayError);
    expect(send).not.toThrow(/secret/);
  });

  it('takes the bytes of Latin-1', () => {
    expect(encodeHead({ ...base, headers: { 'x-a': 'caf\xe9\tau lait' } })).toContain(
      'x-a: caf\xe9\tau lait\r\n',
    );
  });
});
