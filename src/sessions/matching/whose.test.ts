import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type AttachOptions,
  asTurn,
  call,
  result,
  SessionsBench,
  said,
  user,
} from '../../../test/support/sessions-bench.js';
import type { Message, TextBlock } from '../../core/conversation.js';
import { sessionLease } from '../../store/leases.js';
import { seedOf } from '../history/history-fingerprint.js';

let bench: SessionsBench;
beforeEach(async () => {
  bench = await SessionsBench.open();
});
afterEach(() => bench.close());

const HI: Message[] = [user('hi')];
const ON: Message[] = [user('hi'), said('ok'), user('and?')];
const prompt = (text: string): TextBlock[] => [{ type: 'text', text }];
const of = (name: string): AttachOptions => ({ user: name });
const under = (text: string): AttachOptions => ({ system: prompt(text) });

describe('two end users of one key', () => {
  it('with the same history each continue their own session', async () => {
    const alice = await bench.say(HI, 'ok', of('a'));
    const bob = await bench.say(HI, 'ok', of('b'));
    const nobody = await bench.say(HI, 'ok');
    for (const [own, options] of [
      [alice, of('a')],
      [bob, of('b')],
      [nobody, {}],
    ] as const) {
      const on = await bench.say(ON, 'yes', options);
      expect([on.id, on.how, on.user]).toEqual([own.id, 'continue', options.user]);
    }
  });

  it("never continue, fork, repeat or resume the other's session", async () => {
    const alice = await bench.say(HI, 'ok', of('a'));
    expect(asTurn(await bench.attach(ON, of('b'))).how).toBe('import');
    expect(asTurn(await bench.attach(ON)).how).toBe('import');
    const broken = await bench.turn(ON, of('a'));
    await broken.abandon();
    const again = await bench.turn(ON, of('c'));
    expect([again.how, again.id === alice.id]).toEqual(['import', false]);
    expect((await bench.turn(ON, of('a'))).id).toBe(alice.id);
    const first = await bench.turn([user('begins')], of('a'));
    await first.abandon();
    expect((await bench.turn([user('begins')], of('b'))).id).not.toBe(first.id);
    expect((await bench.turn([user('begins')], of('a'))).id).toBe(first.id);
  });

  it("get for each other's session ids the refusal of a deleted session", async () => {
    const { id } = await bench.say(HI, 'ok', of('a'));
    for (const other of [of('b'), {}]) {
      await expect(bench.attach([user('x')], { ...other, id })).rejects.toMatchObject({
        code: 'not_found',
        detail: 'session_not_found',
      });
    }
    expect((await bench.turn([user('x')], { ...of('a'), id })).id).toBe(id);
  });

  it("cannot answer each other's calls", async () => {
    const { id } = await bench.handBack(HI, [call('c1')], of('a'));
    const given = [user(result('c1', 'r'))];
    for (const other of [of('b'), {}]) {
      await expect(bench.attach(given, other)).rejects.toMatchObject({ code: 'unknown_tool_call' });
    }
    // The same id waits with another user: each answers their own.
    const bob = await bench.handBack(HI, [call('c1')], of('b'));
    expect((await bench.turn(given, of('a'))).id).toBe(id);
    expect((await bench.turn(given, of('b'))).id).toBe(bob.id);
  });

  it('do not share an Idempotency-Key', async () => {
    await bench.say(HI, 'ok', { ...of('a'), idempotencyKey: 'k' });
    await expect(bench.attach(HI, { ...of('b'), idempotencyKey: 'k' })).rejects.toMatchObject({
      code: 'unprocessable',
    });
  });

  it('keep their sessions and forks where the holder of the key continues them', async () => {
    const { id } = await bench.say(HI, 'ok', of('a'));
    const holder = { anyUser: true };
    const on = await bench.say([user('by the holder')], 'yes', { ...holder, id });
    expect([on.id, on.user]).toEqual([id, 'a']);
    const fork = await bench.sessions.fork(id, { keep: 1 });
    const forked = await bench.turn([user('there')], { ...holder, id: fork?.id });
    expect([forked.id, forked.user]).toEqual([fork?.id, 'a']);
    await expect(bench.attach([user('there')], { id: fork?.id, user: 'b' })).rejects.toMatchObject({
      code: 'not_found',
    });
    const taken = await bench.turn([...HI, said('ok'), user('elsewhere')], { ...holder, parent: id });
    expect([taken.how, taken.user]).toEqual(['import', 'a']);
    // What the holder said is part of the user's conversation.
    const next = await bench.turn(
      [...HI, said('ok'), user('by the holder'), said('yes'), user('x')],
      of('a'),
    );
    expect([next.id, next.how]).toEqual([id, 'continue']);
  });
});

describe('sessions of one user with the same history', () => {
  it('are told apart by their system prompts', async () => {
    const one = await bench.say(HI, 'ok', under('You are one.'));
    const two = await bench.say(HI, 'ok', under('You are two.'));
    const none = await bench.say(HI, 'ok');
    for (const [own, options] of [
      [one, under('You are one.')],
      [two, under('You are two.')],
      [none, {}],
    ] as const) {
      expect((await bench.say(ON, 'yes', options)).id).toBe(own.id);
    }
  });

  it('are told apart however many there are', async () => {
    const sessions = [];
    for (let index = 0; index < 40; index += 1) {
      sessions.push(await bench.say(HI, 'ok', under(`You are number ${index}.`)));
    }
    expect((await bench.turn(ON, under('You are number 0.'))).id).toBe(sessions[0]?.id);
  });

  it('are continued under another system prompt where there is only one', async () => {
    const one = await bench.say(HI, 'ok', under('It is Monday.'));
    const on = await bench.say(ON, 'yes', under('It is Tuesday.'));
    expect([on.id, on.how]).toEqual([one.id, 'continue']);
    expect(on.system).toEqual(prompt('It is Tuesday.'));
    expect((await bench.turn([...ON, said('yes'), user('x')])).id).toBe(one.id);
  });

  it('are not continued but imported where several fit', async () => {
    const one = await bench.say(HI, 'ok', under('You are one.'));
    const two = await bench.say(HI, 'ok', under('You are two.'));
    const on = await bench.turn(ON, under('You are three.'));
    expect(on.how).toBe('import');
    expect([one.id, two.id]).not.toContain(on.id);
    expect(JSON.stringify(on.transcript)).not.toContain('hidden');
  });

  it('count as one conversation where they are forks of it', async () => {
    await bench.say(HI, 'ok', under('It is Monday.'));
    await bench.say(ON, 'yes', under('It is Monday.'));
    const other = await bench.say([...HI, said('ok'), user('else')], 'no', under('It is Monday.'));
    expect(other.how).toBe('fork');
    const third = await bench.turn([...HI, said('ok'), user('third')], under('It is Tuesday.'));
    expect(third.how).toBe('fork');
    expect(JSON.stringify(third.transcript)).toContain('hidden ok');
  });

  it("without an answer are continued under the same prompt alone, but for Claude Code's own line", async () => {
    const billed = (cch: string) => [
      ...prompt(`x-anthropic-billing-header: cc_version=2.1; cch=${cch};`),
      ...prompt('You are one.'),
    ];
    const one = await bench.turn(HI, { system: billed('11111') });
    await one.abandon();
    const other = await bench.turn(HI, under('You are two.'));
    expect(other.id).not.toBe(one.id);
    await other.abandon();
    const behind = [user('hi'), user('go on')];
    expect((await bench.turn(behind, under('You are three.'))).how).toBe('new');
    expect((await bench.turn(HI, { system: billed('22222') })).id).toBe(one.id);
  });
});

describe('a store of an earlier version', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sessions-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('keeps its sessions for requests that name no end user, and gives them to no other', async () => {
    // What a session had before there were end users: the same seed, and no prompt.
    expect(seedOf({ engine: 'native', root: '/w' }).hash).toBe('4X4CF8BXDvRPaMF4DXKAwR7RGWNS6duoUbaYesni43c');
    const url = 'sqlite:old.db';
    const before = await SessionsBench.open({ url, baseDir: folder });
    const { id } = await before.say(HI, 'ok', under('You are one.'));
    const { store } = before;
    const session = await store.sessions.get(id);
    const { prompt: _, ...metadata } = session?.metadata ?? {};
    const grant = await store.leases.acquire(sessionLease(id), 'test', 1000);
    if (!grant.granted) throw new Error('It is held');
    expect(await store.sessions.checkpoint(id, grant.lease, { metadata })).toEqual({ ok: true });
    await store.leases.release(grant.lease);
    await before.close();
    const after = await SessionsBench.open({ url, baseDir: folder });
    try {
      expect(asTurn(await after.attach(ON, of('a'))).how).toBe('import');
      await expect(after.attach([user('x')], { ...of('a'), id })).rejects.toMatchObject({
        code: 'not_found',
      });
      const on = await after.turn(ON, under('You are one.'));
      expect([on.id, on.how]).toEqual([id, 'continue']);
    } finally {
      await after.close();
    }
  });
});
