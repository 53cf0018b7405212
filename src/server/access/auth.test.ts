import { describe, expect, it } from 'vitest';
import { memorySignIns } from '../../../test/support/memory-sign-ins.js';
import { cookieIn, cookieOf, PAGE } from '../../../test/support/sign-in-world.js';
import { type Access, Auth } from './auth.js';
import { type KeyOptions, KeyRing } from './key-ring.js';

const CALL: Access = { area: 'models', scope: 'call' };
const CONSOLE: Access = { area: 'console' };
const ADMIN: Access = { area: 'console', scope: 'admin' };
const METRICS: Access = { area: 'metrics' };
const PUBLIC: Access = { area: 'public' };

const KEYS = [
  { key: 'key-alice', name: 'alice', scopes: ['call', 'approve', 'admin'], models: ['*'] },
  { key: 'key-bob', name: 'bob', scopes: ['call'], models: ['gpt-*'], rpm: 2 },
  { key: 'key-eve', name: 'eve', scopes: ['approve'], models: ['*'] },
] as const;

const authOf = (keys: readonly KeyOptions[]) =>
  new Auth({ keys: new KeyRing({ keys }), port: 3000, store: memorySignIns(), log: { warn: () => {} } });
const withKeys = () => authOf(KEYS);
const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });

describe('with keys', () => {
  it.each([
    ['bearer', bearer('key-alice')],
    ['bearer in lower case', { authorization: 'bearer  key-alice ' }],
    ['x-api-key', { 'x-api-key': 'key-alice' }],
    ['both, one of them wrong', { authorization: 'Bearer wrong', 'x-api-key': 'key-alice' }],
    ['both, the other one wrong', { authorization: 'Bearer key-alice', 'x-api-key': 'wrong' }],
  ])('admits by %s', (_how, headers) => {
    expect(withKeys().admit(CALL, headers)).toMatchObject({ name: 'alice', models: ['*'] });
  });

  it.each([CALL, CONSOLE, METRICS])('needs a key for %j', (access) => {
    expect(() => withKeys().admit(access, {})).toThrow('No API key was given.');
    expect(() => withKeys().admit(access, bearer('key-alic'))).toThrow('The API key is not known');
    expect(() => withKeys().admit(access, bearer('key-alicee'))).toThrow('The API key is not known');
    expect(() => withKeys().admit(access, { authorization: 'Basic key-alice' })).toThrow('No API key');
    expect(() => withKeys().admit(access, { 'x-api-key': '' })).toThrow('No API key was given.');
  });

  it('tells a thousand keys apart, by the last of two that are the same', () => {
    const many = Array.from({ length: 1000 }, (_, n) => ({
      key: `key-${n}`,
      name: `name-${n}`,
      scopes: ['call'] as const,
      models: ['*'],
    }));
    const auth = authOf([...many, { key: 'key-7', name: 'again', scopes: ['call'], models: ['*'] }]);
    for (const { key, name } of many) {
      expect(auth.admit(CALL, bearer(key)).name).toBe(key === 'key-7' ? 'again' : name);
    }
    expect(() => auth.admit(CALL, bearer('key-1000'))).toThrow('The API key is not known');
  });

  it('needs none for what is public', () => {
    expect(withKeys().admit(PUBLIC, {})).toBeDefined();
  });

  it('asks for the scope', () => {
    const auth = withKeys();
    expect(auth.admit(ADMIN, bearer('key-alice')).name).toBe('alice');
    expect(() => auth.admit(ADMIN, bearer('key-bob'))).toThrow('does not have the scope "admin"');
    expect(() => auth.admit(CALL, bearer('key-eve'))).toThrow('does not have the scope "call"');
    expect(auth.admit(CONSOLE, bearer('key-bob')).name).toBe('bob');
  });

  it('counts requests for models against the rate, each key for itself', () => {
    const auth = withKeys();
    auth.admit(CALL, bearer('key-bob'));
    auth.admit(CONSOLE, bearer('key-bob'));
    auth.admit(CALL, bearer('key-bob'));
    expect(() => auth.admit(CALL, bearer('key-bob'))).toThrow(
      expect.objectContaining({ code: 'rate_limited', status: 429, retryAfter: 60, retryable: true }),
    );
    expect(auth.admit(CALL, bearer('key-alice')).name).toBe('alice');
    expect(auth.admit(CONSOLE, bearer('key-bob')).name).toBe('bob');
  });

  it('has no console token; a key signs in and the cookie stands for it', async () => {
    const auth = withKeys();
    expect(auth.consoleToken).toBeUndefined();
    const credential = auth.credentialOf('key-bob');
    expect(credential?.principal.name).toBe('bob');
    const sent =
      credential === undefined ? cookieOf('') : cookieIn(await auth.signIns.open(credential, false));
    expect(auth.admit(CONSOLE, sent).name).toBe('bob');
    expect(() => auth.admit(CONSOLE, { cookie: sent.cookie })).toThrow('No API key was given');
    expect(() => auth.admit(ADMIN, sent)).toThrow('does not have the scope');
  });

  it('takes a cookie that is not known here for a stranger, unless a key says who it is', () => {
    const cookie = 'toolgate_3000=unknown';
    const isStranger = (access: Access, headers: Record<string, string>) =>
      withKeys().isStranger(access, { ...PAGE, ...headers });
    expect(isStranger(CONSOLE, { cookie })).toBe(true);
    expect(isStranger(CALL, { cookie, ...bearer('key-wrong') })).toBe(true);
    expect(isStranger(CONSOLE, { cookie, ...bearer('key-bob') })).toBe(false);
    expect(isStranger(PUBLIC, { cookie })).toBe(false);
    expect(isStranger(CONSOLE, { cookie: 'toolgate_3001=unknown' })).toBe(false);
    expect(isStranger(CONSOLE, {})).toBe(false);
  });
});

describe('without keys', () => {
  const auth = authOf([]);
  const token = auth.consoleToken ?? '';

  it.each([{}, bearer('anything'), { 'x-api-key': 'anything' }])(
    'takes %j for models and metrics',
    (headers) => {
      expect(auth.admit(CALL, headers)).toEqual({ name: 'local', scopes: ['call'], models: ['*'] });
      expect(auth.admit(METRICS, headers).name).toBe('local');
    },
  );

  it('needs the token for the console', () => {
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(() => auth.admit(CONSOLE, {})).toThrow('This needs the console token.');
    expect(() => auth.admit(CONSOLE, bearer('anything'))).toThrow('This needs the console token.');
    expect(auth.admit(ADMIN, bearer(token))).toMatchObject({
      name: 'local',
      scopes: ['call', 'approve', 'admin'],
    });
  });

  it('has another token each time', () => {
    expect(authOf([]).consoleToken).not.toBe(token);
  });

  it('asks for no cookie where models and figures are open', () => {
    const cookie = 'toolgate_3000=unknown';
    expect([CALL, METRICS, CONSOLE].map((access) => auth.isStranger(access, { cookie, ...PAGE }))).toEqual([
      false,
      false,
      true,
    ]);
  });
});
