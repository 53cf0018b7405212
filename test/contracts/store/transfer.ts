import { describe, expect, it } from 'vitest';
import { openStore } from '../../../src/store/open/open-store.js';
import type { Store } from '../../../src/store/store.js';
import { TRANSFER_KINDS, type TransferRecord } from '../../../src/store/transfer.js';
import { closeAfterTest } from '../../support/cleanup.js';
import { type Bench, newSession, ownSession, START, TTL } from './place.js';

const DAY = 86_400_000;
const used = { upstream: 'up', status: 200, inputTokens: 3, outputTokens: 4, cacheReadTokens: 0 } as const;

/** A store of another kind perhaps, with something of everything. */
async function filled(): Promise<Store> {
  const store = await openStore('sqlite::memory:', { baseDir: '/', now: () => START });
  closeAfterTest(() => store.close());
  const { step, lease } = await ownSession(store, 's1', {
    title: 'Größe',
    metadata: { prompt: 'p', turn: 't' },
  });
  await step({
    append: [
      { entries: [{ uuid: 'u1', message: { text: 'naïve “words” \u2028' }, meta: { ms: 1.5 } }] },
      { channel: 'sub', entries: [{ uuid: 'u2', message: [1, null] }] },
    ],
    index: [{ hash: 'h1', position: 1 }],
    open: [
      { id: 'c2', name: 'f', input: { a: 1 }, runBy: 'client' },
      { id: 'c1', name: 'g', input: {}, runBy: 'server' },
    ],
    answer: { key: 'of the session', digest: 'd', body: { ok: true }, expiresAt: START + DAY },
  });
  await store.toolCalls.record(
    's1',
    [{ id: 'c2', content: [{ type: 'text', text: 'r' }], isError: false }],
    'alice',
  );
  await store.leases.release(lease);
  await newSession(store, 's2', { principal: 'bob', parent: 's1' });
  await store.sessions.label('s2', { title: 'Named', pinned: true, archived: true });
  await store.answers.put({ principal: 'bob', key: 'k', digest: 'd', body: 1, expiresAt: START + DAY });
  await store.rules.add({ scope: 'everywhere', rule: 'A', behaviour: 'deny', createdBy: 'alice' });
  await store.rules.add({
    scope: 'session',
    session: 's1',
    rule: 'B',
    behaviour: 'allow',
    createdBy: 'alice',
  });
  const key = await store.keys.add(
    { name: 'ci', digest: 'x1', start: 's', scopes: ['call'], models: ['*'] },
    'r',
  );
  await store.keys.rotate(key?.id ?? '', { digest: 'x2', start: 't', previousUntil: START + TTL }, 'r');
  const gone = await store.keys.add(
    { name: 'old', digest: 'y', start: 's', scopes: ['call'], models: ['*'] },
    'r',
  );
  await store.keys.revoke(gone?.id ?? '', 'r');
  const row = { at: START, principal: 'alice', model: 'm', cacheWriteTokens: 0, latencyMs: 7, ...used };
  for (const more of [{}, {}, { costUsd: 0.25, team: 'web' }, { session: 's1', firstTokenMs: 2 }]) {
    store.usage.record({ ...row, ...more });
  }
  for (let n = 0; n < 600; n++) store.usage.record({ ...row, at: START + 1 + Math.floor(n / 300) });
  return store;
}

async function recordsOf(store: Store): Promise<TransferRecord[]> {
  const records: TransferRecord[] = [];
  for (const kind of TRANSFER_KINDS) {
    let after: string | undefined;
    do {
      const page = await store.transfer.read(kind, after);
      records.push(...page.records);
      after = page.next;
    } while (after !== undefined);
  }
  return records;
}

export function transferContract(bench: () => Bench): void {
  describe('transfer', () => {
    it('moves everything as it was, and a second time nothing', async () => {
      const source = await filled();
      const records = await recordsOf(source);
      const counts = await Promise.all(TRANSFER_KINDS.map((kind) => source.transfer.count(kind)));
      expect(counts).toEqual([2, 2, 2, 1, 604]);
      expect(records).toHaveLength(611);
      const store = await bench().open();
      expect(await store.transfer.write(records)).toBe(611);
      expect(await recordsOf(store)).toEqual(records);
      expect(await store.transfer.write(records)).toBe(0);
      expect(await recordsOf(store)).toEqual(records);

      for (const id of ['s1', 's2'])
        expect(await store.sessions.get(id)).toEqual(await source.sessions.get(id));
      expect(await store.transcripts.read('s1', { channel: 'sub' })).toEqual(
        await source.transcripts.read('s1', { channel: 'sub' }),
      );
      expect(await store.toolCalls.list('s1')).toEqual(await source.toolCalls.list('s1'));
      expect(await store.index.longestPrefix('alice', ['h0', 'h1'])).toMatchObject({
        session: 's1',
        head: true,
      });
      expect((await store.sessions.list({ limit: 9, turnOpen: true })).items.map(({ id }) => id)).toEqual([
        's1',
      ]);
      expect(await store.answers.get('alice', 'of the session')).toMatchObject({
        session: 's1',
        body: { ok: true },
      });
      expect(await store.keys.list()).toEqual(await source.keys.list());
      expect(await store.rules.list()).toEqual(await source.rules.list());
      const all = { from: 0, to: START + DAY, by: ['principal'] } as const;
      expect(await store.usage.summarise(all)).toEqual(await source.usage.summarise(all));
    });

    it('changes the revisions of keys and rules that it brings, for who keeps them in memory', async () => {
      const store = await bench().open();
      const before = [await store.keys.revision(), await store.rules.revision()];
      await store.transfer.write(await recordsOf(await filled()));
      const after = [await store.keys.revision(), await store.rules.revision()];
      expect(after.map((revision, index) => revision === before[index])).toEqual([false, false]);
    });

    it('leaves what is there as it is', async () => {
      const records = await recordsOf(await filled());
      const store = await bench().open();
      await newSession(store, 's1', { model: 'another' });
      await store.keys.add(
        { name: 'ci', digest: 'mine', start: 's', scopes: ['call'], models: ['*'] },
        'root',
      );
      expect(await store.transfer.write(records)).toBe(609);
      expect(await store.sessions.get('s1')).toMatchObject({ model: 'another' });
      expect(await store.transcripts.read('s1')).toEqual([]);
      expect((await store.keys.list()).filter(({ name }) => name === 'ci')).toMatchObject([
        { digest: 'mine' },
      ]);
    });

    it('takes usage that was written out before there were teams', async () => {
      const records = await recordsOf(await filled());
      const usage = records.filter(({ kind }) => kind === 'usage');
      const before = usage.map((record) => {
        const { team: _, ...row } = record.row;
        return { ...record, row };
      });
      const store = await bench().open();
      expect(await store.transfer.write(before)).toBe(usage.length);
      const sums = await store.usage.summarise({ from: 0, to: START + DAY, by: ['team'] });
      expect(sums.map(({ group, requests }) => [group.team, requests])).toEqual([['', usage.length]]);
    });

    it('writes all records or none, and says what is wrong with one', async () => {
      const records = await recordsOf(await filled());
      const store = await bench().open();
      const wrong: TransferRecord = { kind: 'rule', row: { id: 'x' } };
      await expect(store.transfer.write([...records, wrong])).rejects.toMatchObject({
        code: 'invalid_request',
        message: expect.stringContaining('A row of rules has no rule'),
      });
      expect(await recordsOf(store)).toEqual([]);
    });
  });
}
