import { describe, expect, it } from 'vitest';
import { type Bench, START } from './place.js';

const quirk = {
  upstream: 'local',
  model: 'qwen',
  key: 'streamUsage',
  value: false,
  evidence: '400 unknown field',
};

export function quirksContract(bench: () => Bench): void {
  describe('learned quirks', () => {
    it('keeps the latest lesson for an upstream, model and key', async () => {
      const store = await bench().open();
      await store.quirks.put(quirk);
      await store.quirks.put({ ...quirk, key: 'efforts', value: ['low', 'high'] });
      await store.quirks.put({ ...quirk, model: 'other' });
      bench().now += 9;
      await store.quirks.put({ ...quirk, value: true, evidence: 'it does now' });
      expect(await store.quirks.list()).toEqual([
        { ...quirk, model: 'other', learnedAt: START },
        { ...quirk, key: 'efforts', value: ['low', 'high'], learnedAt: START },
        { ...quirk, value: true, evidence: 'it does now', learnedAt: START + 9 },
      ]);
    });
  });
}
