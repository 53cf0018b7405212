/** How requests find their conversation: by what they say of it. */
import { writeFile } from 'node:fs/promises';
import { expect } from 'vitest';
import type { ScriptedTurn } from '../support/scripted-agent-model.js';
import { callsAnswer, textAnswer } from '../support/wire.js';
import type { Flow } from './bench.js';
import { type ClientAnswer, REWRITES, type Thread } from './clients/thread.js';
import {
  expectCalls,
  expectText,
  firstOf,
  lines,
  type ProtocolFlow,
  resultsFor,
  sendsAll,
} from './protocol.js';
import { WEATHER } from './tools.js';

const TOOLS = [WEATHER];
const SECRET = 'the secret is 42';

/** A first turn in which the agent has read a file; the client has only its words. */
async function begun(flow: Flow): Promise<{ thread: Thread; answer: ClientAnswer; turn: ScriptedTurn }> {
  await writeFile(flow.path('notes.txt'), `${SECRET}\n`);
  const turn = flow.play('Read the notes.', [
    callsAnswer(flow.call('Read', { file_path: flow.path('notes.txt') })),
    textAnswer('I have read them.'),
  ]);
  const thread = flow.thread().user(turn.prompt);
  const answer = await thread.send({ tools: TOOLS });
  expectText(answer, 'I have read them.');
  expect(answer.attach).toBe('new');
  thread.echo();
  return { thread, answer, turn };
}

/** What the model is told of the first turn. */
const first = ({ prompt }: ScriptedTurn): unknown[] => [
  expect.stringContaining(prompt),
  expect.stringMatching(/^call Read/),
  expect.stringContaining(SECRET),
  'assistant: I have read them.',
];

const prompted = ({ prompt }: ScriptedTurn): unknown => expect.stringContaining(`user: ${prompt}`);

export const HISTORY_FLOWS: readonly ProtocolFlow[] = [
  {
    name: 'a history that ends where the session ends goes on',
    async run(flow) {
      const { thread, answer, turn } = await begun(flow);
      const second = flow.play('And then?', [textAnswer('Then nothing.')]);
      const end = await thread.user(second.prompt).send({ tools: TOOLS });
      expectText(end, 'Then nothing.');
      expect(end).toMatchObject({ session: answer.session, attach: 'continue' });
      expect(lines(second)).toEqual([...first(turn), prompted(second)]);
    },
  },
  {
    name: 'an edited message forks, and the old branch goes on',
    async run(flow) {
      const { thread, answer, turn } = await begun(flow);
      const second = flow.play('What is in them?', [textAnswer('A secret.')]);
      const edited = flow.play('How long are they?', [textAnswer('One line.')]);
      const third = flow.play('Which one?', [textAnswer('That one.')]);
      const branch = thread.cut().user(edited.prompt);
      await thread.user(second.prompt).send({ tools: TOOLS });
      thread.echo();
      const forked = await branch.send({ tools: TOOLS });
      expectText(forked, 'One line.');
      expect(forked.attach).toBe('fork');
      expect(forked.session).not.toBe(answer.session);
      expect(lines(edited)).toEqual([...first(turn), prompted(edited)]);
      const old = await thread.user(third.prompt).send({ tools: TOOLS });
      expectText(old, 'That one.');
      expect(old).toMatchObject({ session: answer.session, attach: 'continue' });
      expect(lines(third)).toEqual([
        ...first(turn),
        prompted(second),
        'assistant: A secret.',
        prompted(third),
      ]);
    },
  },
  {
    name: 'answered user text sent again is answered anew, on a fork',
    async run(flow) {
      const { thread, answer, turn } = await begun(flow);
      const second = flow.play('Guess a number.', [[textAnswer('Seven.'), textAnswer('Eight.')]]);
      thread.user(second.prompt);
      expectText(await thread.cut().send({ tools: TOOLS }), 'Seven.');
      const again = await thread.cut().send({ tools: TOOLS });
      expectText(again, 'Eight.');
      expect(again.attach).toBe('fork');
      expect(again.session).not.toBe(answer.session);
      expect(lines(second, 1)).toEqual([...first(turn), prompted(second)]);
    },
  },
  {
    name: 'a history that was cut off forks, and the fork goes on by itself',
    async run(flow) {
      const { thread, answer, turn } = await begun(flow);
      const start = thread.length;
      for (const word of ['One', 'Two', 'Three']) {
        const next = flow.play(`Say ${word}.`, [textAnswer(`${word}.`)]);
        await thread.user(next.prompt).send({ tools: TOOLS });
        thread.echo();
      }
      const other = flow.play('Say something else.', [
        callsAnswer(flow.call('get_weather', { city: 'A' })),
        textAnswer('Something else.'),
      ]);
      const branch = thread.cut(start).user(other.prompt);
      const forked = await branch.send({ tools: TOOLS });
      expectCalls(forked, 'get_weather');
      expect(forked.attach).toBe('fork');
      expect(forked.session).not.toBe(answer.session);
      const end = await branch.echo().results(resultsFor(forked, 'rain')).send({ tools: TOOLS });
      expectText(end, 'Something else.');
      expect(end).toMatchObject({ session: forked.session, attach: 'continue' });
      expect(lines(other)).toEqual([
        ...first(turn),
        prompted(other),
        'call get_weather {"city":"A"}',
        'result of get_weather: rain',
      ]);
    },
  },
  {
    name: 'an edited answer is no answer of the agent: the fork is at the one before',
    clients: sendsAll,
    async run(flow) {
      const { thread, answer, turn } = await begun(flow);
      const third = flow.play('Go on from there.', [textAnswer('Going on.')]);
      thread.user('What is in them?').assistant('Nothing at all.').user(third.prompt);
      const forked = await thread.send({ tools: TOOLS });
      expectText(forked, 'Going on.');
      // The first answer is the session's last: what came behind it is told to it.
      expect(['fork', 'continue']).toContain(forked.attach);
      expect(forked.session === answer.session).toBe(forked.attach === 'continue');
      expect(lines(third)).toEqual([
        ...first(turn),
        'user: What is in them?',
        'assistant: Nothing at all.',
        prompted(third),
      ]);
    },
  },
  {
    name: 'an edited first answer is a history that nobody knows',
    clients: sendsAll,
    async run(flow) {
      const { turn, answer } = await begun(flow);
      const second = flow.play('Are you sure?', [textAnswer('No.')]);
      const thread = flow.thread().user(turn.prompt).assistant('I have not read them.').user(second.prompt);
      const imported = await thread.send({ tools: TOOLS });
      expectText(imported, 'No.');
      expect(imported.attach).toBe('import');
      expect(imported.session).not.toBe(answer.session);
      expect(lines(second)).toEqual([
        expect.stringContaining(turn.prompt),
        'assistant: I have not read them.',
        prompted(second),
      ]);
    },
  },
  {
    name: 'the same first message twice is two conversations',
    async run(flow) {
      const turn = flow.play('Hello there.', [[textAnswer('Hi.'), textAnswer('Hello.')]]);
      const one = await flow.thread().user(turn.prompt).send();
      const two = await flow.thread().user(turn.prompt).send();
      expectText(one, 'Hi.');
      expectText(two, 'Hello.');
      expect([one.attach, two.attach]).toEqual(['new', 'new']);
      expect(one.session).not.toBe(two.session);
      for (const index of [0, 1]) expect(lines(turn, index)).toEqual([prompted(turn)]);
    },
  },
  {
    name: 'two keys with the same history never share a session',
    clients: sendsAll,
    async run(flow) {
      const { thread, answer, turn } = await begun(flow);
      const second = flow.play('What was the secret?', [[textAnswer('I do not know.'), textAnswer('42.')]]);
      thread.user(second.prompt);
      const bob = await thread.cut().send({ tools: TOOLS, key: 'client-key-bob' });
      expectText(bob, 'I do not know.');
      expect(bob.attach).toBe('import');
      expect(bob.session).not.toBe(answer.session);
      expect(lines(second, 0)).toEqual([
        expect.stringContaining(turn.prompt),
        'assistant: I have read them.',
        prompted(second),
      ]);
      expect(second.requests[0]?.seen.recorded.text).not.toContain(SECRET);
      const alice = await thread.cut().send({ tools: TOOLS });
      expectText(alice, '42.');
      expect(alice).toMatchObject({ session: answer.session, attach: 'continue' });
      expect(lines(second, 1)).toEqual([...first(turn), prompted(second)]);
    },
  },
  ...REWRITES.map(
    (how): ProtocolFlow => ({
      name: `a client that rewrites what it echoes is known: ${how}`,
      clients: sendsAll,
      async run(flow) {
        const turn = flow.play('Think, say, and ask.', [
          {
            parts: [
              { type: 'thinking', text: 'Which city?', signature: 'sealed' },
              { type: 'text', text: 'I ask for both.' },
              flow.call('get_weather', { city: 'A', unit: 'C', days: [1, 2] }),
              flow.call('get_weather', { city: 'B' }),
            ],
          },
          textAnswer('Both are fine.'),
        ]);
        const second = flow.play('And tomorrow?', [textAnswer('The same.')]);
        const thread = flow.thread().user(turn.prompt);
        const answer = await thread.send({ tools: TOOLS });
        thread.echo().results(resultsFor(answer, 'a', 'b'));
        const rewritten = await thread.rewritten(how).send({ tools: TOOLS });
        expectText(rewritten, 'Both are fine.');
        expect(rewritten).toMatchObject({ session: answer.session, attach: 'continue' });
        // Nothing is lost of the thread itself: an answer can only be echoed by who has it.
        await thread.send({ tools: TOOLS });
        const end = await thread.echo().user(second.prompt).rewritten(how).send({ tools: TOOLS });
        expectText(end, 'The same.');
        expect(end).toMatchObject({ session: answer.session, attach: 'continue' });
        expect(lines(second)).toEqual([
          expect.stringContaining(turn.prompt),
          'assistant: I ask for both.',
          'call get_weather {"city":"A","unit":"C","days":[1,2]}',
          'call get_weather {"city":"B"}',
          'result of get_weather: a',
          'result of get_weather: b',
          'assistant: Both are fine.',
          prompted(second),
        ]);
      },
    }),
  ),
  {
    name: 'a request that goes on without tools keeps those of the session',
    async run(flow) {
      const turn = flow.play('Ask twice.', [
        callsAnswer(flow.call('get_weather', { city: 'A' })),
        callsAnswer(flow.call('get_weather', { city: 'B' })),
        textAnswer('Twice.'),
      ]);
      const thread = flow.thread().user(turn.prompt);
      const one = await thread.send({ tools: TOOLS });
      const two = await thread.echo().results(resultsFor(one, 'a')).send();
      expectCalls(two, 'get_weather');
      expectText(await thread.echo().results(resultsFor(two, 'b')).send(), 'Twice.');
      for (const { tools } of turn.requests) expect(tools).toContain('get_weather');
    },
  },
  {
    name: "the client's system prompt reaches the model, and stays",
    async run(flow) {
      const system = `Be terse, ${flow.tag}.`;
      const turn = flow.play('Hello.', [textAnswer('Hi.')]);
      const second = flow.play('And again.', [textAnswer('Hi again.')]);
      const thread = flow.thread().user(turn.prompt);
      const answer = await thread.send({ system });
      thread.echo().user(second.prompt);
      const end = await thread.send();
      expectText(end, 'Hi again.');
      expect(end).toMatchObject({ session: answer.session, attach: 'continue' });
      for (const { requests } of [turn, second]) expect(requests[0]?.seen.instructions).toContain(system);
      expect(lines(second)).toEqual([
        expect.stringContaining(turn.prompt),
        'assistant: Hi.',
        prompted(second),
      ]);
    },
  },
  {
    name: 'what users say is said as it is: no commands, no files',
    async run(flow) {
      await writeFile(flow.path('notes.txt'), `${SECRET}\n`);
      const turn = flow.play(`/compact now, @${flow.path('notes.txt')} and !ls`, [textAnswer('As you say.')]);
      const second = flow.play('/clear', [textAnswer('Nothing is cleared.')]);
      const thread = flow.thread().user(turn.prompt);
      expectText(await thread.send(), 'As you say.');
      expectText(await thread.echo().user(second.prompt).send(), 'Nothing is cleared.');
      expect(lines(second)).toEqual([
        `user: ${turn.prompt}`,
        'assistant: As you say.',
        `user: ${second.prompt}`,
      ]);
      expect(second.requests[0]?.seen.recorded.text).not.toContain(SECRET);
    },
  },
  {
    name: 'new messages alone, with X-Session-ID',
    async run(flow) {
      const { thread, answer, turn } = await begun(flow);
      const start = thread.length;
      const second = flow.play('And now?', [textAnswer('Now this.')]);
      const third = flow.play('And after that?', [textAnswer('Nothing more.')]);
      const headers = { 'x-session-id': answer.session };
      const alone = thread.user(second.prompt).rest(start);
      const end = await alone.send({ headers });
      expectText(end, 'Now this.');
      expect(end).toMatchObject({ session: answer.session, attach: 'continue' });
      expect(lines(second)).toEqual([...first(turn), prompted(second)]);
      const whole = thread.cut().assistant('Now this.').user(third.prompt);
      const last = await whole.send({ headers });
      expectText(last, 'Nothing more.');
      expect(last).toMatchObject({ session: answer.session, attach: 'continue' });
      expect(lines(third)).toEqual([
        ...first(turn),
        prompted(second),
        'assistant: Now this.',
        prompted(third),
      ]);
    },
  },
  {
    name: 'a history that was never seen is imported as real blocks',
    async run(flow) {
      const turn = flow.play('What did you find?', [
        callsAnswer(flow.call('get_weather', { city: 'C' })),
        textAnswer('Three things.'),
      ]);
      const calls = ['A', 'B'].map((city) => ({
        id: `call_${flow.tag}_old_${city}`,
        name: 'get_weather',
        input: { city },
      }));
      const thread = flow
        .thread()
        .user('Look around, 请。')
        .assistant('I look.', calls)
        .results(calls.map(({ id, input }) => ({ id, text: `${input.city} is fine` })))
        .assistant('Both are fine.')
        .user(turn.prompt);
      const answer = await thread.send({ tools: TOOLS });
      expectCalls(answer, 'get_weather');
      expect(answer.attach).toBe('import');
      const told = [
        'user: Look around, 请。',
        'assistant: I look.',
        'call get_weather {"city":"A"}',
        'call get_weather {"city":"B"}',
        'result of get_weather: A is fine',
        'result of get_weather: B is fine',
        'assistant: Both are fine.',
        prompted(turn),
      ];
      expect(lines(turn, 0)).toEqual(told);
      const end = await thread.echo().results(resultsFor(answer, 'C is fine')).send({ tools: TOOLS });
      expectText(end, 'Three things.');
      expect(end).toMatchObject({ session: answer.session, attach: 'continue' });
      expect(lines(turn, 1)).toEqual([
        ...told,
        'call get_weather {"city":"C"}',
        'result of get_weather: C is fine',
      ]);
    },
  },
  {
    name: 'a history whose calls all have the same id is imported, each with its own result',
    async run(flow) {
      const turn = flow.play('What did you find?', [textAnswer('Two things.')]);
      const thread = flow.thread().user(`Look around, ${flow.tag}.`);
      for (const city of ['A', 'B']) {
        thread
          .assistant('', [{ id: 'call_0', name: 'get_weather', input: { city } }])
          .results([{ id: 'call_0', text: `${city} is fine` }]);
      }
      const answer = await thread.assistant('Both are fine.').user(turn.prompt).send({ tools: TOOLS });
      expectText(answer, 'Two things.');
      expect(answer.attach).toBe('import');
      expect(lines(turn).slice(1, -2)).toEqual([
        'call get_weather {"city":"A"}',
        'result of get_weather: A is fine',
        'call get_weather {"city":"B"}',
        'result of get_weather: B is fine',
      ]);
    },
  },
  {
    name: 'a history that was never seen and ends with results is imported',
    async run(flow) {
      const turn = flow.play('Look around.', [textAnswer('never said'), textAnswer('Rain, it says.')]);
      flow.model.forget(turn, 0);
      const id = `call_${flow.tag}_old`;
      const thread = flow
        .thread()
        .user(turn.prompt)
        .assistant('', [{ id, name: 'get_weather', input: { city: 'A' } }])
        .results([{ id, text: 'rain' }]);
      const answer = await thread.send({ tools: TOOLS });
      expectText(answer, 'Rain, it says.');
      expect(answer.attach).toBe('import');
      expect(lines(turn)).toEqual([
        prompted(turn),
        'call get_weather {"city":"A"}',
        'result of get_weather: rain',
      ]);
      expect(firstOf(turn).tools).toContain('get_weather');
    },
  },
];
