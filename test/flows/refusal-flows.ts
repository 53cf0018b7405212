/** What cannot be answered, and what is answered only once. */
import { expect } from 'vitest';
import { newSessionId } from '../../src/sessions/persistence/session-factory.js';
import { deferred, type Gate } from '../support/gate.js';
import type { Reply } from '../support/replies.js';
import type { AgentRequest } from '../support/scripted-agent-model.js';
import { errorInDialect, inDialect } from '../support/scripted-answers.js';
import { callsAnswer, textAnswer } from '../support/wire.js';
import { KEYS } from './bench.js';
import { expectText, failureOf, lines, type ProtocolFlow, resultsFor, sendsAll } from './protocol.js';
import { WEATHER } from './tools.js';

const TOOLS = [WEATHER];

/** An answer that stops behind its first words until `hold` opens. */
function held(hold: Gate, first: string, rest: string) {
  return async ({ seen }: AgentRequest): Promise<Reply> => {
    const reply = await inDialect(textAnswer([first, rest]))(seen.recorded, 0);
    if (reply.kind !== 'answer') return reply;
    const said = reply.body.findIndex((piece) => typeof piece === 'string' && piece.includes(first));
    return { ...reply, body: [...reply.body.slice(0, said + 1), hold, ...reply.body.slice(said + 1)] };
  };
}

export const REFUSAL_FLOWS: readonly ProtocolFlow[] = [
  {
    name: 'a result for a call that nobody made is a 400 that names it',
    async run(flow) {
      const id = `call_${flow.tag}_nobody`;
      const sent = flow
        .thread()
        .user('hello')
        .results([{ id, text: 'x' }])
        .send({ tools: TOOLS });
      const { status, message } = await failureOf(flow, sent);
      expect(status).toBe(400);
      expect(message).toContain(id);
    },
  },
  {
    name: 'a result for no call beside one for a call changes nothing',
    async run(flow) {
      const turn = flow.play('Ask.', [
        callsAnswer(flow.call('get_weather', { city: 'A' })),
        textAnswer('Rain.'),
      ]);
      const thread = flow.thread().user(turn.prompt);
      const answer = await thread.send({ tools: TOOLS });
      thread.echo();
      const id = `call_${flow.tag}_nobody`;
      const wrong = thread.cut().results([...resultsFor(answer, 'wrong'), { id, text: 'x' }]);
      const { status, message } = await failureOf(flow, wrong.send({ tools: TOOLS }));
      expect(status).toBe(400);
      expect(message).toContain(id);
      const end = await thread.results(resultsFor(answer, 'rain')).send({ tools: TOOLS });
      expectText(end, 'Rain.');
      expect(lines(turn).at(-1)).toBe('result of get_weather: rain');
    },
  },
  {
    name: "a result for another key's call is a 400 that names it",
    async run(flow) {
      const turn = flow.play('Ask.', [
        callsAnswer(flow.call('get_weather', { city: 'A' })),
        textAnswer('Rain.'),
      ]);
      const thread = flow.thread().user(turn.prompt);
      const answer = await thread.send({ tools: TOOLS });
      const start = thread.echo().length;
      const foreign = thread.cut().results(resultsFor(answer, 'stolen')).rest(start);
      const { status, message } = await failureOf(flow, foreign.send({ key: KEYS.bob }));
      expect(status).toBe(400);
      expect(message).toContain(answer.calls[0]?.id);
      const end = await thread.results(resultsFor(answer, 'rain')).send({ tools: TOOLS });
      expectText(end, 'Rain.');
      expect(lines(turn).at(-1)).toBe('result of get_weather: rain');
    },
  },
  {
    name: 'a session that was given out and is gone is a 404',
    async run(flow) {
      const gone = newSessionId();
      const sent = flow
        .thread()
        .user('hello')
        .send({ headers: { 'x-session-id': gone } });
      const { status, message } = await failureOf(flow, sent);
      expect(status).toBe(404);
      expect(message).toContain(gone);
    },
  },
  {
    name: "a client's own name for its conversation is ignored, and the history decides",
    async run(flow) {
      // As opencode sends them, with every request of its own session.
      const headers = { 'x-session-id': 'ses_6f2a91c3dffeRjQ0w8ZkLmN4pT', 'x-session-affinity': 'mine' };
      const seen: unknown[] = [];
      const thread = flow.thread();
      for (const [index, sent] of [headers, headers, {}].entries()) {
        const turn = flow.play(`Named ${index}.`, [textAnswer(`Number ${index}.`)]);
        const answer = await thread.user(turn.prompt).send({ headers: sent });
        expectText(answer, `Number ${index}.`);
        seen.push([answer.session, answer.attach, answer.headers.get('x-toolgate-attach-note')]);
        thread.echo();
      }
      const session = expect.stringMatching(/^ses_[\w-]{27}$/);
      expect(seen).toEqual([
        [session, 'new', 'foreign-session-id'],
        [session, 'continue', 'foreign-session-id'],
        [session, 'continue', null],
      ]);
    },
  },
  {
    name: "another key's session is a 404 that says the same",
    async run(flow) {
      const turn = flow.play('Hello.', [textAnswer('Hi.')]);
      const { session } = await flow.thread().user(turn.prompt).send();
      const foreign = flow.thread().user('hello');
      const headers = { 'x-session-id': session };
      const { status, message } = await failureOf(flow, foreign.send({ headers, key: KEYS.bob }));
      expect(status).toBe(404);
      const gone = newSessionId();
      const nobody = flow
        .thread()
        .user('hello')
        .send({ headers: { 'x-session-id': gone } });
      const { message: unknown } = await failureOf(flow, nobody);
      expect(message.replaceAll(session, '…')).toBe(unknown.replaceAll(gone, '…'));
    },
  },
  {
    name: "a model's error keeps its status, and the same request can be answered later",
    async run(flow) {
      const turn = flow.play('Try.', [
        [
          ({ seen }) => errorInDialect(403, 'permission_error', 'not for you')(seen.recorded, 0),
          textAnswer('Now it works.'),
        ],
      ]);
      const thread = flow.thread().user(turn.prompt);
      const { status, message } = await failureOf(flow, thread.send());
      expect(status).toBe(403);
      expect(message).toContain('not for you');
      expectText(await thread.send(), 'Now it works.');
      expect(lines(turn)).toEqual([expect.stringContaining(turn.prompt)]);
    },
  },
  {
    name: 'a repeat of a request while its turn runs joins it',
    async run(flow) {
      const hold = flow.gate();
      const turn = flow.play('Take your time.', [held(hold, 'Wait', 'ing is over.')]);
      const thread = flow.thread().user(turn.prompt);
      const one = thread.cut().send({ tools: TOOLS });
      await hold.reached;
      // A stream tells when it has joined: it begins at the beginning.
      const joined = deferred();
      // As the official SDKs count their retries.
      const headers = { 'x-stainless-retry-count': '1' };
      const two = thread.cut().send({ tools: TOOLS, headers, stream: true, onText: () => joined.resolve() });
      await Promise.race([joined.promise, two]);
      hold.open();
      const [first, second] = await Promise.all([one, two]);
      expectText(first, 'Waiting is over.');
      expectText(second, 'Waiting is over.');
      expect(second.session).toBe(first.session);
      expect([first.attach, second.attach]).toEqual(['new', 'new']);
      expect(turn.requests).toHaveLength(1);
    },
  },
  {
    name: 'the same request twice at once is two answers',
    async run(flow) {
      const [one, two] = [flow.gate(), flow.gate()];
      const turn = flow.play('Best of two.', [[held(one, 'The ', 'first.'), held(two, 'The ', 'second.')]]);
      const thread = flow.thread().user(turn.prompt);
      const first = thread.cut().send();
      await one.reached;
      const second = thread.cut().send();
      await Promise.race([two.reached, second]);
      two.open();
      one.open();
      expectText(await first, 'The first.');
      expectText(await second, 'The second.');
      expect((await second).session).not.toBe((await first).session);
      expect([(await first).attach, (await second).attach]).toEqual(['new', 'new']);
    },
  },
  {
    name: 'another request of a session whose turn runs is a 409',
    async run(flow) {
      const hold = flow.gate();
      const turn = flow.play('Hello.', [textAnswer('Hi.')]);
      const second = flow.play('Take your time.', [held(hold, 'Wait', 'ing is over.')]);
      const thread = flow.thread().user(turn.prompt);
      const { session } = await thread.send();
      thread.echo();
      const running = thread.cut().user(second.prompt).send();
      await hold.reached;
      const headers = { 'x-session-id': session };
      const other = thread.cut().user('And now for something completely different.').send({ headers });
      const { status, message } = await failureOf(flow, other);
      expect(status).toBe(409);
      expect(message).toContain(session);
      hold.open();
      expectText(await running, 'Waiting is over.');
    },
  },
  {
    name: 'an Idempotency-Key makes a request answerable once',
    clients: sendsAll,
    async run(flow) {
      const turn = flow.play('Once only.', [textAnswer('Once.')]);
      const thread = flow.thread().user(turn.prompt);
      const headers = { 'idempotency-key': `key-${flow.tag}` };
      const one = await thread.cut().send({ headers });
      const two = await thread.cut().send({ headers });
      expectText(one, 'Once.');
      expectText(two, 'Once.');
      expect(two.session).toBe(one.session);
      expect(turn.requests).toHaveLength(1);
    },
  },
];
