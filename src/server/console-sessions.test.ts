import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GatewayError } from '../core/errors.js';
import { openStore } from '../store/open.js';
import type { SignInStore } from '../store/sign-ins.js';
import type { Store } from '../store/store.js';
import { ConsoleSessions, loadSignIns, SIGN_IN_LIMITS } from './console-sessions.js';
import { type Credential, OPERATOR_TIE } from './console-sessions-cookie.js';
import { digestOf } from './credentials.js';

const HOUR = 3600 * 1000;
const cookieIn = (setCookie: string) => setCookie.split(';')[0] ?? '';
const credential = (name: string, key = `key of ${name}`): Credential => ({
  principal: { name, scopes: ['admin'], models: ['*'] },
  tie: digestOf(key),
});
const ALICE = credential('alice');
const BOB = credential('bob');
const OPERATOR: Credential = {
  principal: { name: 'local', scopes: ['admin'], models: ['*'] },
  tie: OPERATOR_TIE,
};

let store: Store;
let now = 0;
let warnings: string[] = [];
const started: ConsoleSessions[] = [];
const log = { warn: (_facts: object, message: string) => warnings.push(message) };

beforeEach(async () => {
  now = 1_760_000_000_000;
  warnings = [];
  store = await openStore('sqlite::memory:', { baseDir: '/', now: () => now });
});
afterEach(async () => {
  for (const sessions of started.splice(0)) await sessions.stop();
  await store.close();
});

/** A process that starts on what the store has. */
async function start(
  credentials: readonly Credential[] = [ALICE, BOB],
  signIns: SignInStore = store.signIns,
): Promise<ConsoleSessions> {
  const found = await loadSignIns(signIns, log);
  const sessions = new ConsoleSessions({ port: 3000, credentials, store: signIns, log, found });
  started.push(sessions);
  return sessions;
}

/** The same store, of which some methods do not work for now. */
function broken(...methods: (keyof SignInStore)[]): SignInStore & { mend(): void } {
  let works = false;
  const { signIns } = store;
  const fails = (method: keyof SignInStore) => !works && methods.includes(method);
  const down = () => Promise.reject(new GatewayError('unavailable', 'down'));
  return {
    add: (signIn) => (fails('add') ? down() : signIns.add(signIn)),
    get: (id) => (fails('get') ? down() : signIns.get(id)),
    list: () => (fails('list') ? down() : signIns.list()),
    extend: (ends) => (fails('extend') ? down() : signIns.extend(ends)),
    remove: (ids) => (fails('remove') ? down() : signIns.remove(ids)),
    mend: () => {
      works = true;
    },
  };
}

describe('a sign-in', () => {
  it('is a cookie that scripts cannot read and other sites cannot send', async () => {
    const sessions = await start();
    expect(await sessions.open(ALICE, false)).toMatch(
      /^toolgate_3000=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/,
    );
    expect(await sessions.open(ALICE, true)).toMatch(/; SameSite=Strict; Secure$/);
    expect(sessions.takenCookie).toBe('toolgate_3000=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0');
  });

  it('is found by its own cookie among others, and by no other', async () => {
    const sessions = await start();
    const cookie = cookieIn(await sessions.open(ALICE, false));
    expect(sessions.find(`a=1; ${cookie}; b=2`)).toBe(ALICE.principal);
    expect(sessions.find(`toolgate_3001=${cookie.split('=')[1]}`)).toBeUndefined();
    expect(sessions.find('toolgate_3000=guess')).toBeUndefined();
    expect(sessions.find('toolgate_3000=')).toBeUndefined();
    expect(sessions.find('toolgate_3000')).toBeUndefined();
    expect(sessions.find(undefined)).toBeUndefined();
  });

  it('ends a day after its last use', async () => {
    const sessions = await start();
    const cookie = cookieIn(await sessions.open(ALICE, false, undefined, now));
    expect(sessions.find(cookie, now + 23 * HOUR)).toBe(ALICE.principal);
    expect(sessions.find(cookie, now + 46 * HOUR)).toBe(ALICE.principal);
    expect(sessions.find(cookie, now + 70 * HOUR)).toBeUndefined();
    expect(sessions.find(cookie, now + 46 * HOUR)).toBeUndefined();
  });

  it('ends when it is closed, and says so', async () => {
    const sessions = await start();
    const cookie = cookieIn(await sessions.open(ALICE, false));
    let ends = 0;
    sessions.onEnd(() => {
      ends += 1;
    });
    await sessions.close(cookie);
    await sessions.close(cookie);
    expect(sessions.find(cookie)).toBeUndefined();
    expect(ends).toBe(1);
  });

  it('ends when its browser signs in anew', async () => {
    const sessions = await start();
    const first = cookieIn(await sessions.open(ALICE, false));
    const second = cookieIn(await sessions.open(BOB, false, first));
    expect([sessions.find(first), sessions.find(second)]).toEqual([undefined, BOB.principal]);
    expect(await store.signIns.list()).toHaveLength(1);
  });

  it('goes when it is the oldest of too many, from the store as well', async () => {
    const sessions = await start();
    const first = cookieIn(await sessions.open(ALICE, false));
    const second = cookieIn(await sessions.open(ALICE, false));
    for (let index = 1; index < SIGN_IN_LIMITS.most; index++) await sessions.open(ALICE, false);
    expect([sessions.find(first), sessions.find(second)]).toEqual([undefined, ALICE.principal]);
    expect(sessions.isStranger(first)).toBe(false);
    await sessions.sync();
    expect(await store.signIns.list()).toHaveLength(SIGN_IN_LIMITS.most);
  });
});

describe('after a restart a sign-in', () => {
  it('is still of the key that it was made with', async () => {
    const cookie = cookieIn(await (await start()).open(BOB, false));
    const sessions = await start();
    expect(sessions.find(cookie)).toBe(BOB.principal);
    expect(sessions.find('toolgate_3000=guess')).toBeUndefined();
  });

  it('has the name and the scopes that the key has now', async () => {
    const cookie = cookieIn(await (await start()).open(BOB, false));
    const principal = { name: 'robert', scopes: ['call'], models: [] } as const;
    expect((await start([ALICE, { ...BOB, principal }])).find(cookie)).toBe(principal);
  });

  it.each([
    ['the key was removed', BOB, [ALICE]],
    ['the key was changed', BOB, [ALICE, credential('bob', 'another key')]],
    ['there are no keys any more', BOB, [OPERATOR]],
    ['there are keys now', OPERATOR, [ALICE, BOB]],
  ])('is over where %s, and stays so', async (_why, before, after) => {
    const cookie = cookieIn(await (await start([before])).open(before, false));
    const sessions = await start(after);
    expect(sessions.find(cookie)).toBeUndefined();
    expect(sessions.isStranger(cookie)).toBe(false);
    await sessions.sync();
    expect((await start([before])).find(cookie)).toBeUndefined();
  });

  it('goes on where there are no keys, although the token is another one', async () => {
    const cookie = cookieIn(await (await start([OPERATOR])).open(OPERATOR, false));
    expect((await start([{ ...OPERATOR }])).find(cookie)).toBe(OPERATOR.principal);
  });

  it('is over where it was closed before', async () => {
    const first = await start();
    const cookie = cookieIn(await first.open(ALICE, false));
    await first.close(cookie);
    const sessions = await start();
    expect([sessions.find(cookie), sessions.isStranger(cookie)]).toEqual([undefined, true]);
    await sessions.recall(cookie);
    expect(sessions.find(cookie)).toBeUndefined();
  });

  it('is over where its time was over meanwhile', async () => {
    const cookie = cookieIn(await (await start()).open(ALICE, false, undefined, now));
    now += SIGN_IN_LIMITS.lifetimeMs;
    const sessions = await start();
    await sessions.recall(cookie);
    expect(sessions.find(cookie, now)).toBeUndefined();
  });
});

describe('what the store learns of uses', () => {
  const stored = async () => (await store.signIns.list()).map(({ expiresAt }) => expiresAt);

  it('is nothing until the end is an hour later, so that one in daily use never ends', async () => {
    const sessions = await start();
    const opened = now;
    const cookie = cookieIn(await sessions.open(ALICE, false, undefined, now));
    for (let minute = 1; minute <= 3 * 24 * 60; minute++) {
      now = opened + minute * 60_000;
      expect(sessions.find(cookie, now)).toBe(ALICE.principal);
      if (minute === 59 || minute === 60) await sessions.sync(now);
      if (minute === 59) expect(await stored()).toEqual([opened + 24 * HOUR]);
      if (minute === 60) expect(await stored()).toEqual([now + 24 * HOUR]);
      if (minute % 10 === 0) await sessions.sync(now);
    }
    // As after `kill -9`: nothing more is told to the store.
    expect((await start()).find(cookie, now)).toBe(ALICE.principal);
  });

  it('is all of it when the process stops', async () => {
    const sessions = await start();
    now = Date.now();
    const cookie = cookieIn(await sessions.open(ALICE, false, undefined, now - 60_000));
    sessions.find(cookie, now);
    await sessions.stop();
    expect(await stored()).toEqual([now + 24 * HOUR]);
  });
});

describe('of two processes on one store', () => {
  it('each knows the sign-ins of the other', async () => {
    const [here, there] = [await start(), await start()];
    const cookie = cookieIn(await here.open(BOB, false));
    expect([there.find(cookie), there.isStranger(cookie)]).toEqual([undefined, true]);
    await there.recall(cookie);
    expect([there.find(cookie), there.isStranger(cookie)]).toEqual([BOB.principal, false]);
  });

  it('one ends what the other has closed', async () => {
    const here = await start();
    const cookie = cookieIn(await here.open(ALICE, false, undefined, now));
    const kept = cookieIn(await here.open(BOB, false, undefined, now));
    const there = await start();
    let ends = 0;
    there.onEnd(() => {
      ends += 1;
    });
    await here.close(cookie);
    await there.sync(now);
    expect([there.find(cookie, now), there.find(kept, now), ends]).toEqual([undefined, BOB.principal, 1]);
  });

  it('one closes what it has not seen yet', async () => {
    const [here, there] = [await start(), await start()];
    const cookie = cookieIn(await here.open(ALICE, false));
    await there.close(cookie);
    expect(await store.signIns.list()).toEqual([]);
  });
});

describe('while the store cannot be used', () => {
  it('one can sign in for this process; the store is told as soon as it works', async () => {
    const down = broken('add');
    const sessions = await start([ALICE], down);
    const cookie = cookieIn(await sessions.open(ALICE, false, undefined, now));
    expect(sessions.find(cookie, now)).toBe(ALICE.principal);
    expect(warnings).toEqual(['a sign-in will end with this process']);
    await sessions.sync(now);
    expect(sessions.find(cookie, now)).toBe(ALICE.principal);
    expect((await start([ALICE])).find(cookie, now)).toBeUndefined();
    down.mend();
    await sessions.sync(now);
    expect((await start([ALICE])).find(cookie, now)).toBe(ALICE.principal);
  });

  it('whoever signs out is told, is out in this process, and is out for good as soon as it works', async () => {
    const down = broken('remove');
    const sessions = await start([ALICE], down);
    const cookie = cookieIn(await sessions.open(ALICE, false));
    await expect(sessions.close(cookie)).rejects.toMatchObject({ code: 'unavailable' });
    expect([sessions.find(cookie), sessions.isStranger(cookie)]).toEqual([undefined, false]);
    down.mend();
    await sessions.sync();
    expect(await store.signIns.list()).toEqual([]);
  });

  it('a stranger is not taken for somebody who is signed out', async () => {
    const cookie = cookieIn(await (await start()).open(ALICE, false));
    const down = broken('list', 'get');
    const sessions = await start([ALICE], down);
    expect(warnings).toEqual(['sign-ins of earlier could not be read']);
    await expect(sessions.recall(cookie)).rejects.toMatchObject({ code: 'unavailable' });
    down.mend();
    await sessions.recall(cookie);
    expect(sessions.find(cookie)).toBe(ALICE.principal);
  });

  it('a sign-in that ends before the store knew of it is not written afterwards', async () => {
    const down = broken('add');
    let sessions: ConsoleSessions | undefined;
    let cookie = '';
    const late: SignInStore = {
      ...down,
      add: async (signIn) => {
        await down.add(signIn);
        // Its owner signs out at this very moment.
        await sessions?.close(cookie);
        await store.signIns.add(signIn);
      },
    };
    sessions = await start([ALICE], late);
    cookie = cookieIn(await sessions.open(ALICE, false, undefined, now));
    down.mend();
    await sessions.sync(now);
    expect(await store.signIns.list()).toEqual([]);
  });
});
