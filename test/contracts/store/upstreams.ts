import { describe, expect, it } from 'vitest';
import type { NewUpstream } from '../../../src/store/upstreams.js';
import { type Bench, START } from './place.js';

const made = (name: string, more: Partial<NewUpstream> = {}): NewUpstream => ({
  ...{ name, dialect: 'openai-chat', baseUrl: `http://127.0.0.1:1/${name}`, models: ['m1', 'm2'] },
  ...more,
});

export function upstreamsContract(bench: () => Bench): void {
  describe('upstreams', () => {
    it('gives back what was added, in order, and a name is there once', async () => {
      const { upstreams } = await bench().open();
      const first = made('zed', { sealedKey: 'v1.sealed', agentModel: 'm2' });
      const second = made('abel', { keyVariable: 'ABEL_KEY' });
      expect(await upstreams.add(first, 'root')).toEqual({ ...first, createdAt: START, createdBy: 'root' });
      bench().now += 1;
      await upstreams.add(second, 'root');
      expect(await upstreams.add(made('zed'), 'other')).toBeUndefined();
      expect(await upstreams.list()).toEqual([
        { ...first, createdAt: START, createdBy: 'root' },
        { ...second, createdAt: START + 1, createdBy: 'root' },
      ]);
    });

    it('are removed once, and the name is free again', async () => {
      const { upstreams } = await bench().open();
      await upstreams.add(made('a'), 'root');
      expect(await upstreams.remove('a', 'root')).toMatchObject({ name: 'a' });
      expect(await upstreams.remove('a', 'root')).toBeUndefined();
      expect(await upstreams.add(made('a'), 'root')).toMatchObject({ name: 'a' });
    });

    it('say in the audit log who changed them, without the sealed key', async () => {
      const { upstreams, audit } = await bench().open();
      await upstreams.add(made('a', { sealedKey: 'v1.sealed' }), 'root');
      await upstreams.remove('a', 'other');
      const { items } = await audit.list({ limit: 9 });
      expect(items.map(({ event, by }) => [event, by])).toEqual(
        expect.arrayContaining([
          ['upstream.added', 'root'],
          ['upstream.removed', 'other'],
        ]),
      );
      expect(JSON.stringify(items)).not.toContain('v1.sealed');
    });
  });
}
