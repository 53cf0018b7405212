import { describe, expect, it } from 'vitest';
import { allPages, type Bench, START } from './place.js';

export function auditContract(bench: () => Bench): void {
  describe('audit', () => {
    it('keeps who, when, what, why and by which rule', async () => {
      const store = await bench().open();
      const entry = {
        event: 'tool.denied',
        by: 'rule',
        principal: 'alice',
        session: 's1',
        tool: 'Bash',
        toolUseId: 't1',
        what: 'curl example.com',
        why: 'a deny rule matches the first word',
        rule: 'Bash(curl:*)',
      };
      await store.audit.append(entry);
      const bare = { event: 'tool.allowed', by: 'mode', principal: 'bob' };
      await store.audit.append(bare);
      const { items } = await store.audit.list({ limit: 10 });
      expect(items).toEqual([
        { ...bare, seq: items[0]?.seq, at: START },
        { ...entry, seq: items[1]?.seq, at: START },
      ]);
    });

    it('keeps what a call was judged by, for whoever asks for it, and finds the lines that have it', async () => {
      const store = await bench().open();
      const call = { root: '/w', effects: [{ kind: 'read', path: '/w/a' }] };
      await store.audit.append({ event: 'tool.allowed', by: 'mode', principal: 'alice', call });
      await store.audit.append({ event: 'rule.added', by: 'alice', principal: 'alice' });
      bench().now += 10;
      await store.audit.append({ event: 'tool.denied', by: 'rule', principal: 'alice', call });
      const judged = await store.audit.list({ limit: 9, calls: true });
      expect(judged.items.map((entry) => [entry.event, entry.call])).toEqual([
        ['tool.denied', call],
        ['tool.allowed', call],
      ]);
      const late = await store.audit.list({ limit: 9, calls: true, since: START + 5 });
      expect(late.items.map(({ event }) => event)).toEqual(['tool.denied']);
      expect((await store.audit.list({ limit: 9 })).items.map((entry) => 'call' in entry)).toEqual([
        false,
        false,
        false,
      ]);
    });

    it('keeps the order of what is appended at once, and the time it happened', async () => {
      const store = await bench().open();
      const writes: Promise<void>[] = [];
      for (let n = 0; n < 50; n++) {
        writes.push(store.audit.append({ event: `e${n}`, by: 'x', principal: 'alice' }));
        bench().now += 1;
      }
      await Promise.all(writes);
      const all = await allPages((cursor) => store.audit.list({ limit: 7, ...(cursor && { cursor }) }));
      expect(all.map(({ event, at }) => [event, at])).toEqual(
        Array.from({ length: 50 }, (_, n) => [`e${49 - n}`, START + 49 - n]),
      );
    });

    it('filters by principal and session', async () => {
      const store = await bench().open();
      await store.audit.append({ event: 'a', by: 'x', principal: 'alice', session: 's1' });
      await store.audit.append({ event: 'b', by: 'x', principal: 'alice', session: 's2' });
      await store.audit.append({ event: 'c', by: 'x', principal: 'bob', session: 's1' });
      const events = async (query: { principal?: string; session?: string }) =>
        (await store.audit.list({ limit: 9, ...query })).items.map(({ event }) => event);
      expect(await events({ principal: 'alice' })).toEqual(['b', 'a']);
      expect(await events({ session: 's1' })).toEqual(['c', 'a']);
    });
  });
}
