import { describe, expect, it } from 'vitest';
import { ConsoleSessions } from './console-sessions.js';

const ALICE = { name: 'alice', scopes: ['admin'], models: ['*'] } as const;
const HOUR = 3600 * 1000;
const cookieIn = (setCookie: string) => setCookie.split(';')[0] ?? '';

describe('ConsoleSessions', () => {
  it('gives a cookie that scripts cannot read and other sites cannot send', () => {
    const sessions = new ConsoleSessions(3000);
    expect(sessions.open(ALICE, false)).toMatch(
      /^toolgate_3000=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/,
    );
    expect(sessions.open(ALICE, true)).toMatch(/; SameSite=Strict; Secure$/);
  });

  it('finds its own cookie among others, and no other', () => {
    const sessions = new ConsoleSessions(3000);
    const cookie = cookieIn(sessions.open(ALICE, false));
    expect(sessions.find(`a=1; ${cookie}; b=2`)).toBe(ALICE);
    expect(sessions.find(`toolgate_3001=${cookie.split('=')[1]}`)).toBeUndefined();
    expect(sessions.find('toolgate_3000=guess')).toBeUndefined();
    expect(sessions.find('toolgate_3000')).toBeUndefined();
    expect(sessions.find(undefined)).toBeUndefined();
  });

  it('ends a day after its last use', () => {
    const sessions = new ConsoleSessions(3000);
    const cookie = cookieIn(sessions.open(ALICE, false, 0));
    expect(sessions.find(cookie, 23 * HOUR)).toBe(ALICE);
    expect(sessions.find(cookie, 46 * HOUR)).toBe(ALICE);
    expect(sessions.find(cookie, 70 * HOUR)).toBeUndefined();
    expect(sessions.find(cookie, 46 * HOUR)).toBeUndefined();
  });

  it('ends when it is closed', () => {
    const sessions = new ConsoleSessions(3000);
    const cookie = cookieIn(sessions.open(ALICE, false));
    expect(sessions.close(cookie)).toBe('toolgate_3000=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0');
    expect(sessions.find(cookie)).toBeUndefined();
  });

  it('forgets the oldest of too many', () => {
    const sessions = new ConsoleSessions(3000);
    const first = cookieIn(sessions.open(ALICE, false));
    const second = cookieIn(sessions.open(ALICE, false));
    for (let index = 0; index < 999; index++) sessions.open(ALICE, false);
    expect(sessions.find(first)).toBeUndefined();
    expect(sessions.find(second)).toBe(ALICE);
  });
});
