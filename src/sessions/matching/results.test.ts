import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  asTurn,
  call,
  result,
  SessionsBench,
  said,
  speak,
  user,
} from '../../../test/support/sessions-bench.js';
import type { Message } from '../../core/conversation.js';
import type { Attachment } from '../sessions.js';

let bench: SessionsBench;
beforeEach(async () => {
  bench = await SessionsBench.open();
});
afterEach(() => bench.close());

const CALLS = ['c1', 'c2', 'c3'].map((id) => call(id, 'get', { of: id }));
const [C1, C2, C3] = CALLS;
const START = user('go');
const HANDED = said('Wait.', ...CALLS);
const R = (id: string) => result(id, `of ${id}`);
const ids = (attached: Attachment) => (attached.kind === 'waiting' ? attached.open.map(({ id }) => id) : []);
const answers = async (session: string) =>
  (await bench.store.toolCalls.list(session)).map(({ id, state }) => `${id} ${state}`);

async function parked(here: readonly string[] = []): Promise<string> {
  const turn = await bench.handBack([START], CALLS, {
    text: 'Wait.',
    here: here.map((id) => call(id, 'Read')),
  });
  return turn.id;
}

describe('tool results', () => {
  it('that arrive all at once continue the turn in the order of the calls, each used once', async () => {
    const id = await parked();
    const turn = asTurn(await bench.attach([START, HANDED, user(R('c3'), R('c1'), R('c2'), 'thanks')]));
    expect([turn.how, turn.id]).toEqual(['continue', id]);
    expect(turn.transcript).toEqual([START, HANDED, user(R('c1'), R('c2'), R('c3'), 'thanks')]);
    expect(await answers(id)).toEqual(['c1 used', 'c2 used', 'c3 used']);
  });

  it('are taken as messages of their own, and as errors', async () => {
    await parked();
    const turn = asTurn(
      await bench.attach([START, HANDED, user(R('c1')), user(result('c2', 'bad', true)), user(R('c3'))]),
    );
    expect(turn.transcript.at(-1)).toEqual(user(R('c1'), result('c2', 'bad', true), R('c3')));
  });

  it('stand in their places beside those of the built-ins of the same message', async () => {
    await parked(['s1']);
    const turn = asTurn(await bench.attach([START, HANDED, user(R('c1'), R('c2'), R('c3'))]));
    expect(turn.transcript.at(-1)).toEqual(user(result('s1', 'ran s1'), R('c1'), R('c2'), R('c3')));
  });

  it('that are incomplete are recorded, and the open calls are handed out again', async () => {
    const id = await parked();
    const some = await bench.attach([START, HANDED, user(R('c2'))]);
    expect(some).toMatchObject({ kind: 'waiting', session: id, how: 'continue' });
    expect(ids(some)).toEqual(['c1', 'c3']);
    expect(await answers(id)).toEqual(['c1 open', 'c2 answered', 'c3 open']);
    expect(await bench.sessions.get(id)).toMatchObject({ state: 'parked' });
    expect((await bench.sessions.read(id))?.open).toEqual([C1, C3]);
  });

  it('that are missing altogether have the open calls handed out again', async () => {
    await parked();
    expect(ids(await bench.attach([START, HANDED]))).toEqual(['c1', 'c2', 'c3']);
  });

  const ECHOES: readonly [string, Message[]][] = [
    [
      'behind the answer in between',
      [user(R('c2')), said(...[C1, C3].flatMap((c) => c ?? [])), user(R('c1'), R('c3'))],
    ],
    ['all behind the calls', [user(R('c1'), R('c2'), R('c3'))]],
    ['all but those that were sent before', [user(R('c1'), R('c3'))]],
  ];
  it.each(ECHOES)('that complete the open calls continue the turn, sent %s', async (_, rest) => {
    const id = await parked();
    await bench.attach([START, HANDED, user(R('c2'))]);
    const turn = asTurn(await bench.attach([START, HANDED, ...rest]));
    expect([turn.how, turn.id]).toEqual(['continue', id]);
    expect(turn.transcript).toEqual([START, HANDED, user(R('c1'), R('c2'), R('c3'))]);
    await speak(turn, 'Done.');
    const next = asTurn(await bench.attach([START, HANDED, ...rest, said('Done.'), user('more')]));
    expect([next.how, next.id]).toEqual(['continue', id]);
  });

  it('are asked for one at a time where calls may not be parallel', async () => {
    const turn = await bench.turn([START]);
    turn.transcript.push(HANDED);
    const first = said('Wait.', ...(C1 ? [C1] : []));
    await turn.complete({
      answer: { blocks: first.content, reason: 'tool_use' },
      handedBack: { calls: CALLS, open: CALLS, results: new Map() },
    });
    const one = { parallelToolCalls: false };
    const told: Message[] = [START, first, user(R('c1'))];
    expect(ids(await bench.attach(told, one))).toEqual(['c2']);
    told.push(said(...(C2 ? [C2] : [])), user(R('c2')));
    expect(ids(await bench.attach(told, one))).toEqual(['c3']);
    told.push(said(...(C3 ? [C3] : [])), user(R('c3')));
    const last = asTurn(await bench.attach(told, one));
    expect(last.transcript).toEqual([START, HANDED, user(R('c1'), R('c2'), R('c3'))]);
  });

  it('that are incomplete keep what the user said beside them until all are there, once', async () => {
    await parked();
    await bench.attach([START, HANDED, user(R('c1'), 'hurry')]);
    const turn = asTurn(await bench.attach([START, HANDED, user(R('c1'), 'hurry', R('c2'), R('c3'), 'now')]));
    expect(turn.transcript.at(-1)).toEqual(user(R('c1'), R('c2'), R('c3'), 'hurry', 'now'));
  });

  it.each([
    ['by the session', true],
    ['by the ids of the calls', false],
  ])('alone, found %s', async (_, named) => {
    const id = await parked();
    const options = named ? { id } : {};
    expect(ids(await bench.attach([user(R('c1'))], options))).toEqual(['c2', 'c3']);
    expect(ids(await bench.attach([user(R('c2'))], options))).toEqual(['c3']);
    const turn = asTurn(await bench.attach([user(R('c3'))], options));
    expect([turn.how, turn.id]).toEqual(['continue', id]);
    expect(turn.transcript).toEqual([START, HANDED, user(R('c1'), R('c2'), R('c3'))]);
  });

  it('sent with their calls alone are matched by the session', async () => {
    const id = await parked();
    const turn = asTurn(await bench.attach([HANDED, user(R('c1'), R('c2'), R('c3'))], { id }));
    expect([turn.how, turn.id, turn.transcript.length]).toEqual(['continue', id, 3]);
  });

  it('of a call that several sessions have need the session id', async () => {
    const id = await parked();
    await bench.handBack([user('other')], CALLS);
    const both = bench.attach([user(R('c1'))]);
    await expect(both).rejects.toMatchObject({ code: 'conflict', detail: 'ambiguous_tool_call' });
    await expect(both).rejects.toThrow('X-Session-ID');
    expect(ids(await bench.attach([user(R('c1'))], { id }))).toEqual(['c2', 'c3']);
  });

  it('of an unknown call are refused by name, and nothing changes', async () => {
    const id = await parked();
    const before = await bench.sessions.get(id);
    for (const [messages, options] of [
      [[START, HANDED, user(R('c1'), R('nope'))], {}],
      [[user(R('nope'))], {}],
      [[user(R('nope'))], { id }],
      [[user(R('c1'))], { principal: 'bob' }],
      [[user('x'), said('y'), user(R('nope'))], {}],
    ] as const) {
      const refused = bench.attach(messages, options);
      await expect(refused).rejects.toMatchObject({ code: 'unknown_tool_call', status: 400 });
      await expect(refused).rejects.toThrow(/"(nope|c1)"/);
    }
    expect(await bench.sessions.get(id)).toEqual(before);
    expect(await answers(id)).toEqual(['c1 open', 'c2 open', 'c3 open']);
    expect((await bench.sessions.list({ limit: 10 })).items).toHaveLength(1);
  });

  it('that the user skips are reported to the model as missing', async () => {
    const id = await parked(['s1']);
    await bench.attach([START, HANDED, user(R('c2'))]);
    const turn = asTurn(await bench.attach([START, HANDED, user('never mind')]));
    expect([turn.how, turn.id]).toEqual(['continue', id]);
    const wentOn = (call: string) =>
      result(call, 'No result: the user went on without running this call.', true);
    expect(turn.transcript.slice(2)).toEqual([
      user(result('s1', 'ran s1'), wentOn('c1'), R('c2'), wentOn('c3')),
      user('never mind'),
    ]);
    expect(await answers(id)).toEqual(['c1 used', 'c2 used', 'c3 used']);
  });
});

describe('tool results that were answered already', () => {
  const all = [START, HANDED, user(R('c1'), R('c2'), R('c3'))];
  const repeat = (attached: Attachment) =>
    attached.kind === 'answered' ? attached.answer.blocks : attached.kind;

  async function answered(): Promise<string> {
    const id = await parked();
    await speak(asTurn(await bench.attach(all)), 'Done.');
    return id;
  }

  it.each<[string, Message[]]>([
    ['all at once', [user(R('c1'), R('c2'), R('c3'))]],
    ['in another order, as messages of their own', [user(R('c3')), user(R('c2')), user(R('c1'))]],
    ['the last one alone', [user(R('c3'))]],
    ['one of several', [user(R('c1'))]],
  ])('are given the same answer again: %s', async (_, rest) => {
    const id = await answered();
    const again = await bench.attach([START, HANDED, ...rest]);
    expect(again).toMatchObject({ kind: 'answered', session: id });
    expect(repeat(again)).toEqual(said('Done.').content);
    expect(repeat(await bench.attach(rest))).toEqual(said('Done.').content);
    expect(repeat(await bench.attach(rest, { id }))).toEqual(said('Done.').content);
  });

  it('are given the same answer again after the conversation continued', async () => {
    await answered();
    await bench.say([...all, said('Done.'), user('b')], 'B');
    expect(repeat(await bench.attach(all))).toEqual(said('Done.').content);
  });

  it('are given the same answer again behind an answer between calls and results', async () => {
    await parked();
    await bench.attach([START, HANDED, user(R('c2'))]);
    const echo = [START, HANDED, user(R('c2')), said(...CALLS.filter(({ id }) => id !== 'c2'))];
    await speak(asTurn(await bench.attach([...echo, user(R('c1'), R('c3'))])), 'Done.');
    expect(repeat(await bench.attach([...echo, user(R('c1'), R('c3'))]))).toEqual(said('Done.').content);
    expect(repeat(await bench.attach(all))).toEqual(said('Done.').content);
    expect(repeat(await bench.attach([START, HANDED, user(R('c2'))]))).toEqual(said('Done.').content);
  });

  it('with more messages after them fork', async () => {
    const id = await answered();
    const more = asTurn(await bench.attach([START, HANDED, user(R('c1'), R('c2'), R('c3'), 'and?')]));
    expect([more.how, more.id === id]).toEqual(['fork', false]);
    expect(more.transcript).toEqual([START, HANDED, user(R('c1'), R('c2'), R('c3'), 'and?')]);
  });

  it('for another model or other tools fork', async () => {
    await answered();
    expect(asTurn(await bench.attach(all, { model: 'other' })).how).toBe('fork');
    expect(asTurn(await bench.attach(all, { tools: [{ name: 'new' }] })).how).toBe('fork');
    expect(asTurn(await bench.attach(all, { idempotencyKey: 'again' })).how).toBe('fork');
  });
});

describe('tool results that differ', () => {
  it('from the recorded ones fork, with the results of built-ins, and the parent continues', async () => {
    const id = await parked(['s1']);
    await bench.attach([START, HANDED, user(R('c1'))]);
    const edited = await bench.attach([START, HANDED, user(result('c1', 'edited'), R('c2'), R('c3'))]);
    const fork = asTurn(edited);
    expect([fork.how, fork.forkNumber]).toEqual(['fork', 1]);
    expect(fork.transcript.at(-1)).toEqual(
      user(result('s1', 'ran s1'), result('c1', 'edited'), R('c2'), R('c3')),
    );
    expect(await bench.sessions.get(fork.id)).toMatchObject({ parent: id });
    await speak(fork, 'F');
    const parent = asTurn(await bench.attach([START, HANDED, user(R('c1'), R('c2'), R('c3'))]));
    expect([parent.how, parent.id]).toEqual(['continue', id]);
  });

  it('in part make a fork that waits for the others', async () => {
    const id = await parked(['s1']);
    await bench.attach([START, HANDED, user(R('c1'))]);
    const edited = await bench.attach([START, HANDED, user(result('c1', 'edited'))]);
    expect(edited).toMatchObject({ kind: 'waiting', how: 'fork' });
    expect(ids(edited)).toEqual(['c2', 'c3']);
    if (edited.kind !== 'waiting') throw new Error('It does not wait.');
    expect(edited.session).not.toBe(id);
    const rest = [user(result('c1', 'edited')), said(...CALLS.slice(1)), user(R('c2'), R('c3'))];
    const fork = asTurn(await bench.attach([START, HANDED, ...rest]));
    expect([fork.how, fork.id]).toEqual(['continue', edited.session]);
    expect(fork.transcript.at(-1)).toEqual(
      user(result('s1', 'ran s1'), result('c1', 'edited'), R('c2'), R('c3')),
    );
  });

  it('together with edited arguments fork before that call', async () => {
    await bench.say([START], 'Hi.');
    const base = [START, said('Hi.'), user('do')];
    await bench.handBack(base, CALLS);
    const other = said(call('c1', 'get', { of: 'else' }));
    const fork = asTurn(await bench.attach([...base, other, user(R('c1'))]));
    expect(fork.how).toBe('fork');
    expect(fork.transcript.slice(-3)).toEqual([user('do'), other, user(R('c1'))]);
    expect(fork.transcript).toHaveLength(7);
  });
});
