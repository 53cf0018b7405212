/** Two nodes on one store, and one after the other. */
import { describe, expect, it } from 'vitest';
import { sessionLease } from '../../../src/store/leases.js';
import { allow, approval, deny } from './approvals.js';
import { claimOf, delivery } from './outbox.js';
import { type Bench, ownSession, START, TTL } from './place.js';
import { recorded, shown, trace } from './traces.js';

const ROUNDS = 40;

export function racesContract(bench: () => Bench): void {
  describe('two nodes', () => {
    it('grant a lease to exactly one', async () => {
      const [a, b] = [await bench().open(), await bench().open()];
      const tokens: number[] = [];
      for (let n = 0; n < ROUNDS; n++) {
        const grants = await Promise.all([
          a.leases.acquire(`l${n}`, 'a', TTL),
          b.leases.acquire(`l${n}`, 'b', TTL),
          a.leases.acquire(`l${n}`, 'a', TTL),
        ]);
        const won = grants.flatMap((grant) => (grant.granted ? [grant.lease] : []));
        expect(won).toHaveLength(1);
        for (const grant of grants) if (!grant.granted) expect(grant.owner).toBe(won[0]?.owner);
        tokens.push(...won.map(({ token }) => token));
      }
      expect(new Set(tokens).size).toBe(ROUNDS);
    });

    it('let exactly one take over what lapsed, and fence the former owner', async () => {
      const [a, b] = [await bench().open(), await bench().open()];
      const { id, step } = await ownSession(a, 's1');
      bench().now += TTL;
      const grants = await Promise.all([
        a.leases.acquire(sessionLease(id), 'a', TTL),
        b.leases.acquire(sessionLease(id), 'b', TTL),
      ]);
      const won = grants.flatMap((grant) => (grant.granted ? [grant.lease] : []));
      expect(won).toHaveLength(1);
      expect(await step({ state: 'parked' })).toEqual({ ok: false, reason: 'fenced' });
    });

    it('decide an approval exactly once, and the loser learns of the winner', async () => {
      const [a, b] = [await bench().open(), await bench().open()];
      for (let n = 0; n < ROUNDS; n++) {
        const id = `a${n}`;
        await a.approvals.create(approval(id));
        const outcomes = await Promise.all([
          a.approvals.decide(id, allow(id, 'alice')),
          b.approvals.decide(id, deny(id, 'bob')),
        ]);
        expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual(['already', 'decided']);
        const decisions = outcomes.map(
          (outcome) => outcome.outcome !== 'unknown' && outcome.approval.decision,
        );
        expect(decisions[0]).toEqual(decisions[1]);
        const used = await Promise.all([a.approvals.use(id), b.approvals.use(id)]);
        const allowed = (await b.approvals.get(id))?.state === 'allowed';
        expect(used.filter(Boolean)).toHaveLength(allowed ? 1 : 0);
      }
    });

    it('claim each message of the outbox once between them', async () => {
      const [a, b] = [await bench().open(), await bench().open()];
      await a.outbox.put(Array.from({ length: ROUNDS }, (_, n) => delivery(`m${n}`)));
      const claimed: string[] = [];
      while (claimed.length < ROUNDS) {
        const claims = await Promise.all([
          a.outbox.claim(claimOf('a', { limit: 3 })),
          b.outbox.claim(claimOf('b', { limit: 3 })),
        ]);
        claimed.push(...claims.flat().map(({ id }) => id));
      }
      expect(new Set(claimed).size).toBe(ROUNDS);
      expect(claimed).toHaveLength(ROUNDS);
    });

    it('expire what is due once between them', async () => {
      const [a, b] = [await bench().open(), await bench().open()];
      for (let n = 0; n < 150; n++) await a.approvals.create(approval(`a${n}`));
      bench().now = START + TTL;
      const expired = (await Promise.all([a.approvals.expireDue(), b.approvals.expireDue()])).flat();
      expect(new Set(expired.map(({ id }) => id)).size).toBe(150);
      expect(expired).toHaveLength(150);
    });

    it('record one of two results, and tell the other of the conflict', async () => {
      const [a, b] = [await bench().open(), await bench().open()];
      const { step } = await ownSession(a, 's1');
      for (let n = 0; n < ROUNDS; n++) {
        const id = `c${n}`;
        await step({ open: [{ id, name: 'f', input: {}, runBy: 'client' }] });
        const result = (text: string) => [{ id, content: [{ type: 'text' as const, text }], isError: false }];
        const outcomes = await Promise.all([
          a.toolCalls.record('s1', result('from a'), 'a'),
          b.toolCalls.record('s1', result('from b'), 'b'),
        ]);
        expect(outcomes.flatMap(({ recorded }) => recorded)).toEqual([id]);
        expect(outcomes.flatMap(({ conflicts }) => conflicts.map((conflict) => conflict.id))).toEqual([id]);
      }
    });

    it('revoke a rule that is good for one call once', async () => {
      const [a, b] = [await bench().open(), await bench().open()];
      const once = {
        scope: 'once',
        session: 's1',
        rule: 'Bash(ls)',
        behaviour: 'allow',
        createdBy: 'x',
      } as const;
      const { id } = await a.rules.add(once);
      const revoked = await Promise.all([a.rules.revoke(id, 'a'), b.rules.revoke(id, 'b')]);
      expect(revoked.filter((rule) => rule !== undefined)).toHaveLength(1);
    });

    it('see what the other wrote, rules by their revision', async () => {
      const [a, b] = [await bench().open(), await bench().open()];
      const before = await b.rules.revision();
      await a.rules.add({ scope: 'everywhere', rule: 'Read', behaviour: 'allow', createdBy: 'x' });
      expect(await b.rules.revision()).not.toBe(before);
      await ownSession(a, 's1');
      expect(await b.sessions.get('s1')).toMatchObject({ principal: 'alice' });
      await a.signIns.add({ id: 'digest', name: 'a', binding: 'b', beganAt: START, expiresAt: START + TTL });
      expect(await b.signIns.get('digest')).toMatchObject({ binding: 'b' });
    });

    it('write at the same time without losing anything', async () => {
      const [a, b] = [await bench().open(), await bench().open()];
      const writes: Promise<unknown>[] = [];
      for (let n = 0; n < 200; n++) {
        const store = n % 2 === 0 ? a : b;
        store.traces.record(trace(`r${n}`));
        writes.push(store.audit.append({ event: `e${n}`, by: 'x', principal: 'p' }));
        writes.push(
          store.answers.put({ principal: 'p', key: `k${n}`, digest: 'd', body: n, expiresAt: START + TTL }),
        );
      }
      await Promise.all(writes);
      await a.traces.list({ limit: 1 });
      expect((await b.traces.list({ limit: 500 })).items).toHaveLength(200);
      expect((await a.audit.list({ limit: 500 })).items).toHaveLength(200);
      expect((await a.answers.get('p', 'k199'))?.body).toBe(199);
    });
  });

  describe('a stop and a start', () => {
    it('loses nothing that was written or buffered', async () => {
      const first = await bench().open();
      const { step } = await ownSession(first, 's1');
      await step({ append: [{ entries: [{ uuid: 'u', message: 'hello' }] }] });
      await first.approvals.create(approval('a1'));
      first.traces.record(trace('r1', recorded('a')));
      const sum = { from: 0, to: START + 1, by: [] };
      first.usage.record({
        at: START,
        principal: 'p',
        model: 'm',
        upstream: 'u',
        status: 200,
        inputTokens: 1,
        outputTokens: 1,
        cacheReadTokens: 0,
        cacheWriteTokens: 0,
        latencyMs: 1,
      });
      await first.signIns.add({
        id: 'digest',
        name: 'a',
        binding: 'b',
        beganAt: START,
        expiresAt: START + TTL,
      });
      void first.audit.append({ event: 'e', by: 'x', principal: 'p' });
      await first.close();
      await first.close();
      await expect(first.sessions.get('s1')).rejects.toMatchObject({ code: 'unavailable' });
      const second = await bench().open();
      expect(await second.transcripts.read('s1')).toHaveLength(1);
      expect((await second.approvals.get('a1'))?.state).toBe('pending');
      expect((await second.traces.get('r1'))?.payload).toEqual(shown('a'));
      expect(await second.usage.summarise(sum)).toHaveLength(1);
      expect((await second.audit.list({ limit: 9 })).items).toHaveLength(1);
      expect(await second.signIns.list()).toHaveLength(1);
    });
  });
}
