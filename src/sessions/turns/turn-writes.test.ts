/** What a turn writes is what is new, however long its conversation is. */
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { SessionsBench, said, user } from '../../../test/support/sessions-bench.js';
import type { Message } from '../../core/conversation.js';
import { Database } from '../../store/sqlite/database.js';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'turn-writes-'));
});
afterEach(async () => {
  vi.restoreAllMocks();
  await rm(folder, { recursive: true });
});

interface Written {
  /** Transactions that are on disk before anything else is done. */
  durable: number;
  relaxed: number;
  statements: number;
  bytes: number;
  reads: number;
}

/** Of a turn without tools that continues a conversation of so many messages, up to its delivery. */
async function writtenByTurn(messages: number): Promise<Written> {
  const file = join(folder, `${messages}.db`);
  const bench = await SessionsBench.open({ url: `sqlite:${file}`, baseDir: folder });
  const history = Array.from({ length: messages - 1 }, (_, index): Message => {
    return index % 2 === 0 ? user(`question ${index}`) : said(`answer ${index}`);
  });
  const first = await bench.turn(history);
  first.transcript.push(said('A'));
  await first.complete({ answer: { blocks: said('A').content, reason: 'end_turn' } });
  await bench.sessions.close();
  await bench.store.close();
  const next = await SessionsBench.open({ url: `sqlite:${file}`, baseDir: folder });
  const logged = async () => (await stat(`${file}-wal`)).size;
  const before = await logged();
  const writes = vi.spyOn(Database.prototype, 'write');
  const runs = vi.spyOn(Database.prototype, 'run');
  const reads = vi.spyOn(Database.prototype, 'read');
  const turn = await next.turn([...history, said('A'), user('b')]);
  expect([turn.id, turn.how]).toEqual([first.id, 'continue']);
  turn.transcript.push(said('B'));
  await turn.complete({ answer: { blocks: said('B').content, reason: 'end_turn' } });
  // Waits for the delivery.
  await next.sessions.close();
  const relaxed = writes.mock.calls.filter(([, durability]) => durability === 'relaxed').length;
  const written = {
    durable: writes.mock.calls.length - relaxed,
    relaxed,
    statements: runs.mock.calls.length,
    reads: reads.mock.calls.length,
    bytes: (await logged()) - before,
  };
  vi.restoreAllMocks();
  await next.store.close();
  return written;
}

it('a turn waits for the disk before the model is asked and before its end is told, and only then', async () => {
  expect(await writtenByTurn(4)).toMatchObject({ durable: 2, relaxed: 1 });
});

it('a turn writes as much to a long conversation as to a short one', async () => {
  const short = await writtenByTurn(4);
  const long = await writtenByTurn(400);
  // Pages of 1 KB with a few bytes that are new in each; with SQLite's usual ones it was 140 KB.
  expect(short.bytes).toBeLessThan(64 * 1024);
  expect(long).toMatchObject({ durable: short.durable, statements: short.statements, reads: short.reads });
  expect(short).toMatchObject({ statements: 11, reads: 5 });
  // A longer table has a few pages more on the way to a row.
  expect(long.bytes).toBeLessThan(short.bytes * 1.5);
});
