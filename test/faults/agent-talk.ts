/** A client that goes through a whole conversation, and is disturbed at one moment of it. */
import { expect } from 'vitest';
import { deferred } from '../support/gate.js';
import type { AgentRequest, ScriptedTurn } from '../support/scripted-agent-model.js';
import { resultsIn } from '../support/told.js';
import { until } from '../support/until.js';
import { type AgentBed, KEYS, type KeyName, MODEL } from './agent-bed.js';
import {
  type AgentClient,
  type Asking,
  found,
  type Line,
  type Reply,
  resultOf,
  results,
  said,
  type ToolCall,
  user,
} from './agent-client.js';
import type { Moment, Played } from './agent-moments.js';
import { inTime } from './fault-gateway.js';

/** What happens at the moment. It gets the means to leave as a client. */
export type Disturb = (leave: () => void) => Promise<void>;

export interface Talk {
  /** All that was said, by the client's account. */
  lines: readonly Line[];
  /** Of the last request, which can be repeated. */
  last: readonly Line[];
  headers: Readonly<Record<string, string>>;
  texts: readonly string[];
  handedBack: readonly ToolCall[];
  turn: ScriptedTurn;
  played: Played;
}

const MAX_REQUESTS = 12;

export class Talker {
  readonly #bed: AgentBed;
  readonly #client: AgentClient;
  readonly #moment: Moment;
  readonly #key: KeyName;
  /** A turn that was not ended goes on only when it is let go. */
  readonly #goesOn: boolean;
  /** Clients that had gone before this one. */
  #goneBefore = 0;

  constructor(bed: AgentBed, client: AgentClient, moment: Moment, key: KeyName, goesOn = false) {
    this.#goesOn = goesOn;
    this.#bed = bed;
    this.#client = client;
    this.#moment = moment;
    this.#key = key;
  }

  ask(lines: readonly Line[], more: Partial<Asking> = {}): Promise<Reply> {
    const { url } = this.#bed;
    return this.#client.ask({ url, key: KEYS[this.#key], model: MODEL, lines, ...more });
  }

  async talk(disturb?: Disturb): Promise<Talk> {
    const { request: which, when } = this.#moment;
    const played = this.#moment.play({
      bed: this.#bed,
      key: this.#key,
      disturbed: disturb !== undefined,
    });
    const prompt = `Task of ${this.#key}.`;
    const turn = this.#bed.model.play(prompt, played.steps);
    const texts: string[] = [];
    const handedBack: ToolCall[] = [];
    let lines: Line[] = [user(prompt)];
    let headers: Record<string, string> = {};
    for (let request = 0; request < MAX_REQUESTS; request += 1) {
      const disturbed = disturb !== undefined && request === which;
      const early =
        disturbed && when === 'during' ? await this.#brokenOff(lines, headers, played, disturb) : undefined;
      const running = early ?? this.ask(lines, { headers });
      const [reply] = await inTime(
        Promise.all([running, disturbed ? this.#goOn(played, early !== undefined) : undefined]),
        `request ${request + 1} of ${this.#moment.name}`,
      );
      if (disturbed && when === 'after') await disturb(() => {});
      texts.push(reply.text);
      if (reply.calls.length === 0) {
        return { lines: [...lines, said(reply)], last: lines, headers, texts, handedBack, turn, played };
      }
      for (const call of reply.calls) {
        if (!handedBack.some(({ id }) => id === call.id)) handedBack.push(call);
      }
      [lines, headers] = this.#next(lines, reply, handedBack);
    }
    throw new Error('The conversation does not end');
  }

  /** An answer that is written whole before the gateway knows that nobody hears it counts as heard. */
  async #goOn(played: Played, answered: boolean): Promise<void> {
    if (this.#goesOn && !answered)
      await until(async () => (await this.#bed.clientsGone()) > this.#goneBefore);
    await Promise.all([played.duringRepeat?.(), this.#goesOn ? played.letGo() : undefined]);
  }

  /** What the client sends after these calls: all results, or one more than before. */
  #next(
    lines: readonly Line[],
    reply: Reply,
    handedBack: readonly ToolCall[],
  ): [Line[], Record<string, string>] {
    const { results: style = 'together' } = this.#moment;
    const last = lines.at(-1);
    const before = last?.kind === 'results' ? last.results : [];
    if (style === 'together' || (before.length === 0 && last?.kind === 'user')) {
      const now = style === 'together' ? reply.calls : reply.calls.slice(0, 1);
      return style === 'one by one, new only'
        ? [[results(now.map(resultOf))], { 'x-session-id': reply.session }]
        : [[...lines, said(reply), results(now.map(resultOf))], {}];
    }
    const next = handedBack.filter(({ id }) => reply.calls.some((open) => open.id === id)).slice(0, 1);
    if (style === 'one by one, new only')
      return [[results(next.map(resultOf))], { 'x-session-id': reply.session }];
    return [[...lines.slice(0, -1), results([...before, ...next.map(resultOf)])], {}];
  }

  /** The request that never gets its answer; resolves with the answer where it had one before the moment came. */
  async #brokenOff(
    lines: readonly Line[],
    headers: Record<string, string>,
    played: Played,
    disturb: Disturb,
  ): Promise<Reply | undefined> {
    const leaving = new AbortController();
    const seen = deferred();
    const answer = this.ask(lines, {
      headers,
      signal: leaving.signal,
      onText: (text) => {
        if (text.includes(played.visible ?? '')) seen.resolve();
      },
    }).then(
      (reply) => ({ reply }),
      (error: unknown) => ({ error }),
    );
    const mayBeAnswered = this.#moment.mayBeAnswered === true && this.#bed.engine === 'claude-code';
    const early = answer.then((outcome) => {
      if (mayBeAnswered && 'reply' in outcome) return;
      throw new Error(`It was answered before the moment came: ${show(outcome)}`);
    });
    early.catch(() => {});
    await inTime(Promise.race([played.reached(), early]), `the moment: ${this.#moment.name}`);
    if (this.#client.stream && played.visible !== undefined)
      await inTime(Promise.race([seen.promise, early]), `the text ${played.visible}`);
    if (this.#goesOn) this.#goneBefore = await this.#bed.clientsGone();
    await disturb(() => leaving.abort());
    const outcome = await answer;
    if (mayBeAnswered && 'reply' in outcome) return outcome.reply;
    expect(outcome).toHaveProperty('error');
    await played.beforeRepeat?.();
    return undefined;
  }
}

function show(outcome: { reply: Reply } | { error: unknown }): string {
  return 'reply' in outcome ? JSON.stringify(outcome.reply) : String(outcome.error);
}

/** What must hold of a conversation however it was disturbed. */
export async function checkTalk(bed: AgentBed, talk: Talk, calm: Talk): Promise<void> {
  expect(bed.model.problems).toEqual([]);
  expect(talk.texts).toEqual(calm.texts);
  for (const request of talk.turn.requests) checkResults(request);
  const last = talk.turn.requests.at(-1);
  const told = resultsIn(last?.told ?? []);
  const clients = new Set(talk.handedBack.map(({ id }) => id));
  expect(
    told
      .filter(({ id }) => clients.has(id))
      .map(({ id, text }) => [id, text])
      .sort(),
  ).toEqual(talk.handedBack.map((call) => [call.id, found(call)]).sort());
  for (const name of talk.played.changes) expect(await bed.linesOf(`${name}.txt`), name).toEqual(['ran']);
  expect(await bed.waitingApprovals()).toEqual([]);
}

/** No request ever tells the model a result twice. */
function checkResults({ told }: AgentRequest): void {
  const ids = resultsIn(told).map(({ id }) => id);
  expect(ids).toEqual([...new Set(ids)]);
}
