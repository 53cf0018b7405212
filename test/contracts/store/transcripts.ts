import { describe, expect, it } from 'vitest';
import { type Bench, ownSession, START } from './place.js';

const entries = (...uuids: string[]) => uuids.map((uuid) => ({ uuid, message: { text: uuid } }));

export function transcriptsContract(bench: () => Bench): void {
  describe('transcripts', () => {
    it('appends in order and reads back exactly', async () => {
      const store = await bench().open();
      const { step } = await ownSession(store, 's1');
      const message = {
        role: 'user',
        content: [{ type: 'text', text: 'a\u0000b \ud83d\ude00 修' }],
        b: 1,
        a: 2,
      };
      await step({ append: [{ after: 0, entries: [{ uuid: 'u1', message, meta: { ms: 3 } }] }] });
      bench().now += 7;
      await step({ append: [{ after: 1, entries: entries('u2', 'u3') }] });
      const read = await store.transcripts.read('s1');
      expect(read).toEqual([
        { seq: 1, uuid: 'u1', at: START, message, meta: { ms: 3 } },
        { seq: 2, uuid: 'u2', at: START + 7, message: { text: 'u2' } },
        { seq: 3, uuid: 'u3', at: START + 7, message: { text: 'u3' } },
      ]);
      expect(JSON.stringify(read[0]?.message)).toBe(JSON.stringify(message));
    });

    it('refuses an append that does not continue the end', async () => {
      const store = await bench().open();
      const { step } = await ownSession(store, 's1');
      await step({ append: [{ entries: entries('u1', 'u2') }] });
      expect(await step({ append: [{ after: 1, entries: entries('u3') }] })).toEqual({
        ok: false,
        reason: 'moved',
        channel: 'main',
        last: 2,
      });
      expect(await store.transcripts.read('s1')).toHaveLength(2);
    });

    it('skips entries it has, so a repeated batch changes nothing', async () => {
      const store = await bench().open();
      const { step } = await ownSession(store, 's1');
      await step({ append: [{ entries: entries('u1', 'u2') }] });
      await step({ append: [{ entries: entries('u1', 'u2', 'u3') }] });
      const read = await store.transcripts.read('s1');
      expect(read.map((entry) => [entry.seq, entry.uuid])).toEqual([
        [1, 'u1'],
        [2, 'u2'],
        [3, 'u3'],
      ]);
    });

    it('keeps channels apart', async () => {
      const store = await bench().open();
      const { step } = await ownSession(store, 's1');
      await step({
        append: [
          { entries: entries('u1') },
          { channel: 'agent/1', entries: entries('u1', 'u2') },
          { channel: 'agent/1', after: 2, entries: entries('u3') },
        ],
      });
      expect(await store.transcripts.channels('s1')).toEqual(['agent/1', 'main']);
      expect(await store.transcripts.read('s1')).toHaveLength(1);
      const part = await store.transcripts.read('s1', { channel: 'agent/1', after: 1, limit: 1 });
      expect(part.map((entry) => entry.uuid)).toEqual(['u2']);
    });

    it('reads nothing of a session that is not there', async () => {
      const store = await bench().open();
      expect(await store.transcripts.read('none')).toEqual([]);
      expect(await store.transcripts.channels('none')).toEqual([]);
    });
  });
}
