import { expect, it } from 'vitest';
import { LiveTurns } from './live-turns.js';

it('notifies every observer of a turn, also after one that throws', async () => {
  const turns = new LiveTurns();
  const seen: string[] = [];
  const caller = { signal: new AbortController().signal, headers: {} };
  const turn = turns.open(
    { id: 'ses_1', key: 'k', principal: 'alice' },
    {
      ...caller,
      observe: () => {
        throw new Error('observer');
      },
    },
    { pingMs: 60_000, onEnd: async () => {}, delivery: { key: 'k', confirm: () => {}, passOn: () => {} } },
  );
  const joined = turns.join('ses_1', 'k', { ...caller, observe: ({ type }) => seen.push(type) });
  expect(() => turn.observe({ session: 's', type: 'max-steps', steps: 1 })).toThrow('observer');
  expect(seen).toEqual(['max-steps']);
  await turn.fail(new Error('over'));
  await expect(joined).rejects.toThrow('over');
});
