/**
 * Conversations made at random, and clients that go away at random and come back with the same
 * request, again and again. Whatever was lost on the way, each request is answered as if nothing had
 * been, and what changes something was done once.
 */
import { expect, it } from 'vitest';
import { deferred } from '../support/gate.js';
import type { AgentSteps, ScriptedTurn } from '../support/scripted-agent-model.js';
import { resultsIn } from '../support/told.js';
import type { CallPart, Scripted } from '../support/wire.js';
import { AgentBed, KEYS, MODEL } from './agent-bed.js';
import {
  type AgentClient,
  CLIENTS,
  found,
  type Line,
  type Reply,
  resultOf,
  results,
  said,
  user,
} from './agent-client.js';
import { bash, HeldStep, lookup, says, type Where } from './agent-script.js';
import { count, SEED, TIMEOUT_MS } from './counts.js';
import { inTime } from './fault-gateway.js';
import { Random } from './random.js';

/** A client that is disturbed again and again gets its answer in the end. */
const BREAKS_A_REQUEST = 4;
/** So often may the model be asked for the same message. */
const ASKED_AGAIN = 2 * BREAKS_A_REQUEST + 2;

interface RandomTurn {
  prompt: string;
  turn: ScriptedTurn;
  messages: readonly Scripted[];
  holds: readonly HeldStep[][];
  changes: string[];
}

/** Some messages with calls of both kinds, then one without. */
function makeTurn(bed: AgentBed, random: Random, number: number): RandomTurn {
  const prompt = `Turn ${number}.`;
  const changes: string[] = [];
  const messages = random.list(0, 3, (index) => {
    const name = `t${number}_m${index}`;
    const calls: CallPart[] = random.list(1, 3, (which) => {
      const id = `${name}_${which}`;
      if (random.chance(0.6)) return lookup(id);
      changes.push(id);
      return bash(id, `echo ran >> ${id}.txt`);
    });
    return says(random.chance(0.7) ? `Message ${name}. ` : '', ...calls);
  });
  messages.push(says(`The end of turn ${number}, in a few more words than before.`));
  const places: readonly Where[] = ['before', 'half', 'end'];
  const holds = messages.map((message) =>
    Array.from({ length: ASKED_AGAIN }, () => new HeldStep(message, random.pick(places))),
  );
  const steps: AgentSteps = holds.map((list) => list.map(({ held }) => held));
  return { prompt, turn: bed.model.play(prompt, steps), messages, holds, changes };
}

const isClients = (part: Scripted['parts'][number]): boolean =>
  part.type === 'call' && part.name === 'lookup';

/** What the client must hear, request by request. */
function expectedOf({ messages }: RandomTurn, separator: string): { text: string; calls: string[] }[] {
  const answers: { text: string; calls: string[] }[] = [];
  let texts: string[] = [];
  for (const { parts } of messages) {
    for (const part of parts) if (part.type === 'text') texts.push([part.text].flat().join(''));
    const calls = parts.flatMap((part) => (part.type === 'call' && isClients(part) ? [part.id] : []));
    const isLast = !parts.some(({ type }) => type === 'call');
    if (calls.length === 0 && !isLast) continue;
    answers.push({ text: texts.join(separator), calls });
    texts = [];
  }
  return answers;
}

/** Opens every gate that the model comes to, until it is told to leave one shut. */
class Opener {
  #shut = false;
  #reached = deferred();

  constructor(turn: RandomTurn) {
    for (const held of turn.holds.flat()) {
      void held.gate.reached.then(() => {
        if (this.#shut) this.#reached.resolve();
        this.#opened.push(held);
        if (!this.#shut) this.open();
      });
    }
  }

  readonly #opened: HeldStep[] = [];

  /** Resolves when the model is held the next time. */
  holdNext(): Promise<void> {
    this.#shut = true;
    this.#reached = deferred();
    return this.#reached.promise;
  }

  open(): void {
    this.#shut = false;
    for (const held of this.#opened.splice(0)) held.gate.open();
  }
}

/** How a request is broken off, and how often in all. */
const WAYS = [
  { name: 'the client leaves', times: count(30, 1000), breakOff: leaves },
  { name: 'the gateway is killed', times: count(3, 100), breakOff: isKilled },
];

async function leaves({ bed, random, leave }: Breaking): Promise<void> {
  leave();
  if (random.chance(0.5)) await bed.idle();
}

async function isKilled({ bed }: Breaking): Promise<void> {
  await bed.kill();
  await bed.restart();
  await bed.nothingLeft();
}

interface Breaking {
  bed: AgentBed;
  random: Random;
  leave(): void;
}

it.each(WAYS)('native: $name $times times', { timeout: TIMEOUT_MS * 2 }, async ({ times, breakOff }) => {
  const random = new Random(SEED);
  const bed = await AgentBed.start('native');
  let breaks = 0;
  for (let conversation = 0; breaks < times; conversation += 1) {
    const client = random.pick(CLIENTS);
    let lines: Line[] = [];
    for (let turn = 0; turn < random.between(1, 3) && breaks < times; turn += 1) {
      const made = makeTurn(bed, random, conversation * 10 + turn);
      lines = [...lines, user(made.prompt)];
      const opener = new Opener(made);
      const separator = client.name.startsWith('chat') ? '\n\n' : '';
      const began = new Date().toISOString();
      let heard = 0;
      for (const expected of expectedOf(made, separator)) {
        const seed = `seed ${SEED}, ${made.prompt} with ${client.name}`;
        let reply: Reply | undefined;
        let tries = 0;
        for (let left = random.below(BREAKS_A_REQUEST + 1); left > 0 && reply === undefined; left -= 1) {
          reply = await brokenOff(bed, client, lines, tries, opener, random, breakOff);
          tries += 1;
          if (reply === undefined) breaks += 1;
        }
        opener.open();
        reply ??= await ask(bed, client, lines, tries);
        heard += 1;
        expect({ text: reply.text, calls: reply.calls.map(({ id }) => id) }, seed).toEqual(expected);
        lines = [...lines, said(reply)];
        if (reply.calls.length > 0) lines = [...lines, results(reply.calls.map(resultOf))];
      }
      await checkTurn(bed, made, lines, async () => (await wholeAnswers(bed, began)) - heard);
    }
  }
  await bed.close();
});

const ask = (
  bed: AgentBed,
  client: AgentClient,
  lines: readonly Line[],
  tries: number,
  signal?: AbortSignal,
): Promise<Reply> => {
  // As the SDKs say it: the gateway may not know yet that the client of the try before has gone.
  const headers = { 'x-stainless-retry-count': String(tries) };
  const asking = { url: bed.url, key: KEYS.storm, model: MODEL, lines, headers };
  return inTime(
    client.ask(signal === undefined ? asking : { ...asking, signal }),
    JSON.stringify(lines.at(-1)),
  );
};

/** The answer, where it came all the same: a client that has it does not send its request again. */
async function brokenOff(
  bed: AgentBed,
  client: AgentClient,
  lines: readonly Line[],
  tries: number,
  opener: Opener,
  random: Random,
  breakOff: (breaking: Breaking) => Promise<void>,
): Promise<Reply | undefined> {
  const leaving = new AbortController();
  const held = opener.holdNext();
  const answer = ask(bed, client, lines, tries, leaving.signal).catch(() => undefined);
  // Sometimes before anything, sometimes while the model is held, sometimes a little later.
  const way = random.below(4);
  if (way > 0) await Promise.race([held, answer]);
  if (way > 1) opener.open();
  if (way > 2) for (let turn = random.below(40); turn > 0; turn -= 1) await new Promise(setImmediate);
  await breakOff({ bed, random, leave: () => leaving.abort() });
  const reply = await answer;
  opener.open();
  return reply;
}

/** Requests since then whose answer was written to its end. */
async function wholeAnswers({ url }: AgentBed, since: string): Promise<number> {
  const headers = { authorization: `Bearer ${KEYS.storm}` };
  const answer = await fetch(`${url}/api/traces?limit=100`, { headers });
  const { data }: { data: { at: string; status: number }[] } = JSON.parse(await answer.text());
  return data.filter(({ at, status }) => at >= since && status === 200).length;
}

/** `unheard`: answers that were given whole to a client that had just gone. Asked again, they are made again. */
async function checkTurn(
  bed: AgentBed,
  { turn, changes }: RandomTurn,
  lines: readonly Line[],
  unheard: () => Promise<number>,
): Promise<void> {
  expect(bed.model.problems).toEqual([]);
  for (const { told } of turn.requests) {
    const ids = resultsIn(told).map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)]);
  }
  for (const name of changes) {
    const done = await bed.linesOf(`${name}.txt`);
    // What was broken off while it ran may have done nothing: then the model was told so, and nobody ran it again.
    if (done.length === 0) expect(broken(turn, name), name).toBe(true);
    else if (done.length > 1) expect(done.length, name).toBeLessThanOrEqual(1 + (await unheard()));
  }
  const sent = lines.flatMap((line) => (line.kind === 'results' ? line.results : []));
  const told = new Map(resultsIn(turn.requests.at(-1)?.told ?? []).map(({ id, text }) => [id, text]));
  for (const { id } of sent) expect(told.get(id)).toBe(found({ id }));
}

const broken = ({ requests }: ScriptedTurn, id: string): boolean =>
  requests.some(({ told }) => resultsIn(told).some((result) => result.id === id && result.isError));
