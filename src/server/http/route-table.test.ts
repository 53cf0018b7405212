import { describe, expect, it } from 'vitest';
import { type BoundRoute, RouteTable } from './route-table.js';

const route = (method: BoundRoute['method'], path: string): BoundRoute => ({
  method,
  path,
  access: { area: 'public' },
  handle: () => {},
});

const table = new RouteTable([
  route('POST', '/v1/messages'),
  route('GET', '/v1/models'),
  route('GET', '/v1/models/*id'),
  route('GET', '/api/traces/:id'),
  route('DELETE', '/api/traces/:id'),
  route('POST', '/api/mcp/:name/reconnect'),
  route('HEAD', '/'),
  route('GET', '/'),
]);

describe('RouteTable', () => {
  it.each([
    ['POST', '/v1/messages', '/v1/messages', {}],
    ['HEAD', '/v1/models', '/v1/models', {}],
    ['GET', '/v1/models/gpt-5', '/v1/models/*id', { id: 'gpt-5' }],
    ['GET', '/v1/models/org/model%20x', '/v1/models/*id', { id: 'org/model x' }],
    ['DELETE', '/api/traces/a%2Fb', '/api/traces/:id', { id: 'a/b' }],
    ['POST', '/api/mcp/docs/reconnect', '/api/mcp/:name/reconnect', { name: 'docs' }],
  ])('finds %s %s', (method, path, pattern, parameters) => {
    expect(table.find(method, path)).toMatchObject({ route: { path: pattern }, parameters });
  });

  it('prefers a HEAD route of its own to GET', () => {
    expect(table.find('HEAD', '/')).toMatchObject({ route: { method: 'HEAD' } });
  });

  it.each([
    ['GET', '/v1/messages', ['POST']],
    ['PUT', '/api/traces/1', ['GET', 'HEAD', 'DELETE']],
    ['BREW', '/', ['HEAD', 'GET']],
  ])('names the methods instead of %s %s', (method, path, allow) => {
    expect(table.find(method, path)).toEqual({ allow });
  });

  it.each(['/v1', '/v1/messages/', '/v1/models/', '/api/traces/a/b', '/api/traces/', '/V1/messages', ''])(
    'does not know %j',
    (path) => {
      expect(table.find('GET', path)).toBeUndefined();
    },
  );

  it('refuses a path that cannot be decoded', () => {
    expect(() => table.find('GET', '/api/traces/%zz')).toThrow('"%" that is not an escape');
  });
});
