import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { call, result, SessionsBench, said, speak, user } from '../../../test/support/sessions-bench.js';
import { openStore } from '../../store/open/open-store.js';
import type { Store } from '../../store/store.js';

const A = [user('a')];

let folder = '';
const stores: Store[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sessions-'));
});
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close();
  await rm(folder, { recursive: true });
});

async function open(): Promise<Store> {
  const store = await openStore('sqlite:s.db', { baseDir: folder });
  stores.push(store);
  return store;
}

/** Runs `before` once, before the next call of the method. */
function hook<T extends object>(target: T, method: keyof T & string, before: () => Promise<unknown>): T {
  let isDone = false;
  return new Proxy(target, {
    get: (object, name) => {
      const value: unknown = Reflect.get(object, name);
      if (typeof value !== 'function') return value;
      return async (...args: unknown[]) => {
        if (name === method && !isDone) {
          isDone = true;
          await before();
        }
        return value.apply(object, args);
      };
    },
  });
}

describe('while a request is being matched', () => {
  it('the end of its turn gives it that answer without continuing the session', async () => {
    const store = await open();
    let written = (): void => undefined;
    const isWritten = new Promise<void>((resolve) => {
      written = resolve;
    });
    let gate: Promise<void> = Promise.resolve();
    const sessions = new Proxy(store.sessions, {
      get: (object, name) => {
        const value: unknown = Reflect.get(object, name);
        if (typeof value !== 'function') return value;
        return async (...args: unknown[]) => {
          if (name === 'get') await gate;
          return value.apply(object, args);
        };
      },
    });
    const bench = await SessionsBench.open({ store: { ...wholeOf(store), sessions }, now: Date.now });
    const turn = await bench.turn(A);
    gate = isWritten;
    const again = bench.attach(A);
    const ended = turn.complete({ answer: { blocks: said('A').content, reason: 'end_turn' } });
    // Both wait: the request for the session, the turn for the request.
    while ((await store.sessions.get(turn.id))?.metadata['turn'] !== undefined) await Promise.resolve();
    written();
    await ended;
    expect(await again).toMatchObject({ kind: 'answered', session: turn.id, how: 'new', key: turn.key });
    await bench.sessions.close();
  });

  it('deleting its session ends the turn that is written and not yet known', async () => {
    const store = await open();
    const first = await SessionsBench.open({ store, now: Date.now });
    const { id } = await first.say(A, 'A');
    await first.sessions.close();
    let deleting: Promise<boolean> | undefined;
    const sessions = new Proxy(store.sessions, {
      get: (object, name) => {
        const value: unknown = Reflect.get(object, name);
        if (typeof value !== 'function') return value;
        return async (...args: unknown[]) => {
          const done: unknown = await value.apply(object, args);
          if (name === 'claim') {
            deleting ??= bench.sessions.delete(id, 'alice');
            // Time enough for whoever does not wait.
            for (let reads = 0; reads < 50; reads += 1) await store.sessions.get(id);
          }
          return done;
        };
      },
    });
    const bench = await SessionsBench.open({ store: { ...wholeOf(store), sessions }, now: Date.now });
    const turn = await bench.turn([...A, said('A'), user('b')]);
    expect(turn.id).toBe(id);
    expect(await deleting).toBe(true);
    expect(turn.signal.aborted).toBe(true);
    await bench.sessions.close();
  });

  it('the end of a turn that is written and not yet told keeps it waiting: no two turns of a session at once', async () => {
    const store = await open();
    const next = [...A, said('A'), user('b')];
    let meanwhile: unknown;
    const sessions = new Proxy(store.sessions, {
      get: (object, name) => {
        const value: unknown = Reflect.get(object, name);
        if (typeof value !== 'function') return value;
        return async (...args: unknown[]) => {
          const done: unknown = await value.apply(object, args);
          if (name === 'checkpoint') meanwhile ??= await bench.attach(next).catch((error: unknown) => error);
          return done;
        };
      },
    });
    const bench = await SessionsBench.open({ store: { ...wholeOf(store), sessions }, now: Date.now });
    const turn = await bench.turn(A);
    turn.transcript.push(said('A'));
    await turn.complete({ answer: { blocks: said('A').content, reason: 'end_turn' } });
    expect(meanwhile).toMatchObject({ code: 'conflict', detail: 'session_busy' });
    expect((await bench.turn(next)).id).toBe(turn.id);
    expect(bench.events.map(({ type }) => type)).toEqual([
      'created',
      'turn-began',
      'turn-ended',
      'turn-began',
    ]);
    await bench.sessions.close();
  });

  it('a continuation by another process makes it match again', async () => {
    const store = await open();
    const other = await SessionsBench.open({ store: await open(), owner: 'elsewhere/1/1', now: Date.now });
    const first = await other.say(A, 'A');
    const ask = [...A, said('A'), user('b')];
    const sessions = hook(store.sessions, 'claim', () => other.say(ask, 'B'));
    const bench = await SessionsBench.open({ store: { ...wholeOf(store), sessions }, now: Date.now });
    const turn = await bench.turn(ask);
    expect([turn.how, turn.id === first.id]).toEqual(['fork', false]);
    expect((await other.sessions.read(first.id))?.messages.at(-1)).toEqual(said('B'));
    await bench.sessions.close();
    await other.sessions.close();
  });

  it('a different result recorded by another process stands, and the request forks', async () => {
    const store = await open();
    const other = await SessionsBench.open({ store: await open(), owner: 'elsewhere/1/1', now: Date.now });
    const { id } = await other.handBack(A, [call('c1'), call('c2')]);
    const told = [...A, said(call('c1'), call('c2'))];
    const { content, isError } = result('c1', 'one');
    const leases = hook(store.leases, 'acquire', () =>
      other.store.toolCalls.record(id, [{ id: 'c1', content, isError }], 'alice'),
    );
    const bench = await SessionsBench.open({ store: { ...wholeOf(store), leases }, now: Date.now });
    const attached = await bench.attach([...told, user(result('c1', 'two'))]);
    expect(attached).toMatchObject({ kind: 'waiting', how: 'fork', open: [{ id: 'c2' }] });
    const on = await bench.turn([...told, user(result('c1', 'one'), result('c2', 'x'))]);
    expect([on.how, on.id]).toEqual(['continue', id]);
    await speak(on, 'Done.');
    await bench.sessions.close();
    await other.sessions.close();
  });
});

/** A store's methods are on its class: a copy has only what is named. */
function wholeOf(store: Store): Store {
  const { leases, sessions, transcripts, index, toolCalls, answers } = store;
  const { approvals, rules, audit, traces, quirks, usage, runs, signIns, keys, mcp, transfer } = store;
  const { outbox, secrets, push, upstreams, bus } = store;
  return {
    ...{
      leases,
      sessions,
      transcripts,
      index,
      toolCalls,
      answers,
      approvals,
      rules,
      audit,
      traces,
      quirks,
      usage,
      runs,
      signIns,
      keys,
      mcp,
      outbox,
      secrets,
      push,
      upstreams,
      transfer,
      bus,
    },
    prune: (now) => store.prune(now),
    info: () => store.info(),
    probe: () => store.probe(),
    figures: () => store.figures(),
    close: () => store.close(),
  };
}
