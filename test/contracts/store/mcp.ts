import { describe, expect, it } from 'vitest';
import type { NewToolPin } from '../../../src/store/mcp.js';
import { type Bench, START } from './place.js';

const pin = (more: Partial<NewToolPin> = {}): NewToolPin => ({
  subject: 'key:alice',
  tool: 'mcp__docs__search',
  digest: 'first',
  summary: { description: 'Searches' },
  ...more,
});

export function mcpContract(bench: () => Bench): void {
  describe('pinned tools', () => {
    it('stay as they were first pinned, also for others who pin at once', async () => {
      const store = await bench().open();
      const [one, other] = await Promise.all([
        store.mcp.keepPin(pin()),
        store.mcp.keepPin(pin({ digest: 'second' })),
      ]);
      expect(one).toEqual(other);
      expect(await store.mcp.keepPin(pin({ digest: 'third' }))).toEqual(one);
      expect(await store.mcp.pin('key:alice', 'mcp__docs__search')).toEqual(one);
    });

    it('are replaced by a new approval, for its subject alone', async () => {
      const store = await bench().open();
      await store.mcp.keepPin(pin());
      await store.mcp.keepPin(pin({ subject: 'key:bob' }));
      bench().now += 5;
      await store.mcp.putPin(pin({ digest: 'second' }));
      expect(await store.mcp.pin('key:alice', 'mcp__docs__search')).toEqual({
        ...pin({ digest: 'second' }),
        pinnedAt: START + 5,
      });
      expect(await store.mcp.pin('key:bob', 'mcp__docs__search')).toMatchObject({ digest: 'first' });
      expect(await store.mcp.pin('key:alice', 'mcp__docs__other')).toBeUndefined();
    });

    it('go with the rule that they belong to', async () => {
      const store = await bench().open();
      const rule = { rule: 'mcp__docs', behaviour: 'allow', scope: 'everywhere', createdBy: 'a' } as const;
      const [kept, gone] = [await store.rules.add(rule), await store.rules.add(rule)];
      for (const { id } of [kept, gone]) await store.mcp.keepPin(pin({ subject: `rule:${id}` }));
      await store.mcp.keepPin(pin());
      await store.rules.revoke(gone.id, 'a');
      expect(await store.prune()).toMatchObject({ pins: 1 });
      expect(await store.mcp.pin(`rule:${kept.id}`, 'mcp__docs__search')).toBeDefined();
      expect(await store.mcp.pin('key:alice', 'mcp__docs__search')).toBeDefined();
    });
  });

  describe('added MCP servers', () => {
    it('are kept until they are removed', async () => {
      const store = await bench().open();
      await store.mcp.putServer({ name: 'web', config: { type: 'http', url: 'https://a.example' } });
      await store.mcp.putServer({ name: 'docs', config: { type: 'stdio', command: 'x' } });
      await store.mcp.putServer({ name: 'web', config: { type: 'http', url: 'https://b.example' } });
      expect(await store.mcp.servers()).toEqual([
        { name: 'docs', config: { type: 'stdio', command: 'x' }, addedAt: START },
        { name: 'web', config: { type: 'http', url: 'https://b.example' }, addedAt: START },
      ]);
      expect(await store.mcp.removeServer('docs')).toBe(true);
      expect(await store.mcp.removeServer('docs')).toBe(false);
      expect(await store.mcp.servers()).toMatchObject([{ name: 'web' }]);
    });
  });
}
