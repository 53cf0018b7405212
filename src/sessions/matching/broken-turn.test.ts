import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type AttachOptions,
  call,
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

/** A turn that did something and was stopped. */
async function stopped(messages: readonly Message[], rest: AttachOptions = {}): Promise<string> {
  const turn = await bench.turn(messages, rest);
  turn.transcript.push(said('First.', call('s1', 'Bash')));
  await turn.save();
  turn.transcript.push(user(result('s1', 'ran')));
  await turn.save();
  await turn.abandon();
  return turn.id;
}

const WORK = [said('First.', call('s1', 'Bash')), user(result('s1', 'ran'))];

describe('new messages alone under the id of a session with a broken turn', () => {
  it('are appended after the broken turn', async () => {
    const id = await stopped(A);
    const next = await bench.turn([user('go on')], { id });
    expect(next.transcript).toEqual([...A, ...WORK, user('go on')]);
    expect([next.how, next.id, next.began]).toEqual(['continue', id, 4]);
    expect(await bench.attach([user('go on')], { id })).toMatchObject({ kind: 'running', key: next.key });
    await speak(next, 'Done.');
    const told = await bench.turn([...A, user('go on'), said('Done.'), user('more')]);
    expect([told.how, told.id]).toEqual(['continue', id]);
  });

  it('are appended after a later turn', async () => {
    await bench.say([user('0')], 'Z');
    const id = await stopped([user('0'), said('Z'), ...A]);
    const next = await bench.turn([user('go on')], { id });
    expect(next.transcript.slice(-4)).toEqual([...A, ...WORK, user('go on')]);
  });

  it('are appended after the results that it had, which are not repeated', async () => {
    const { id } = await bench.handBack(A, [call('c1')]);
    await stopped([user(result('c1', 'x'))], { id });
    const next = await bench.turn([user(result('c1', 'x'), 'and now?')], { id });
    expect(next.transcript.slice(-4)).toEqual([user(result('c1', 'x')), ...WORK, user('and now?')]);
  });

  it('fork with a different result', async () => {
    const { id } = await bench.handBack(A, [call('c1')]);
    await stopped([user(result('c1', 'x'))], { id });
    const next = await bench.turn([user(result('c1', 'other'), 'and now?')], { id });
    expect([next.how, next.id === id]).toEqual(['fork', false]);
  });
});

describe('a history that continues after a broken first turn', () => {
  it.each<[string, Message[]]>([
    ['with what was said of its answer', [...A, said('First. And'), user('go on')]],
    ['without a word of its answer', [...A, user('go on')]],
  ])('finds its session, %s', async (_, told) => {
    const id = await stopped(A);
    const next = await bench.turn(told);
    expect([next.how, next.id]).toEqual(['continue', id]);
    expect(next.transcript).toEqual([...A, ...WORK, user('go on')]);
    await speak(next, 'Done.');
    expect((await bench.turn([...told, said('Done.'), user('more')])).id).toBe(id);
  });

  it('is imported with another answer than the turn gave', async () => {
    await stopped(A);
    const next = await bench.turn([...A, said('Something else.'), user('go on')]);
    expect(next.how).toBe('import');
  });

  it('matches the session that has more of it', async () => {
    const { id } = await bench.say(A, 'A');
    const turn = await bench.turn(A);
    await turn.abandon();
    const next = await bench.turn([...A, said('A'), user('b')]);
    expect([next.how, next.id]).toEqual(['continue', id]);
  });

  it('does not match a turn that still runs', async () => {
    const turn = await bench.turn(A);
    const other = await bench.turn([...A, said('Something else.'), user('go on')]);
    expect([other.how, other.id === turn.id]).toEqual(['import', false]);
  });

  it('matches the broken fork among others at the same position', async () => {
    const on = (text: string) => [...A, said('A'), user(text)];
    await bench.say(A, 'A');
    await bench.say(on('b'), 'B');
    const ids = [await stopped(on('one')), await stopped(on('two'))];
    for (const [index, text] of ['one', 'two'].entries()) {
      const next = await bench.turn([...on(text), user('go on')]);
      expect([next.how, next.id]).toEqual(['continue', ids[index]]);
      await next.abandon();
    }
  });
});

describe('a resumed turn with results', () => {
  it('is matched by either fingerprint of the results afterwards', async () => {
    const calls = [call('c1'), call('c2')];
    const { id } = await bench.handBack(A, calls);
    const base = [...A, said(...calls)];
    await bench.attach([...base, user(result('c1', 'x'), 'look')]);
    await (await bench.turn([...base, user(result('c2', 'y'))])).abandon();
    await speak(await bench.turn([...base, user(result('c2', 'y'))]), 'Done.');
    const plain = [...base, user(result('c1', 'x'), result('c2', 'y'), 'look'), said('Done.'), user('on')];
    const on = await bench.turn(plain);
    expect([on.how, on.id]).toEqual(['continue', id]);
  });

  it('does not match some of its results under another Idempotency-Key', async () => {
    const calls = [call('c1'), call('c2')];
    await bench.handBack(A, calls);
    const base = [...A, said(...calls)];
    await bench.attach([...base, user(result('c1', 'x'))], { idempotencyKey: 'k1' });
    await bench.turn([...base, user(result('c2', 'y'))], { idempotencyKey: 'k2' });
    const again = bench.attach([...base, user(result('c1', 'x'))], { idempotencyKey: 'k3' });
    await expect(again).rejects.toMatchObject({ code: 'conflict', detail: 'session_busy' });
    expect(await bench.attach([...base, user(result('c1', 'x'))])).toMatchObject({ kind: 'running' });
  });
});
