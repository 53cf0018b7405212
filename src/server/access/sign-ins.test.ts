import { describe, expect, it } from 'vitest';
import {
  ALICE,
  BOB,
  cookieIn,
  cookieOf,
  credential,
  HOUR,
  OPERATOR,
  PAGE,
  signInWorld,
} from '../../../test/support/sign-in-world.js';
import type { SignInStore } from '../../store/sign-ins.js';
import { SIGN_IN_LIMITS } from './sign-ins.js';

const world = signInWorld();

describe('a sign-in', () => {
  it('is a cookie that scripts cannot read and other sites cannot send', async () => {
    const sessions = await world.start();
    expect((await sessions.open(ALICE, false)).setCookie).toMatch(
      /^toolgate_3000=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/,
    );
    expect((await sessions.open(ALICE, true)).setCookie).toMatch(/; SameSite=Strict; Secure$/);
    expect(sessions.takenCookie).toBe('toolgate_3000=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0');
  });

  it('is found by its own cookie among others, and by no other', async () => {
    const sessions = await world.start();
    const { cookie } = cookieIn(await sessions.open(ALICE, false, PAGE));
    expect(sessions.find(cookieOf(`a=1; ${cookie}; b=2`))).toBe(ALICE.principal);
    expect(sessions.find(cookieOf(`toolgate_3001=${cookie.split('=')[1]}`))).toBeUndefined();
    expect(sessions.find(cookieOf('toolgate_3000=guess'))).toBeUndefined();
    expect(sessions.find(cookieOf('toolgate_3000='))).toBeUndefined();
    expect(sessions.find(cookieOf('toolgate_3000'))).toBeUndefined();
    expect(sessions.find({})).toBeUndefined();
  });

  it('is nobody without the secret of its page, and the secret is nobody without the cookie', async () => {
    const sessions = await world.start();
    const { cookie } = cookieIn(await sessions.open(ALICE, false, PAGE));
    expect(sessions.find({ cookie })).toBeUndefined();
    expect(sessions.find(PAGE)).toBeUndefined();
    for (const secret of ['', 'short', `${PAGE['x-toolgate-page']}0`, 'a'.repeat(64)]) {
      expect(sessions.find({ cookie, 'x-toolgate-page': secret }), secret).toBeUndefined();
    }
    expect(sessions.find({ cookie, ...PAGE })).toBe(ALICE.principal);
    const other = await sessions.open(BOB, false);
    expect(other.page).toMatch(/^[\w-]{43}$/);
    expect(sessions.find({ ...cookieIn(other), ...PAGE })).toBeUndefined();
    expect(sessions.find(cookieIn(other))).toBe(BOB.principal);
  });

  it('ends at once where another gateway says that it has, with what reads in its name', async () => {
    const sessions = await world.start();
    const [ended, other] = [
      cookieIn(await sessions.open(ALICE, false)),
      cookieIn(await sessions.open(BOB, false)),
    ];
    const stored = await world.signIns.list();
    let told = 0;
    sessions.onEnd(() => told++);
    sessions.ended(stored.filter(({ name }) => name === ALICE.principal.name).map(({ id }) => id));
    sessions.ended(['unknown']);
    expect([sessions.find(ended), sessions.isStranger(ended)]).toEqual([undefined, false]);
    expect(sessions.find(other)).toBe(BOB.principal);
    expect(told).toBe(1);
  });

  it('ends a day after its last use', async () => {
    const sessions = await world.start();
    const cookie = cookieIn(await sessions.open(ALICE, false, undefined, world.now));
    expect(sessions.find(cookie, world.now + 23 * HOUR)).toBe(ALICE.principal);
    expect(sessions.find(cookie, world.now + 46 * HOUR)).toBe(ALICE.principal);
    expect(sessions.find(cookie, world.now + 70 * HOUR)).toBeUndefined();
    expect(sessions.find(cookie, world.now + 46 * HOUR)).toBeUndefined();
  });

  it('does not end earlier in the store when it was used in its first hour alone', async () => {
    const sessions = await world.start();
    const opened = world.now;
    const cookie = cookieIn(await sessions.open(ALICE, false, undefined, world.now));
    expect(sessions.find(cookie, opened + 0.9 * HOUR)).toBe(ALICE.principal);
    for (const hours of [12, 22.99, 23, 24, 24.8]) {
      world.now = opened + hours * HOUR;
      await sessions.sync(world.now);
    }
    expect(sessions.find(cookie, world.now)).toBe(ALICE.principal);
    expect((await world.start()).find(cookie, world.now)).toBe(ALICE.principal);
  });

  it('is not taken for one that somebody ended when its time in the store is over', async () => {
    const down = world.broken('extend');
    const sessions = await world.start([ALICE], down);
    const opened = world.now;
    const cookie = cookieIn(await sessions.open(ALICE, false, undefined, world.now));
    sessions.find(cookie, opened + 0.9 * HOUR);
    world.now = opened + 24 * HOUR;
    await sessions.sync(world.now);
    down.mend();
    await sessions.sync(world.now);
    expect(sessions.find(cookie, world.now)).toBe(ALICE.principal);
  });

  it('ends 30 days after it began, however much it is used, also over a restart', async () => {
    let sessions = await world.start();
    const opened = world.now;
    const cookie = cookieIn(await sessions.open(ALICE, false, undefined, world.now));
    for (let half = 1; half < 60; half++) {
      world.now = opened + half * 12 * HOUR;
      expect(sessions.find(cookie, world.now)).toBe(ALICE.principal);
      await sessions.sync(world.now);
      if (half % 20 === 0) sessions = await world.start();
    }
    world.now = opened + 30 * 24 * HOUR;
    expect(sessions.find(cookie, world.now)).toBeUndefined();
    expect(await world.signIns.list()).toEqual([]);
  });

  it('ends when it is closed, and says so', async () => {
    const sessions = await world.start();
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
    const sessions = await world.start();
    const first = cookieIn(await sessions.open(ALICE, false));
    const second = cookieIn(await sessions.open(BOB, false, first));
    expect([sessions.find(first), sessions.find(second)]).toEqual([undefined, BOB.principal]);
    expect(await world.signIns.list()).toHaveLength(1);
  });

  it('makes room among those of its own key: the one unused for longest goes, from the store as well', async () => {
    const sessions = await world.start();
    const bobs = cookieIn(await sessions.open(BOB, false));
    const daily = cookieIn(await sessions.open(ALICE, false));
    const unused = cookieIn(await sessions.open(ALICE, false));
    sessions.find(daily);
    for (let index = 1; index < SIGN_IN_LIMITS.perKey; index++) await sessions.open(ALICE, false);
    expect([bobs, daily, unused].map((cookie) => sessions.find(cookie))).toEqual([
      BOB.principal,
      ALICE.principal,
      undefined,
    ]);
    expect(sessions.isStranger(unused)).toBe(true);
    expect(await world.signIns.list()).toHaveLength(SIGN_IN_LIMITS.perKey + 1);
  });

  it('never makes the sign-in of another key go for as long as its own has others', async () => {
    const few: SignInStore = { ...world.broken(), most: 3 };
    const sessions = await world.start([ALICE, BOB], few);
    const bobs = cookieIn(await sessions.open(BOB, false));
    for (let index = 0; index < 5; index++) await sessions.open(ALICE, false);
    expect(sessions.find(bobs)).toBe(BOB.principal);
    expect(await world.signIns.list()).toHaveLength(3);
  });
});

describe('signing out everywhere', () => {
  it('ends all sign-ins of the person, also those not seen since the start, and no others', async () => {
    const earlier = await world.start();
    const unseen = cookieIn(await earlier.open(ALICE, false, undefined, world.now));
    const bobs = cookieIn(await earlier.open(BOB, false, undefined, world.now));
    const sessions = await world.start();
    const seen = cookieIn(await sessions.open(ALICE, false, undefined, world.now));
    // Of another process: this one does not know it.
    await earlier.open(ALICE, false, undefined, world.now);
    let ends = 0;
    sessions.onEnd(() => {
      ends += 1;
    });
    await sessions.closeAll(ALICE.principal, world.now);
    expect([unseen, seen, bobs].map((cookie) => sessions.find(cookie, world.now))).toEqual([
      undefined,
      undefined,
      BOB.principal,
    ]);
    expect(ends).toBe(1);
    expect(await world.signIns.list()).toMatchObject([{ name: 'bob' }]);
    const again = cookieIn(await sessions.open(ALICE, false, undefined, world.now));
    expect(sessions.find(again, world.now)).toBe(ALICE.principal);
  });

  it('ends one that began under another name of the key', async () => {
    const renamed = { ...BOB, principal: { ...BOB.principal, name: 'robert' } };
    const unseen = cookieIn(await (await world.start()).open(BOB, false, undefined, world.now));
    const sessions = await world.start([ALICE, renamed]);
    await sessions.closeAll(renamed.principal, world.now);
    expect(sessions.find(unseen, world.now)).toBeUndefined();
    expect(await world.signIns.list()).toEqual([]);
  });

  it('is told where the store cannot be read; what only it knows goes as soon as that works', async () => {
    const earlier = await world.start();
    const down = world.broken('list');
    const sessions = await world.start([ALICE, BOB], down);
    const unseen = cookieIn(await earlier.open(ALICE, false, undefined, world.now));
    await earlier.open(ALICE, false, undefined, world.now);
    await expect(sessions.closeAll(ALICE.principal, world.now)).rejects.toMatchObject({
      code: 'unavailable',
    });
    await sessions.recall(unseen);
    expect(sessions.find(unseen, world.now)).toBeUndefined();
    const later = cookieIn(await sessions.open(ALICE, false, undefined, world.now + 1));
    down.mend();
    await sessions.sync(world.now + 1);
    expect(sessions.find(later, world.now + 1)).toBe(ALICE.principal);
    expect(await world.signIns.list()).toHaveLength(1);
  });
});

describe('after a restart a sign-in', () => {
  it('is still of the key that it was made with', async () => {
    const cookie = cookieIn(await (await world.start()).open(BOB, false));
    const sessions = await world.start();
    expect(sessions.find(cookie)).toBe(BOB.principal);
    expect(sessions.find(cookieOf('toolgate_3000=guess'))).toBeUndefined();
  });

  it('has the name and the scopes that the key has now', async () => {
    const cookie = cookieIn(await (await world.start()).open(BOB, false));
    const principal = { name: 'robert', scopes: ['call'], models: [] } as const;
    expect((await world.start([ALICE, { ...BOB, principal }])).find(cookie)).toBe(principal);
  });

  it.each([
    ['the key was removed', BOB, [ALICE]],
    ['the key was changed', BOB, [ALICE, credential('bob', 'another key')]],
    ['there are no keys any more', BOB, [OPERATOR]],
    ['there are keys now', OPERATOR, [ALICE, BOB]],
  ])('is over where %s, and stays so', async (_why, before, after) => {
    const cookie = cookieIn(await (await world.start([before])).open(before, false));
    const sessions = await world.start(after);
    expect(sessions.find(cookie)).toBeUndefined();
    expect(sessions.isStranger(cookie)).toBe(false);
    await sessions.sync();
    expect((await world.start([before])).find(cookie)).toBeUndefined();
  });

  it('goes on where there are no keys, although the token is another one', async () => {
    const cookie = cookieIn(await (await world.start([OPERATOR])).open(OPERATOR, false));
    expect((await world.start([{ ...OPERATOR }])).find(cookie)).toBe(OPERATOR.principal);
  });

  it('is over where it was closed before', async () => {
    const first = await world.start();
    const cookie = cookieIn(await first.open(ALICE, false));
    await first.close(cookie);
    const sessions = await world.start();
    expect([sessions.find(cookie), sessions.isStranger(cookie)]).toEqual([undefined, true]);
    await sessions.recall(cookie);
    expect(sessions.find(cookie)).toBeUndefined();
  });

  it('is over where its time was over meanwhile', async () => {
    const cookie = cookieIn(await (await world.start()).open(ALICE, false, undefined, world.now));
    world.now += SIGN_IN_LIMITS.lifetimeMs;
    const sessions = await world.start();
    await sessions.recall(cookie);
    expect(sessions.find(cookie, world.now)).toBeUndefined();
  });
});

describe('what the store is told of the use of sign-ins', () => {
  const stored = async () => (await world.signIns.list()).map(({ expiresAt }) => expiresAt);

  it('is nothing until the expiry moves by an hour, so that one in daily use never ends', async () => {
    const sessions = await world.start();
    const opened = world.now;
    const cookie = cookieIn(await sessions.open(ALICE, false, undefined, world.now));
    for (let minute = 1; minute <= 3 * 24 * 60; minute++) {
      world.now = opened + minute * 60_000;
      expect(sessions.find(cookie, world.now)).toBe(ALICE.principal);
      if (minute === 59 || minute === 60) await sessions.sync(world.now);
      if (minute === 59) expect(await stored()).toEqual([opened + 24 * HOUR]);
      if (minute === 60) expect(await stored()).toEqual([world.now + 24 * HOUR]);
      if (minute % 10 === 0) await sessions.sync(world.now);
    }
    // As after `kill -9`: nothing more is told to the store.
    expect((await world.start()).find(cookie, world.now)).toBe(ALICE.principal);
  });

  it('is everything when the process stops', async () => {
    const sessions = await world.start();
    world.now = Date.now();
    const cookie = cookieIn(await sessions.open(ALICE, false, undefined, world.now - 60_000));
    sessions.find(cookie, world.now);
    await sessions.stop();
    expect(await stored()).toEqual([world.now + 24 * HOUR]);
  });
});

describe('of two processes on one store', () => {
  it('each knows the sign-ins of the other', async () => {
    const [here, there] = [await world.start(), await world.start()];
    const cookie = cookieIn(await here.open(BOB, false));
    expect([there.find(cookie), there.isStranger(cookie)]).toEqual([undefined, true]);
    await there.recall(cookie);
    expect([there.find(cookie), there.isStranger(cookie)]).toEqual([BOB.principal, false]);
  });

  it('one ends what the other has closed', async () => {
    const here = await world.start();
    const cookie = cookieIn(await here.open(ALICE, false, undefined, world.now));
    const kept = cookieIn(await here.open(BOB, false, undefined, world.now));
    const there = await world.start();
    let ends = 0;
    there.onEnd(() => {
      ends += 1;
    });
    await here.close(cookie);
    await there.sync(world.now);
    expect([there.find(cookie, world.now), there.find(kept, world.now), ends]).toEqual([
      undefined,
      BOB.principal,
      1,
    ]);
  });

  it('one asks the store once for a cookie of nobody, and again after a while', async () => {
    let asked = 0;
    const counting: SignInStore = {
      ...world.broken(),
      get: (id) => {
        asked += 1;
        return world.signIns.get(id);
      },
    };
    const sessions = await world.start([ALICE], counting);
    const ask = async () => {
      if (sessions.isStranger(cookieOf('toolgate_3000=guess')))
        await sessions.recall(cookieOf('toolgate_3000=guess'));
    };
    await ask();
    await ask();
    expect(asked).toBe(1);
    await sessions.sync();
    await ask();
    expect(asked).toBe(2);
  });

  it('one closes what it has not seen yet', async () => {
    const [here, there] = [await world.start(), await world.start()];
    const cookie = cookieIn(await here.open(ALICE, false));
    await there.close(cookie);
    expect(await world.signIns.list()).toEqual([]);
  });
});
