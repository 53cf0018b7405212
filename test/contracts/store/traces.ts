import { describe, expect, it } from 'vitest';
import type { NewTrace } from '../../../src/store/traces.js';
import { allPages, type Bench, START } from './place.js';

export const trace = (id: string, more: Partial<NewTrace> = {}): NewTrace => ({
  id,
  principal: 'alice',
  at: START,
  model: 'gpt',
  upstream: 'openai',
  status: 200,
  durationMs: 12.6,
  losses: [{ path: 'thinking', reason: 'no such field' }],
  repairs: ['closed an open block'],
  summary: { stop: 'end_turn' },
  ...more,
});

export function tracesContract(bench: () => Bench): void {
  describe('traces', () => {
    it('gives a trace back whole, payload included', async () => {
      const store = await bench().open();
      const payload = { inbound: 'x'.repeat(50_000), events: [{ text: '修\u0000' }] };
      store.traces.record(trace('r1', { payload }));
      const { payload: _, ...rest } = trace('r1', { durationMs: 13 });
      const size = JSON.stringify(payload).length;
      expect(await store.traces.get('r1')).toEqual({ ...rest, payload, payloadSize: size });
      expect(await store.traces.get('r2')).toBeUndefined();
    });

    it('lists newest first by principal, without payloads', async () => {
      const store = await bench().open();
      for (let n = 0; n < 11; n++) {
        store.traces.record(trace(`r${n}`, { principal: n % 2 === 0 ? 'alice' : 'bob', payload: { n } }));
      }
      const all = await allPages((cursor) => store.traces.list({ limit: 4, ...(cursor && { cursor }) }));
      expect(all.map(({ id }) => id)).toEqual(Array.from({ length: 11 }, (_, n) => `r${10 - n}`));
      expect(all[0]).not.toHaveProperty('payload');
      const own = await store.traces.list({ limit: 9, principal: 'bob' });
      expect(own.items.map(({ id }) => id)).toEqual(['r9', 'r7', 'r5', 'r3', 'r1']);
    });

    it('keeps one trace for an id', async () => {
      const store = await bench().open();
      store.traces.record(trace('r1', { status: 200, payload: { first: true } }));
      store.traces.record(trace('r1', { status: 500, payload: { first: false } }));
      const { upstream: _, ...nobody } = trace('r2');
      store.traces.record(nobody);
      const { items } = await store.traces.list({ limit: 9 });
      expect(items.map(({ id, status, upstream }) => [id, status, upstream])).toEqual([
        ['r2', 200, undefined],
        ['r1', 200, 'openai'],
      ]);
      expect((await store.traces.get('r1'))?.payload).toEqual({ first: true });
    });

    it('drops payloads before it becomes a burden, and says how large they were', async () => {
      const store = await bench().open({ limits: { buffer: { maxPayloadBytes: 3000 } } });
      for (let n = 0; n < 4; n++)
        store.traces.record(trace(`r${n}`, { payload: { text: 'x'.repeat(1000) } }));
      const kept: boolean[] = [];
      for (let n = 0; n < 4; n++) {
        const found = await store.traces.get(`r${n}`);
        kept.push(found?.payload !== undefined);
        expect(found?.payloadSize).toBeGreaterThan(1000);
      }
      expect(kept).toEqual([true, true, false, false]);
      store.traces.record(trace('after', { payload: { text: 'x'.repeat(1000) } }));
      expect((await store.traces.get('after'))?.payload).toBeDefined();
    });

    it('loses only the trace that cannot be written', async () => {
      const store = await bench().open();
      const loop: { self?: unknown } = {};
      loop.self = BigInt(1);
      store.traces.record(trace('bad', { summary: { loop } }));
      store.traces.record(trace('good'));
      expect((await store.traces.list({ limit: 9 })).items.map(({ id }) => id)).toEqual(['good']);
      expect(bench().errors.splice(0)).toHaveLength(1);
    });
  });
}
