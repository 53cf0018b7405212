import { describe, expect, it } from 'vitest';
import { claimOf, delivery } from '../../../test/contracts/store/outbox.js';
import { closeAfterTest } from '../../../test/support/cleanup.js';
import { until } from '../../../test/support/until.js';
import { openStore } from '../../store/open/open-store.js';
import { SendProblem } from '../adapters/adapter.js';
import { OutboxSender, SENDING, type SenderOptions } from './outbox-sender.js';

async function senderOf(send: SenderOptions['send'], random = 1) {
  const clock = { at: 1_800_000_000_000 };
  const now = () => clock.at;
  const store = await openStore('sqlite::memory:', { baseDir: '/', now });
  closeAfterTest(() => store.close());
  const { outbox } = store;
  const logged: string[] = [];
  const log = { warn: (_facts: object, message: string) => void logged.push(message) };
  const sender = new OutboxSender({ outbox, owner: 'a', send, now, log, random: () => random });
  closeAfterTest(() => sender.close());
  const tried = (id: string, attempts: number) =>
    until(async () => {
      const found = await outbox.get(id);
      const isOver = found?.state !== 'waiting' || (found.error !== undefined && found.dueAt > clock.at);
      return found?.attempts === attempts && isOver ? found : undefined;
    });
  return { clock, outbox, sender, tried, logged };
}

const fails = (again?: boolean | number) => () => Promise.reject(new SendProblem('It answered 500.', again));

describe('a message that its target does not take', () => {
  it.each([
    [0, 0.5],
    [1, 1],
  ])('is tried again after twice the time, with jitter (%d)', async (random, factor) => {
    const { clock, outbox, sender, tried } = await senderOf(fails(), random);
    await outbox.put([delivery('m1')]);
    const pauses: number[] = [];
    for (let n = 1; n <= 4; n++) {
      sender.wake();
      const { dueAt } = await tried('m1', n);
      pauses.push(dueAt - clock.at);
      clock.at = dueAt;
    }
    expect(pauses).toEqual([5000, 10_000, 20_000, 40_000].map((pause) => pause * factor));
  });

  it('is given up in the end, and shown as failed', async () => {
    const { clock, outbox, sender, tried, logged } = await senderOf(fails());
    await outbox.put([delivery('m1')]);
    for (let n = 1; n < SENDING.attempts; n++) {
      sender.wake();
      const { state, dueAt } = await tried('m1', n);
      expect(state).toBe('waiting');
      expect(dueAt - clock.at).toBeLessThanOrEqual(SENDING.longestPauseMs);
      clock.at = dueAt;
    }
    sender.wake();
    expect(await tried('m1', SENDING.attempts)).toMatchObject({ state: 'failed', error: 'It answered 500.' });
    expect(await outbox.targets()).toMatchObject([{ target: 'hook', failed: 1, failing: {} }]);
    expect(logged).toEqual(['a message was given up']);
  });

  it('is not tried again where the target is gone, and not before the target says', async () => {
    const gone = await senderOf(fails(false));
    await gone.outbox.put([delivery('m1')]);
    gone.sender.wake();
    expect(await gone.tried('m1', 1)).toMatchObject({ state: 'failed' });
    const busy = await senderOf(fails(90_000));
    await busy.outbox.put([delivery('m1')]);
    busy.sender.wake();
    expect((await busy.tried('m1', 1)).dueAt).toBe(busy.clock.at + 90_000);
  });
});

describe('a sender', () => {
  it('has a few messages of one target in flight at a time, and others beside them', async () => {
    const open: { target: string; done: () => void }[] = [];
    const { outbox, sender } = await senderOf(
      ({ target }) => new Promise((resolve) => open.push({ target, done: () => resolve({}) })),
    );
    await outbox.put(Array.from({ length: 20 }, (_, n) => delivery(`slow${n}`, { target: 'slow' })));
    await outbox.put([delivery('m1')]);
    sender.wake();
    await until(() => open.some(({ target }) => target === 'hook'));
    expect(open.filter(({ target }) => target === 'slow')).toHaveLength(SENDING.mostOfTarget);
    for (let n = 0; n < 21; n++) (await until(() => open[n])).done();
    await until(async () => (await outbox.nextDue([])) === undefined);
    expect(open).toHaveLength(21);
  });

  it('leaves what it is sending to the next one when it is closed', async () => {
    let began = false;
    const { outbox, sender } = await senderOf((_delivery, signal) => {
      began = true;
      return new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(new Error('cut'))),
      );
    });
    await outbox.put([delivery('m1')]);
    sender.wake();
    await until(() => began);
    await sender.close();
    expect(await outbox.claim(claimOf('b'))).toMatchObject([{ id: 'm1', state: 'waiting', attempts: 2 }]);
  });
});
