import { expect, it } from 'vitest';
import { until } from '../../../test/support/until.js';
import { CHANNEL, Notifier } from './notifier.js';

function bench() {
  const sent: unknown[] = [];
  const notifier = new Notifier({
    run: async (_sql, params) => {
      sent.push(params);
      return 1;
    },
  });
  return { sent, notifier, said: [CHANNEL, notifier.origin] };
}

it('many writes of one moment are one notification, which names nothing but the node', async () => {
  const { sent, notifier, said } = bench();
  for (let each = 0; each < 1000; each++) notifier.wake();
  await until(() => sent.length > 0);
  await notifier.close();
  expect(sent).toEqual([said]);
});

it('what was written last is said before the store closes, and nothing after', async () => {
  const { sent, notifier, said } = bench();
  notifier.wake();
  await notifier.close();
  notifier.wake();
  await notifier.close();
  expect(sent).toEqual([said]);
});

it('a notification that fails is no error of the write', async () => {
  const notifier = new Notifier({ run: () => Promise.reject(new Error('gone')) });
  notifier.wake();
  await notifier.close();
});
