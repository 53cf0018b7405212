import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type AttachOptions,
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

let bench: SessionsBench;
beforeEach(async () => {
  bench = await SessionsBench.open();
});
afterEach(() => bench.close());

const A: Message[] = [user('a')];
const ON: Message[] = [user('a'), said('A'), user('b')];

describe('a request sent a second time', () => {
  it('joins its turn while that runs', async () => {
    const turn = await bench.turn(A);
    const again = await bench.attach(A);
    expect(again).toEqual({ kind: 'running', session: turn.id, how: 'new', key: turn.key });
    await speak(turn, 'A');
    const on = await bench.turn(ON);
    expect(await bench.attach(ON)).toMatchObject({ kind: 'running', how: 'continue', key: on.key });
    expect(await bench.attach([user('b')], { id: on.id })).toMatchObject({ kind: 'running', key: on.key });
  });

  it('at the same moment begins one conversation', async () => {
    const [one, two, three] = await Promise.all([bench.attach(A), bench.attach(A), bench.attach(A)]);
    const turn = asTurn(one);
    for (const each of [two, three]) expect(each).toMatchObject({ kind: 'running', session: turn.id });
    await turn.abandon();
    const both = await Promise.all([bench.attach(ON), bench.attach(ON)]);
    expect(both.map(({ kind }) => kind)).toEqual(['turn', 'running']);
  });

  it('with another model, other tools, another choice or another key is another request', async () => {
    const turn = await bench.turn(A);
    const others: AttachOptions[] = [
      { model: 'other' },
      { tools: [{ name: 't' }] },
      { toolChoice: { type: 'any' } },
      { idempotencyKey: 'k' },
      { principal: 'bob' },
      { root: '/other' },
      { engine: 'claude-code' },
    ];
    for (const other of others) {
      expect(asTurn(await bench.attach(A, other)).id).not.toBe(turn.id);
    }
  });

  it('after its answer was delivered begins a new turn or a fork', async () => {
    const first = await bench.say(A, 'A');
    expect(asTurn(await bench.attach(A)).how).toBe('new');
    await bench.say(ON, 'B');
    const again = asTurn(await bench.attach(ON));
    expect([again.how, again.id === first.id, again.forkNumber]).toEqual(['fork', false, 1]);
    expect(again.transcript).toHaveLength(5);
  });

  it('with the same Idempotency-Key is answered once', async () => {
    const keyed = { idempotencyKey: 'k1' };
    const first = await bench.say(A, 'A', keyed);
    expect(await bench.attach(A, keyed)).toEqual({
      kind: 'answered',
      session: first.id,
      how: 'new',
      key: first.key,
      answer: { blocks: said('A').content, reason: 'end_turn' },
      losses: [],
    });
    expect(await bench.attach(A, { ...keyed, principal: 'bob' })).toMatchObject({ kind: 'turn' });
    await expect(bench.attach([user('z')], keyed)).rejects.toMatchObject({ code: 'unprocessable' });
    await bench.say(ON, 'B', { idempotencyKey: 'k2' });
    expect(await bench.attach(ON, { idempotencyKey: 'k2' })).toMatchObject({
      kind: 'answered',
      how: 'continue',
    });
  });

  it('under a key that another request used meanwhile is answered all the same', async () => {
    const keyed = { idempotencyKey: 'k' };
    const [one, two] = [await bench.turn(A, keyed), await bench.turn([user('z')], keyed)];
    await speak(one, 'A');
    await speak(two, 'Z');
    expect(await bench.attach(A, keyed)).toMatchObject({ kind: 'answered', session: one.id });
    expect((await bench.turn([user('z'), said('Z'), user('on')])).id).toBe(two.id);
  });

  it('is refused with other content while a turn runs, and not elsewhere in the conversation', async () => {
    const first = await bench.say(A, 'A');
    const on = await bench.turn(ON);
    const other = bench.attach([...A, said('A'), user('else')]);
    await expect(other).rejects.toMatchObject({ code: 'conflict', status: 409, detail: 'session_busy' });
    await expect(bench.attach([user('else')], { id: first.id })).rejects.toMatchObject({ code: 'conflict' });
    await speak(on, 'B');
    expect(asTurn(await bench.attach([...A, said('A'), user('else')])).how).toBe('fork');
  });
});

describe('a broken turn', () => {
  it('resumes where it was, with what was said in it', async () => {
    const turn = await bench.turn(A);
    turn.transcript.push(said('First.', call('s1', 'Read')));
    await turn.save({ at: 1 });
    turn.transcript.push(user(result('s1', 'r')));
    await turn.save();
    turn.transcript.push(said('not saved'));
    const steps = turn.steps();
    await turn.abandon();
    const again = await bench.turn(A);
    expect([again.how, again.id, again.key]).toEqual(['new', turn.id, turn.key]);
    expect(again.transcript).toEqual([...A, said('First.', call('s1', 'Read')), user(result('s1', 'r'))]);
    expect([again.began, again.before, again.state, again.outstanding]).toEqual([
      1,
      steps,
      { at: 1 },
      undefined,
    ]);
    await speak(again, 'Done.');
    expect((await bench.turn([...A, said('First.'), user('x')])).how).toBe('import');
    expect((await bench.turn([...A, said('Done.'), user('x')])).how).toBe('continue');
  });

  it('after calls knows which have results, which were started, and which were not', async () => {
    const turn = await bench.turn(A);
    const calls = ['s1', 's2', 's3', 'c1'].map((id) => call(id, 'Bash'));
    turn.transcript.push(said(...calls));
    await turn.save();
    const [s1, s2] = calls;
    if (s1 === undefined || s2 === undefined) throw new Error('There are four.');
    expect(await turn.start(s1)).toBe(true);
    await turn.finish(result('s1', 'ran'));
    expect(await turn.start(s2)).toBe(true);
    await turn.abandon();
    const again = await bench.turn(A);
    expect(again.outstanding).toEqual({
      calls,
      results: new Map([['s1', result('s1', 'ran')]]),
      started: new Set(['s2']),
    });
    expect(await again.start(s2)).toBe(false);
    again.transcript.push(
      user(result('s1', 'ran'), result('s2', 'unsure'), result('s3', 'r'), result('c1', 'r')),
    );
    await again.save();
    const states = (await bench.store.toolCalls.list(turn.id)).map(({ id, state }) => [id, state]);
    expect(states).toEqual([
      ['s1', 'used'],
      ['s2', 'open'],
    ]);
  });

  it('says again what it said, also where notes have taken its place', async () => {
    const { id } = await bench.say(A, 'A');
    const turn = await bench.turn(ON);
    expect(turn.spoken).toEqual([]);
    const [first, last] = [said('First.', call('s1', 'Read')), said('Last.', call('s2', 'Read'))];
    turn.transcript.push(first, user(result('s1', 'r')), last);
    await turn.save();
    turn.transcript.splice(0, turn.transcript.length - 1, user('notes'));
    await turn.save();
    await turn.abandon();
    const again = await bench.turn(ON);
    expect([again.id, again.transcript, again.began]).toEqual([id, [user('notes'), last], 1]);
    expect(again.spoken).toEqual([first, last]);
    expect(again.outstanding?.calls).toEqual([call('s2', 'Read')]);
    // What came before the turn is as it was, for whoever asks for something else.
    await again.abandon();
    const other = await bench.turn([...A, said('A'), user('else')]);
    expect(other.transcript).toHaveLength(5);
    expect(other.spoken).toEqual([]);
  });

  it('of a fork and of an import is matched', async () => {
    const fork = await (async () => {
      await bench.say(A, 'A');
      await bench.say(ON, 'B');
      return bench.turn(ON);
    })();
    await fork.abandon();
    expect(await bench.turn(ON)).toMatchObject({ id: fork.id, how: 'fork' });
    const foreign = [user('x'), said('y'), user('z')];
    const imported = await bench.turn(foreign);
    await imported.abandon();
    expect(await bench.turn(foreign)).toMatchObject({ id: imported.id, how: 'import' });
  });

  it('is dropped by any other request, which begins before it', async () => {
    await bench.say(A, 'A');
    const turn = await bench.turn(ON);
    turn.transcript.push(said('half'));
    await turn.save();
    await turn.abandon();
    const other = await bench.turn([...A, said('A'), user('else')]);
    expect([other.how, other.id]).toEqual(['continue', turn.id]);
    expect(other.transcript.map(({ content }) => content.length)).toHaveLength(5);
    expect(other.transcript.at(-1)).toEqual(user('else'));
    await speak(other, 'E');
    const read = await bench.sessions.read(turn.id);
    expect(read?.messages).not.toContainEqual(said('half'));
    expect(asTurn(await bench.attach(ON)).how).toBe('fork');
  });

  it.each([
    ['with a part of its answer', [said('First. And th')]],
    ['without its answer', []],
  ])('keeps its work when the client continues after it %s', async (_, told) => {
    const turn = await bench.turn(A);
    turn.transcript.push(said('First.', call('s1', 'Bash'), call('s2', 'Bash')));
    await turn.save();
    await turn.start(call('s1', 'Bash'));
    await turn.abandon();
    const next = await bench.turn([...A, ...told, user('go on')], { id: turn.id });
    expect([next.how, next.id]).toEqual(['continue', turn.id]);
    expect(next.transcript).toMatchObject([
      A[0],
      { role: 'assistant' },
      {
        role: 'user',
        content: [
          { toolUseId: 's1', isError: true },
          { toolUseId: 's2', isError: true },
        ],
      },
      user('go on'),
    ]);
    expect(next.began).toBe(4);
  });

  it('without a whole message continues with what the client has', async () => {
    await bench.say(A, 'A');
    await (await bench.turn(ON)).abandon();
    const next = await bench.turn([...ON, said('partly'), user('c')]);
    expect(next.how).toBe('continue');
    expect(next.transcript.slice(-3)).toEqual([user('b'), said('partly'), user('c')]);
  });

  it('with results resumes on any part of them, and each is used once', async () => {
    const calls = [call('c1'), call('c2')];
    const { id } = await bench.handBack(A, calls);
    const all = [...A, said(...calls), user(result('c1', 'x'), result('c2', 'y'))];
    const turn = await bench.turn(all);
    turn.transcript.push(said('half', call('s1', 'Read')));
    await turn.save();
    await turn.abandon();
    const again = await bench.turn([...A, said(...calls), user(result('c2', 'y'))]);
    expect([again.id, again.key, again.transcript.length]).toEqual([id, turn.key, 4]);
    expect(again.outstanding?.calls).toEqual([call('s1', 'Read')]);
    await again.abandon();
    const more = await bench.turn([...A, said(...calls), user(result('c1', 'x'), result('c2', 'y'), 'more')]);
    expect([more.how, more.id]).toEqual(['continue', id]);
    expect(more.transcript.at(-1)).toEqual(user(result('c1', 'x'), result('c2', 'y'), 'more'));
  });

  it('with calls that no client received leaves no call without a result', async () => {
    const turn = await bench.turn(A);
    turn.transcript.push(said('cut', call('s1', 'Bash')));
    await turn.complete({ answer: { blocks: said('cut').content, reason: 'max_tokens' } });
    const on = await bench.turn([...A, said('cut'), user('on')]);
    expect(on.transcript.slice(2)).toMatchObject([
      { content: [{ toolUseId: 's1', isError: true }] },
      user('on'),
    ]);
  });

  it('that failed at once is deleted with the session that was made for it', async () => {
    const failed = await bench.turn(A);
    await failed.discard();
    expect(await bench.sessions.get(failed.id)).toBeUndefined();
    const { id } = await bench.say(A, 'A');
    const next = await bench.turn(ON);
    await next.discard();
    expect(await bench.sessions.get(id)).toMatchObject({ state: 'live' });
    expect((await bench.turn(ON)).id).toBe(id);
  });

  it('can be ended once', async () => {
    const turn = await bench.turn(A);
    await speak(turn, 'A');
    await turn.abandon();
    await turn.discard();
    await turn.complete({ answer: { blocks: [], reason: 'end_turn' } });
    expect(await bench.sessions.get(turn.id)).toBeDefined();
    await expect(turn.save()).rejects.toMatchObject({ code: 'conflict' });
    expect(bench.events.filter(({ type }) => type === 'turn-ended')).toHaveLength(1);
  });
});

describe('sessions of a process that died', () => {
  let folder = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sessions-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  const open = (options = {}) => SessionsBench.open({ url: 'sqlite:s.db', baseDir: folder, ...options });
  /** The name of a process of this machine that has ended. */
  const dead = () => `${encodeURIComponent(hostname())}/${spawnSync(process.execPath, ['-e', '']).pid}/1`;

  it('resume at once, with what was outstanding', async () => {
    const first = await open({ owner: dead() });
    const turn = await first.turn(A);
    turn.transcript.push(said(call('s1', 'Bash'), call('s2', 'Bash')));
    await turn.save();
    await turn.start(call('s1', 'Bash'));
    await first.store.close();
    const second = await open();
    const again = await second.turn(A);
    expect(again.id).toBe(turn.id);
    expect(again.outstanding).toMatchObject({ started: new Set(['s1']), results: new Map() });
    expect(await again.start(call('s1', 'Bash'))).toBe(false);
    expect(await again.start(call('s2', 'Bash'))).toBe(true);
    await second.close();
  });

  it('continue with the third of three results', async () => {
    const first = await open({ owner: dead() });
    const calls = [call('c1'), call('c2'), call('c3')];
    const turn = await first.turn(A);
    await handBack(turn, calls, { here: [call('s1', 'Read')] });
    await first.attach([...A, said(...calls), user(result('c1', '1'), result('c2', '2'))]);
    await first.store.close();
    const second = await open();
    const on = await second.turn([...A, said(...calls), user(result('c3', '3'))]);
    expect(on.id).toBe(turn.id);
    expect(on.transcript.at(-1)).toEqual(
      user(result('s1', 'ran s1'), result('c1', '1'), result('c2', '2'), result('c3', '3')),
    );
    await second.close();
  });

  it('are refused with 409 while the process is alive', async () => {
    const first = await open({ owner: `elsewhere/1/1` });
    const second = await open();
    const turn = await first.turn(A);
    const refused = second.attach(A);
    await expect(refused).rejects.toMatchObject({ code: 'conflict', detail: 'session_busy' });
    await turn.abandon();
    expect((await second.turn(A)).id).toBe(turn.id);
    await first.close();
    await second.close();
  });

  it('cannot be written by the process that lost them', async () => {
    const first = await open({ owner: dead() });
    const turn = await first.turn(A);
    const second = await open();
    await second.turn(A);
    turn.transcript.push(said('late'));
    await expect(turn.save()).rejects.toMatchObject({ code: 'conflict', detail: 'session_lost' });
    await expect(turn.complete({ answer: { blocks: [], reason: 'end_turn' } })).rejects.toMatchObject({
      code: 'conflict',
    });
    await first.close();
    await second.close();
  });

  it('are free once the process closes them', async () => {
    const first = await open({ owner: 'elsewhere/1/1' });
    const turn = await first.turn(A);
    await first.close();
    const second = await open();
    expect((await second.turn(A)).id).toBe(turn.id);
    await second.close();
  });
});
