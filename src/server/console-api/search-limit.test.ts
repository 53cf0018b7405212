import { expect, it } from 'vitest';
import { gate } from '../../../test/support/gate.js';
import { SearchLimit } from './search-limit.js';

it('a key runs two searches at once, and another when one of them has ended', async () => {
  const searches = new SearchLimit();
  const held = gate();
  const hold = async () => {
    await held.pass();
    return 'found';
  };
  const failing = async () => {
    await held.pass();
    throw new Error('left');
  };
  const running = [searches.run('alice', hold), searches.run('alice', failing)];
  await expect(searches.run('alice', hold)).rejects.toMatchObject({
    code: 'rate_limited',
    status: 429,
    retryAfter: 1,
  });
  expect(await searches.run('bob', async () => 'his')).toBe('his');
  held.open();
  expect(await Promise.allSettled(running)).toMatchObject([{ value: 'found' }, { status: 'rejected' }]);
  expect(await Promise.all([1, 2].map(() => searches.run('alice', hold)))).toEqual(['found', 'found']);
});
