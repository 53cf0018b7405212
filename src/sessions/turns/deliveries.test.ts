import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  asTurn,
  call,
  handBack,
  result,
  SessionsBench,
  said,
  speak,
  user,
} from '../../../test/support/sessions-bench.js';
import type { Message } from '../../core/conversation.js';
import { Database } from '../../store/sqlite/database.js';
import type { Store } from '../../store/store.js';
import { createSessions } from '../lifetime/create-sessions.js';

const A: Message[] = [user('a')];
const ON: Message[] = [user('a'), said('A'), user('b')];
const CALLS = [call('c1'), call('c2')];

let folder = '';
const benches: SessionsBench[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sessions-'));
});
afterEach(async () => {
  await closeAll();
  await rm(folder, { recursive: true });
});

async function closeAll(): Promise<void> {
  for (const bench of benches.splice(0)) await bench.close();
}

async function open(delivers = false): Promise<SessionsBench> {
  const bench = await SessionsBench.open({ url: 'sqlite:s.db', baseDir: folder, delivers });
  benches.push(bench);
  return bench;
}

/** As after a crash: another process on the same file. */
async function restart(): Promise<SessionsBench> {
  await closeAll();
  return open();
}

async function answersKept(): Promise<unknown> {
  await closeAll();
  const database = await Database.open({ path: join(folder, 's.db'), memory: false, lockWaitMs: 100 });
  const row = database.get('SELECT count(*) AS n FROM answers');
  database.close();
  return row?.['n'];
}

describe.each([
  ['in the same process', async (bench: SessionsBench) => bench],
  ['after a restart', restart],
])('an undelivered answer is given again, %s', (_, later) => {
  it('to a request that begins a conversation', async () => {
    const first = await open();
    const { id, key } = await first.say(A, 'A');
    const bench = await later(first);
    for (const again of [await bench.attach(A), await bench.attach(A, { id })]) {
      expect(again).toEqual({
        kind: 'answered',
        session: id,
        how: 'new',
        key,
        answer: { blocks: said('A').content, reason: 'end_turn' },
        losses: [],
      });
    }
    expect((await bench.turn(A, { model: 'other' })).id).not.toBe(id);
  });

  it('to a request that continues a conversation', async () => {
    const first = await open();
    const { id } = await first.say(A, 'A');
    const on = await first.say(ON, 'B');
    const bench = await later(first);
    const again = { kind: 'answered', session: id, how: 'continue', key: on.key };
    expect(await bench.attach(ON)).toMatchObject(again);
    expect(await bench.attach(ON, { id })).toMatchObject(again);
    expect((await bench.turn([...ON, said('B'), user('c')])).id).toBe(id);
  });

  it('to a request that names its session and sends only new messages', async () => {
    const first = await open();
    const { id } = await first.say(A, 'A');
    await first.say([user('b')], 'B', { id });
    const bench = await later(first);
    expect(await bench.attach([user('b')], { id })).toMatchObject({
      kind: 'answered',
      session: id,
      how: 'continue',
      answer: { blocks: said('B').content },
    });
    expect(asTurn(await bench.attach([user('c')], { id })).transcript.at(-1)).toEqual(user('c'));
  });

  it('to a request whose answer hands calls back', async () => {
    const first = await open();
    const { id } = await first.handBack(A, CALLS, { text: 'So:' });
    const bench = await later(first);
    for (const again of [await bench.attach(A), await bench.attach(A, { id })]) {
      expect(again).toMatchObject({
        kind: 'answered',
        how: 'new',
        answer: { blocks: said('So:', ...CALLS).content, reason: 'tool_use' },
      });
    }
    const on = await bench.turn([...A, said(...CALLS), user(result('c1', '1'), result('c2', '2'))]);
    expect([on.how, on.id]).toEqual(['continue', id]);
  });

  it('to a request that forked, beside the parent session', async () => {
    const first = await open();
    await first.say(A, 'A');
    await first.say(ON, 'B');
    const fork = await first.say([...A, said('A'), user('else')], 'E');
    const bench = await later(first);
    expect(await bench.attach([...A, said('A'), user('else')])).toMatchObject({
      kind: 'answered',
      session: fork.id,
      how: 'fork',
    });
    expect(await bench.attach(ON)).toMatchObject({ kind: 'answered', answer: { blocks: said('B').content } });
  });
});

describe('a delivered answer', () => {
  it('is not given again: the same request gets a new one at once', async () => {
    const bench = await open();
    const { id } = await bench.say(A, 'A');
    bench.deliver(id);
    expect(asTurn(await bench.attach(A)).how).toBe('new');
    await bench.say(ON, 'B');
    bench.deliver(id);
    expect(asTurn(await bench.attach(ON)).how).toBe('fork');
    const named = await bench.say([user('c')], 'C', { id });
    bench.deliver(id);
    const again = await bench.turn([user('c')], { id });
    expect([again.id, again.key === named.key, again.transcript.length]).toEqual([id, false, 13]);
  });

  it('is not given again before its delivery is written', async () => {
    const { store } = await open();
    let go = (): void => undefined;
    const written = new Promise<void>((resolve) => {
      go = resolve;
    });
    const { sessions, transcripts, index, toolCalls, leases } = store;
    const answers: Store['answers'] = {
      get: (...args) => store.answers.get(...args),
      put: (...args) => store.answers.put(...args),
      extend: (...args) => store.answers.extend(...args),
      delete: (...args) => written.then(() => store.answers.delete(...args)),
    };
    const slow = createSessions({
      store: { sessions, transcripts, index, toolCalls, leases, answers },
      log: { warn: () => undefined },
      ttlMs: 3_600_000,
      toolTimeoutMs: 1000,
      onToolTimeout: 'hibernate',
      now: () => 1_760_000_000_000,
    });
    const request = { messages: A, tools: [], system: [] };
    const ask = { principal: 'alice', engine: 'native' as const, model: 'coder', root: '/w', request };
    const turn = asTurn(await slow.attach(ask));
    await speak(turn, 'A');
    slow.delivered(turn.id, turn.key);
    const again = asTurn(await slow.attach(ask));
    expect([again.how, again.id === turn.id]).toEqual(['new', false]);
    go();
    await slow.close();
    expect(await store.answers.get('alice', `undelivered:${turn.id}:0`)).toBeUndefined();
  });

  it('is not given again by the next process, and leaves no row', async () => {
    const first = await open();
    const { id } = await first.say(A, 'A');
    first.deliver(id);
    const bench = await restart();
    const again = await bench.turn(A);
    expect([again.how, again.id === id]).toEqual(['new', false]);
    await again.discard();
    expect(await answersKept()).toBe(0);
  });

  it('leaves no row where another process wrote it, after an answer of this one that nobody received', async () => {
    const [one, other] = [await open(), await open()];
    const { id } = await one.say(A, 'A');
    await other.say(ON, 'B');
    const again = await one.attach(ON);
    if (again.kind !== 'answered') throw new Error(again.kind);
    one.sessions.delivered(id, again.key);
    expect(await answersKept()).toBe(0);
  });

  it('is not changed by the delivery of another turn or of a deleted session', async () => {
    const bench = await open();
    const { id, key } = await bench.say(A, 'A');
    bench.sessions.delivered(id, 'another');
    bench.sessions.delivered('ses_none', key);
    expect(await bench.attach(A)).toMatchObject({ kind: 'answered', session: id });
  });
});

it('a client that continues has received the answer: no row is left', async () => {
  const bench = await open();
  const { id } = await bench.say(A, 'A');
  const turn = await bench.turn(ON);
  expect((await bench.sessions.get(id))?.metadata).not.toHaveProperty('undelivered');
  expect(asTurn(await bench.attach(A)).how).toBe('new');
  await turn.abandon();
  expect(await answersKept()).toBe(0);
});

it('a client that sends some results has received the calls', async () => {
  const bench = await open();
  await handBack(await bench.turn(A), CALLS);
  expect(await bench.attach([...A, said(...CALLS), user(result('c1', '1'))])).toMatchObject({
    kind: 'waiting',
  });
  expect(asTurn(await bench.attach(A)).how).toBe('new');
  expect(await answersKept()).toBe(0);
});

describe('an answer that another node has for its client', () => {
  it('is given again until that node says that the client has it', async () => {
    const bench = await open();
    const reader = new AbortController();
    const turn = await bench.turn(A, { signal: reader.signal });
    const { id, key } = turn;
    await speak(turn, 'A');
    bench.sessions.passedOn(id, key);
    expect(await bench.attach(A, { signal: reader.signal })).toMatchObject({ kind: 'answered', session: id });
    // Another process confirms it: it knows of the answer what is in the store.
    const other = await open();
    other.sessions.delivered(id, key);
    await closeAll();
    const later = await open();
    expect((await later.turn(A)).id).not.toBe(id);
  });
});
