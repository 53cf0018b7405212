import { describe, expect, it } from 'vitest';
import { ALICE, cookieIn, cookieOf, signInWorld } from '../../../test/support/sign-in-world.js';
import type { SignInStore } from '../../store/sign-ins.js';
import type { SignIns } from './sign-ins.js';

const world = signInWorld();

describe('while the store cannot be used', () => {
  it('one can sign in for this process; the store is told as soon as it works', async () => {
    const down = world.broken('add');
    const signIns = await world.start([ALICE], down);
    const cookie = cookieIn(await signIns.open(ALICE, false, undefined, world.now));
    expect(signIns.find(cookie, world.now)).toBe(ALICE.principal);
    expect(world.said.map(({ message }) => message)).toEqual(['a sign-in will end with this process']);
    await signIns.sync(world.now);
    expect(signIns.find(cookie, world.now)).toBe(ALICE.principal);
    expect((await world.start([ALICE])).find(cookie, world.now)).toBeUndefined();
    down.mend();
    await signIns.sync(world.now);
    expect((await world.start([ALICE])).find(cookie, world.now)).toBe(ALICE.principal);
  });

  it('whoever signs out is told, is out in this process, and is out for good as soon as it works', async () => {
    const down = world.broken('remove');
    const signIns = await world.start([ALICE], down);
    const cookie = cookieIn(await signIns.open(ALICE, false));
    await expect(signIns.close(cookie)).rejects.toMatchObject({ code: 'unavailable' });
    expect([signIns.find(cookie), signIns.isStranger(cookie)]).toEqual([undefined, false]);
    down.mend();
    await signIns.sync();
    expect(await world.signIns.list()).toEqual([]);
  });

  it('signing out with a cookie that only the store knows is not forgotten', async () => {
    const cookie = cookieIn(await (await world.start()).open(ALICE, false));
    const down = world.broken('list', 'get', 'remove');
    const signIns = await world.start([ALICE], down);
    await expect(signIns.close(cookie)).rejects.toMatchObject({ code: 'unavailable' });
    expect(signIns.isStranger(cookie)).toBe(false);
    down.mend();
    await signIns.sync();
    expect(await world.signIns.list()).toEqual([]);
  });

  it('cookies that anybody sends do not displace what was ended', async () => {
    const down: SignInStore & { mend(): void } = { ...world.broken('get', 'remove'), most: 3 };
    const signIns = await world.start([ALICE], down);
    const cookie = cookieIn(await signIns.open(ALICE, false));
    await expect(signIns.close(cookie)).rejects.toMatchObject({ code: 'unavailable' });
    for (let index = 0; index < 5; index++) {
      await expect(signIns.close(cookieOf(`toolgate_3000=${index}`))).rejects.toMatchObject({
        code: 'unavailable',
      });
    }
    expect(signIns.isStranger(cookie)).toBe(false);
    expect([
      signIns.isStranger(cookieOf('toolgate_3000=0')),
      signIns.isStranger(cookieOf('toolgate_3000=4')),
    ]).toEqual([false, true]);
    down.mend();
  });

  it('the log says what could not be removed, and at the end that it is still there', async () => {
    const down = world.broken('remove');
    const signIns = await world.start([ALICE], down);
    const cookie = cookieIn(await signIns.open(ALICE, false));
    await expect(signIns.close(cookie)).rejects.toMatchObject({ code: 'unavailable' });
    await signIns.stop();
    expect(world.said.map(({ message }) => message)).toEqual([
      'sign-ins that were ended could not be removed; this process refuses them',
      'sign-ins that were ended are still in the store: good again after a restart',
    ]);
    expect(world.said.at(-1)?.facts).toMatchObject({ left: 1, everywhere: false });
  });

  it('a stranger is not taken for somebody who is signed out', async () => {
    const cookie = cookieIn(await (await world.start()).open(ALICE, false));
    const down = world.broken('list', 'get');
    const signIns = await world.start([ALICE], down);
    expect(world.said.map(({ message }) => message)).toEqual(['stored sign-ins could not be read']);
    await expect(signIns.recall(cookie)).rejects.toMatchObject({ code: 'unavailable' });
    down.mend();
    await signIns.recall(cookie);
    expect(signIns.find(cookie)).toBe(ALICE.principal);
  });

  it('a sign-in that ends before the store knew of it is not written afterwards', async () => {
    const down = world.broken('add');
    let signIns: SignIns | undefined;
    let cookie = cookieOf('');
    const late: SignInStore = {
      ...down,
      add: async (signIn) => {
        await down.add(signIn);
        // Its owner signs out at this very moment.
        await signIns?.close(cookie);
        await world.signIns.add(signIn);
      },
    };
    signIns = await world.start([ALICE], late);
    cookie = cookieIn(await signIns.open(ALICE, false, undefined, world.now));
    down.mend();
    await signIns.sync(world.now);
    expect(await world.signIns.list()).toEqual([]);
  });
});
