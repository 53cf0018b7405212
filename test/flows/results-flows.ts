/** What clients do with calls that were handed back to them. */
import { writeFile } from 'node:fs/promises';
import { expect } from 'vitest';
import { callsAnswer, textAnswer } from '../support/wire.js';
import type { Flow } from './bench.js';
import type { ClientAnswer, Thread } from './clients/thread.js';
import { expectCalls, expectText, lines, type ProtocolFlow, resultsFor } from './protocol.js';
import { CALCULATE, WEATHER } from './tools.js';

const TOOLS = [WEATHER, CALCULATE];
const CITIES = ['A', 'B', 'C'];

/** The model asks for three cities and is told their weather. */
async function threeOpen(flow: Flow): Promise<{
  thread: Thread;
  answer: ClientAnswer;
  turn: ReturnType<Flow['play']>;
}> {
  const turn = flow.play('Weather of three cities.', [
    callsAnswer(...CITIES.map((city) => flow.call('get_weather', { city }))),
    textAnswer('Three cities.'),
  ]);
  const thread = flow.thread().user(turn.prompt);
  const answer = await thread.send({ tools: TOOLS });
  expectCalls(answer, 'get_weather', 'get_weather', 'get_weather');
  thread.echo();
  return { thread, answer, turn };
}

const THREE = CITIES.map((city) => `result of get_weather: ${city} is fine`);

const fine = (answer: ClientAnswer): ReturnType<typeof resultsFor> =>
  resultsFor(answer, ...CITIES.map((city) => `${city} is fine`));

export const RESULTS_FLOWS: readonly ProtocolFlow[] = [
  {
    name: 'results one at a time, each behind the answer to the one before',
    async run(flow) {
      const { thread, answer, turn } = await threeOpen(flow);
      const [first, second, third] = fine(answer);
      if (first === undefined || second === undefined || third === undefined) throw new Error('no calls');
      const ids = answer.calls.map(({ id }) => id);
      const waiting = await thread.results([first]).send({ tools: TOOLS });
      expect(waiting.calls).toEqual(answer.calls.slice(1));
      expect(waiting).toMatchObject({ stop: 'calls', session: answer.session, attach: 'continue' });
      const still = await thread.echo().results([second]).send({ tools: TOOLS });
      expect(still.calls.map(({ id }) => id)).toEqual(ids.slice(2));
      expect(turn.requests).toHaveLength(1);
      const end = await thread.echo().results([third]).send({ tools: TOOLS });
      expectText(end, 'Three cities.');
      expect(end).toMatchObject({ session: answer.session, attach: 'continue' });
      expect(lines(turn).slice(-3)).toEqual(THREE);
    },
  },
  {
    name: 'results one at a time, all that are there each time',
    async run(flow) {
      const { thread, answer, turn } = await threeOpen(flow);
      const results = fine(answer);
      for (const count of [1, 2]) {
        const waiting = await thread.cut().results(results.slice(0, count)).send({ tools: TOOLS });
        expect(waiting.calls).toEqual(answer.calls.slice(count));
        expect(waiting.session).toBe(answer.session);
      }
      expect(turn.requests).toHaveLength(1);
      expectText(await thread.cut().results(results).send({ tools: TOOLS }), 'Three cities.');
      expect(lines(turn).slice(-3)).toEqual(THREE);
    },
  },
  {
    name: 'results in another order',
    async run(flow) {
      const { thread, answer, turn } = await threeOpen(flow);
      const end = await thread.results(fine(answer).toReversed()).send({ tools: TOOLS });
      expectText(end, 'Three cities.');
      expect(lines(turn).slice(-3)).toEqual(THREE);
    },
  },
  {
    name: 'answered results sent again get the same answer, and the model is not asked',
    async run(flow) {
      const { thread, answer, turn } = await threeOpen(flow);
      thread.results(fine(answer));
      const first = await thread.cut().send({ tools: TOOLS });
      const again = await thread.cut().send({ tools: TOOLS });
      expectText(again, 'Three cities.');
      expect(again).toMatchObject({ session: first.session, attach: 'continue', wireStop: first.wireStop });
      expect(turn.requests).toHaveLength(2);
    },
  },
  {
    name: 'answered results sent again get the same calls where the answer was calls',
    async run(flow) {
      const turn = flow.play('Two rounds.', [
        callsAnswer(flow.call('get_weather', { city: 'A' })),
        callsAnswer(flow.call('get_weather', { city: 'B' }), flow.call('calculate', { expression: '1' })),
        textAnswer('Both rounds.'),
      ]);
      const thread = flow.thread().user(turn.prompt);
      const first = await thread.send({ tools: TOOLS });
      thread.echo().results(resultsFor(first, 'a'));
      const lost = await thread.cut().send({ tools: TOOLS });
      const again = await thread.send({ tools: TOOLS });
      expect(again.calls).toEqual(lost.calls);
      expect(again.session).toBe(first.session);
      expect(turn.requests).toHaveLength(2);
      const end = await thread
        .echo()
        .results(resultsFor(again, 'b', 'c'))
        .send({ tools: TOOLS });
      expectText(end, 'Both rounds.');
      expect(end.attach).toBe('continue');
    },
  },
  {
    name: 'user text instead of results',
    async run(flow) {
      const { thread, answer, turn } = await threeOpen(flow);
      const other = flow.play('Never mind, tell me a joke.', [textAnswer('Knock knock.')]);
      flow.model.forget(turn, 1);
      const end = await thread.user(other.prompt).send({ tools: TOOLS });
      expectText(end, 'Knock knock.');
      expect(end).toMatchObject({ session: answer.session, attach: 'continue' });
      const told = lines(other);
      expect(told.filter((line) => line.startsWith('result of get_weather: '))).toHaveLength(3);
      expect(told.join('\n')).not.toContain('is fine');
      expect(told.at(-1)).toContain(other.prompt);
    },
  },
  {
    name: 'user text beside the results',
    async run(flow) {
      const turn = flow.play('Weather, please.', [callsAnswer(flow.call('get_weather', { city: 'A' }))]);
      const beside = flow.play('And be brief.', [textAnswer('Fine.')]);
      const thread = flow.thread().user(turn.prompt);
      const answer = await thread.send({ tools: TOOLS });
      thread.echo().results(resultsFor(answer, 'rain')).user(beside.prompt);
      expectText(await thread.send({ tools: TOOLS }), 'Fine.');
      expect(lines(beside).slice(-2)).toEqual([
        'result of get_weather: rain',
        expect.stringContaining(beside.prompt),
      ]);
    },
  },
  {
    name: 'one call at a time where the client wants it so',
    async run(flow) {
      const turn = flow.play('One by one.', [
        callsAnswer(...CITIES.map((city) => flow.call('get_weather', { city }))),
        textAnswer('Three cities.'),
      ]);
      const thread = flow.thread().user(turn.prompt);
      const inputs: unknown[] = [];
      let answer = await thread.send({ tools: TOOLS, parallel: false });
      while (answer.calls.length > 0) {
        expectCalls(answer, 'get_weather');
        inputs.push(answer.calls[0]?.input);
        const text = `${CITIES[inputs.length - 1]} is fine`;
        thread.echo().results(resultsFor(answer, text));
        answer = await thread.send({ tools: TOOLS, parallel: false });
      }
      expectText(answer, 'Three cities.');
      expect(inputs).toEqual(CITIES.map((city) => ({ city })));
      expect(lines(turn).slice(-3)).toEqual(THREE);
      expect(turn.requests).toHaveLength(2);
    },
  },
  {
    name: 'results alone, with X-Session-ID',
    async run(flow) {
      const { thread, answer, turn } = await threeOpen(flow);
      const start = thread.length;
      thread.results(fine(answer));
      const end = await thread.rest(start).send({ headers: { 'x-session-id': answer.session } });
      expectText(end, 'Three cities.');
      expect(end).toMatchObject({ session: answer.session, attach: 'continue' });
      expect(lines(turn).slice(-3)).toEqual(THREE);
    },
  },
  {
    name: 'results alone, found by the ids of their calls',
    async run(flow) {
      const { thread, answer, turn } = await threeOpen(flow);
      const start = thread.length;
      const end = await thread.results(fine(answer)).rest(start).send();
      expectText(end, 'Three cities.');
      expect(end.session).toBe(answer.session);
      expect(lines(turn).slice(-3)).toEqual(THREE);
    },
  },
  {
    name: 'some results of a message that has built-ins too',
    async run(flow) {
      await writeFile(flow.path('notes.txt'), 'the secret is 42\n');
      const turn = flow.play('Both kinds, piece by piece.', [
        callsAnswer(
          flow.call('get_weather', { city: 'A' }),
          flow.call('Read', { file_path: flow.path('notes.txt') }),
          flow.call('get_weather', { city: 'B' }),
        ),
        textAnswer('Both kinds.'),
      ]);
      const thread = flow.thread().user(turn.prompt);
      const answer = await thread.send({ tools: TOOLS });
      expectCalls(answer, 'get_weather', 'get_weather');
      const [first, second] = resultsFor(answer, 'A is fine', 'B is fine');
      if (first === undefined || second === undefined) throw new Error('no calls');
      const waiting = await thread.echo().results([second]).send({ tools: TOOLS });
      expect(waiting.calls).toEqual(answer.calls.slice(0, 1));
      expectText(await thread.echo().results([first]).send({ tools: TOOLS }), 'Both kinds.');
      expect(lines(turn).slice(-3)).toEqual([
        'result of get_weather: A is fine',
        expect.stringContaining('the secret is 42'),
        'result of get_weather: B is fine',
      ]);
    },
  },
  {
    name: 'results of a conversation that others came between',
    async run(flow) {
      const { thread, answer, turn } = await threeOpen(flow);
      // More conversations than are kept awake: this one goes on from the store.
      for (const number of ['1', '2', '3']) {
        const other = flow.play(`Another one, number ${number}.`, [textAnswer(`Number ${number}.`)]);
        expectText(await flow.thread().user(other.prompt).send(), `Number ${number}.`);
      }
      const end = await thread.results(fine(answer)).send({ tools: TOOLS });
      expectText(end, 'Three cities.');
      expect(end).toMatchObject({ session: answer.session, attach: 'continue' });
      expect(lines(turn)).toEqual([
        expect.stringContaining(turn.prompt),
        ...CITIES.map((city) => `call get_weather {"city":"${city}"}`),
        ...THREE,
      ]);
    },
  },
];
