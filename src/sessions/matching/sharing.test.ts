import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type AttachOptions,
  asTurn,
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
  bench = await SessionsBench.open({ delivers: false });
});
afterEach(() => bench.close());

const A: Message[] = [user('a')];
const ON: Message[] = [user('a'), said('A'), user('b')];

/** Somebody who waits for the answer, and may leave. */
function reader(options: AttachOptions = {}) {
  const gone = new AbortController();
  return { leave: () => gone.abort(), options: { ...options, signal: gone.signal } };
}
const again = (options: AttachOptions = {}) => reader({ ...options, repeat: true }).options;

describe('while a client reads the answer of a turn', () => {
  it('the same request gets an answer and a session of its own', async () => {
    const [one, two, three] = await Promise.all([1, 2, 3].map(() => bench.turn(A, reader().options)));
    expect(new Set([one?.id, two?.id, three?.id]).size).toBe(3);
    expect([one?.how, two?.how, three?.how]).toEqual(['new', 'new', 'new']);
    if (one === undefined) throw new Error('There were three');
    await speak(one, 'A');
    bench.deliver(one.id);
    const on = await bench.turn(ON, reader().options);
    const other = await bench.turn(ON, reader().options);
    expect([on.id, on.how, other.how]).toEqual([one.id, 'continue', 'fork']);
    expect(other.transcript).toEqual(on.transcript);
  });

  it('a marked repeat joins the turn if everything in it is equal', async () => {
    const turn = await bench.turn(A, reader({ system: [{ type: 'text', text: 's' }], maxTokens: 5 }).options);
    const same: AttachOptions = { system: [{ type: 'text', text: 's' }], maxTokens: 5 };
    expect(await bench.attach(A, again(same))).toMatchObject({ kind: 'running', session: turn.id });
    expect(await bench.attach(A, again({ ...same, stream: true }))).toMatchObject({ kind: 'running' });
    for (const other of [
      { ...same, maxTokens: 6 },
      { ...same, temperature: 0 },
      { ...same, stopSequences: ['x'] },
      { ...same, system: [] },
      { ...same, user: 'u' },
      { ...same, extensions: { 'openai-chat': { seed: 1 } } },
    ] satisfies AttachOptions[]) {
      expect(asTurn(await bench.attach(A, again(other))).id).not.toBe(turn.id);
    }
  });

  it('the same request under the session id is refused, and its marked repeat joins', async () => {
    const { id } = await bench.say(A, 'A', reader().options);
    const turn = await bench.turn([user('b')], reader({ id }).options);
    await expect(bench.attach([user('b')], reader({ id }).options)).rejects.toMatchObject({
      detail: 'session_busy',
    });
    expect(await bench.attach([user('b')], again({ id }))).toMatchObject({ kind: 'running', key: turn.key });
  });

  it('results that are being answered are not used again', async () => {
    const { id } = await bench.handBack(A, [call('c1')], reader().options);
    bench.deliver(id);
    const given = [...A, said(call('c1')), user(result('c1', 'r'))];
    const turn = await bench.turn(given, reader().options);
    await expect(bench.attach(given, reader().options)).rejects.toMatchObject({ detail: 'session_busy' });
    expect(await bench.attach(given, again())).toMatchObject({ kind: 'running', key: turn.key });
    await speak(turn, 'B');
    expect(await bench.attach(given, reader().options)).toMatchObject({ kind: 'answered' });
  });

  it('the answer is replayed to a marked repeat alone until it is delivered', async () => {
    const first = reader();
    const { id, key } = await bench.say(A, 'A', first.options);
    expect(await bench.attach(A, again())).toMatchObject({ kind: 'answered', session: id, key });
    expect(asTurn(await bench.attach(A, reader().options)).id).not.toBe(id);
    first.leave();
    expect(await bench.attach(A, reader().options)).toMatchObject({ kind: 'answered', session: id });
  });
});

it('a turn without readers is joined by the same request, marked or not', async () => {
  const [one, two] = [reader(), reader({ repeat: true })];
  const turn = await bench.turn(A, one.options);
  expect(await bench.attach(A, two.options)).toMatchObject({ kind: 'running' });
  one.leave();
  expect(asTurn(await bench.attach(A, reader().options)).id).not.toBe(turn.id);
  two.leave();
  // It is being ended: who joins waits for that, and resumes it.
  expect(await bench.attach(A, reader().options)).toMatchObject({ kind: 'running', session: turn.id });
  await turn.abandon();
  expect((await bench.turn(A, reader().options)).id).toBe(turn.id);
});
