import { expect, it, onTestFinished } from 'vitest';
import { call, handBack, SessionsBench, said, speak, user } from '../../../test/support/sessions-bench.js';
import { cancelAbandonedQuestions } from './approvals.js';

const WENT_ON = 'The conversation went on without this call.';

async function open() {
  const bench = await SessionsBench.open();
  onTestFinished(() => bench.close());
  const cancelled: string[][] = [];
  const warned: string[] = [];
  let problem: Error | undefined;
  const end = cancelAbandonedQuestions({
    sessions: bench.sessions,
    approvals: {
      cancelAbandoned: async (session, reason) => {
        if (problem !== undefined) throw problem;
        cancelled.push([session, reason]);
      },
    },
    log: { warn: (_facts, message) => void warned.push(message) },
  });
  const fail = () => {
    problem = new Error('no');
  };
  return { bench, cancelled, warned, end, fail };
}

it('a completed turn cancels its open questions, a broken or parked one does not', async () => {
  const { bench, cancelled } = await open();
  const turn = await bench.turn([user('hi')]);
  turn.transcript.push(said(call('c1')));
  await turn.save();
  await turn.abandon();
  const again = await bench.turn([user('hi')]);
  await handBack(await bench.turn([user('look')]), [call('c2')]);
  expect(cancelled).toEqual([]);
  await speak(again, 'Done.');
  expect(cancelled).toEqual([[turn.id, WENT_ON]]);
});

it('stopping a broken turn cancels its questions with the name of who stopped it', async () => {
  const { bench, cancelled, end } = await open();
  const turn = await bench.turn([user('hi')]);
  await turn.abandon();
  await bench.sessions.stop(turn.id, 'bob');
  expect(cancelled).toEqual([[turn.id, 'Stopped by bob.']]);
  end();
  await speak(await bench.turn([user('on')], { id: turn.id }), 'Fine.');
  expect(cancelled).toHaveLength(1);
});

it('questions that could not be cancelled are logged', async () => {
  const { bench, warned, fail } = await open();
  fail();
  await speak(await bench.turn([user('hi')]), 'Fine.');
  await new Promise(setImmediate);
  expect(warned).toEqual(['abandoned approvals could not be cancelled']);
});
