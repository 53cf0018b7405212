import { describe, expect, it } from 'vitest';
import type { RecordedRequest, TracePayload } from '../../../src/core/trace-payload.js';
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

/** A request that said this, and its payload. */
export const recorded = (body: string): { payload: RecordedRequest } => ({
  payload: {
    cut: false,
    inbound: { path: '/v1/messages', headers: {}, body: Buffer.from(body) },
    attempts: [],
    timeline: [],
    size: body.length,
  },
});
export const shown = (body: string): TracePayload => ({
  version: 1,
  cut: false,
  inbound: { path: '/v1/messages', headers: {}, body },
  attempts: [],
  timeline: [],
});

export function tracesContract(bench: () => Bench): void {
  describe('traces', () => {
    it('gives a trace back whole, payload included', async () => {
      const store = await bench().open();
      const body = '修\u0000'.repeat(20_000);
      const attempt = {
        upstream: 'one',
        wire: 'openai-chat',
        url: 'http://one/v1',
        status: 200,
        headers: { 'content-type': 'text/event-stream', 'x-ü': '"ü"' },
      } as const;
      const half = Buffer.from('修').subarray(0, 2);
      store.traces.record(
        trace('r1', {
          payload: {
            cut: true,
            inbound: { path: '/v1/messages', headers: { 'x-app': 'cli' }, body: Buffer.from(body) },
            attempts: [
              { ...attempt, body: '', status: null, headers: {} },
              { ...attempt, body: Buffer.from('{"ü":1}') },
            ],
            timeline: [
              { ms: 0.5, from: 'upstream', attempt: 1, data: Buffer.from('data: 1\n') },
              { ms: 1, from: 'upstream', attempt: 1, data: half },
              { ms: 1.2, from: 'gateway', data: 'event: 修\n\n' },
              { ms: 2, from: 'upstream', attempt: 0, data: Buffer.from('') },
            ],
            size: body.length + 100,
          },
        }),
      );
      const { payload: _, ...rest } = trace('r1', { durationMs: 13 });
      expect(await store.traces.get('r1')).toEqual({
        ...rest,
        payloadSize: body.length + 100,
        payload: {
          version: 1,
          cut: true,
          inbound: { path: '/v1/messages', headers: { 'x-app': 'cli' }, body },
          attempts: [
            { ...attempt, body: '', status: null, headers: {} },
            { ...attempt, body: '{"ü":1}' },
          ],
          timeline: [
            { ms: 0.5, from: 'upstream', attempt: 1, data: 'data: 1\n' },
            { ms: 1, from: 'upstream', attempt: 1, data: `base64:${half.toString('base64')}` },
            { ms: 1.2, from: 'gateway', data: 'event: 修\n\n' },
            { ms: 2, from: 'upstream', attempt: 0, data: '' },
          ],
        },
      });
      expect(await store.traces.get('r2')).toBeUndefined();
    });

    it('lists newest first by principal, without payloads', async () => {
      const store = await bench().open();
      for (let n = 0; n < 11; n++) {
        store.traces.record(
          trace(`r${n}`, { principal: n % 2 === 0 ? 'alice' : 'bob', ...recorded(`${n}`) }),
        );
      }
      const all = await allPages((cursor) => store.traces.list({ limit: 4, ...(cursor && { cursor }) }));
      expect(all.map(({ id }) => id)).toEqual(Array.from({ length: 11 }, (_, n) => `r${10 - n}`));
      expect(all[0]).not.toHaveProperty('payload');
      const own = await store.traces.list({ limit: 9, principal: 'bob' });
      expect(own.items.map(({ id }) => id)).toEqual(['r9', 'r7', 'r5', 'r3', 'r1']);
    });

    it('lists those of some statuses, without one of them', async () => {
      const store = await bench().open();
      for (const status of [200, 404, 499, 500]) store.traces.record(trace(`r${status}`, { status }));
      const ids = async (status: { from: number; to: number; except?: number }) =>
        (await store.traces.list({ limit: 9, status })).items.map(({ id }) => id);
      expect(await ids({ from: 400, to: 499 })).toEqual(['r499', 'r404']);
      expect(await ids({ from: 400, to: 599, except: 499 })).toEqual(['r500', 'r404']);
    });

    it('keeps one trace for an id', async () => {
      const store = await bench().open();
      store.traces.record(trace('r1', { status: 200, ...recorded('first') }));
      store.traces.record(trace('r1', { status: 500, ...recorded('second') }));
      const { upstream: _, ...nobody } = trace('r2');
      store.traces.record(nobody);
      const { items } = await store.traces.list({ limit: 9 });
      expect(items.map(({ id, status, upstream }) => [id, status, upstream])).toEqual([
        ['r2', 200, undefined],
        ['r1', 200, 'openai'],
      ]);
      expect((await store.traces.get('r1'))?.payload).toEqual(shown('first'));
    });

    it('drops payloads before it becomes a burden, and says how large they were', async () => {
      const store = await bench().open({ limits: { buffer: { maxPayloadBytes: 3000 } } });
      for (let n = 0; n < 4; n++) store.traces.record(trace(`r${n}`, recorded('x'.repeat(1001))));
      const kept: boolean[] = [];
      for (let n = 0; n < 4; n++) {
        const found = await store.traces.get(`r${n}`);
        kept.push(found?.payload !== undefined);
        expect(found?.payloadSize).toBeGreaterThan(1000);
      }
      expect(kept).toEqual([true, true, false, false]);
      store.traces.record(trace('after', recorded('x'.repeat(1001))));
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
