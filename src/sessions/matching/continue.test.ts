import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { asTurn, SessionsBench, said, user } from '../../../test/support/sessions-bench.js';

let bench: SessionsBench;
beforeEach(async () => {
  bench = await SessionsBench.open();
});
afterEach(() => bench.close());

describe('a request', () => {
  it('without an assistant message begins a session', async () => {
    const first = await bench.say([user('hello   there')], 'A');
    expect(first.how).toBe('new');
    expect(first.id).toMatch(/^ses_[\w-]{27}$/);
    const second = await bench.say([user('hello there')], 'B');
    expect([second.how, second.id === first.id]).toEqual(['new', false]);
    expect(await bench.sessions.get(first.id)).toMatchObject({ title: 'hello there', state: 'live' });
  });

  it('whose history ends at the last answer continues, with what the client did not see', async () => {
    const first = await bench.say([user('a')], 'A');
    const turn = await bench.turn([user('a'), said('A'), user('b')]);
    expect([turn.how, turn.id]).toEqual(['continue', first.id]);
    expect(turn.transcript).toHaveLength(5);
    expect(turn.transcript.at(-1)).toEqual(user('b'));
    expect(turn.began).toBe(5);
  });

  it('that adds nothing to the last answer continues after it', async () => {
    const first = await bench.say([user('a')], 'A');
    const on = await bench.say([user('a'), said('A')], 'B');
    expect([on.how, on.id]).toEqual(['continue', first.id]);
    const merged = await bench.turn([user('a'), said('AB'), user('c')]);
    expect([merged.how, merged.id]).toEqual(['continue', first.id]);
  });
});

it('a request that names its session continues it with the new messages alone', async () => {
  const first = await bench.say([user('a')], 'A');
  const on = asTurn(await bench.attach([user('b')], { id: first.id }));
  expect([on.how, on.id, on.transcript.length]).toEqual(['continue', first.id, 5]);
});
