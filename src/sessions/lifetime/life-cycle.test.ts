import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
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
import { sessionLease } from '../../store/leases.js';
import { Database } from '../../store/sqlite/database.js';
import type { SessionEvent, Sessions } from '../sessions.js';

const A: Message[] = [user('a')];
const CALLS = [call('c1'), call('c2'), call('c3')];
const HANDED = [...A, said(...CALLS)];
const R = (id: string) => result(id, `of ${id}`);

// Time passes when a test says so, for timers and for the clock alike.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'] });
});
afterEach(() => vi.useRealTimers());
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

const open: SessionsBench[] = [];
async function start(options: Parameters<typeof SessionsBench.open>[0] = {}): Promise<SessionsBench> {
  const bench = await SessionsBench.open(options);
  open.push(bench);
  return bench;
}
afterEach(async () => {
  for (const bench of open.splice(0)) await bench.close();
});

const next = <T extends SessionEvent['type']>(sessions: Sessions, type: T): Promise<SessionEvent> =>
  new Promise((resolve) => {
    const stop = sessions.subscribe((event) => {
      if (event.type !== type) return;
      stop();
      resolve(event);
    });
  });

describe('tool results from several requests at once', () => {
  it('run one turn, and each result is used once', async () => {
    const bench = await start();
    const { id } = await bench.handBack(A, CALLS);
    const attached = await Promise.all(
      ['c1', 'c2', 'c3'].map((each) => bench.attach([...HANDED, user(R(each))])),
    );
    expect(attached.map(({ kind }) => kind).sort()).toEqual(['turn', 'waiting', 'waiting']);
    const turn = asTurn(attached.find(({ kind }) => kind === 'turn') ?? fail());
    expect(turn.transcript.at(-1)).toEqual(user(R('c1'), R('c2'), R('c3')));
    const late = await bench.attach([...HANDED, user(R('c1'))]);
    expect(late).toMatchObject({ kind: 'running', session: id, key: turn.key });
    const otherwise = [...HANDED, user(R('c3'), R('c1'), R('c2'))];
    expect(await bench.attach(otherwise)).toMatchObject({ kind: 'running', key: turn.key });
    await speak(turn, 'Done.');
    const plain = [...HANDED, user(R('c1'), R('c2'), R('c3'))];
    for (const told of [plain, otherwise]) {
      const on = await bench.turn([...told, said('Done.'), user('on')]);
      expect([on.how, on.id]).toEqual(['continue', id]);
      await on.abandon();
    }
  });

  const fail = (): never => {
    throw new Error('No turn began.');
  };
});

describe('tool results that never arrive', () => {
  const ask = (texts: string[]) => [...HANDED, user(...texts.map(R))];

  it('let the session hibernate, and a later result wakes it', async () => {
    const bench = await start({ now: Date.now, toolTimeoutMs: 20 });
    const hibernated = next(bench.sessions, 'hibernated');
    const { id } = await bench.handBack(A, CALLS);
    await pass(19);
    expect(await bench.sessions.get(id)).toMatchObject({ state: 'parked' });
    await pass(1);
    expect(await hibernated).toEqual({ type: 'hibernated', session: id, principal: 'alice' });
    expect(await bench.sessions.get(id)).toMatchObject({ state: 'hibernated' });
    const turn = await bench.turn(ask(['c1', 'c2', 'c3']));
    expect([turn.id, turn.losses]).toEqual([id, []]);
    expect(await bench.sessions.get(id)).toMatchObject({ state: 'live' });
  });

  it('let it hibernate also after some of them arrived', async () => {
    const bench = await start({ now: Date.now, toolTimeoutMs: 20 });
    const { id } = await bench.handBack(A, CALLS);
    await pass(15);
    expect(await bench.attach(ask(['c1']))).toMatchObject({ kind: 'waiting' });
    await pass(15);
    expect(await bench.sessions.get(id)).toMatchObject({ state: 'parked' });
    await pass(5);
    expect(await bench.sessions.get(id)).toMatchObject({ state: 'hibernated' });
  });

  it('with `fail` get error results, and a late result is named as a loss', async () => {
    const bench = await start({ now: Date.now, toolTimeoutMs: 20, onToolTimeout: 'fail' });
    const { id } = await bench.handBack(A, CALLS);
    await pass(20);
    const states = (await bench.store.toolCalls.list(id)).map(({ state, result: r }) => [state, r?.isError]);
    expect(states).toEqual(CALLS.map(() => ['answered', true]));
    const turn = await bench.turn(ask(['c2']));
    expect([turn.id, turn.how]).toEqual([id, 'continue']);
    expect(turn.transcript.at(-1)?.content).toMatchObject(CALLS.map(() => ({ isError: true })));
    expect(turn.losses).toEqual([
      { path: 'tool_result c2', reason: expect.stringContaining('time was over') },
    ]);
    await speak(turn, 'Done.');
    expect(await bench.attach(ask(['c2']))).toMatchObject({ kind: 'answered', losses: [{}] });
  });

  it('with `fail` get error results from the next request where the waiting process died', async () => {
    const bench = await start({ onToolTimeout: 'fail', toolTimeoutMs: 1000 });
    const { id } = await bench.handBack(A, CALLS);
    bench.clock.now += 999;
    expect(await bench.attach(ask(['c1']))).toMatchObject({ kind: 'waiting' });
    bench.clock.now += 1000;
    const turn = await bench.turn(ask(['c1', 'c2']));
    expect(turn.transcript.at(-1)?.content).toMatchObject([
      { toolUseId: 'c1', isError: false },
      { toolUseId: 'c2', isError: true },
      { toolUseId: 'c3', isError: true },
    ]);
    expect([turn.id, turn.losses.map(({ path }) => path)]).toEqual([id, ['tool_result c2']]);
  });

  it('with `hibernate` are used however late they arrive', async () => {
    const bench = await start({ toolTimeoutMs: 1000 });
    await bench.handBack(A, CALLS);
    bench.clock.now += 100_000;
    expect((await bench.turn(ask(['c1', 'c2', 'c3']))).losses).toEqual([]);
  });
});

describe('a session', () => {
  it('reports its life cycle to every listener, also where one throws', async () => {
    const warned: string[] = [];
    const bench = await start({ log: { warn: (_, message) => warned.push(message) } });
    const stop = bench.sessions.subscribe(() => {
      throw new Error('no');
    });
    const { id } = await bench.handBack(A, CALLS);
    stop();
    await (await bench.turn([...HANDED, user('on')])).abandon();
    await bench.sessions.delete(id, 'alice');
    const session = { session: id, principal: 'alice' };
    expect(bench.events).toEqual([
      { type: 'created', ...session, how: 'new' },
      { type: 'turn-began', ...session },
      { type: 'turn-ended', ...session, end: 'parked' },
      { type: 'turn-began', ...session },
      { type: 'turn-ended', ...session, end: 'broken' },
      { type: 'ended', ...session, why: 'deleted' },
    ]);
    expect(warned).toHaveLength(3);
  });

  it('ends its turn when it is deleted', async () => {
    const bench = await start();
    const turn = await bench.turn(A);
    const aborted = once(turn.signal, 'abort');
    expect(await bench.sessions.delete(turn.id, 'alice')).toBe(true);
    await aborted;
    turn.transcript.push(said('x'));
    await expect(turn.save()).rejects.toMatchObject({ code: 'conflict' });
    await turn.abandon();
    expect(await bench.sessions.delete(turn.id, 'alice')).toBe(false);
    expect((await bench.turn(A)).id).not.toBe(turn.id);
  });

  it('ends its turn when its lease is lost', async () => {
    const bench = await start({ leaseMs: 30, now: Date.now });
    const turn = await bench.turn(A);
    const aborted = once(turn.signal, 'abort');
    await bench.store.leases.releaseAll((await leaseOf(bench, turn.id)) ?? '');
    await pass(30);
    await aborted;
    await expect(turn.save({ x: 1 })).rejects.toMatchObject({ code: 'conflict', detail: 'session_lost' });
  });

  it('does not expire while it is used', async () => {
    const bench = await start({ ttlMs: 1000 });
    const { id } = await bench.say(A, 'A');
    bench.clock.now += 600;
    const turn = await bench.turn([...A, said('A'), user('b')]);
    bench.clock.now += 600;
    turn.transcript.push(said('B'));
    await turn.save();
    bench.clock.now += 600;
    await turn.complete({ answer: { blocks: said('B').content, reason: 'end_turn' } });
    bench.clock.now += 999;
    expect(await bench.sessions.get(id)).toMatchObject({ state: 'live' });
    bench.clock.now += 1;
    expect(await bench.sessions.get(id)).toMatchObject({ state: 'expired' });
  });

  it('does not expire during its own turn, however long that is silent', async () => {
    const bench = await start({ now: Date.now, ttlMs: 1000 });
    const { id } = await bench.say(A, 'A');
    const turn = await bench.turn([...A, said('A'), user('b')]);
    for (let passed = 0; passed < 20; passed += 1) await pass(500);
    expect(await bench.sessions.get(id)).toMatchObject({ state: 'live' });
    await speak(turn, 'B');
    expect(bench.events.filter(({ type }) => type === 'ended')).toEqual([]);
    await pass(1000);
    expect(bench.events.at(-1)).toMatchObject({ type: 'ended', session: id, why: 'expired' });
  });

  it('is not reported as expired during its turn, also where it could not be renewed', async () => {
    const bench = await start({ ttlMs: 1000 });
    await bench.turn(A);
    bench.clock.now += 2000;
    await pass(1000);
    expect(bench.events.map(({ type }) => type)).toEqual(['created', 'turn-began']);
  });

  it('is reported as ended where it was reported and could not begin', async () => {
    const bench = await start();
    const stop = bench.sessions.subscribe((event) => {
      if (event.type === 'created') void bench.store.sessions.delete(event.session, 'somebody');
    });
    await expect(bench.attach(A)).rejects.toMatchObject({ code: 'conflict' });
    stop();
    expect(bench.events.map(({ type }) => type)).toEqual(['created', 'ended']);
  });

  it('keeps its lease as long as the turn runs, and no longer', async () => {
    const bench = await start({ leaseMs: 30, now: Date.now });
    const turn = await bench.turn(A);
    await pass(100);
    expect((await holderOf(bench, turn.id)).granted).toBe(false);
    await speak(turn, 'A');
    expect((await holderOf(bench, turn.id)).granted).toBe(true);
  });

  it('can be read and listed, with what waits for its client', async () => {
    const bench = await start();
    const { id } = await bench.handBack(A, CALLS);
    await bench.say([user('other')], 'B', { principal: 'bob' });
    expect(await bench.sessions.read(id)).toMatchObject({ messages: HANDED, open: CALLS });
    expect(
      (await bench.sessions.list({ principal: 'alice', limit: 5 })).items.map((each) => each.id),
    ).toEqual([id]);
    expect((await bench.sessions.list({ limit: 5, states: ['parked'] })).items).toHaveLength(1);
    expect(await bench.sessions.read('ses_none')).toBeUndefined();
  });

  it('gives each fork a title of its own', async () => {
    const bench = await start();
    const { id } = await bench.handBack(A, CALLS, { tools: [{ name: 'get' }] });
    const fork = async (of: string) => (await bench.sessions.fork(of)) ?? { id: '', title: undefined };
    const second = await fork(id);
    const titles = [second, await fork(id), await fork(second.id)].map(({ title }) => title);
    expect(titles).toEqual(['a (2)', 'a (3)', 'a (4)']);
  });

  it('can be forked into a conversation of its own', async () => {
    const bench = await start();
    const { id } = await bench.handBack(A, CALLS, { tools: [{ name: 'get' }] });
    await bench.attach([...HANDED, user(R('c2'))]);
    const fork = await bench.sessions.fork(id);
    if (fork === undefined) throw new Error('There is no fork.');
    expect(fork).toMatchObject({ parent: id, state: 'parked', title: 'a (2)' });
    expect((await bench.sessions.read(fork.id))?.open.map((each) => each.id)).toEqual(['c1', 'c3']);
    const own = await bench.turn([user(R('c1'), R('c3'))], { id: fork.id });
    expect([own.how, own.id, own.forkNumber, own.tools]).toEqual(['continue', fork.id, 1, [{ name: 'get' }]]);
    expect(own.transcript.at(-1)).toEqual(user(R('c1'), R('c2'), R('c3')));
    const parent = await bench.turn([...HANDED, user(R('c1'), R('c2'), R('c3'))]);
    expect([parent.how, parent.id]).toEqual(['continue', id]);
    expect(await bench.sessions.fork('ses_none')).toBeUndefined();
  });

  it('takes what was said beside partial results into its fork', async () => {
    const bench = await start();
    const { id } = await bench.handBack(A, CALLS);
    await bench.attach([...HANDED, user(R('c1'), 'mind the gap')]);
    const fork = await bench.sessions.fork(id);
    const own = await bench.turn([user(R('c2'), R('c3'))], { id: fork?.id });
    expect(own.transcript.at(-1)).toEqual(
      user(R('c1'), R('c2'), R('c3'), { type: 'text', text: 'mind the gap' }),
    );
  });

  it('is copied up to its last finished turn by a fork', async () => {
    const bench = await start();
    const { id } = await bench.say(A, 'A');
    const turn = await bench.turn([...A, said('A'), user('b')]);
    turn.transcript.push(said('half'));
    await turn.save();
    const fork = await bench.sessions.fork(id);
    expect((await bench.sessions.read(fork?.id ?? ''))?.messages.at(-1)).toEqual(said('A'));
    await speak(turn, 'B');
    // The client, which names no session, stays with the one it has been talking to.
    expect((await bench.turn([...A, said('A'), user('b'), said('B'), user('c')])).id).toBe(id);
  });

  it('never has two calls with one id, also counting those that a summary replaced', async () => {
    const bench = await start();
    const turn = await bench.turn(A);
    turn.transcript.push(said(call('x', 'Read')), user(result('x', 'r')));
    await turn.save();
    turn.transcript.splice(0, 3, user('a summary'));
    await turn.save();
    expect(turn.claimId('x')).toMatch(/^x_\w+$/);
    expect(turn.claimId('y')).toBe('y');
    expect(turn.claimId('y')).not.toBe('y');
    await turn.abandon();
    const again = await bench.turn(A);
    expect(again.transcript).toEqual([user('a summary')]);
    expect(again.claimId('x')).not.toBe('x');
  });
});

describe('on a store in a file', () => {
  let folder = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sessions-'));
  });
  afterEach(async () => {
    for (const bench of open.splice(0)) await bench.close();
    await rm(folder, { recursive: true });
  });

  it('expired sessions are reported and leave no row', async () => {
    const bench = await start({ url: 'sqlite:s.db', baseDir: folder, now: Date.now, ttlMs: 300 });
    const ended = next(bench.sessions, 'ended');
    const { id } = await bench.handBack(A, CALLS, { tools: [{ name: 'get' }], here: [call('s1', 'Read')] });
    await bench.attach([...HANDED, user(R('c1'), 'wait')]);
    await speak(await bench.turn([...HANDED, user(R('c1'), R('c2'), R('c3'))]), 'Done.');
    const fork = await bench.turn([...HANDED, user('else')]);
    await handBack(fork, [call('c4')]);
    await pass(300);
    expect(await ended).toMatchObject({ session: id, why: 'expired' });
    expect(bench.events.filter(({ type }) => type === 'ended')).toHaveLength(2);
    expect(vi.getTimerCount()).toBe(1);
    await bench.store.prune(Date.now() + 2 * 3_600_000);
    await bench.close();
    open.length = 0;
    const database = await Database.open({ path: join(folder, 's.db'), memory: false, lockWaitMs: 100 });
    const counts = ['sessions', 'transcript', 'history', 'calls', 'answers', 'leases'].map((table) => [
      table,
      database.get(`SELECT count(*) AS n FROM ${table}`)?.['n'],
    ]);
    database.close();
    expect(counts).toEqual(counts.map(([table]) => [table, 0]));
  });

  it('a session that another process continues is not reported as expired', async () => {
    const place = { url: 'sqlite:s.db', baseDir: folder, now: Date.now };
    const [one, other] = [await start({ ...place, ttlMs: 50 }), await start({ ...place, ttlMs: 400 })];
    const { id } = await one.say(A, 'A');
    await other.say([user('b')], 'B', { id });
    const ended = () => one.events.filter(({ type }) => type === 'ended');
    await pass(399);
    expect(ended()).toEqual([]);
    await pass(1);
    expect(ended()).toHaveLength(1);
  });

  it('the metadata of a session stays small, whatever its tools and prompt are', async () => {
    const bench = await start({ url: 'sqlite:s.db', baseDir: folder });
    const tools = [{ name: 'big', description: 'x'.repeat(50_000) }];
    const system = [{ type: 'text' as const, text: 'y'.repeat(50_000) }];
    let told: Message[] = [user('z'.repeat(10_000))];
    for (let turn = 0; turn < 10; turn += 1) {
      const { id } = await bench.say(told, `answer ${turn}`, { tools, system });
      told = [...told, said(`answer ${turn}`), user(`next ${turn}`)];
      const session = await bench.sessions.get(id);
      expect(JSON.stringify(session?.metadata).length).toBeLessThan(1000);
      expect(await bench.store.transcripts.read(id, { channel: 'setup' })).toHaveLength(2);
    }
  });
});

async function holderOf(bench: SessionsBench, id: string) {
  const grant = await bench.store.leases.acquire(sessionLease(id), 'looker', 1);
  if (!grant.granted) return { granted: false, owner: grant.owner, until: grant.until };
  await bench.store.leases.release(grant.lease);
  return { granted: true };
}

async function leaseOf(bench: SessionsBench, id: string): Promise<string | undefined> {
  return (await holderOf(bench, id)).owner;
}
