import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { asTurn, SessionsBench, said, speak, user } from '../../../test/support/sessions-bench.js';
import type { Store } from '../../store/store.js';
import { HeldTranscripts } from './held-transcripts.js';
import { TranscriptLog, toRows } from './transcript-log.js';

let folder = '';
const open: SessionsBench[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'held-'));
});
afterEach(async () => {
  vi.restoreAllMocks();
  for (const bench of open.splice(0)) await bench.close();
  await rm(folder, { recursive: true });
});

/** Another process on the same store, as far as sessions are concerned. */
async function gateway(owner: string): Promise<SessionsBench> {
  const bench = await SessionsBench.open({ url: 'sqlite:s.db', baseDir: folder, owner });
  open.push(bench);
  return bench;
}

/** How often a whole transcript was read since. */
function countRead(store: Store): () => number {
  const read = vi.spyOn(store.transcripts, 'read');
  return () => {
    const ranges = read.mock.calls.map(([, range]) => range);
    return ranges.filter((range) => range?.channel === undefined && (range?.after ?? 0) === 0).length;
  };
}

const texts = (messages: readonly { content: readonly object[] }[]): string[] =>
  messages.flatMap(({ content }) =>
    content.flatMap((block) => ('text' in block ? [String(block.text)] : [])),
  );

describe('a transcript that is held between turns', () => {
  it('is not read again', async () => {
    const bench = await gateway('a');
    const first = await bench.say([user('a')], 'A');
    const wholeReads = countRead(bench.store);
    const second = await bench.say([user('a'), said('A'), user('b')], 'B');
    const third = await bench.turn([user('a'), said('A'), user('b'), said('B'), user('c')]);
    expect([second.id, third.id]).toEqual([first.id, first.id]);
    expect(texts(third.transcript)).toEqual(['a', 'A', 'b', 'B', 'c']);
    expect(third.transcript).toHaveLength(9);
    expect(wholeReads()).toBe(0);
  });

  it('has what another process wrote meanwhile', async () => {
    const [one, other] = [await gateway('a'), await gateway('b')];
    const first = await one.say([user('a')], 'A');
    const history = [user('a'), said('A'), user('b')];
    const elsewhere = await other.say(history, 'B');
    expect(elsewhere.id).toBe(first.id);
    const back = await one.say([...history, said('B'), user('c')], 'C');
    expect([back.id, back.how]).toEqual([first.id, 'continue']);
    expect(texts(back.transcript)).toEqual(['a', 'A', 'b', 'B', 'c', 'C']);
    const again = await other.turn([...history, said('B'), user('c'), said('C'), user('d')]);
    expect([again.id, texts(again.transcript).join('')]).toEqual([first.id, 'aAbBcCd']);
  });

  it('has what another process did instead: a summary in the place of messages', async () => {
    const [one, other] = [await gateway('a'), await gateway('b')];
    await one.say([user('a')], 'A');
    const elsewhere = await other.turn([user('a'), said('A'), user('b')]);
    elsewhere.transcript.splice(0, elsewhere.transcript.length, user('summary'));
    await elsewhere.save();
    elsewhere.transcript.push(said('B'));
    await elsewhere.complete({ answer: { blocks: said('B').content, reason: 'end_turn' } });
    const back = await one.turn([user('a'), said('A'), user('b'), said('B'), user('c')]);
    expect(texts(back.transcript)).toEqual(['summary', 'B', 'c']);
  });

  it('is that of the last step after a turn that broke off', async () => {
    const bench = await gateway('a');
    await bench.say([user('a')], 'A');
    const history = [user('a'), said('A'), user('b')];
    const broken = await bench.turn(history);
    broken.transcript.push(said('half'));
    await broken.save();
    broken.transcript.push(user('never written'));
    await broken.abandon();
    const resumed = await bench.turn(history);
    expect(resumed.id).toBe(broken.id);
    expect(texts(resumed.transcript)).toEqual(['a', 'A', 'b', 'half']);
  });

  it('is not that of a key or an end user who says the same', async () => {
    const bench = await gateway('a');
    const mine = await bench.say([user('a')], 'A', { user: 'u1' });
    for (const other of [{ principal: 'bob', user: 'u1' }, { user: 'u2' }, {}]) {
      const turn = asTurn(await bench.attach([user('a'), said('A'), user('b')], other));
      expect(turn.id).not.toBe(mine.id);
      expect(turn.transcript).toEqual([user('a'), said('A'), user('b')]);
      await speak(turn, 'B');
    }
  });

  it('is gone with its session', async () => {
    const bench = await gateway('a');
    const first = await bench.say([user('a')], 'A');
    expect(await bench.sessions.delete(first.id, 'alice')).toBe(true);
    await expect(bench.attach([user('b')], { id: first.id })).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('transcripts that are held', () => {
  const logOf = (text: string): TranscriptLog => {
    const log = new TranscriptLog();
    const entries = [{ kind: 'message', message: user(text) } as const];
    log.push(entries, toRows(entries, 0, 1).at(-1)?.uuid);
    return log;
  };
  const owned = (id: string, principal = 'alice') => ({ id, principal });

  it('are taken once, and by their own key', () => {
    const held = new HeldTranscripts(10_000);
    const log = logOf('a');
    held.put(owned('s'), log);
    expect(held.take(owned('s', 'bob'))).toBeUndefined();
    held.put(owned('s'), log);
    expect([held.take(owned('s')), held.take(owned('s')), held.bytes]).toEqual([log, undefined, 0]);
  });

  it('stay within their bytes: the one that was unused longest goes first', () => {
    const held = new HeldTranscripts(10_000);
    for (const id of ['1', '2', '3']) held.put(owned(id), logOf('x'.repeat(1_500)));
    expect(held.bytes).toBeLessThanOrEqual(10_000);
    expect(held.take(owned('1'))).toBeUndefined();
    expect(held.take(owned('2'))).toBeDefined();
    held.put(owned('4'), logOf('x'.repeat(20_000)));
    expect([held.take(owned('4')), held.bytes]).toEqual([undefined, 0]);
  });

  it('are used only where the store has their last entry there', () => {
    const entries = [{ kind: 'message', message: user('a') } as const];
    const rowsBy = (token: number) => toRows(entries, 0, token).map((row) => ({ ...row, seq: 1, at: 0 }));
    const log = TranscriptLog.read(rowsBy(1));
    expect([log.extend(rowsBy(2)), log.extend([]), log.length]).toEqual([false, false, 1]);
    const next = { uuid: '2.2', message: { kind: 'message', message: said('A') }, seq: 2, at: 0 };
    expect([log.extend([...rowsBy(1), next]), log.length]).toEqual([true, 2]);
    expect(log.messages).toEqual([user('a'), said('A')]);
  });
});
