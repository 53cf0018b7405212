import { describe, expect, it } from 'vitest';
import type { NewToolCall } from '../../../src/store/sessions.js';
import { type Bench, ownSession, START, TTL } from './place.js';

const call = (id: string, runBy: NewToolCall['runBy'] = 'client'): NewToolCall => ({
  id,
  name: 'weather',
  input: { city: 'Paris', at: { b: 1, a: 2 } },
  runBy,
});

const result = (id: string, text: string) => ({
  id,
  content: [{ type: 'text' as const, text }],
  isError: false,
});

export function callsContract(bench: () => Bench): void {
  describe('calls and results', () => {
    it('goes from open to answered to used', async () => {
      const store = await bench().open();
      const { step } = await ownSession(store, 's1');
      await step({ open: [call('c1'), call('c2', 'server')] });
      expect(await store.toolCalls.list('s1')).toEqual([
        { session: 's1', ...call('c1'), state: 'open', openedAt: START },
        { session: 's1', ...call('c2', 'server'), state: 'open', openedAt: START },
      ]);
      bench().now += 4;
      const outcome = await store.toolCalls.record('s1', [result('c1', 'sunny')], 'alice');
      expect(outcome).toEqual({ recorded: ['c1'], repeated: [], conflicts: [], unknown: [] });
      const answered = (await store.toolCalls.list('s1'))[0];
      expect(answered?.state).toBe('answered');
      expect(answered?.result).toEqual({
        content: [{ type: 'text', text: 'sunny' }],
        isError: false,
        recordedAt: START + 4,
        recordedBy: 'alice',
      });
      expect(await step({ use: ['c1'] })).toEqual({ ok: true });
      expect((await store.toolCalls.list('s1')).map(({ state }) => state)).toEqual(['used', 'open']);
    });

    it('uses a result exactly once', async () => {
      const store = await bench().open();
      const { step } = await ownSession(store, 's1');
      await step({ open: [call('c1'), call('c2')] });
      await store.toolCalls.record('s1', [result('c1', 'x'), result('c2', 'y')], 'alice');
      expect(await step({ use: ['c1'] })).toEqual({ ok: true });
      expect(await step({ use: ['c1', 'c2'] })).toEqual({ ok: false, reason: 'unusable', ids: ['c1'] });
      expect((await store.toolCalls.list('s1')).map(({ state }) => state)).toEqual(['used', 'answered']);
    });

    it('takes the same result again, whatever the order of its keys', async () => {
      const store = await bench().open();
      const { step } = await ownSession(store, 's1');
      await step({ open: [call('c1')] });
      await store.toolCalls.record('s1', [result('c1', 'x')], 'alice');
      await step({ use: ['c1'] });
      const again = { id: 'c1', content: [{ text: 'x', type: 'text' as const }], isError: false };
      expect(await store.toolCalls.record('s1', [again], 'alice')).toEqual({
        recorded: [],
        repeated: ['c1'],
        conflicts: [],
        unknown: [],
      });
    });

    it('reports another result as a conflict and keeps the first', async () => {
      const store = await bench().open();
      const { step } = await ownSession(store, 's1');
      await step({ open: [call('c1'), call('c2')] });
      await store.toolCalls.record('s1', [result('c1', 'x')], 'alice');
      bench().now += 1;
      const late = [result('c2', 'new'), { ...result('c1', 'x'), isError: true }];
      expect(await store.toolCalls.record('s1', late, 'timeout')).toEqual({
        recorded: [],
        repeated: [],
        conflicts: [{ id: 'c1', recordedAt: START, recordedBy: 'alice' }],
        unknown: [],
      });
      expect((await store.toolCalls.list('s1')).map(({ state }) => state)).toEqual(['answered', 'open']);
    });

    it('changes nothing when one of the ids is unknown', async () => {
      const store = await bench().open();
      const { step } = await ownSession(store, 's1');
      await step({ open: [call('c1')] });
      const outcome = await store.toolCalls.record('s1', [result('c1', 'x'), result('nope', 'y')], 'alice');
      expect(outcome).toMatchObject({ recorded: [], unknown: ['nope'] });
      expect((await store.toolCalls.list('s1'))[0]?.state).toBe('open');
      expect(await store.toolCalls.record('none', [result('c1', 'x')], 'alice')).toMatchObject({
        unknown: ['c1'],
      });
    });

    it('sees a result that contradicts itself in one request', async () => {
      const store = await bench().open();
      const { step } = await ownSession(store, 's1');
      await step({ open: [call('c1')] });
      const twice = [result('c1', 'x'), result('c1', 'y')];
      expect(await store.toolCalls.record('s1', twice, 'alice')).toMatchObject({
        recorded: [],
        conflicts: [{ id: 'c1' }],
      });
      const same = [result('c1', 'x'), result('c1', 'x')];
      expect(await store.toolCalls.record('s1', same, 'alice')).toMatchObject({
        recorded: ['c1'],
        conflicts: [],
      });
    });

    it('opens an id once: a built-in that may have run is not run again', async () => {
      const store = await bench().open();
      const { step } = await ownSession(store, 's1');
      await step({ open: [call('c1', 'server')] });
      expect(await step({ open: [call('c0', 'server'), call('c1', 'server')] })).toEqual({
        ok: false,
        reason: 'reopened',
        ids: ['c1'],
      });
      expect((await store.toolCalls.list('s1')).map(({ id }) => id)).toEqual(['c1']);
    });

    it("finds calls by id among the principal's own sessions", async () => {
      const store = await bench().open();
      const one = await ownSession(store, 's1');
      const two = await ownSession(store, 's2', { expiresAt: START + TTL });
      const foreign = await ownSession(store, 's3', { principal: 'bob' });
      await one.step({ open: [call('c1'), call('c2')] });
      await two.step({ open: [call('c1')] });
      await foreign.step({ open: [call('c1')] });
      const found = await store.toolCalls.find('alice', ['c1', 'c9', 'c1']);
      expect(found.map(({ session, id }) => [session, id])).toEqual([
        ['s1', 'c1'],
        ['s2', 'c1'],
      ]);
      bench().now = START + TTL;
      expect((await store.toolCalls.find('alice', ['c1'])).map(({ session }) => session)).toEqual(['s1']);
      expect(await store.toolCalls.record('s2', [result('c1', 'x')], 'alice')).toMatchObject({
        unknown: ['c1'],
      });
    });
  });
}
