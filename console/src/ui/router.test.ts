import { describe, expect, it } from 'vitest';
import { parseRoute } from './router.js';

const without = (hash: string) => {
  const { query, ...route } = parseRoute(hash);
  return { ...route, ...(query.size === 0 ? {} : { query: String(query) }) };
};

describe('the route of an address', () => {
  it.each([
    ['', { page: 'chat', session: undefined }],
    ['#/', { page: 'chat', session: undefined }],
    ['#/chat', { page: 'chat', session: undefined }],
    ['#/chat/s_1', { page: 'chat', session: 's_1' }],
    ['#/chat/a%2Fb', { page: 'chat', session: 'a/b' }],
    ['#/chat/%zz', { page: 'chat', session: '%zz' }],
    ['#/inbox', { page: 'inbox' }],
    ['#/sessions?q=a%3Fb', { page: 'sessions', query: 'q=a%3Fb' }],
    ['#/traces', { page: 'traces', id: undefined }],
    ['#/traces/t1', { page: 'traces', id: 't1' }],
    ['#/nowhere', { page: 'unknown', path: '/nowhere' }],
    ['#/inbox/more', { page: 'unknown', path: '/inbox/more' }],
    ['#/chat/a/b', { page: 'unknown', path: '/chat/a/b' }],
  ])('is found for "%s"', (hash, route) => expect(without(hash)).toEqual(route));
});
