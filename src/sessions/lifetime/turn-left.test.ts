import { expect, it, onTestFinished } from 'vitest';
import { call, SessionsBench, said, speak, user } from '../../../test/support/sessions-bench.js';
import { sessionLease } from '../../store/leases.js';

async function open(): Promise<SessionsBench> {
  const bench = await SessionsBench.open();
  onTestFinished(() => bench.close());
  return bench;
}

/** Breaks off in front of its call. */
async function broken(bench: SessionsBench): Promise<string> {
  const turn = await bench.turn([user('hi')]);
  turn.transcript.push(said(call('c1')));
  await turn.save();
  await turn.abandon();
  return turn.id;
}

const left = ({ events }: SessionsBench) => events.filter(({ type }) => type === 'turn-left');

it('a continuation after a broken turn is reported', async () => {
  const bench = await open();
  const id = await broken(bench);
  expect(left(bench)).toEqual([]);
  const next = await bench.turn([user('something else')], { id });
  expect(next.id).toBe(id);
  expect(left(bench)).toEqual([{ type: 'turn-left', session: id, principal: 'alice' }]);
  await speak(next, 'Fine.');
  await speak(await bench.turn([user('and more')], { id }), 'Fine.');
  expect(left(bench)).toHaveLength(1);
});

it('resuming a broken turn is not reported, nor is the parent of a fork', async () => {
  const bench = await open();
  const id = await broken(bench);
  const fork = await bench.sessions.fork(id, { keep: 1 });
  await speak(await bench.turn([user('else')], { id: fork?.id }), 'Forked.');
  const again = await bench.turn([user('hi')]);
  expect(again.id).toBe(id);
  await speak(again, 'Done.');
  expect(left(bench)).toEqual([]);
});

it('stopping a broken turn gives it up once', async () => {
  const bench = await open();
  const id = await broken(bench);
  expect(await bench.sessions.stop(id, 'bob')).toBe(true);
  expect(left(bench)).toEqual([{ type: 'turn-left', session: id, principal: 'alice', by: 'bob' }]);
  const session = await bench.sessions.get(id);
  expect(session && bench.sessions.standing(session)?.turn).toMatchObject({ stopped: true, running: false });
  expect(await bench.sessions.stop(id, 'bob')).toBe(false);
  const next = await bench.turn([user('on')], { id });
  expect(next.id).toBe(id);
  await next.abandon();
});

it('stopping leaves the turn of another process alone', async () => {
  const bench = await open();
  const id = await broken(bench);
  await bench.store.leases.acquire(sessionLease(id), 'elsewhere/7/1', 60_000);
  expect(await bench.sessions.stop(id, 'bob')).toBe(false);
  expect(left(bench)).toEqual([]);
  const session = await bench.sessions.get(id);
  expect(session && bench.sessions.standing(session)?.turn?.stopped).toBe(false);
});

it('stopping does nothing without a broken turn', async () => {
  const bench = await open();
  const { id } = await bench.say([user('hi')], 'Hello.');
  expect(await bench.sessions.stop(id, 'bob')).toBe(false);
  expect(await bench.sessions.stop('ses_none', 'bob')).toBe(false);
});
