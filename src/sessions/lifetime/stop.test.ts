import { once } from 'node:events';
import { expect, it, onTestFinished, vi } from 'vitest';
import { call, result, SessionsBench, said, user } from '../../../test/support/sessions-bench.js';

const TTL_MS = 40;

async function open(ttlMs?: number): Promise<SessionsBench> {
  const bench = await SessionsBench.open({ now: Date.now, ...(ttlMs === undefined ? {} : { ttlMs }) });
  onTestFinished(() => bench.close());
  return bench;
}

it('stopping a turn keeps its messages and its session', async () => {
  const bench = await open();
  const turn = await bench.turn([user('hi')]);
  const aborted = once(turn.signal, 'abort');
  const stopping = bench.sessions.stop(turn.id, 'bob');
  await aborted;
  turn.transcript.push(said('so far'));
  await turn.save();
  await turn.abandon();
  expect(await stopping).toBe(true);
  const session = await bench.sessions.get(turn.id);
  expect(session && bench.sessions.standing(session)?.turn).toMatchObject({ stopped: true, running: false });
  expect((await bench.sessions.read(turn.id))?.messages).toHaveLength(2);
});

it('a session deleted while its turn is being stopped is reported as ended once', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const bench = await open(TTL_MS);
  const turn = await bench.turn([user('hi')]);
  const aborted = once(turn.signal, 'abort');
  const stopping = bench.sessions.stop(turn.id, 'bob');
  await aborted;
  await bench.sessions.delete(turn.id, 'bob');
  await turn.abandon();
  await stopping;
  await vi.advanceTimersByTimeAsync(TTL_MS * 3);
  expect(bench.events.filter(({ type }) => type === 'ended')).toMatchObject([{ why: 'deleted' }]);
});

it('forks and imports of a stopped turn get results that say what became of its calls', async () => {
  const bench = await open();
  const turn = await bench.turn([user('hi')]);
  turn.transcript.push(said(call('done'), call('begun'), call('later')));
  await turn.save();
  for (const id of ['done', 'begun']) await turn.start(call(id));
  await turn.finish(result('done', 'It is done.'));
  await turn.abandon();
  const told = expect.objectContaining({
    content: [
      result('done', 'It is done.'),
      expect.objectContaining({
        toolUseId: 'begun',
        content: [{ type: 'text', text: expect.stringContaining('may or may not have taken effect') }],
      }),
      expect.objectContaining({
        toolUseId: 'later',
        content: [{ type: 'text', text: expect.stringContaining('before the call was made') }],
      }),
    ],
  });
  expect((await bench.sessions.read(turn.id))?.settled).toEqual(told);
  const fork = await bench.sessions.fork(turn.id, { keep: 1 });
  expect((await bench.sessions.read(fork?.id ?? ''))?.messages.at(-1)).toEqual(told);
});
