/**
 * Requests that meet: one that is repeated is answered by one call of the model; two different ones of
 * one session come one after the other, or one is told to come again; never is one mixed with the other.
 */
import { describe, expect, it } from 'vitest';
import { deferred } from '../support/gate.js';
import { anthropicClient } from '../support/sdk.js';
import type { ToldMessage } from '../support/told.js';
import { until } from '../support/until.js';
import { AgentBed, ENGINES, KEYS, MODEL } from './agent-bed.js';
import {
  type AgentClient,
  CLIENTS,
  type Line,
  type Reply,
  resultOf,
  results,
  said,
  user,
} from './agent-client.js';
import { bash, HeldStep, lookup, says, words } from './agent-script.js';
import { count, SEED, TIMEOUT_MS } from './counts.js';
import { inParallel, inTime } from './fault-gateway.js';
import { Random } from './random.js';

const STREAMING = CLIENTS.filter(({ stream }) => stream);

interface Watched {
  reply: Promise<Reply>;
  /** Resolves when this text is there. */
  sees(text: string): Promise<void>;
}

function watched(bed: AgentBed, client: AgentClient, lines: readonly Line[], retries = 0): Watched {
  let text = '';
  let onText = (): void => {};
  const reply = client.ask({
    url: bed.url,
    key: KEYS.storm,
    model: MODEL,
    lines,
    ...(retries > 0 && { headers: { 'x-stainless-retry-count': String(retries) } }),
    onText(now) {
      text = now;
      onText();
    },
  });
  reply.catch(() => {});
  return {
    reply,
    async sees(wanted) {
      const seen = deferred();
      onText = () => text.includes(wanted) && seen.resolve();
      onText();
      await inTime(Promise.race([seen.promise, reply]), `the text ${wanted}`);
    },
  };
}

describe.each(ENGINES)('%s', (engine) => {
  it('answers a request and its repeat with one call of the model', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const bed = await AgentBed.start(engine);
    for (const [index, client] of STREAMING.entries()) {
      const first = new HeldStep(says('Looking for it. ', lookup(`race${index}_a`)), 'end');
      const last = new HeldStep(words('That is the whole answer.'), 'half');
      const turn = bed.model.play(`Race ${index}.`, [first.held, last.held]);
      const lines: Line[] = [user(`Race ${index}.`)];
      const asked: Watched[] = [];
      for (const retries of [0, 1]) {
        const each = watched(bed, client, lines, retries);
        await each.sees('Looking');
        asked.push(each);
      }
      first.gate.open();
      const [one, two] = await Promise.all(asked.map(({ reply }) => reply));
      if (one === undefined || two === undefined) throw new Error('There were two');
      expect(two.session).toBe(one.session);
      expect([one.text, one.calls]).toEqual([two.text, two.calls]);
      expect(turn.requests).toHaveLength(1);

      const next = [...lines, said(one), results(one.calls.map(resultOf))];
      const again: Watched[] = [];
      for (const retries of [0, 1]) {
        const each = watched(bed, client, next, retries);
        await each.sees('That is');
        again.push(each);
      }
      last.gate.open();
      const ends = await Promise.all(again.map(({ reply }) => reply));
      expect(ends.map(({ text }) => text)).toEqual(Array(2).fill('That is the whole answer.'));
      expect(turn.requests).toHaveLength(2);
    }
    expect(bed.model.problems).toEqual([]);
    await bed.close();
  });

  it('runs a request once that the official SDK sends again of its own accord', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const bed = await AgentBed.start(engine);
    for (const gone of [true, false]) {
      const prompt = gone ? 'The connection broke.' : 'The connection only seemed to break.';
      const held = new HeldStep(words('Once.'), 'half');
      const turn = bed.model.play(prompt, [
        says('', bash(`sdk_${gone}`, `echo ran >> sdk_${gone}`)),
        gone ? held.steps : held.held,
      ]);
      const counts: (string | null)[] = [];
      const ends = new AbortController();
      const client = anthropicClient(bed.url, {
        apiKey: KEYS.storm,
        maxRetries: 2,
        async fetch(url, init) {
          counts.push(new Headers(init?.headers).get('x-stainless-retry-count'));
          if (counts.length > 1) {
            if (gone) await until(async () => (await bed.clientsGone()) > 0);
            // Its head says which session it is in, so it has joined before the model goes on.
            const answer = await fetch(url, init);
            held.gate.open();
            return answer;
          }
          const first = fetch(url, { ...init, signal: ends.signal });
          first.catch(() => {});
          await inTime(held.gate.reached, 'the model is asked');
          if (gone) ends.abort();
          throw new TypeError('fetch failed');
        },
      });
      const { content } = await inTime(
        client.messages
          .stream({ model: MODEL, max_tokens: 2000, messages: [{ role: 'user', content: prompt }] })
          .finalMessage(),
        'the answer',
      );
      expect(content).toEqual([expect.objectContaining({ type: 'text', text: 'Once.' })]);
      expect(counts).toEqual(['0', '1']);
      expect(await bed.linesOf(`sdk_${gone}`)).toEqual(['ran']);
      // One call for the tool, and one for the answer; one more where it was cut off.
      expect(turn.requests).toHaveLength(gone ? 3 : 2);
      ends.abort();
    }
    expect(bed.model.problems).toEqual([]);
    await bed.close();
  });

  it('never mixes two requests of one session', { timeout: TIMEOUT_MS }, async () => {
    const random = new Random(SEED);
    const bed = await AgentBed.start(engine);
    const rounds = engine === 'native' ? count(6, 60) : count(2, 10);
    for (let round = 0; round < rounds; round += 1) await storm(bed, random, round, count(6, 10));
    expect(bed.model.problems).toEqual([]);
    await bed.close();
  });
});

/** Many clients of one session, each with a question of its own, until each has its answer. */
async function storm(bed: AgentBed, random: Random, round: number, questions: number): Promise<void> {
  const client = random.pick(CLIENTS);
  const names = Array.from({ length: questions }, (_, index) => `Q${round}-${index}.`);
  const opening = `Opening ${round}.`;
  bed.model.play(opening, [words(answerTo(opening))]);
  const held = names.map((name) => {
    const step = new HeldStep(words(answerTo(name)), random.pick(['before', 'half', 'end']));
    const holds = random.chance(0.5);
    const turn = bed.model.play(name, [holds ? step.held : words(answerTo(name))]);
    // Let go as soon as it is there, which is later than without.
    if (holds) void step.gate.reached.then(() => setImmediate(() => step.gate.open()));
    return turn;
  });
  const { session } = await ask(bed, client, [user(opening)], {});
  let refused = 0;
  await inParallel(names, random.between(2, 5), async (name) => {
    for (;;) {
      try {
        const reply = await ask(bed, client, [user(name)], { 'x-session-id': session });
        expect(reply.text).toBe(answerTo(name));
        expect(reply.session).toBe(session);
        return;
      } catch (error) {
        if (!(error instanceof Error && 'status' in error && error.status === 409)) throw error;
        refused += 1;
      }
    }
  });
  const seed = `seed ${SEED}, round ${round}, ${refused} refused`;
  const seen = held.flatMap(({ requests }) => requests.map(({ told }) => told));
  expect(seen, seed).toHaveLength(questions);
  const longest = seen.reduce((a, b) => (b.length > a.length ? b : a));
  for (const told of seen) checkAlternates(told, opening, seed);
  expect(questionsOf(longest).toSorted(), seed).toEqual([opening, ...names].toSorted());
}

const answerTo = (name: string): string => `This is what there is to be said about ${name}`;

const ask = (bed: AgentBed, client: AgentClient, lines: readonly Line[], headers: Record<string, string>) =>
  inTime(client.ask({ url: bed.url, key: KEYS.storm, model: MODEL, lines, headers }), JSON.stringify(lines));

const NAME = /(?:Q\d+-\d+|Opening \d+)\./g;

const questionsOf = (told: readonly ToldMessage[]): string[] =>
  told.filter(({ role }) => role === 'user').flatMap((message) => namesIn(message));

const namesIn = ({ blocks }: ToldMessage): string[] =>
  blocks.flatMap((block) => (block.type === 'text' ? (block.text.match(NAME) ?? []) : []));

/** One question, its own answer, the next question; each of them once. */
function checkAlternates(told: readonly ToldMessage[], opening: string, seed: string): void {
  const asked = questionsOf(told);
  expect(asked[0], seed).toBe(opening);
  expect(new Set(asked).size, seed).toBe(asked.length);
  const roles = told.map(({ role }) => role);
  expect(roles, seed).toEqual(asked.flatMap((_, index) => (index === 0 ? ['user'] : ['assistant', 'user'])));
  const answers = told.filter(({ role }) => role === 'assistant').flatMap((message) => namesIn(message));
  expect(answers, seed).toEqual(asked.slice(0, -1));
}
